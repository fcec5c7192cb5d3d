"""Rules 6 and 7: nothing points to what went away; the page about itself stays short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reflector.core.errors import DocumentError
from reflector.memory.codes import finding, shown
from reflector.memory.document import links, parse
from reflector.memory.edit import MAX_FILE, Edit, lines
from reflector.memory.evidence_rules import SELF_AWARE
from reflector.memory.finding import Finding
from reflector.memory.skill_rules import replacements
from reflector.memory.tree import ARCHIVE, Leaf, tier

MAX_ENTRIES = 12

_ENTRY = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_TARGET = re.compile(r"\[\[([^\[\]|#\n]+)")
_LINK = re.compile(r"\[\[[^\[\]\n]*\]\]")


@dataclass(frozen=True, slots=True)
class Gone:
    """What a change took away: paths of files and folders, and the names of skills."""

    paths: frozenset[str]
    skills: frozenset[str]
    mention: re.Pattern[str]

    def led_to(self, target: str) -> bool:
        """Whether a link with this target led to something of it."""
        bare = target.strip().removeprefix("./").strip("/")
        return bare in self.paths or f"{bare}.md" in self.paths

    def linked_in(self, text: str) -> bool:
        """Whether a text seems to link to something of it; links in code count too."""
        return any(self.led_to(match.group(1)) for match in _TARGET.finditer(text))

    def pointed_to_in(self, text: str) -> bool:
        """Whether a text links to something of it, or names a skill of it."""
        return self.linked_in(text) or bool(self.skills and self.mention.search(text))


def pointers(edit: Edit) -> Iterator[Finding]:
    """Find what still points to a path that was moved or deleted, in any document.

    Other documents are read only when something went away. A person hears of it and may go on.
    """
    gone = went_away(edit)
    if not gone.paths:
        return
    by_person = edit.scope.writer == "person"
    for leaf in edit.after.leaves():
        if not leaf.regular or tier(leaf.path) is None:
            continue
        for code, line, target in _pointing(edit, leaf, gone):
            yield finding(
                "points_nowhere" if by_person else code, leaf.path, line, target=shown(target)
            )


def self_aware(edit: Edit) -> Iterator[Finding]:
    """Keep the page about itself to a dozen entries."""
    for change in edit.changes:
        if change.path != SELF_AWARE:
            continue
        entries = [
            number
            for number, line in enumerate(lines(edit.new(change)), start=1)
            if _ENTRY.match(line)
        ]
        if len(entries) > MAX_ENTRIES:
            line = entries[MAX_ENTRIES]
            yield finding("self_aware_full", SELF_AWARE, line, count=len(entries))


def went_away(edit: Edit) -> Gone:
    """Return what a change took away; what became a link is gone too."""
    paths = {
        change.path
        for change in edit.changes
        if change.before and change.before.regular and not (change.after and change.after.regular)
    }
    skills = {
        parts[1]
        for parts in (path.split("/") for path in paths)
        if parts[0] == "skills" and parts[2:] == ["SKILL.md"]
    }
    folders = {path[: match.start()] for path in paths for match in re.finditer("/", path)}
    paths |= {folder for folder in folders if not edit.after.paths_beside(f"{folder}/.")}
    names = "|".join(map(re.escape, sorted(skills)))
    mention = re.compile(rf"(?<![\w./-])skills/(?:{names})(?![\w-]|\.\w)")
    return Gone(frozenset(paths), frozenset(skills), mention)


def _pointing(edit: Edit, leaf: Leaf, gone: Gone) -> Iterator[tuple[str, int, str]]:
    """Yield code, line and target of everything in a file that points to what is gone."""
    reader = edit.after.reader
    if reader.size(leaf.oid) > MAX_FILE:
        return
    raw = reader.content(leaf.oid)
    # Most documents point to nothing of it: they are not taken apart.
    if leaf.path.endswith(".md") and gone.linked_in(raw.decode(errors="replace")):
        yield from _links(raw, gone)
    if gone.skills and leaf.path != ARCHIVE:
        yield from _mentions(raw, gone)
        if leaf.path.endswith("/SKILL.md") and b"replaced_by" in raw:
            yield from _replaced(raw, gone)


def _links(raw: bytes, gone: Gone) -> Iterator[tuple[str, int, str]]:
    try:
        document = parse("", raw)
        body, offset = document.body, document.header.count("\n")
    except DocumentError:
        body, offset = "\n".join(lines(raw)), 0
    for link in links(body):
        if gone.led_to(link.path):
            yield "link_broken", offset + link.line, link.path


def _mentions(raw: bytes, gone: Gone) -> Iterator[tuple[str, int, str]]:
    if b"skills/" not in raw:
        return
    for number, line in enumerate(lines(raw), start=1):
        # Links are rule 7's.
        for match in gone.mention.finditer(_LINK.sub("", line)):
            yield "skill_still_named", number, match.group()


def _replaced(raw: bytes, gone: Gone) -> Iterator[tuple[str, int, str]]:
    try:
        document = parse("", raw)
    except DocumentError:
        return
    for named in replacements(document):
        if named in gone.skills:
            yield "skill_still_named", document.fields["replaced_by"].line, named
