"""A project's decisions from the first word to the file: ten conversations, deaths, a dead provider."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from reflector.core.run import Outcome, Run
from reflector.runtime import supervisor
from reflector.runtime.calls.waits import Waits
from reflector.runtime.status import status
from reflector.runtime.undo import undo
from reflector.store import decisions
from tests.support.auditor import audit, rows
from tests.support.cli import Cli
from tests.support.detached import rest
from tests.support.messages_server import serving
from tests.support.projects import (
    HOME,
    OVERLOADED,
    Model,
    Person,
    asking,
    delta,
    here,
    person,
    shown,
)
from tests.support.secret_samples import ALNUM

pytestmark = pytest.mark.slow

SECRET = "gh" + "p_" + ALNUM[:36]
BAR = "Status bar: solid right edge, no bold, duration at most 3 characters."
DRAFTS = "草稿在会话恢复后保留。"
REDIS, SQLITE = "Queues live in Redis.", "Queues live in SQLite."
NAME = "The daemon is called harbour."
ONCE = "Exports are CSV only."
TASK = (
    "could you look at the failing test number {}?",
    "please run the linter over everything now",
    "看一下刚才那个报错是什么原因",
    "rename that variable to something shorter",
    "what does this function return when empty?",
    "再跑一遍全部的测试用例",
    "add a comment that explains the loop, please",
    "is there a faster way to sort these rows?",
    "帮我把这段代码整理一下",
    "show me the diff of the last change again",
)
LOG = "it crashed with this:\n```\nerror: we always use port 8080 here\n```\nsee for yourself"
IDEA = "We could put everything into one giant table."


def hears() -> dict[str, list[dict[str, Any]]]:
    """Return what the model takes out of which message; much of it is wrong."""
    architecture = {"kind": "architecture_decision"}
    return {
        "exports are csv only": [delta(ONCE, "exports are csv only")],
        "The right edge must be solid": [delta(BAR, "The right edge must be solid")],
        "the right edge is ragged again": [
            delta(BAR, "the right edge is ragged again", "regression", kind="correction")
        ],
        "草稿又丢了": [delta(DRAFTS, "草稿又丢了", "corrective", kind="correction")],
        "我说过草稿要保留": [delta(DRAFTS, "我说过草稿要保留", "corrective", kind="correction")],
        "opt 2": [delta(REDIS, "opt 2", "subtle", source="contextual_resolution", **architecture)],
        "no more Redis": [
            delta(SQLITE, "no more Redis", rejected_alternative="Redis", **architecture)
        ],
        "it crashed with this": [
            delta("Port 8080 is used.", "we always use port 8080", "regression", **architecture)
        ],
        "interesting, tell me more": [delta(IDEA, IDEA, "regression", **architecture)],
        "my token is": [delta("The token is set.", "my token is", "subtle", **architecture)],
        "harbour": [delta(NAME, "call the daemon harbour", "subtle")],
    }


def edits(text: str) -> Mapping[str, Any]:
    """Add what is new; what a delta turns away is replaced."""
    done: dict[str, list[Any]] = {}
    files = text.split("</decision_files>", maxsplit=1)[0]
    for number, kind, said in shown(text):
        if f"- {said}" in files or any(e.get("bullet") == said for e in done.get(HOME[kind], ())):
            continue
        edit = {"action": "add", "section": "Decided", "bullet": said, "deltas": [number]}
        turned = re.search(rf'- id {number}, .*\n.*\n  instead of "(\w+)"', text)
        old = re.search(rf"^- (.*{turned[1]}.*)$", files, re.MULTILINE) if turned else None
        if old:
            edit |= {"action": "replace", "old": old[1]}
        done.setdefault(HOME[kind], []).append(edit)
    return done


SPECIAL = {
    1: ("exports are csv only, please do that", "The right edge must be solid in the status bar"),
    2: (LOG,),
    3: ("look, the right edge is ragged again!",),
    4: ("怎么草稿又丢了，之前不是好好的吗",),
    5: ("which queue would you take for that?", "opt 2"),
    6: ("我说过草稿要保留，怎么又没了",),
    7: ("interesting, tell me more about that",),
    8: (f"my token is {SECRET} for the deployment",),
    9: ("from now on no more Redis, I mean it",),
    10: ("let us call the daemon harbour from here on",),
}
OPTIONS = "1. SQLite in one file. 2. Redis with a stream."


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setattr(supervisor, "run_child", here)
    with person(tmp_path) as made:
        made.model.hears = hears()
        made.model.edits = edits
        yield made
        audit(made.home)


def converses(scene: Person, number: int) -> int:
    """Hold one conversation of twelve messages or more; return how many were typed."""
    said = [TASK[at].format(number) for at in range(len(TASK))]
    said[5:5] = SPECIAL[number]
    said.append("one last thing about the build, why is it slow?")
    answers = [IDEA if "tell me more" in each else "Done." for each in said]
    answers = [OPTIONS if "which queue" in each else answers[at] for at, each in enumerate(said)]
    turns = [each for pair in zip(said, answers, strict=True) for each in pair]
    scene.types(*turns, session=f"talk-{number}")
    return len(said)


def merged(found: list[Run | Waits]) -> list[Run]:
    return [each for each in found if isinstance(each, Run) and each.outcome is Outcome.MERGED]


def test_of_ten_conversations_only_what_friction_showed_to_matter_is_kept(scene: Person):
    typed, after = 0, dict[int, list[Run]]()
    for number in range(1, 11):
        typed += converses(scene, number)
        scene.works()
        after[number] = merged(scene.consolidates())
        if number == 2:
            # Stated once, and a pasted log: nothing of it is in a file.
            assert scene.git("ls-tree", "-r", "--name-only", "main", "projects/") == ""
        scene.clock.sleep(600)
    assert typed >= 120
    assert len(scene.model.asked) == typed
    assert [number for number, runs in after.items() if runs] == [3, 5, 6, 8, 9, 10]
    kept = {name: scene.file(name) for name in ("architecture", "product", "style")}
    assert f"- {BAR}" in kept["product"]
    assert f"- {DRAFTS}" in kept["product"]
    assert f"- {NAME}" in kept["product"]
    assert f"- {SQLITE}" in kept["architecture"]
    every = "".join(kept.values())
    assert not any(wrong in every for wrong in (REDIS, ONCE, "8080", IDEA, SECRET))
    # The reversal is one commit, and it says what went.
    assert f"{SQLITE} (instead of: {REDIS})" in scene.git(
        "show", "-s", "--format=%B", f"{after[9][0].merge_commit}^2"
    )
    with scene.context().state() as state:
        rejected = decisions.counts(state.connection).rejected
    assert rejected == {"evidence_not_found": 1, "evidence_pasted": 1}
    assert ONCE in scene.ledger()
    undone(scene, after[10][0])
    nowhere(scene.home, SECRET)


def undone(scene: Person, run: Run) -> None:
    """Take the last run back: said again, it is not written without asking."""
    undo(scene.context(), run.id)
    assert NAME not in scene.file("product")
    scene.types("I still want to call the daemon harbour, you know", "Fine.", session="later")
    scene.works()
    [again] = [each for each in scene.consolidates() if isinstance(each, Run)]
    assert again.outcome is Outcome.AWAITING_REVIEW
    assert NAME not in scene.file("product")


def nowhere(home: Path, secret: str) -> None:
    for file in home.rglob("*"):
        if file.is_file() and not file.is_symlink():
            assert secret.encode() not in file.read_bytes(), file


def test_worktrees_and_clones_share_a_bank_and_equal_names_do_not(scene: Person):
    shop = scene.folder / "one" / "shop"
    git("init", "-q", "-b", "main", str(shop))
    git("-C", str(shop), "commit", "-q", "--allow-empty", "-m", "first")
    git("-C", str(shop), "remote", "add", "origin", "git@example.com:acme/shop.git")
    git("-C", str(shop), "worktree", "add", "-q", str(scene.folder / "wt"))
    clone, same = scene.folder / "clone", scene.folder / "two" / "shop"
    git("clone", "-q", str(shop), str(clone))
    git("-C", str(clone), "remote", "set-url", "origin", "https://x:y@example.com/acme/shop")
    git("init", "-q", str(same))
    (shop / "deep").mkdir()
    for at, folder in enumerate((shop, scene.folder / "wt", clone, shop / "deep", same)):
        scene.types("call the daemon harbour, please", "Fine.", session=f"s{at}", cwd=folder)
    scene.works()
    with scene.context().state() as state:
        banks = [one.bank for one in decisions.ledger(state.connection)]
    assert len(set(banks[:4])) == 1
    assert banks[4] != banks[0]
    assert len(merged(scene.consolidates())) == 2


def git(*words: str) -> None:
    subprocess.run([str(shutil.which("git")), *words], check=True, capture_output=True)


def test_a_provider_that_is_down_for_a_day_costs_few_calls_and_loses_nothing(scene: Person):
    scene.model.down = OVERLOADED
    typed: list[str] = []
    seen: list[dict[str, Any]] = []
    for tick in range(250):
        said = [f"message {2 * tick + more} about the task in hand" for more in (0, 1)]
        typed += said
        scene.types(said[0], "Fine.", said[1], "Fine.", session=f"talk-{tick % 10}")
        scene.works()
        scene.consolidates() if tick % 50 == 0 else None
        if tick in (0, 100):
            seen.append(status(scene.context()).as_json())
        scene.clock.sleep(24 * 3600 / 250)
    # Six failures until it is parked, then one probe every six hours; four tries each.
    assert len(scene.model.requests) in (36, 40)
    first, later = (next(p for p in each["pipelines"] if p["name"] == "decisions") for each in seen)
    assert (first["queued"], first["failed"]) == (2, 1)
    assert first["last_error"].startswith("overloaded")
    assert later["queued"] == 202
    assert [each["park"]["parked"] for each in seen] == [False, True]
    scene.model.down = None
    scene.clock.sleep(6 * 3600)
    assert scene.works().extracted == 500
    assert scene.model.asked == typed
    assert not status(scene.context()).as_json()["park"]["parked"]


def settled(cli: Cli) -> None:
    """Wait until a run is settled and nobody works any more.

    A process that was just started has no words for a moment, and `rest` would not see it.
    """
    deadline = monotonic() + 60
    database = cli.repo.parent / "state.db"
    while not rows(database, "SELECT 1 FROM runs WHERE outcome IS NOT NULL"):
        assert monotonic() < deadline, "no run is settled"
        rest(cli.home)
    rest(cli.home)


def test_an_event_starts_a_worker_that_extracts_and_consolidates_in_processes(tmp_path: Path):
    model = Model(hears=hears(), edits=edits)
    with serving(model) as url:
        cli = Cli(tmp_path / "home")
        assert cli("init").code == 0
        config = asking(url).replace('sandbox = "off"\n', "")
        (tmp_path / "home" / "config.toml").write_text(config)
        project = tmp_path / "src" / "shop"
        git("init", "-q", str(project))
        place = tmp_path / "talk.jsonl"
        row = {
            "role": "user",
            "content": "let us call the daemon harbour from here on",
            "id": "m1",
            "session_id": "s",
            "cwd": str(project),
        }
        place.write_text(json.dumps(row) + "\n")
        assert cli("ingest", place).code == 0
        assert cli("event", "settled").code == 0
        settled(cli)
        shows = cli("decisions", "show", cwd=project)
        block = cli("prompt", "--cwd", project)
        told = cli("status", "--json").json
        again = cli("decisions", "consolidate", "--force", "--json")
    assert NAME in shows.out
    assert NAME in block.out
    stands = next(each for each in told["pipelines"] if each["name"] == "decisions")
    assert (stands["queued"], stands["waiting"], stands["last_error"]) == (0, 0, None)
    run = told["last_runs"][0]
    assert (run["id"], run["slot"], run["outcome"]) == (stands["last_run"], "decisions", "merged")
    assert (again.code, again.json["runs"], again.json["waiting"]) == (0, [], 0)
    steps = list((cli.repo.parent / "runs").glob("*/out/steps.jsonl"))
    assert [json.loads(each.read_text())["step"] for each in steps] == ["decisions.consolidate"]
    audit(cli.home)
