"""The dialogues by which extraction is judged are sound: a good answer passes, a bad one does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from reflector.pipelines.experiences import parsing
from reflector.pipelines.experiences.evidence import checked
from reflector.pipelines.experiences.language import chinese
from reflector.pipelines.experiences.rows import Row
from reflector.pipelines.experiences.scene import chosen, facts_only
from tests.quality.experiences.dialogues import DIALOGUES, Dialogue
from tests.quality.experiences.judging import Extracted, faults

NAMED = {each.name: each for each in DIALOGUES}
CART = "a fix on a branch, a dropped variant, tests passing"
VAT = "a fix that nobody verified"
CSV = "在分支上修改，换回旧方案"
PDF = "a search that found nothing, and could not look everywhere"
BACKUP = "a backup with its givens"
PRINTER = "blocked before anything was done"
PUMP = "givens alone, without a tool"
TALK = "small talk"

GOOD: Mapping[str, Mapping[str, Any]] = {
    CART: {
        "experiences": [
            {
                "task": "How is a total of prices kept exact to the cent in Python?",
                "solution": "Sum in integer cents and divide once at the end. Rounding the float "
                "total hides the error until two halves meet. Check with `pytest -q "
                "tests/test_cart.py`.",
                "evidence": ["r4"],
            }
        ],
        "fact": {
            "subject": "src/shop/cart.py",
            "statement": "`AssertionError: 10.03 != 10.02` from tests/test_cart.py on branch "
            "fix/cart-rounding: `total` in src/shop/cart.py summed float prices. It sums in "
            "integer cents now; `round(x, 2)` was dropped. Completed, tests run and passing with "
            "`pytest -q tests/test_cart.py`.",
            "files": ["src/shop/cart.py", "tests/test_cart.py"],
        },
    },
    VAT: {
        "experiences": [],
        "fact": {
            "subject": "src/export/rows.py",
            "statement": "The nightly export crashes with `KeyError: 'vat'`; src/export/rows.py "
            "reads `row.get('vat', 0)` instead of `row['vat']`. Awaiting verification: diff only, "
            "tests not run, there is no database.",
            "files": ["src/export/rows.py"],
        },
    },
    CSV: {
        "experiences": [
            {
                "task": "如何让 Excel 正确打开导出的 CSV 而不影响其他读取方？",
                "solution": "CSV 保持 utf-8，只在写给 Excel 的入口 write_excel() 里写 BOM；"
                "把编码改成 utf-8-sig 会影响所有读取方。",
            }
        ],
        "fact": {
            "subject": "src/export/csv.py",
            "statement": "打开后是乱码：分支 feature/导出-csv 上，src/export/csv.py 保持 utf-8，BOM 只由 "
            "src/export/excel.py 的 write_excel() 写入；utf-8-sig 方案已放弃。已完成，"
            "`pytest -q tests/export` 已运行并通过。",
            "files": ["src/export/csv.py", "src/export/excel.py"],
        },
    },
    PDF: {
        "experiences": [],
        "fact": {
            "subject": "contract-2019.pdf",
            "statement": "Looking for a copy of contract-2019.pdf on the NAS: nothing was found by "
            "`find /volume1 -maxdepth 4 -iname 'contract-2019*.pdf'`. Deeper folders were not "
            "searched, and /volume1/private gave Permission denied. Partially completed.",
            "files": ["/volume1"],
        },
    },
    BACKUP: {
        "experiences": [
            {
                "task": "How do I set up a nightly restic backup over SFTP?",
                "solution": "`restic -r sftp:vault2:/backup/photos init`, then "
                "`restic -r sftp:vault2:/backup/photos backup /srv/photos`, then "
                "`systemctl enable --now photos-backup.timer`.",
                "boundary_envs": "restic: 0.16.4\nhost: vault2",
            }
        ],
        "fact": {
            "subject": "photos-backup.timer",
            "statement": "The nightly backup of photos was set up and a first snapshot taken. "
            "Completed.\nsource: /srv/photos\ntarget host: vault2\nkeep: 14 days\n"
            "times: UTC, done before 05:00\nfirst snapshot: 4bb20c11, 81204 files, 212.4 GiB",
            "files": ["/srv/photos"],
        },
    },
    PRINTER: {
        "experiences": [],
        "fact": {
            "subject": "switch1",
            "statement": "The printer was to be moved to the new VLAN; nothing was changed. Blocked: "
            "`ssh admin@switch1 show vlan` timed out at port 22, and the VLAN id is open.",
        },
    },
    PUMP: {
        "experiences": [],
        "fact": {
            "statement": "Givens of the pump model; no measurement yet, awaiting verification.\n"
            "rho = 998 kg/m3\ng = 9.81\nh: from the sump floor\nflow: l/s\nefficiency > 0.62\n"
            "start: curve B"
        },
    },
    TALK: {"experiences": []},
}


def rows_of(dialogue: Dialogue) -> list[Row]:
    """Return a dialogue as the rows of its segment."""
    found: list[Row] = []
    for at, row in enumerate(dialogue.rows):
        if isinstance(calls := row.get("tool_calls"), list):
            function = calls[0]["function"]
            found.append(
                Row(f"r{at}", "tool_call", "", function["name"], function["arguments"], None)
            )
        elif row["role"] == "tool":
            call = found.pop()
            given = str(row["content"])
            found.append(Row(call.id, call.kind, "", call.tool, call.arguments, given))
        else:
            found.append(Row(f"r{at}", str(row["role"]), str(row["content"])))
    return found


def _extracted(dialogue: Dialogue, answer: Mapping[str, Any]) -> Extracted:
    found = checked(parsing.read(answer), rows_of(dialogue))
    doubtful = [one for one in found.verified if not one]
    unverified = len(doubtful) + (found.fact is not None and not found.fact_verified)
    return Extracted(found.experiences, found.fact, unverified)


def _faults(name: str, answer: Mapping[str, Any]) -> list[str]:
    return list(faults(NAMED[name], _extracted(NAMED[name], answer)))


@pytest.mark.parametrize("name", NAMED)
def test_a_good_answer_passes_and_loses_nothing_to_the_check(name: str) -> None:
    assert _faults(name, GOOD[name]) == []
    found = checked(parsing.read(GOOD[name]), rows_of(NAMED[name]))
    assert found.missing == ()


@pytest.mark.parametrize("name", [each for each in NAMED if each != TALK])
def test_no_answer_is_no_good_answer(name: str) -> None:
    assert "no fact" in _faults(name, {"experiences": []})


def _with(name: str, **fact: object) -> Mapping[str, Any]:
    return {**GOOD[name], "fact": {**GOOD[name]["fact"], **fact}}


@pytest.mark.parametrize(
    ("name", "answer", "fault"),
    [
        (
            CART,
            _with(CART, statement="The user had a wrong total. Completed."),
            "'the user' is said",
        ),
        (CART, _with(CART, subject="pytest"), "the subject is 'pytest'"),
        (
            CART,
            _with(CART, statement=str(GOOD[CART]["fact"]["statement"]).replace("-rounding", "")),
            "'fix/cart-rounding' is not stated",
        ),
        (
            VAT,
            _with(VAT, statement="KeyError 'vat' in src/export/rows.py: tests passed."),
            "passed",
        ),
        (
            PDF,
            _with(PDF, statement="contract-2019.pdf does not exist."),
            "'does not exist' is said",
        ),
        (BACKUP, _with(BACKUP, statement="Backup of /srv/photos to vault2. Done."), "'14'"),
        (BACKUP, _with(BACKUP, statement="x " * 700), "1399 characters"),
        (PRINTER, {**GOOD[PRINTER], "experiences": GOOD[CART]["experiences"]}, "1 experiences"),
        (PUMP, _with(PUMP, statement="rho = 998, g = 9.80"), "unverified"),
        (TALK, GOOD[PRINTER], "a fact"),
        (
            CSV,
            {**GOOD[CSV], "experiences": [{"task": "这个乱码", "solution": "BOM"}]},
            "points elsewhere",
        ),
    ],
)
def test_a_flawed_answer_does_not_pass(name: str, answer: Mapping[str, Any], fault: str) -> None:
    assert fault in "; ".join(_faults(name, answer))


def test_the_scenes_and_languages_of_the_dialogues_are_seen_without_a_model() -> None:
    for each in DIALOGUES:
        rows = rows_of(each)
        assert chosen("", {"scene": each.scene}, rows) == each.scene
        assert chinese(rows) == (each.name == CSV)
    assert facts_only(rows_of(NAMED[PUMP]))
    assert not facts_only(rows_of(NAMED[TALK]))
