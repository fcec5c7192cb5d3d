"""The commands of `reflector decisions`: what they say, and that they say it of what is there."""

from __future__ import annotations

import io
import json
import sys
import zlib
from dataclasses import dataclass

import pytest

from reflector.core.decision import Delta, Friction, Kind, Source
from reflector.store import bullets, decisions
from reflector.surface.cli.main import main
from tests.support.journals import NOW
from tests.support.scenes import Scene
from tests.unit.pipelines.decisions.test_golden import CASES

BANK = "app-12345678"
SORTED = "Exports are sorted by date."


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Scene:
    """One memory for all tests here; each works in a bank of its own."""
    return Scene(tmp_path_factory.mktemp("decisions"))


@dataclass
class Asking:
    """Runs a command of the group in a bank; returns its code and what it printed."""

    home: Scene
    bank: str
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *words: str, given: object = None, named: bool = True) -> tuple[int, str]:
        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(given).encode()))
        self.monkeypatch.setattr(sys, "stdin", stdin)
        more = ("--bank", self.bank) if named else ()
        code = main(["decisions", *words, *more, "--home", str(self.home.home)])
        return code, "".join(self.capsys.readouterr())


@pytest.fixture
def ask(home, capsys, monkeypatch, request) -> Asking:
    """Return what runs commands in the test's own bank."""
    monkeypatch.chdir(home.folder)
    bank = f"b-{zlib.crc32(request.node.name.encode()):08x}"
    return Asking(home, bank, capsys, monkeypatch)


def _machine(ask, *words: str, **more):
    code, printed = ask(*words, "--json", **more)
    assert code == 0, printed
    return json.loads(printed)


def _stored(home: Scene, bank: str, *deltas: Delta) -> list[int]:
    with home.context().state() as state, state.transaction() as connection:
        return [
            decisions.add_delta(connection, bank, f"talk/{at}", f"e{at}", NOW, "model", each)
            for at, each in enumerate(deltas)
        ]


def _delta(statement: str = SORTED, **flags: bool) -> Delta:
    friction = Friction(**flags)
    return Delta(Kind.PRODUCT, statement, Source.EXPLICIT, "by date", 3, 10, friction)


def _golden(kind: str):
    return [each for each in CASES if each["kind"] == kind]


def test_admit_prints_the_machine_form_of_the_golden_cases(ask):
    for case in _golden("admission")[::4]:
        given = {"prompt": case["prompt"], "candidates": [case["candidate"], None]}

        found = _machine(ask, "admit", given=given, named=False)

        assert set(found) == {"admitted", "rejected"}
        assert len(found["admitted"]) == case["admitted"]
        assert found["rejected"][-1] == {"index": 1, "reason": "not_an_object"}
        if case["admitted"]:
            assert case["expected"].items() <= found["admitted"][0].items()
        else:
            assert found["rejected"][0] == {"index": 0, "reason": case["reason"]}


def test_envelope_prints_the_machine_form_of_the_golden_cases(ask):
    for case in _golden("envelope"):
        given = {"messages": case["messages"], "current": case["current"]}

        assert _machine(ask, "envelope", given=given, named=False) == case["expected"]


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("admit", []),
        ("admit", {"prompt": 1, "candidates": []}),
        ("admit", {"prompt": "x"}),
        ("envelope", None),
        ("envelope", {"messages": {}}),
        ("envelope", {"messages": [], "current": True}),
    ],
)
def test_another_form_on_stdin_is_a_usage_error_that_shows_the_right_one(ask, command, given):
    code, printed = ask(command, given=given, named=False)

    assert code == 2
    assert "Give" in printed


def test_nothing_on_stdin_drives_a_terminal(ask):
    given = {"messages": [{"role": "user", "content": "red \x1b[31m text\x9b2J"}]}

    _, printed = ask("envelope", given=given, named=False)

    assert "\x1b" not in printed
    assert "\x9b" not in printed


def test_an_empty_bank_says_so_everywhere(ask):
    assert "No decisions are written down" in ask("show")[1]
    assert "0 waiting, 0 eligible; nothing is due" in ask("queue")[1]
    assert "0 decisions" in ask("stats")[1]
    code, printed = ask("why", "anything")
    assert (code, "No decision" in printed) == (1, True)


def test_what_a_person_adds_is_shown_counted_and_explained(ask):
    words = ("add", SORTED, "--kind", "product_decision", "--section", "Export")
    added = _machine(ask, *words, "--rejected", "by name", "--because", "audits")

    assert added["path"] == f"projects/{ask.bank}/product.md"
    (file,) = _machine(ask, "show")["files"]
    (bullet,) = file["bullets"]
    assert (bullet["section"], bullet["text"]) == ("Export", SORTED)
    found = _machine(ask, "why", bullet["place"])
    (delta,) = found["deltas"]
    assert (delta["id"], delta["origin"], delta["rationale"]) == (
        added["delta"],
        "person",
        "audits",
    )
    assert found["run"] == delta["consumed_by"] == added["commit"]
    assert _machine(ask, "stats")["bullets"]["product"] == 1
    assert "0 waiting" in ask("queue")[1]


def test_a_decision_that_is_there_is_not_written_twice(ask):
    assert ask("add", SORTED, "--kind", "product_decision")[0] == 0

    code, printed = ask("add", "The exports are sorted by date", "--kind", "style_decision")

    assert code == 1
    assert "is in product already" in printed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Edit src/app/main.py only", "names a path"),
        ("Log in with password: hunter2secret", "holds a secret"),
        ("One line.\n- And another.", "holds a line end"),
        ("  ", "says nothing"),
    ],
)
def test_what_is_no_decision_is_refused_and_nothing_is_kept(ask, text, why):
    code, printed = ask("add", text, "--kind", "constraint")

    assert code != 0
    assert why in printed
    assert "hunter2secret" not in printed
    assert _machine(ask, "stats")["deltas"] == {"waiting": 0, "consumed": 0}
    assert _machine(ask, "show")["files"] == []


def test_the_queue_tells_what_waits_for_what(ask, home):
    ids = _stored(
        home,
        ask.bank,
        _delta(),
        _delta("Logs are written as JSON lines.", corrective=True),
        _delta("Cache entries expire after 90 minutes.", subtle=True),
    )

    found = _machine(ask, "queue")

    assert (found["waiting"], found["eligible"], found["queued"]) == (3, 1, 0)
    assert [(one["id"], one["ground"]) for one in found["deltas"]] == [
        (ids[0], "waiting"),
        (ids[1], "waiting"),
        (ids[2], "subtle"),
    ]
    assert "3 waiting, 1 eligible; none enters with the engine rules" in ask("queue")[1]
    ask.monkeypatch.setenv("REFLECTOR_ENGINE_NAME", "anthropic")
    printed = ask("queue")[1]
    assert "3 waiting, 1 eligible; due now" in printed
    assert "waits to be set right in a second conversation" in printed
    assert printed.index("Cache entries") < printed.index("Exports")


def test_why_names_the_chain_of_what_was_replaced_and_the_words(ask, home):
    ask("add", SORTED, "--kind", "product_decision")
    (made,) = _stored(home, ask.bank, _delta("Exports are sorted by name.", regression=True))
    with home.context().state() as state, state.transaction() as connection:
        old = bullets.every(connection, ask.bank)[0]
        for text, before in (("By size.", ""), (SORTED, "By size.")):
            told = type(old)(0, ask.bank, "product", text, (made,), "20261130T120000-aa", NOW)
            bullets.record(connection, told, before)

    found = _machine(ask, "why", "sorted BY DATE")

    assert [one["text"] for one in found["earlier"]] == ["By size."]
    assert found["deltas"][0]["friction"]["regression"] is True
    assert found["deltas"][0]["said"] is None
    gone = _machine(ask, "why", "by size")
    assert (gone["place"], gone["text"]) == (None, "By size.")


def test_words_that_fit_several_are_asked_for_more(ask):
    ask("add", SORTED, "--kind", "product_decision")
    ask("add", "Imports are never sorted.", "--kind", "architecture_decision")

    code, printed = ask("why", "sorted")

    assert code == 2
    assert "2 decisions hold these words" in printed


def test_what_is_forgotten_is_gone_and_what_rests_on_it_is_told(ask):
    made = _machine(ask, "add", SORTED, "--kind", "product_decision")["delta"]

    found = _machine(ask, "forget", str(made), named=False)

    assert [one["text"] for one in found["bullets"]] == [SORTED]
    assert ask("forget", str(made), named=False)[0] == 1
    assert "1 of what it rested on was forgotten" in ask("why", "sorted")[1]


def test_banks_are_listed_with_what_they_hold(ask, home):
    _stored(home, ask.bank, _delta())

    found = _machine(ask, "banks", named=False)

    assert {"bank": ask.bank, "bullets": 0, "waiting": 1, "queued": 0} in found["banks"]
    assert found["here"] is not None


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".git", "x\ny"])
def test_a_bank_that_is_no_folder_name_is_refused(ask, name):
    code, printed = ask("show", "--bank", name, named=False)

    assert code == 2
    assert "no name of a bank" in printed


def test_diagnose_tells_of_rows_and_files_that_are_not_right(ask, home):
    (made,) = _stored(home, ask.bank, _delta())
    with home.context().state() as state, state.transaction() as connection:
        connection.execute("UPDATE deltas SET version = 9 WHERE id = ?", (made,))

    found = _machine(ask, "diagnose", named=False)

    assert found["unreadable"] == 1
    assert found["engine"] == "rules"
    printed = ask("diagnose", named=False)[1]
    assert "1 row of the ledger" in printed
    assert "explicit statements" in printed


def test_a_cleared_bank_stays_cleared_by_what_was_said_before(ask, home):
    ask("add", SORTED, "--kind", "product_decision")
    _stored(home, ask.bank, _delta("Logs are written as JSON lines.", subtle=True))

    done = _machine(ask, "clear")

    assert (done["paths"], done["waited"]) == ([f"projects/{ask.bank}/product.md"], 1)
    assert _machine(ask, "show")["files"] == []
    assert _machine(ask, "queue")["eligible"] == 0
    assert _machine(ask, "stats")["superseded"] == 1
    assert ask("clear")[0] == 1


def test_what_waits_is_cleared_where_no_file_holds_anything(ask, home):
    _stored(home, ask.bank, _delta("Logs are written as JSON lines.", subtle=True))
    with home.context().state() as state, state.transaction() as connection:
        connection.execute(
            "INSERT INTO decision_jobs (bank, conversation, message, entry, queued_at) "
            "VALUES (?, 'jsonl/s', 'm', 'jsonl:s.m:0', ?)",
            (ask.bank, NOW),
        )

    done = _machine(ask, "clear")

    assert (done["commit"], done["waited"]) == (None, 1)
    assert _machine(ask, "queue")["waiting"] == 0
    assert _machine(ask, "queue")["queued"] == 0
    assert ask("clear")[0] == 1


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, "0", "-1", "٣x"])
def test_a_number_that_no_delta_can_have_is_a_usage_error(ask, number):
    assert ask("forget", number, named=False)[0] == 2


def test_a_bank_moves_into_another_with_its_words_and_doubles_nothing(ask, home):
    other = f"{ask.bank}-other"
    for text, bank in ((SORTED, ask.bank), (SORTED, other), ("Rows are numbered.", ask.bank)):
        words = ("add", text, "--kind", "product_decision", "--bank", bank)
        assert ask(*words, named=False)[0] == 0
    _stored(home, ask.bank, _delta())

    done = _machine(ask, "move", ask.bank, other, named=False)

    assert len(done["paths"]) == 2
    (file,) = _machine(ask, "show", "--bank", other, named=False)["files"]
    assert [one["text"] for one in file["bullets"]] == [SORTED, "Rows are numbered."]
    assert _machine(ask, "queue", "--bank", other, named=False)["waiting"] == 1
    assert _machine(ask, "show")["files"] == []
    assert ask("move", ask.bank, other, named=False)[0] == 1
    assert ask("move", other, other, named=False)[0] == 2


def test_a_bank_of_which_only_the_ledger_knows_can_move(ask, home):
    _stored(home, ask.bank, _delta())

    done = _machine(ask, "move", ask.bank, f"{ask.bank}-b", named=False)

    assert done["commit"] is None
