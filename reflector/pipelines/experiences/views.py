"""What a model is shown of a segment: every message, its single pieces shortened, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from reflector.core.entry import Kind
from reflector.core.quoting import barred
from reflector.memory.budget import estimate_tokens
from reflector.pipelines.experiences import shortening
from reflector.pipelines.experiences.rows import Row, is_call

CONTEXT_TURNS = 5
_RESULT_GONE = "[result left out]"
_SHORT_PART = 500


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How much a view lacks because it would not have fitted."""

    context: int = 0
    results: int = 0
    shortened: int = 0
    messages: int = 0

    def says(self) -> str:
        """Return it as one line, "" when nothing is missing."""
        told = (
            (self.context, "earlier messages"),
            (self.results, "tool results"),
            (self.messages, "messages of this segment, the oldest first"),
        )
        parts = [f"{count} {what} left out" for count, what in told if count]
        parts += [f"{self.shortened} messages shortened further"] if self.shortened else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class View:
    """A segment as text, and the turns before it; no line of either can be taken for one of ours."""

    text: str
    context: str = ""
    left_out: LeftOut = LeftOut()


def context(before: Sequence[Row]) -> list[Row]:
    """Return the last user turns before a segment: what both sides said, without tools."""
    turns = [at for at, one in enumerate(before) if one.kind == Kind.USER and one.text.strip()]
    start = turns[-CONTEXT_TURNS:][0] if turns else len(before)
    sides = (Kind.USER, Kind.ASSISTANT)
    return [one for one in before[start:] if one.kind in sides and one.text.strip()]


def view(rows: Sequence[Row], context_rows: Sequence[Row], budget_tokens: int) -> View:
    """Render a segment and its context within a budget; what does not fit is left out by rank.

    First earlier turns, then results of tools, then the middle of long texts, then whole
    messages, each the oldest first: how a thing ended is worth more than how it began.
    """
    fitting = _Fitting(_shown(rows), _shown(context_rows), budget_tokens)
    for step in (fitting.drop_context, fitting.drop_results, fitting.shorten, fitting.drop_rows):
        step()
    return fitting.view()


def _shown(rows: Sequence[Row]) -> list[Row]:
    """Return rows as they are shown. What a model only thought is nothing that happened."""
    return [_short(one) for one in rows if one.kind != Kind.REASONING]


def _short(one: Row) -> Row:
    if is_call(one):
        given = None if one.result is None else shortening.result(one.result)
        return replace(one, arguments=shortening.arguments(one.arguments), result=given)
    if one.kind == Kind.USER:
        return one
    return replace(one, text=shortening.said(one.text))


class _Fitting:
    """A view on its way to fit."""

    def __init__(self, rows: list[Row], before: list[Row], budget_tokens: int) -> None:
        self._rows = rows
        self._before = before
        self._costs = [_cost(one) for one in rows]
        self._before_costs = [_cost(one) for one in before]
        self._over = sum(self._costs) + sum(self._before_costs) - budget_tokens
        self._left = LeftOut()

    def drop_context(self) -> None:
        gone = 0
        while self._over > 0 and gone < len(self._before):
            self._over -= self._before_costs[gone]
            gone += 1
        self._before = self._before[gone:]
        self._left = replace(self._left, context=gone)

    def drop_results(self) -> None:
        emptied = self._changed(lambda one: replace(one, result=_RESULT_GONE), _has_result)
        self._left = replace(self._left, results=emptied)

    def shorten(self) -> None:
        def short(one: Row) -> Row:
            return replace(one, text=shortening.said(one.text, _SHORT_PART))

        shortened = self._changed(short, lambda one: len(one.text) > 3 * _SHORT_PART)
        self._left = replace(self._left, shortened=shortened)

    def drop_rows(self) -> None:
        """Drop whole messages; what the user said goes last, and the very last row stays."""
        last = len(self._rows) - 1
        theirs = [at for at, one in enumerate(self._rows) if one.kind == Kind.USER]
        others = [at for at, one in enumerate(self._rows) if one.kind != Kind.USER]
        gone: set[int] = set()
        for at in (*others, *theirs):
            if self._over <= 0:
                break
            if at != last:
                gone.add(at)
                self._over -= self._costs[at]
        self._rows = [one for at, one in enumerate(self._rows) if at not in gone]
        self._left = replace(self._left, messages=len(gone))

    def _changed(self, change: Callable[[Row], Row], wanted: Callable[[Row], bool]) -> int:
        """Change rows that it makes cheaper, the oldest first, until all fits; return how many."""
        count = 0
        for at, one in enumerate(self._rows):
            if self._over <= 0:
                break
            if wanted(one):
                changed = change(one)
                saved = self._costs[at] - _cost(changed)
                self._rows[at] = changed
                self._costs[at] -= saved
                self._over -= saved
                count += 1
        return count

    def view(self) -> View:
        return View(_text(self._rows), _text(self._before), self._left)


def _has_result(one: Row) -> bool:
    return len(one.result or "") > len(_RESULT_GONE)


def _cost(one: Row) -> int:
    return estimate_tokens(_text([one])) + 1


def _text(rows: Sequence[Row]) -> str:
    return "".join(f"{line}\n" for one in rows for line in _lines(one))


def _lines(one: Row) -> Iterator[str]:
    """Write one row: who it is behind its id, and whatever it holds behind a bar."""
    if is_call(one):
        yield f"[{one.id}] assistant calls"
        yield from barred(f"{one.tool}({one.arguments})")
        yield f"[{one.id}] tool result of"
        yield from barred(f"{one.tool}:")
        yield from barred("no result came" if one.result is None else one.result)
    else:
        yield f"[{one.id}] {one.kind}"
        yield from barred(one.text)
