"""Rule 6: a skill announces itself, lies where its name says and is whole; a run does one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from reflector.core.errors import DocumentError
from reflector.memory.codes import finding, shown
from reflector.memory.document import Document, parse
from reflector.memory.edit import MAX_FILE, Edit
from reflector.memory.finding import Finding
from reflector.memory.tree import COMPANIONS, Tree, tier

OPENING = "This skill should be used when"
MAX_WORDS = 3000
MAX_NAME = 64

_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
# Scripts that put no space between words: two of their characters count as one word.
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_COMPANION = re.compile(
    rf"(?<![\w./~$%-])(?:\./|skills/(?P<skill>[\w-]+)/)?"
    rf"(?P<path>(?:{'|'.join(COMPANIONS)})/(?=[\w.])[^\s`\"'<>()\[\]{{}}|*$,;:!?#]+)"
)
_PLACEHOLDER = tuple("<*{$[")
# What stands behind a path and belongs to a longer one; only ASCII, since others need no space.
_GOES_ON = re.compile(r"[A-Za-z0-9_/-]|\.[A-Za-z0-9]")
_NO_PARAGRAPH = re.compile(r"[-*+] |\d+[.)] |#|```|~~~|\||<")
_ALTERNATIVE = re.compile(
    r"\b(?:instead|use|replac\w+|supersed\w+|alternatives?|successor)\b|\[\[|skills/"
    "|改用|替代|取代|代替|使用|代わり|使って|대신|대체",
    re.IGNORECASE,
)
_MIN_REASON_WORDS = 6
# Who has read so many knows, and a text made of nothing else must not take long to judge.
_MOST_MISSING = 20


def form(edit: Edit) -> Iterator[Finding]:
    """Judge every skill of which anything changed."""
    skills = edit.after.folders("skills")
    for name in sorted(touched(edit)):
        if name in skills and (document := _skill(skills[name])):
            path = f"skills/{name}/SKILL.md"
            yield from _header(path, name, document)
            yield from _companions(path, name, document, skills)
            yield from _retired(edit, path, document)


def touched(edit: Edit) -> set[str]:
    """Return the names of the skills of which anything changed."""
    parts = (change.path.split("/") for change in edit.changes if tier(change.path) == "skills")
    return {each[1] for each in parts if len(each) > 2}


def words(text: str) -> int:
    """Count words; where no space divides them two characters count as one."""
    dense = len(_DENSE.findall(text))
    return len(_DENSE.sub(" ", text).split()) + (dense + 1) // 2


def replacements(document: Document) -> tuple[str, ...]:
    """Return what `replaced_by` names: skills or documents."""
    value = document.value("replaced_by")
    named = value if isinstance(value, list) else [value]
    return tuple(str(one).strip() for one in named if one not in (None, ""))


def _skill(folder: Tree) -> Document | None:
    """Read a skill; rule 3 and 4 have said what cannot be read."""
    leaf = folder.find("SKILL.md")
    if leaf is None or not leaf.regular or folder.reader.size(leaf.oid) > MAX_FILE:
        return None
    try:
        return parse("", folder.reader.content(leaf.oid))
    except DocumentError:
        return None


def _header(path: str, folder: str, document: Document) -> Iterator[Finding]:
    if not document.description.startswith(OPENING):
        yield finding("skill_description", path, document.fields["description"].line)
    name = document.fields.get("name")
    if not _KEBAB.match(folder) or len(folder) > MAX_NAME:
        yield finding("skill_folder", path, limit=MAX_NAME)
    elif name and isinstance(name.value, str) and name.value.strip() and name.value != folder:
        yield finding("skill_name", path, name.line, name=shown(name.value), folder=folder)
    count = words(document.body)
    if count > MAX_WORDS:
        yield finding("skill_too_long", path, count=count, limit=MAX_WORDS)


def _companions(
    path: str, name: str, document: Document, skills: Mapping[str, Tree]
) -> Iterator[Finding]:
    """Ask that every file of a skill that its text names is there."""
    known: dict[str, frozenset[str]] = {}
    missing: set[tuple[str, str]] = set()
    offset = document.header.count("\n")
    for number, line in enumerate(document.body.split("\n"), start=offset + 1):
        for match in _COMPANION.finditer(line):
            skill, named = match["skill"] or name, match["path"].rstrip("./")
            if "/" not in named or line.startswith(_PLACEHOLDER, match.end()):
                continue
            if (skill, named) in missing:
                continue
            if skill not in known:
                known[skill] = _paths(skills.get(skill))
            if named in known[skill] or _begins(line[match.start("path") :], known[skill]):
                continue
            missing.add((skill, named))
            if len(missing) > _MOST_MISSING:
                return
            yield finding("skill_path_missing", path, number, named=shown(match[0].rstrip("./")))


def _paths(folder: Tree | None) -> frozenset[str]:
    """Return every path below a skill, of folders too."""
    found: set[str] = set()
    for leaf in folder.leaves() if folder else ():
        parts = leaf.path.split("/")
        found |= {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
    return frozenset(found)


def _begins(text: str, known: frozenset[str]) -> bool:
    """Whether a text begins with a path that exists: names may hold spaces and any script."""
    return any(text.startswith(one) and not _GOES_ON.match(text, len(one)) for one in known)


def _retired(edit: Edit, path: str, document: Document) -> Iterator[Finding]:
    """Ask a deprecated skill for reason and alternative, and that what replaces it exists."""
    if str(document.value("deprecated")).lower() == "true":
        line, opening = _opening(document.body)
        if words(opening) < _MIN_REASON_WORDS or not _ALTERNATIVE.search(opening):
            yield finding("skill_deprecation", path, document.header.count("\n") + line)
    for named in replacements(document):
        if not any(_is_document(edit, one) for one in _places(named) if one != path):
            line = document.fields["replaced_by"].line
            yield finding("skill_replacement", path, line, named=shown(named))


def _opening(body: str) -> tuple[int, str]:
    """Return line and text of the paragraph behind the title, no text when it is none."""
    block: list[str] = []
    start = 1
    for number, line in enumerate(body.split("\n"), start=1):
        text = line.lstrip("> ").strip()
        if block and not text:
            break
        if text and (block or not text.startswith("# ")):
            start = start if block else number
            block.append(text)
    if not block or _NO_PARAGRAPH.match(block[0]):
        return start, ""
    return start, " ".join(block)


def _places(named: str) -> Iterator[str]:
    """Yield the paths that a name of a skill or document may mean."""
    bare = named.strip("/").removesuffix("/SKILL.md").removeprefix("skills/")
    yield f"skills/{bare}/SKILL.md"
    if not named.startswith("skills/"):
        yield named
        yield f"{named}.md"


def _is_document(edit: Edit, path: str) -> bool:
    leaf = edit.after.find(path)
    return leaf is not None and leaf.regular
