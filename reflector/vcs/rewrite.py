"""History written anew without something: every commit, tree and tag that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from reflector.vcs.objects import Objects

_FOLDER = b"40000"
_SYMLINK = b"120000"
_LINK = b"160000"


class Purge(Protocol):
    """What is taken out of a history."""

    def file(self, path: str, content: bytes) -> bytes | None:
        """Return what a file holds afterwards: the same bytes, others, or None for no file."""
        ...

    def message(self, text: str) -> str:
        """Return a commit's or tag's message without it."""
        ...


@dataclass(slots=True)
class Rewriter:
    """Writes new objects; no ref moves. The same history gives the same ids every time.

    `commits` maps every commit that was looked at to what stands for it now.
    """

    objects: Objects
    purge: Purge
    commits: dict[str, str] = field(default_factory=dict)
    _trees: dict[tuple[str, str], str] = field(default_factory=dict)
    _blobs: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def target(self, oid: str) -> str:
        """Return what a ref that names this commit or tag must name."""
        kind, content = self.objects.read(oid)
        if kind == "tag":
            head, message = _parts(content)
            inner = head[0].split(b" ", 1)[1].decode("ascii")
            head[0] = b"object " + self.target(inner).encode("ascii")
            return self._written("tag", head, message, oid, content)
        return self.commit(oid) if kind == "commit" else oid

    def commit(self, tip: str) -> str:
        """Write a commit and everything before it anew, without recursion: histories are long."""
        waiting = [tip]
        while waiting:
            oid = waiting[-1]
            if oid in self.commits:
                waiting.pop()
                continue
            content = self.objects.read(oid)[1]
            head, message = _parts(content)
            before = [parent for parent in _parents(head) if parent not in self.commits]
            if before:
                waiting += before
                continue
            self.commits[oid] = self._written("commit", self._moved(head), message, oid, content)
            waiting.pop()
        return self.commits[tip]

    def tree(self, oid: str, folder: str = "") -> str:
        """Return the id of a tree without it; an empty folder goes with its last file."""
        known = self._trees.get((oid, folder))
        if known is None:
            known = self._trees[oid, folder] = self._tree(oid, folder)
        return known

    def _tree(self, oid: str, folder: str) -> str:
        content = self.objects.read(oid)[1]
        written = b""
        for mode, name, inner in _entries(content):
            path = folder + name.decode("utf-8", "surrogateescape")
            new = self._entry(mode, path, inner)
            if new is not None:
                written += mode + b" " + name + b"\0" + bytes.fromhex(new)
        return oid if written == content else self.objects.write("tree", written)

    def _entry(self, mode: bytes, path: str, oid: str) -> str | None:
        if mode == _LINK:  # a commit of another repository
            return oid
        if mode == _FOLDER:
            new = self.tree(oid, f"{path}/")
            return new if new == oid or self.objects.read(new)[1] else None
        if (oid, path) not in self._blobs:
            self._blobs[oid, path] = self._blob(oid, path)
        blob = self._blobs[oid, path]
        # What a link points to is no text of which lines can go.
        return None if mode == _SYMLINK and blob != oid else blob

    def _blob(self, oid: str, path: str) -> str | None:
        content = self.objects.read(oid)[1]
        new = self.purge.file(path, content)
        if new is None:
            return None
        return oid if new == content else self.objects.write("blob", new)

    def _moved(self, head: list[bytes]) -> list[bytes]:
        lines = []
        for line in head:
            key, _, value = line.partition(b" ")
            if key == b"tree":
                lines.append(b"tree " + self.tree(value.decode("ascii")).encode("ascii"))
            elif key == b"parent":
                lines.append(b"parent " + self.commits[value.decode("ascii")].encode("ascii"))
            else:
                lines.append(line)
        return lines

    def _written(
        self, kind: str, head: list[bytes], message: bytes, oid: str, content: bytes
    ) -> str:
        text = message.decode("utf-8", "surrogateescape")
        clean = self.purge.message(text).encode("utf-8", "surrogateescape")
        new = b"\n".join(head) + b"\n\n" + clean
        if new == content:
            return oid
        new = b"\n".join(_unsigned(head)) + b"\n\n" + clean
        return self.objects.write("tag" if kind == "tag" else "commit", new)


def _parts(content: bytes) -> tuple[list[bytes], bytes]:
    head, _, message = content.partition(b"\n\n")
    return head.split(b"\n"), message


def _parents(head: Iterable[bytes]) -> list[str]:
    return [line[7:].decode("ascii") for line in head if line.startswith(b"parent ")]


def _unsigned(head: Iterable[bytes]) -> Iterator[bytes]:
    """Yield header lines without signatures: they vouch for bytes that are no more."""
    inside = False
    for line in head:
        inside = line.startswith((b"gpgsig", b"mergetag")) or (inside and line.startswith(b" "))
        if not inside:
            yield line


def _entries(content: bytes) -> Iterator[tuple[bytes, bytes, str]]:
    at = 0
    while at < len(content):
        space, end = content.index(b" ", at), content.index(b"\0", at)
        yield content[at:space], content[space + 1 : end], content[end + 1 : end + 21].hex()
        at = end + 21
