"""Edits of a bank's files by single bullets: read, judged against every limit, applied or refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflector.core.decision import FILES, FileName
from reflector.core.visible import visible
from reflector.memory.finding import Finding
from reflector.pipelines.decisions import bullets as files_of
from reflector.pipelines.decisions.bullets import BankFiles, Bullet
from reflector.pipelines.decisions.concrete import located
from reflector.pipelines.decisions.twins import Twins

SECTION = "General"

_LONGEST_SECTION = 80
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Add:
    """A new bullet. `deltas` are the ids that it rests on."""

    file: FileName
    section: str
    text: str
    deltas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Replace:
    """Another text in the place of a bullet: the newer word wins."""

    file: FileName
    old: str
    text: str
    deltas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Remove:
    """A bullet that goes, and why."""

    file: FileName
    old: str
    reason: str = ""
    deltas: tuple[int, ...] = ()


Edit = Add | Replace | Remove


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of one bullet: `old` is "" for a new one, `new` for one that went."""

    file: FileName
    old: str
    new: str
    deltas: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The files after all edits, and what was changed, in order."""

    files: BankFiles
    changes: tuple[Changed, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing was changed: every fault, the path being the file's name."""

    findings: tuple[Finding, ...]


def apply(
    files: BankFiles,
    edits: Sequence[Edit],
    *,
    digest: str = "",
    deltas: Collection[int] | None = None,
) -> Applied | Refused:
    """Apply all edits or none.

    `digest` is what the project documents already, which no bullet may repeat. `deltas` are the ids
    that a bullet may rest on; None asks for none.
    """
    after = files
    changes: list[Changed] = []
    faults: list[Finding] = []
    for edit in edits:
        faults += _malformed(edit, deltas)
        done = _done(after, edit)
        if isinstance(done, Finding):
            faults.append(done)
            continue
        after, change = done
        changes.append(change)
    for file in FILES:
        faults += _beyond(file, files.body(file), after.body(file))
        faults += _lost(file, files, after, changes)
    faults += _repeated(after, changes, digest)
    return Refused(tuple(faults)) if faults else Applied(after, tuple(changes))


def fault(code: str, file: str, message: str) -> Finding:
    """Make a finding about a file of the bank."""
    return Finding(code, "error", file, 0, message)


def _done(files: BankFiles, edit: Edit) -> tuple[BankFiles, Changed] | Finding:
    body = files.body(edit.file)
    if isinstance(edit, Add):
        text, section = _line(edit.text), _section(edit.section)
        after = files.with_body(edit.file, files_of.added(edit.file, body, section, text))
        return after, Changed(edit.file, "", text, edit.deltas)
    old = _named(edit.file, body, edit.old)
    if old is None:
        return fault("no_such_bullet", edit.file, f"There is no bullet {_shown(edit.old)}.")
    if isinstance(edit, Replace):
        text = _line(edit.text)
        after = files.with_body(edit.file, files_of.replaced(body, old, text))
        return after, Changed(edit.file, old.text, text, edit.deltas)
    after = files.with_body(edit.file, files_of.removed(body, old))
    return after, Changed(edit.file, old.text, "", edit.deltas, edit.reason.strip())


def _named(file: FileName, body: str, text: str) -> Bullet | None:
    wanted = _line(text)
    return next((each for each in files_of.bullets(file, body) if _line(each.text) == wanted), None)


def _line(text: str) -> str:
    """Return a bullet's text without its mark, on one line."""
    return re.sub(r"^[-*+]\s+", "", visible(text))


def _section(name: str) -> str:
    return re.sub(r"\s#+\Z", "", visible(name).lstrip("# ")) or SECTION


def _malformed(edit: Edit, deltas: Collection[int] | None) -> Iterator[Finding]:
    if isinstance(edit, Remove):
        return
    shown = _shown(edit.text)
    if not _line(edit.text):
        yield fault("bullet_empty", edit.file, "A bullet says nothing.")
    if _CONTROL.search(edit.text.strip()):
        yield fault("bullet_lines", edit.file, f"The bullet {shown} is not one line.")
    for what in located(_line(edit.text)):
        said = f"The bullet {shown} names a {what}; a decision outlives it."
        yield fault("bullet_located", edit.file, said)
    if isinstance(edit, Add):
        if len(section := _section(edit.section)) > _LONGEST_SECTION:
            yield fault("bad_section", edit.file, "A section's name is one short line.")
        for what in located(section):
            said = f"The section {_shown(section)} names a {what}; a decision outlives it."
            yield fault("bullet_located", edit.file, said)
    yield from () if deltas is None else _unfounded(edit, deltas)


def _unfounded(edit: Add | Replace, deltas: Collection[int]) -> Iterator[Finding]:
    shown = _shown(edit.text)
    if not edit.deltas:
        yield fault("no_delta", edit.file, f"The bullet {shown} rests on no delta.")
    for each in edit.deltas:
        if each not in deltas:
            said = f"The bullet {shown} rests on {each}, which is none of the deltas."
            yield fault("unknown_delta", edit.file, said)


def _beyond(file: FileName, before: str, after: str) -> Iterator[Finding]:
    """Refuse a file that grows over a limit."""
    sizes = (len(after) > len(before), _lines(after) > _lines(before))
    yield from excess(file, after) if any(sizes) else ()


def excess(file: FileName, body: str) -> Iterator[Finding]:
    """Yield which limits the body of a file is over."""
    for what, size, most in (
        ("lines", _lines(body), files_of.MOST_LINES),
        ("characters", len(body), files_of.MOST_CHARS),
    ):
        if size > most:
            said = f"The file has {size} {what}, more than {most}; merge or remove some."
            yield fault("file_too_long", file, said)


def _lines(body: str) -> int:
    return len(body.rstrip("\n").split("\n")) if body.strip() else 0


def _lost(
    file: FileName, before: BankFiles, after: BankFiles, changes: Sequence[Changed]
) -> Iterator[Finding]:
    """Refuse to empty a file, and to take more than a third of it without a reason for each."""
    was = len(files_of.bullets(file, before.body(file)))
    gone = [each for each in changes if each.file == file and not each.new]
    if was and not files_of.bullets(file, after.body(file)):
        yield fault("file_emptied", file, "The edits would leave nothing of this file.")
    elif len(gone) * 3 > was:
        for each in gone:
            if not each.reason:
                said = f"More than a third goes, and no reason is named for {_shown(each.old)}."
                yield fault("removal_without_reason", file, said)


def _repeated(after: BankFiles, changes: Sequence[Changed], digest: str) -> Iterator[Finding]:
    """Refuse a bullet that says again what stands elsewhere: a decision has a single home."""
    texts = [each.text for each in after.bullets]
    there = Twins(enumerate(texts))
    documented = Twins(enumerate(filter(str.strip, digest.split("\n"))))
    for each in changes:
        if each.new not in texts:  # it went, or a later edit took its place
            continue
        mine = texts.index(each.new)
        if others := [at for at in there.of(each.new) if at != mine]:
            twin = after.bullets[others[0]]
            said = (
                f"{_shown(each.new)} is in {twin.file} already: {_shown(twin.text)}; replace that."
            )
            yield fault("bullet_repeated", each.file, said)
        if documented.saying(each.new):
            said = f"The project documents {_shown(each.new)} already."
            yield fault("already_documented", each.file, said)


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"'{line if len(line) <= 80 else line[:79] + '…'}'"


def read_edits(given: object) -> tuple[Edit, ...] | Refused:
    """Read the arguments of `edit_memory_files`: for each file a list of edits."""
    if not isinstance(given, Mapping):
        return Refused((fault("not_edits", "", "The arguments are no object of files."),))
    edits: list[Edit] = []
    faults: list[Finding] = []
    for name, listed in given.items():
        file = next((each for each in FILES if each == name), None)
        if file is None or not isinstance(listed, list):
            said = f"{_shown(str(name))} is no file of the bank with a list of edits."
            faults.append(fault("not_edits", "", said))
            continue
        for one in listed:
            edit = _edit(file, one)
            if edit is None:
                faults.append(fault("not_edits", file, "An edit is malformed."))
            else:
                edits.append(edit)
    return Refused(tuple(faults)) if faults else tuple(edits)


def _edit(file: FileName, given: object) -> Edit | None:
    if not isinstance(given, Mapping):
        return None
    ids = _ids(given.get("deltas", []))
    text, old = given.get("bullet"), given.get("old")
    section, reason = given.get("section") or "", given.get("reason") or ""
    if ids is None or not isinstance(section, str) or not isinstance(reason, str):
        return None
    match given.get("action"):
        case "add" if isinstance(text, str):
            return Add(file, section, text, ids)
        case "replace" if isinstance(text, str) and isinstance(old, str):
            return Replace(file, old, text, ids)
        case "remove" if isinstance(old, str):
            return Remove(file, old, reason, ids)
        case _:
            return None


def _ids(given: object) -> tuple[int, ...] | None:
    if not isinstance(given, list) or not all(type(each) is int for each in given):
        return None
    return tuple(dict.fromkeys(given))


_STRING = {"type": "string"}
_IDS = {"type": "array", "items": {"type": "integer"}}
_ONE = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["add", "replace", "remove"]},
        "section": _STRING,
        "old": _STRING,
        "bullet": _STRING,
        "reason": _STRING,
        "deltas": _IDS,
    },
    "required": ["action"],
}
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {file: {"type": "array", "items": _ONE} for file in FILES},
    "additionalProperties": False,
}
"""The input schema of `edit_memory_files`: what `read_edits` reads."""
