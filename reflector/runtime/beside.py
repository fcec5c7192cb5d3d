"""What a prompt recalls, as a hook shows it beside the prompt: little, once, and only if it fits."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import log, sqrt
from pathlib import Path

from reflector.core.chatter import chatter
from reflector.core.errors import HomeError
from reflector.core.matching import excerpt, without_repeat
from reflector.core.tokens import asked, satisfied, terms
from reflector.memory.beside import Group, Piece, compose, mark_of
from reflector.memory.entries import plain, recalled
from reflector.runtime import block_place, searched
from reflector.runtime.banks import bank_of
from reflector.runtime.wiring import Context
from reflector.store import recall_memory
from reflector.store.disk import read_regular
from reflector.store.recall import Connection
from reflector.store.recall_memory import Only
from reflector.store.recall_order import Hit
from reflector.vcs.tip import main_commit

MOST_ITEMS = 3
MOST_MARKS = 60
"""So many pieces a session is shown, until it is compacted (F115)."""
LONGEST = 8000
"""Characters of a prompt that are looked at."""

_CANDIDATES = 8
_LEAST = 1.5
_BY_CHANCE = 0.4
_OF_BEST = 0.5
# A document must hold more of a prompt than one rare word, more than so many words share by chance,
# and half of what the best one holds. Of 84 real prompts of other projects these floors let 6 recall
# one of the benchmark's documents (without the second 27), and of 92 queries of its open half, each
# below such a prompt, 76 recall their answer (80).
_BLOCK_BYTES = 1 << 20
# What a harness sends as a prompt and nobody typed, commands, and what is not to be recorded.
_NO_QUESTION = ("/", "<", "!", "#norecord")


@dataclass(frozen=True, slots=True)
class Ask:
    """A prompt, where it was typed, and the marks of what its session was shown already."""

    context: Context
    session: str
    cwd: Path | None
    text: str
    already: Collection[str]


@dataclass(frozen=True, slots=True)
class Shown:
    """The text to show, "" for none; the marks of what is in it, and the paths of its documents."""

    text: str = ""
    marks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def shown(
    context: Context, session: str, cwd: Path | None, text: str, already: Collection[str]
) -> Shown:
    """Return what is shown beside a prompt; nothing for small talk and while it is switched off.

    At most `MOST_ITEMS` documents and `MOST_CHARS` characters, nothing that the session was shown
    already, as part of its block or by an earlier prompt.
    """
    if not context.settings.flag("recall.inject") or len(already) >= MOST_MARKS:
        return Shown()
    typed = text[:LONGEST].strip()
    if not typed or typed.lower().startswith(_NO_QUESTION):
        return Shown()
    ask = Ask(context, session, cwd, typed, already)
    revision = (main_commit(context.agent.repo) or "none")[:12]
    done = compose(context.agent.slug, revision, sections(ask), already)
    paths = (piece.path for piece in done.pieces if piece.path)
    return Shown(done.text, tuple(piece.mark for piece in done.pieces), tuple(paths))


def sections(ask: Ask) -> tuple[Group, ...]:
    """Return what each source has to say about a prompt, in the order in which it is shown."""
    return (_recalled(ask), *_diary(ask))


def _diary(ask: Ask) -> tuple[Group, ...]:
    if not ask.context.settings.flag("diary.enabled"):
        return ()
    from reflector.runtime.diary.beside import group  # noqa: PLC0415 - most keep no diary

    return (group(ask.context, ask.session, ask.text),)


def strength(hit: Hit, weights: Mapping[str, float]) -> float:
    """Return how much of a prompt a document holds: 1 for a word that no other document has.

    The sum over the prompt's words that stand in its path, description or passage; small talk is
    no such word, and one that many documents hold is worth little.
    """
    text = f"{hit.path.removesuffix('.md')}\n{hit.about}\n{hit.passage.heading}\n{hit.passage.text}"
    found = set(terms(text))
    return sum(weight for term, weight in weights.items() if satisfied(term, found))


def floor(strengths: Collection[float], size: int) -> float:
    """Return the strength from which documents are shown beside a prompt of so many terms."""
    return max(_LEAST, _BY_CHANCE * sqrt(size), _OF_BEST * max(strengths, default=0))


def telling(text: str) -> dict[str, str]:
    """Return the terms of a prompt that are no small talk, each with its word there."""
    return {term: word for term, word in asked(text).items() if term not in chatter()}


def weighed(total: int, counts: Mapping[str, int]) -> dict[str, float]:
    """Weigh each term by how few of all passages have it, from 0 to 1."""
    most = log(1 + max(total, 1))
    return {term: log(1 + total / max(count, 1)) / most for term, count in counts.items()}


def _recalled(ask: Ask) -> Group:
    wanted = telling(ask.text)
    only = Only(bank=bank_of(ask.cwd), outside="system/")

    def find(index: Connection) -> tuple[dict[str, float], list[Hit], dict[str, str]]:
        chosen = recall_memory.telling(index, wanted)
        total, counts = recall_memory.counted(index, chosen)
        return weighed(total, counts), recall_memory.find(index, chosen, only, _CANDIDATES), chosen

    weights, hits, chosen = searched.ask(
        ask.context, searched.memory(ask.context, lambda _: None), find
    )
    valued = [(strength(hit, weights), hit) for hit in hits]
    least = floor([value for value, _ in valued], len(wanted))
    pieces = [_piece(hit, chosen) for value, hit in valued if value >= least]
    fresh = [(piece, text) for piece, text in pieces if piece.mark not in ask.already]
    block = _block(ask) if fresh else ""
    return Group("recalled", [piece for piece, text in fresh if text not in block][:MOST_ITEMS])


def _piece(hit: Hit, chosen: dict[str, str]) -> tuple[Piece, str]:
    """Return a document as one line, and the words of it that a block could hold as well."""
    text = excerpt(hit.passage.text, chosen) or hit.about
    about = without_repeat(hit.about.partition("\n")[0], text)
    (line,) = recalled(hit.path, about, text).lines
    mark = mark_of(hit.path, hit.about, hit.passage.heading, hit.passage.text)
    return Piece(line, mark, hit.path), " ".join(plain(text).strip("…").split())


def _block(ask: Ask) -> str:
    """Return the block that the session began with, its words one blank apart; "" if it had none."""
    for start in (ask.cwd, None):
        place = block_place.place(ask.context, start)
        try:
            raw = read_regular(place, _BLOCK_BYTES) or b""
        except (HomeError, OSError, ValueError):
            continue
        head, _, block = raw.partition(b"\n\n")
        if start is None or b"\ncwd " + os.fsencode(start) + b"\n" in head:
            return " ".join(block.decode("utf-8", "replace").split())
    return ""
