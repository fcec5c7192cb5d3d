"""A memory at one moment: a tree of git objects that is read only as far as it is needed."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast

from reflector.core.errors import PathError

FILE = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000
SUBMODULE = 0o160000
FOLDER = 0o040000

Tier = Literal["system", "reference", "projects", "experiences", "facts", "skills", "archive"]
FOLDERS = ("system", "reference", "projects", "experiences", "facts", "skills")
ARCHIVE = "ARCHIVE.md"
COMPANIONS = ("references", "templates", "scripts", "assets")

_MAX_NAME = 255
_MAX_PATH = 1024
# Control, surrogate, line and paragraph separators, and the marks that reorder shown text.
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Listed:
    """One name in a folder. `name` holds undecodable bytes as surrogate escapes."""

    name: str
    mode: int
    oid: str


class ObjectReader(Protocol):
    """Where a tree's objects come from. Oids are opaque: equal oids mean equal content."""

    def listing(self, oid: str) -> Sequence[Listed]:
        """Return what a folder holds."""
        ...

    def size(self, oid: str) -> int:
        """Return a file's size in bytes."""
        ...

    def content(self, oid: str) -> bytes:
        """Return a file's bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Leaf:
    """Everything in a tree that is no folder: a file, a link, a submodule."""

    path: str
    mode: int
    oid: str

    @property
    def regular(self) -> bool:
        """Whether this is a plain file (links are never followed)."""
        return self.mode in (FILE, EXECUTABLE)


@dataclass(frozen=True, slots=True)
class Change:
    """One path that is not the same in two trees; at least one side is there."""

    path: str
    before: Leaf | None
    after: Leaf | None


@dataclass(frozen=True, slots=True)
class Tree:
    """A memory at one moment."""

    oid: str
    reader: ObjectReader = field(compare=False, repr=False)
    # A folder of thousands is looked through once, however many of its paths are asked for.
    _found: dict[str, dict[str, Listed]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @classmethod
    def of(cls, mapping: Mapping[str, bytes | tuple[int, bytes]]) -> Tree:
        """Make a tree in memory from paths and bytes, or (mode, bytes).

        Raises ValueError when a path is a file and a folder at once.
        """
        reader = _InMemory()
        return cls(reader.add_folder(mapping), reader)

    def leaves(self) -> Iterator[Leaf]:
        """Yield every leaf, folder by folder."""
        waiting = [("", self.oid)]
        while waiting:
            prefix, oid = waiting.pop()
            for listed in self.reader.listing(oid):
                if listed.mode == FOLDER:
                    waiting.append((f"{prefix}{listed.name}/", listed.oid))
                else:
                    yield Leaf(prefix + listed.name, listed.mode, listed.oid)

    def find(self, path: str) -> Leaf | None:
        """Return the leaf at a path, None when there is none."""
        folder, _, name = path.rpartition("/")
        return _leaf(path, self._leaves_in(folder).get(name))

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a plain file, None for anything else: links are not followed."""
        leaf = self.find(path)
        return self.reader.content(leaf.oid) if leaf and leaf.regular else None

    def holds(self, path: str) -> bool:
        """Tell whether there is a file or a folder at a path."""
        return self.find(path) is not None or bool(self._folder(path))

    def folders(self, path: str) -> dict[str, Tree]:
        """Return the folders in a folder by name, each a tree of its own: its paths begin there."""
        inside = (one for one in self._folder(path) if one.mode == FOLDER)
        return {one.name: Tree(one.oid, self.reader) for one in inside}

    def paths_beside(self, path: str) -> tuple[str, ...]:
        """Return the paths of all names, folders too, in the folder that holds a path."""
        folder, slash, _ = path.rpartition("/")
        return tuple(folder + slash + listed.name for listed in self._folder(folder))

    def _leaves_in(self, folder: str) -> dict[str, Listed]:
        if folder not in self._found:
            leaves = [one for one in self._folder(folder) if one.mode != FOLDER]
            # Of two with one name, as a crafted tree can have them, the first.
            self._found[folder] = {one.name: one for one in reversed(leaves)}
        return self._found[folder]

    def _folder(self, path: str) -> Sequence[Listed]:
        listing = self.reader.listing(self.oid)
        for part in path.split("/") if path else ():
            inside = [one for one in listing if one.name == part and one.mode == FOLDER]
            if not inside:
                return ()
            listing = self.reader.listing(inside[0].oid)
        return listing


def changes(before: Tree | None, after: Tree) -> tuple[Change, ...]:
    """Return the paths that differ, sorted. Reads only folders whose oid changed."""
    found: list[Change] = []
    waiting: list[tuple[str, Tree | None, Tree | None]] = [("", before, after)]
    while waiting:
        prefix, old, new = waiting.pop()
        if old == new:
            continue
        was, now = _differing(old, new)
        for name in was.keys() | now.keys():
            path = prefix + name
            sides = was.get(name), now.get(name)
            leaves = tuple(_leaf(path, one) for one in sides)
            if any(leaves):
                found.append(Change(path, *leaves))
            folders = _subtree(old, sides[0]), _subtree(new, sides[1])
            if any(folders):
                waiting.append((path + "/", *folders))
    return tuple(sorted(found, key=lambda change: change.path))


def parse_path(text: str) -> str:
    """Return a path inside a memory as it is, or raise PathError (facts `path`, `line`, `code`).

    Relative, `/` between parts, NFC; it cannot leave the memory or reach into git's own files.
    """
    if reason := _path_fault(text):
        code, sentence = reason
        raise PathError(
            f"{readable(text)}: {sentence}",
            path=readable(text),
            line=0,
            code=code,
            sentence=sentence,
        )
    return text


def readable(path: str) -> str:
    """Write a path so that every character of it can be seen."""
    return _UNSHOWABLE.sub(_escape, path)


def tier(path: str) -> Tier | None:
    """Return the part of the memory that a path lies in, None when it lies outside all."""
    if path == ARCHIVE:
        return "archive"
    top, slash, _ = path.partition("/")
    return cast("Tier", top) if slash and top in FOLDERS else None


def companion(path: str) -> str | None:
    """Return which of a skill's folders (`scripts`, …) a path lies in, None for other paths."""
    parts = path.split("/")
    inside = len(parts) > 3 and parts[0] == "skills" and parts[2] in COMPANIONS
    return parts[2] if inside else None


def is_document(path: str) -> bool:
    """Whether a path is a memory document, with a header of its own."""
    return path.endswith(".md") and tier(path) is not None and companion(path) is None


def _differing(old: Tree | None, new: Tree | None) -> tuple[dict[str, Listed], dict[str, Listed]]:
    was = old.reader.listing(old.oid) if old else ()
    now = new.reader.listing(new.oid) if new else ()
    # Sets, not dictionaries: a crafted tree can hold one name twice.
    same = set(was) & set(now)
    return (
        {one.name: one for one in was if one not in same},
        {one.name: one for one in now if one not in same},
    )


def _leaf(path: str, listed: Listed | None) -> Leaf | None:
    if listed is None or listed.mode == FOLDER:
        return None
    return Leaf(path, listed.mode, listed.oid)


def _subtree(tree: Tree | None, listed: Listed | None) -> Tree | None:
    if tree is None or listed is None or listed.mode != FOLDER:
        return None
    return Tree(listed.oid, tree.reader)


def _path_fault(text: str) -> tuple[str, str] | None:
    parts = text.split("/")
    checks = (
        (text.startswith("/"), "path_escapes", "the path is not relative"),
        (".." in parts, "path_escapes", "the path has a '..' part"),
        ("" in parts or "." in parts, "path_escapes", "the path has an empty or '.' part"),
        ("\\" in text, "path_backslash", "the path has a backslash"),
        (bool(_UNSHOWABLE.search(text)), "path_control", "the path has unshowable characters"),
        (unicodedata.normalize("NFC", text) != text, "path_not_nfc", "the path is not NFC"),
        (any(map(_is_git, parts)), "path_git_name", "the path has a '.git' part"),
        (_too_long(text), "path_too_long", "the path is too long"),
    )
    return next(((code, f"{said}.") for wrong, code, said in checks if wrong), None)


def _is_git(part: str) -> bool:
    """Whether some file system takes a name for one of git's own (`.GIT`, `git~1`, `.g\u200cit`)."""
    plain = "".join(one for one in part if unicodedata.category(one) != "Cf")
    folded = unicodedata.normalize("NFKC", plain).casefold()
    return folded.startswith((".git", "git~"))


def _too_long(text: str) -> bool:
    raw = [part.encode("utf-8", "surrogatepass") for part in text.split("/")]
    return max(map(len, raw)) > _MAX_NAME or sum(map(len, raw)) + len(raw) > _MAX_PATH


def _escape(match: re.Match[str]) -> str:
    number = ord(match.group())
    if 0xDC80 <= number <= 0xDCFF:  # a byte that was not UTF-8
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


class _InMemory:
    """Objects in memory, named by a hash of what they are."""

    def __init__(self) -> None:
        self.folders: dict[str, tuple[Listed, ...]] = {}
        self.files: dict[str, bytes] = {}

    def listing(self, oid: str) -> Sequence[Listed]:
        return self.folders[oid]

    def size(self, oid: str) -> int:
        return len(self.files[oid])

    def content(self, oid: str) -> bytes:
        return self.files[oid]

    def add_folder(self, mapping: Mapping[str, bytes | tuple[int, bytes]]) -> str:
        inside: dict[str, dict[str, bytes | tuple[int, bytes]]] = {}
        entries: dict[str, Listed] = {}
        for path, value in mapping.items():
            top, slash, rest = path.partition("/")
            if slash:
                inside.setdefault(top, {})[rest] = value
            else:
                entries[top] = self._add_file(top, value)
        for name, members in inside.items():
            if name in entries:
                raise ValueError(f"{name} is a file and a folder")
            entries[name] = Listed(name, FOLDER, self.add_folder(members))
        listing = tuple(entries[name] for name in sorted(entries))
        oid = _oid("tree", repr(listing).encode())
        self.folders[oid] = listing
        return oid

    def _add_file(self, name: str, value: bytes | tuple[int, bytes]) -> Listed:
        mode, content = (FILE, value) if isinstance(value, bytes) else value
        oid = _oid("blob", content)
        self.files[oid] = content
        return Listed(name, mode, oid)


def _oid(kind: str, content: bytes) -> str:
    return hashlib.sha256(f"{kind} {len(content)}\0".encode() + content).hexdigest()
