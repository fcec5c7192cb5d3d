"""What runs changed, for the person who watched them: paths, new lines, the last report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from reflector.core.run import Outcome, Run
from reflector.runtime.supervisor import read_result
from reflector.runtime.wiring import Context
from reflector.vcs.reads import Reads

ChangeKind = Literal["added", "modified", "deleted"]
_SHOWN = (Outcome.MERGED, Outcome.DRY_RUN)


@dataclass(frozen=True, slots=True)
class Changed:
    """One path that runs changed."""

    path: str
    change: ChangeKind

    def as_json(self) -> dict[str, str]:
        """Return the machine form."""
        return {"path": self.path, "change": self.change}


@dataclass(frozen=True, slots=True)
class Learned:
    """The changes of all runs together, the lines they added by path, and the last report.

    `runs` are those that it tells of: the merged and the dry ones, or, when there are none, those
    that wait for a person.
    """

    runs: tuple[Run, ...] = ()
    changes: tuple[Changed, ...] = ()
    added: dict[str, tuple[str, ...]] = field(default_factory=dict)
    report: str = ""


def learned(context: Context, runs: Sequence[Run]) -> Learned:
    """Collect what runs brought, judged by git."""
    kinds: dict[str, ChangeKind] = {}
    added: dict[str, list[str]] = {}
    with Reads(context.agent.repo) as reads:
        told = [run for run in runs if run.outcome in _SHOWN]
        told = told or [run for run in runs if run.outcome is Outcome.AWAITING_REVIEW]
        for run in told:
            if not run.base or not run.tip:
                continue
            for path in reads.changed(run.base, run.tip):
                old, new = reads.file(run.base, path), reads.file(run.tip, path)
                kinds.setdefault(path, _kind(old, new))
                added.setdefault(path, []).extend(_new_lines(old, new))
    result = read_result(context.agent.run(runs[-1].id)) if runs else None
    return Learned(
        runs=tuple(told),
        changes=tuple(Changed(path, kind) for path, kind in sorted(kinds.items())),
        added={path: tuple(lines) for path, lines in added.items() if lines},
        report=str(result["finish"]["report"]) if result else "",
    )


def _kind(old: bytes | None, new: bytes | None) -> ChangeKind:
    if old is None:
        return "added"
    return "modified" if new is not None else "deleted"


def _new_lines(old: bytes | None, new: bytes | None) -> list[str]:
    known = set((old or b"").decode("utf-8", "replace").split("\n"))
    lines = (new or b"").decode("utf-8", "replace").split("\n")
    return [line for line in lines if line.startswith("- ") and line not in known]
