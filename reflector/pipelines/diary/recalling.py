"""What of a diary comes to mind at what a person says: local, without a model."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from heapq import nlargest

from reflector.core.days import since
from reflector.core.diary import Entry
from reflector.core.tokens import terms
from reflector.pipelines.diary.constants import DEFAULTS, Constants
from reflector.pipelines.diary.decay import salience
from reflector.pipelines.diary.telling import telling

_FEW_TERMS = 64


@dataclass(frozen=True, slots=True)
class Recalled:
    """An entry that comes to mind. The numbers are for the local log alone, never shown."""

    entry: Entry
    similarity: float
    score: float


class Index:
    """The entries by the terms they hold; one is added, replaced and removed at a time."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Index the entries."""
        self._slots: dict[str, int] = {}
        self._entries: list[Entry | None] = []
        self._postings: dict[str, array[int]] = {}
        # A query of one wide character asks for every term that begins with it.
        self._beginning: dict[str, list[str]] = {}
        for entry in entries:
            self.add(entry)

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._slots)

    def add(self, entry: Entry) -> None:
        """Add an entry, or put it in the place of the one with its id."""
        if (old := self._slots.get(entry.id)) is not None:
            if self._entries[old] == entry:
                return
            self.remove(entry.id)
        slot = len(self._entries)
        self._entries.append(entry)
        self._slots[entry.id] = slot
        for term in _terms_of(entry):
            if (slots := self._postings.get(term)) is None:
                slots = self._postings[term] = array("I")
                if not term[0].isascii():
                    self._beginning.setdefault(term[0], []).append(term)
            slots.append(slot)

    def remove(self, entry_id: str) -> None:
        """Take an entry out; one that is not there is no error."""
        slot = self._slots.pop(entry_id, None)
        if slot is None or (entry := self._entries[slot]) is None:
            return
        self._entries[slot] = None
        for term in _terms_of(entry):
            self._postings[term].remove(slot)

    def similar(self, query: str, constants: Constants = DEFAULTS) -> list[tuple[Entry, float]]:
        """Return the entries that are similar enough to matter at all, with their similarity.

        Of a very long query only the rarest terms count; that bounds the time, and whoever pastes
        a page does not ask about every word of it.
        """
        gains = self._gains(query)
        sums = array("d", bytes(8 * len(self._entries)))
        for gain, slots in gains:
            for slot in slots:
                sums[slot] += gain
        # 1 - exp(-x) is monotone, so the threshold can be put to the sums.
        least = (
            -math.log1p(-min(constants.least_similarity, constants.always)) * constants.gain_scale
        )
        found = []
        for slot, gain in enumerate(sums):
            if gain >= least and (entry := self._entries[slot]) is not None:
                found.append((entry, -math.expm1(-gain / constants.gain_scale)))
        return found

    def _gains(self, query: str) -> list[tuple[float, Iterable[int]]]:
        held = filter(None, map(self._holding, telling(query)))
        found = [(self._idf(len(slots)), slots) for slots in held]
        return nlargest(_FEW_TERMS, found, key=lambda one: one[0])

    def _holding(self, term: str) -> Collection[int]:
        if not term.endswith("*"):
            return self._postings.get(term, ())
        beginning = self._beginning.get(term[0], ())
        return {slot for each in beginning for slot in self._postings[each]}

    def _idf(self, holding: int) -> float:
        return math.log(1 + (len(self) - holding + 0.5) / (holding + 0.5))


def recall(
    entries: Index | Iterable[Entry],
    query: str,
    now_day: date,
    mentioned: Mapping[str, int],
    recent_ids: Collection[str],
    draw: Callable[[], float],
    constants: Constants = DEFAULTS,
) -> tuple[Recalled, ...]:
    """Return what comes to mind, at most `constants.most`, the strongest first.

    `mentioned` tells how many turns ago an entry came up, `recent_ids` what is shown anyway, `draw`
    returns a number from 0 up to 1 from a seeded source. Call it once per turn.
    """
    index = entries if isinstance(entries, Index) else Index(entries)
    left_out = {
        *recent_ids,
        *(each for each, ago in mentioned.items() if ago <= constants.quiet_turns),
    }
    certain: list[Recalled] = []
    possible: list[Recalled] = []
    for entry, similarity in index.similar(query, constants):
        if entry.id in left_out or _too_private(entry, similarity, constants):
            continue
        now = salience(entry, now_day)
        score = _score(entry, similarity, now, now_day, mentioned.get(entry.id), constants)
        if similarity > constants.always:
            certain.append(Recalled(entry, similarity, score))
        elif similarity >= constants.least_similarity and now >= constants.least_salience:
            possible.append(Recalled(entry, similarity, score))
    chosen = nlargest(constants.most, certain, key=_rank)
    possible.sort(key=_rank, reverse=True)
    while possible and len(chosen) < constants.most:
        chosen.append(possible.pop(_drawn(possible, draw(), constants.temperature)))
    return tuple(chosen)


def _terms_of(entry: Entry) -> set[str]:
    return {*terms(entry.text), *terms(" ".join(entry.tags))}


def _too_private(entry: Entry, similarity: float, constants: Constants) -> bool:
    return entry.kind in constants.factual and similarity < constants.least_factual


def _score(
    entry: Entry, similarity: float, now: float, today: date, ago: int | None, constants: Constants
) -> float:
    freshness = math.exp(-(since(entry.date, today) or 0) / constants.fresh_days)
    return (
        constants.similarity * similarity
        + constants.salience * now
        + constants.freshness * freshness
        - constants.mentioned * _recently_mentioned(ago, constants)
    )


def _recently_mentioned(ago: int | None, constants: Constants) -> float:
    """Return 1 for what came up just now, falling to 0 over the turns in which it fades."""
    if ago is None:
        return 0.0
    past = max(0, ago - constants.quiet_turns)
    return max(0.0, 1.0 - past / max(1, constants.fading_turns))


def _rank(one: Recalled) -> tuple[float, str]:
    return one.score, one.entry.id


def _drawn(possible: list[Recalled], chance: float, temperature: float) -> int:
    """Draw by softmax: likelier the higher the score, and any of them possible."""
    top = max(one.score for one in possible)
    weights = [math.exp((one.score - top) / temperature) for one in possible]
    left = chance * sum(weights)
    for at, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return at
    return len(possible) - 1
