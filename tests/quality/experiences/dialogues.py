"""A few pieces of work, and what a good extraction makes of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Row = Mapping[str, object]


@dataclass(frozen=True)
class Dialogue:
    """What was said and done, and what must and must not stand in what is extracted of it.

    `experiences` are the fewest and the most; `solves` are words of which each must stand in one
    of them, `states` words that the fact must hold, `never` what must stand nowhere. `ends` are the
    ways in which the fact may end. `subjects` are the ones that fit (none: whatever it is).
    """

    name: str
    rows: Sequence[Row]
    scene: str
    experiences: tuple[int, int] = (1, 2)
    solves: Sequence[str] = ()
    states: Sequence[str] = ()
    never: Sequence[str] = ()
    ends: Sequence[str] = ()
    subjects: Sequence[str] = ()
    fact: bool = True
    plain: bool = False


def said(text: str) -> list[Row]:
    """Return what the user said."""
    return [{"role": "user", "content": text}]


def answered(text: str) -> list[Row]:
    """Return what the assistant said."""
    return [{"role": "assistant", "content": text}]


def did(tool: str, result: str, **arguments: str) -> list[Row]:
    """Return a call of a tool and what it gave back; the caller numbers them."""
    call = {"function": {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": result},
    ]


CHECKED = ("passing", "passed", "pass")
COMPLETED = ("completed",)
UNVERIFIED = ("not run", "awaiting verification", "unverified", "not verified", "not tested")

DIALOGUES = (
    Dialogue(
        "a fix on a branch, a dropped variant, tests passing",
        [
            *said(
                "On branch fix/cart-rounding the cart total is off by one cent: "
                "`AssertionError: 10.03 != 10.02` in tests/test_cart.py."
            ),
            *did("Read", "def total(lines):\n    return sum(l.price * l.n for l in lines)\n",
                 file_path="src/shop/cart.py"),
            *answered("I could round at the end with `round(x, 2)`, or sum in integer cents."),
            *said("No, not rounding. Sum in cents."),
            *did("Edit", "The file src/shop/cart.py has been updated.", file_path="src/shop/cart.py",
                 old_string="sum(l.price * l.n for l in lines)",
                 new_string="Decimal(sum(int(l.price * 100) * l.n for l in lines)) / 100"),
            *did("Bash", "12 passed in 0.31s", command="pytest -q tests/test_cart.py"),
            *answered("The total is summed in cents now; all 12 tests pass."),
        ],
        "coding",
        solves=("cent",),
        states=("fix/cart-rounding", "src/shop/cart.py", "10.03 != 10.02", "cents"),
        never=("the user", "session was completed"),
        ends=COMPLETED,
        subjects=("src/shop/cart.py", "cart.py", "total", "cart", "src/shop/cart.py total"),
    ),
    Dialogue(
        "a fix that nobody verified",
        [
            *said("The nightly export crashes with `KeyError: 'vat'` in src/export/rows.py."),
            *did("Read", "row['vat']\n", file_path="src/export/rows.py"),
            *did("Edit", "The file src/export/rows.py has been updated.",
                 file_path="src/export/rows.py",
                 old_string="row['vat']", new_string="row.get('vat', 0)"),
            *answered("`row.get('vat', 0)` should fix it. I could not run the tests: no database."),
        ],
        "coding",
        experiences=(0, 1),
        states=("src/export/rows.py", "KeyError", "vat"),
        never=("tests run and passing", "passed", "root cause is"),
        ends=("awaiting verification", "partially completed", "completed"),
    ),
    Dialogue(
        "在分支上修改，换回旧方案",
        [
            *said("feature/导出-csv 分支上的 src/export/csv.py 打开后是乱码，先用 utf-8-sig 试试。"),
            *did("Edit", "已更新", file_path="src/export/csv.py", old_string='encoding="utf-8"',
                 new_string='encoding="utf-8-sig"'),
            *said("算了，换回 utf-8，只在写 Excel 的那个入口 write_excel() 里加 BOM。"),
            *did("Edit", "已更新", file_path="src/export/csv.py",
                 old_string='encoding="utf-8-sig"', new_string='encoding="utf-8"'),
            *did("Edit", "已更新", file_path="src/export/excel.py",
                 old_string="def write_excel(rows):",
                 new_string='def write_excel(rows):\n    out.write("\\ufeff")'),
            *did("Bash", "5 passed in 0.20s", command="pytest -q tests/export"),
            *answered("已换回 utf-8，只有 write_excel() 写 BOM，测试通过。"),
        ],
        "coding",
        solves=("BOM",),
        states=("feature/导出-csv", "write_excel", "BOM"),
        never=("用户", "the user"),
        ends=("已完成",),
    ),
    Dialogue(
        "a search that found nothing, and could not look everywhere",
        [
            *said("Is there any copy of contract-2019.pdf left on the NAS?"),
            *did(
                "Bash",
                "find: '/volume1/private': Permission denied\n",
                command="find /volume1 -maxdepth 4 -iname 'contract-2019*.pdf'",
            ),
            *answered("Nothing found down to depth 4; /volume1/private could not be read."),
        ],
        "working",
        experiences=(0, 1),
        states=("/volume1", "contract-2019", "ermission"),
        never=("does not exist", "no copy exists"),
        subjects=("contract-2019.pdf",),
    ),
    Dialogue(
        "a backup with its givens",
        [
            *said(
                "Set up the nightly backup. Source is /srv/photos, target host vault2, keep 14 days, "
                "times are UTC, it has to be done before 05:00."
            ),
            *did("Bash", "restic 0.16.4 compiled with go1.21.6", command="restic version"),
            *did(
                "Bash",
                "created restic repository 7f3c1a at sftp:vault2:/backup/photos",
                command="restic -r sftp:vault2:/backup/photos init",
            ),
            *did(
                "Bash",
                "snapshot 4bb20c11 saved, 81204 files, 212.4 GiB in 38:10",
                command="restic -r sftp:vault2:/backup/photos backup /srv/photos",
            ),
            *did("Bash", "", command="systemctl enable --now photos-backup.timer"),
            *answered("The first snapshot is 4bb20c11; the timer runs every night at 03:30 UTC."),
        ],
        "working",
        solves=("restic",),
        states=("/srv/photos", "vault2", "14", "UTC", "05:00", "4bb20c11"),
        ends=COMPLETED,
    ),
    Dialogue(
        "blocked before anything was done",
        [
            *said("Please move the printer to the new VLAN."),
            *answered("Which VLAN id is it, and may I log in to the switch?"),
            *did("Bash", "ssh: connect to host switch1 port 22: Connection timed out",
                 command="ssh admin@switch1 show vlan"),
            *answered("I cannot reach switch1, and I need the VLAN id. Please tell me both."),
        ],
        "working",
        experiences=(0, 0),
        states=("switch1", "timed out"),
        ends=("blocked",),
    ),
    Dialogue(
        "givens alone, without a tool",
        [
            *said(
                "For the pump model: rho = 998 kg/m3, g = 9.81, head h counts from the sump floor, "
                "flow in l/s, and efficiency must stay above 0.62. We start from curve B."
            ),
            *answered("Noted: I will use these when you send the measurements."),
        ],
        "working",
        experiences=(0, 0),
        states=("998", "9.81", "0.62", "curve B", "sump"),
    ),
    Dialogue(
        "small talk",
        [*said("good morning! how are you?"), *answered("Good morning! Ready when you are.")],
        "chat",
        experiences=(0, 0),
        fact=False,
    ),
)  # fmt: skip
