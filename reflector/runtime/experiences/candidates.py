"""What the memory holds that a draft may be about: few, of its project, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reflector.core.comparing import folded
from reflector.core.ellipsis import shortened
from reflector.core.tokens import asked, satisfied, terms
from reflector.memory.experiences.form import Stored, render
from reflector.memory.experiences.kept import kept_in
from reflector.memory.indexed import Indexed, indexed
from reflector.memory.tree import Tree
from reflector.pipelines.experiences.drafts import Draft
from reflector.pipelines.experiences.reconciling import Candidate, Offered
from reflector.store.recall import Connection
from reflector.store.recall_memory import Only, find, telling
from reflector.store.scratch import scratch

MOST_EXPERIENCES = 3
MOST_FACTS = 5
FLOOR = 0.3
"""The share of a task's terms that a candidate must have.

Of the first three hits of the recall benchmark's open half it keeps 95 % of the right ones and 24 %
of the others (0.4: 92 % and 9 %). One too many costs some lines of a prompt, one too few a twin.
BM25 itself gives no floor: what it is worth depends on how many documents there are.
"""
_LONGEST = 1200


def candidates(tree: Tree, project: str, drafts: Sequence[Draft]) -> Offered:
    """Return what may be offered for each draft, by its key; active items of its project only.

    What a person protected is not among them: a run that changed it would be refused as a whole.
    For a fact these are the facts of its subject, for none other may it replace.
    """
    known = kept_in(tree).known.values()
    living = [
        item
        for item in known
        if item.status == "active" and item.project == project and not item.read_only
    ]
    facts = {draft.key: _same_subject(draft, living) for draft in drafts if draft.layer == "fact"}
    return facts | _alike([one for one in drafts if one.layer == "experience"], living)


def _same_subject(draft: Draft, living: Sequence[Stored]) -> list[Candidate]:
    subject = folded(draft.title)
    same = [one for one in living if one.layer == "fact" and subject == folded(one.title)]
    newest = sorted(same, key=lambda one: (one.created, one.id), reverse=True)
    return [_candidate(one) for one in newest[:MOST_FACTS]] if subject else []


def _alike(drafts: Sequence[Draft], living: Sequence[Stored]) -> dict[str, list[Candidate]]:
    held = {one.path: one for one in living if one.layer == "experience"}
    if not (drafts and held):
        return {draft.key: [] for draft in drafts}
    with scratch(_searched(held)) as index:
        return {draft.key: _found(index, draft, held) for draft in drafts}


def _searched(held: Mapping[str, Stored]) -> Iterator[tuple[Indexed, str]]:
    for path, item in held.items():
        if found := indexed(path, render(item)):
            yield found, item.updated or item.created


def _found(index: Connection, draft: Draft, held: Mapping[str, Stored]) -> list[Candidate]:
    questions = (draft.title, *draft.search_keys)
    wanted = asked("\n".join(questions))
    project = next(iter(held.values())).project
    only = Only(bank=project, bound=True)
    hits = find(index, telling(index, wanted), only, MOST_EXPERIENCES)
    return [
        _candidate(item)
        for item in (held[hit.path] for hit in hits)
        if max(_share(question, item) for question in questions) >= FLOOR
    ]


def _share(question: str, item: Stored) -> float:
    """Return which share of a question's terms an item has."""
    wanted = asked(question)
    present = set(terms("\n".join((item.title, *item.search_keys, item.body))))
    return sum(satisfied(term, present) for term in wanted) / max(len(wanted), 1)


def _candidate(item: Stored) -> Candidate:
    return Candidate(item.id, item.layer, item.title, shortened(item.body, _LONGEST), item.verified)
