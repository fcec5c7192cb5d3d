"""What was decided about drafts as documents: all of it one change, both sides of every replacement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reflector.agent.engine import Update
from reflector.core.comparing import folded
from reflector.core.experience import MOST_KEYS
from reflector.core.redact import redact_record
from reflector.core.visible import visible
from reflector.memory.experiences.chains import mended, superseding
from reflector.memory.experiences.form import Stored, path_for, render
from reflector.pipelines.experiences.drafts import Draft
from reflector.pipelines.experiences.reconciling import Action, Choice, Decided

REPLACED = "superseded by"
"""How what a commit says of an item begins that something else took the place of."""
MOST_FILES = 100
MOST_EVIDENCE = 60
"""A run may write one megabyte: lists that grow with every confirmation keep their newest."""


@dataclass(frozen=True, slots=True)
class Host:
    """What comes from the host and never from a model.

    `new_id` mints 8 hexadecimal digits, `project` is the key of a bank ("" for none), `now` an
    instant, `files` are all paths in the segment's tool calls and patches.
    """

    new_id: Callable[[], str]
    project: str
    branch: str
    now: str
    source: str = "auto"
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """New contents by path, what the commit says of them, and how often what was done."""

    files: Mapping[str, bytes | None]
    updates: tuple[Update, ...]
    counts: Mapping[str, int]


def edits(
    decided: Decided, drafts: Sequence[Draft], known: Mapping[str, Stored], host: Host
) -> Edits:
    """Carry out what was decided, in one change.

    A target that is gone or was replaced meanwhile is none: then the draft is added. A draft that
    is known already leaves its evidence there: that it came up again is worth something.
    """
    work = _Work(dict(known), host)
    choices = {choice.draft: choice for choice in decided.choices}
    for draft in drafts:
        work.carry_out(_cleaned(draft), choices.get(draft.key, Choice(draft.key)))
    changed = [mended(work.items, work.items[which]) for which in work.touched]
    files = {item.path: render(item) for item in changed}
    return Edits(files, tuple(work.updates), work.counts)


@dataclass(slots=True)
class _Work:
    items: dict[str, Stored]
    host: Host
    touched: dict[str, None] = field(default_factory=dict)
    updates: list[Update] = field(default_factory=list)
    counts: dict[str, int] = field(
        default_factory=lambda: {"added": 0, "updated": 0, "skipped": 0, "superseded": 0}
    )

    def carry_out(self, draft: Draft, choice: Choice) -> None:
        targets = [one for one in map(self.items.get, choice.targets) if one is not None]
        living = [one for one in targets if one.status == "active" and one.layer == draft.layer]
        if choice.action is Action.UPDATE and living:
            self._keep("updated", _improved(living[0], draft, self.host), draft, "better known")
        elif choice.action is Action.SKIP and living:
            self._keep("skipped", _confirmed(living[0], draft, self.host), draft, "confirmed")
        elif choice.action is Action.ADD and (same := self._same(draft)):
            # Read once more, it is said in the same words: a model that adds it makes a twin.
            self._keep("skipped", _confirmed(same, draft, self.host), draft, "confirmed")
        else:
            replaced = [one.id for one in living] if choice.action is Action.SUPERSEDE else []
            self._add(draft, replaced)

    def _same(self, draft: Draft) -> Stored | None:
        """Return what says the same word for word; of a fact also from the same entries.

        That a fact still holds another day is a fact of that day.
        """
        said = folded(draft.title), draft.text.split()  # -f and -F are two things
        for item in self.items.values():
            alike = item.layer == draft.layer and item.project == self.host.project
            free = item.status == "active" and not item.read_only
            if alike and free and (folded(item.title), item.body.split()) == said:
                again = set(draft.evidence) <= set(item.evidence)
                if draft.layer == "experience" or (draft.evidence and again):
                    return item
        return None

    def _add(self, draft: Draft, replaced: Sequence[str]) -> None:
        new, *old = superseding(self.items, self._new(draft), replaced)
        for item in (new, *old):
            self._put(item)
        self.counts["added"] += 1
        self.counts["superseded"] += len(old)
        self._say(new, new.about, draft.evidence)
        for item in old:
            self._say(item, f"{REPLACED} {new.path}", draft.evidence)

    def _keep(self, count: str, item: Stored, draft: Draft, what: str) -> None:
        self.counts[count] += 1
        if item != self.items[item.id]:
            self._put(item)
            self._say(item, f"{what}: {item.about}", draft.evidence)

    def _put(self, item: Stored) -> None:
        self.items[item.id] = item
        self.touched[item.id] = None

    def _say(self, item: Stored, text: str, evidence: tuple[str, ...]) -> None:
        self.updates.append(Update(f"{item.path}: {text}", evidence))

    def _new(self, draft: Draft) -> Stored:
        which = self.host.new_id()
        while which in self.items:
            which = self.host.new_id()
        files = draft.files if draft.layer == "fact" else self.host.files
        return Stored(
            draft.layer,
            which,
            path_for(draft.layer, draft.title or draft.text, which, self.host.now),
            draft.title,
            draft.text,
            self.host.now,
            project=self.host.project,
            branch=self.host.branch,
            confidence=draft.confidence,
            verified=draft.verified,
            boundary_envs=draft.boundary_envs,
            search_keys=draft.search_keys[:MOST_KEYS],
            evidence=draft.evidence[:MOST_EVIDENCE],
            files=files[:MOST_FILES],
            source=self.host.source,
            details=draft.details,
        )


def _improved(old: Stored, draft: Draft, host: Host) -> Stored:
    """Return an item with the better solution. It keeps its name, its chain and its first date."""
    keys = {folded(one): one for one in (*old.search_keys, draft.title, *draft.search_keys)}
    keys.pop(folded(old.title), None)
    files = tuple(dict.fromkeys((*old.files, *host.files, *draft.files)))[:MOST_FILES]
    return replace(
        _confirmed(old, draft, host),
        body=draft.text,
        updated=host.now,
        boundary_envs=draft.boundary_envs or old.boundary_envs,
        search_keys=tuple(keys.values())[:MOST_KEYS],
        confidence=max(old.confidence, draft.confidence),
        verified=draft.verified,
        files=files,
    )


def _confirmed(old: Stored, draft: Draft, host: Host) -> Stored:
    """Return an item that came up again: its evidence grows, and nothing when there is none."""
    evidence = tuple(dict.fromkeys((*old.evidence, *draft.evidence)))[-MOST_EVIDENCE:]
    return old if evidence == old.evidence else replace(old, evidence=evidence, updated=host.now)


def _cleaned(draft: Draft) -> Draft:
    """Take secrets out of all texts at once: one that stands in two of them goes from both."""
    texts = (draft.text, draft.title, draft.boundary_envs, draft.details)
    (text, title, envs, details, *more), _ = redact_record(
        (*texts, *draft.search_keys, *draft.files)
    )
    keys, files = more[: len(draft.search_keys)], more[len(draft.search_keys) :]
    return replace(
        draft,
        text=text,
        title=visible(title),
        boundary_envs=envs,
        details=details,
        search_keys=tuple(keys),
        files=tuple(files),
    )
