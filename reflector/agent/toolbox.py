"""The tools of an in-process engine: confined to one worktree and one transcript, without a shell."""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from reflector.agent import tool_arguments as arguments
from reflector.agent.engine import Commit, Update
from reflector.agent.folder import MAX_BYTES, Folder
from reflector.agent.tool_arguments import Arguments
from reflector.core.errors import DocumentError, PathError, ReflectorError
from reflector.memory.document import parse, protects
from reflector.memory.kept_rules import BOUNDARIES
from reflector.memory.tree import ARCHIVE, is_document, parse_path, tier

TRANSCRIPT = "transcript"
MOST_CHARACTERS = 16_000
_MOST_MATCHES = 60
_MOST_LISTED = 600
_LINE = 400
# A link, a folder, or a file where a folder should be; without a number: what `Folder` refused.
_NO_FILE = (None, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered. `denied` marks a write that was not allowed."""

    text: str
    error: bool = False
    denied: bool = False


class RefusedError(ReflectorError):
    """A tool call that is not allowed or cannot be done; the sentence says what is."""

    code = "tool_refused"


class Toolbox:
    """The tools of one run, and what they have done so far."""

    def __init__(self, folder: Folder, transcript: str, commit: Commit) -> None:
        """Begin with nothing changed."""
        self._folder = folder
        self._transcript = transcript
        self._make_commit = commit
        self._tools: Mapping[str, tuple[type[Arguments], Callable[[Any], str]]] = {
            "list": (arguments.List, self._list),
            "read": (arguments.Read, self._read),
            "search": (arguments.Search, self._search),
            "write": (arguments.Write, self._write),
            "str_replace": (arguments.StrReplace, self._str_replace),
            "insert": (arguments.Insert, self._insert),
            "move": (arguments.Move, self._move),
            "delete": (arguments.Delete, self._delete),
            "diff": (arguments.Diff, self._diff),
            "commit": (arguments.CommitChanges, self._commit),
            "finish": (arguments.End, self._finish),
        }
        self._before: dict[str, bytes | None] = {}
        self._uncommitted = False
        self._warned = False
        self.committed = False
        self.denied = 0
        self.report: str | None = None

    def definitions(self) -> list[dict[str, Any]]:
        """Return name, description and input schema of every tool, in a fixed order."""
        return [
            {
                "name": name,
                "description": " ".join((model.__doc__ or "").split()),
                "input_schema": arguments.schema(model),
            }
            for name, (model, _) in self._tools.items()
        ]

    def call(self, name: str, given: object) -> Answer:
        """Do one call. Whatever is wrong with it becomes an answer, never an exception."""
        if name not in self._tools:
            return Answer(
                f"There is no tool {name!r}. Tools: {', '.join(self._tools)}.", error=True
            )
        model, work = self._tools[name]
        try:
            return Answer(work(model.model_validate(given)))
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}"
                for each in error.errors()
            )
            return Answer(f"The input does not fit the schema: {faults}", error=True)
        except (RefusedError, PathError, DocumentError) as error:
            self.denied += isinstance(error, RefusedError | PathError)
            text = " ".join(filter(None, (error.message, error.hint)))
            return Answer(text, error=True, denied=not isinstance(error, DocumentError))
        except UnicodeError:
            return Answer("The text is not UTF-8.", error=True)
        except OSError as error:
            if error.errno not in _NO_FILE:
                raise  # the machine's trouble, not the model's
            return Answer(f"This is no plain file: {error.strerror or error}.", error=True)

    def _list(self, asked: arguments.List) -> str:
        folder = asked.folder.strip("/")
        rows = [
            self._row(path)
            for path in self._folder.files()
            if not folder or path == folder or path.startswith(folder + "/")
        ]
        more = len(rows) - _MOST_LISTED
        rows = rows[:_MOST_LISTED] + ([f"… and {more} more; name a folder"] if more > 0 else [])
        return "\n".join(rows) or "(nothing)"

    def _read(self, asked: arguments.Read) -> str:
        lines = self._text(asked.path).split("\n")
        chosen = lines[asked.first_line - 1 : asked.first_line - 1 + asked.lines]
        shown: list[str] = []
        left = MOST_CHARACTERS
        for line in chosen:
            left -= len(line) + 1
            if left < 0 and shown:
                break
            shown.append(line if left >= 0 else line[:MOST_CHARACTERS] + " […]")
        last = asked.first_line + len(shown) - 1
        head = f"{asked.path}: lines {asked.first_line} to {last} of {len(lines)}"
        return "\n".join((head, *shown))

    def _search(self, asked: arguments.Search) -> str:
        wanted = asked.text.casefold()
        paths = [asked.path] if asked.path else [TRANSCRIPT, *self._folder.files()]
        found = [
            f"{path}:{number} {line[:_LINE]}"
            for path in paths
            for number, line in enumerate(self._searched(path, asked.path).split("\n"), start=1)
            if wanted in line.casefold()
        ]
        more = len(found) - _MOST_MATCHES
        return "\n".join(
            (
                f"{len(found)} lines",
                *found[:_MOST_MATCHES],
                *([f"… {more} more"] if more > 0 else []),
            )
        )

    def _write(self, asked: arguments.Write) -> str:
        path = self._writable(asked.path)
        self._change(path, asked.content)
        return f"Wrote {path}."

    def _str_replace(self, asked: arguments.StrReplace) -> str:
        path = self._writable(asked.path)
        text = self._text(path)
        count = text.count(asked.old)
        if count != 1:
            near = difflib.get_close_matches(asked.old.split("\n")[0], text.split("\n"), 3)
            hint = f" Nearest lines: {'; '.join(near)}" if near and not count else ""
            raise DocumentError(f"The text occurs {count} times in {path}, not once.{hint}")
        self._change(path, text.replace(asked.old, asked.new))
        return f"Replaced one place in {path}."

    def _insert(self, asked: arguments.Insert) -> str:
        path = self._writable(asked.path)
        lines = self._text(path).split("\n")
        if asked.after_line > len(lines):
            raise DocumentError(f"{path} has {len(lines)} lines only.")
        lines[asked.after_line : asked.after_line] = asked.text.removesuffix("\n").split("\n")
        self._change(path, "\n".join(lines))
        return f"Inserted after line {asked.after_line} of {path}."

    def _move(self, asked: arguments.Move) -> str:
        path, to = self._writable(asked.path), self._writable(asked.to)
        text = self._text(path)
        if self._folder.read(to) is not None:
            raise DocumentError(f"There is a document at {to} already.")
        self._change(to, text)
        self._remove(path)
        return f"Moved {path} to {to}."

    def _delete(self, asked: arguments.Delete) -> str:
        path = self._writable(asked.path)
        self._text(path)
        self._remove(path)
        return f"Deleted {path}."

    def _diff(self, _asked: arguments.Diff) -> str:
        parts = [
            line
            for path, before in sorted(self._before.items())
            for line in difflib.unified_diff(
                _lines(before), _lines(self._folder.read(path)), path, path, lineterm="", n=2
            )
        ]
        text = "\n".join(parts) or "(no change)"
        return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "\n[cut]"

    def _commit(self, asked: arguments.CommitChanges) -> str:
        updates = [
            Update(item.text, [_entry_id(each) for each in item.evidence]) for item in asked.updates
        ]
        tip = self._make_commit(asked.type, asked.summary, updates)
        self.committed, self._uncommitted = True, False
        return f"Committed as {tip[:12]}. Call finish with the report."

    def _finish(self, asked: arguments.End) -> str:
        if self._uncommitted and not self._warned:
            self._warned = True
            raise DocumentError(
                "There are changes that were not committed; they would be lost.",
                hint="Commit them, undo them, or call finish again to end without them.",
            )
        self.report = asked.report
        return "The run ends."

    # What the tools share

    def _row(self, path: str) -> str:
        raw = self._folder.read(path) or b""
        about = ""
        if is_document(path):
            try:
                about = f"  {parse(path, raw).description[:200]}"
            except DocumentError:
                about = "  (its header cannot be read)"
        return f"{path}  {len(raw)} bytes{about}"

    def _text(self, path: str) -> str:
        if path == TRANSCRIPT:
            return self._transcript
        raw = self._folder.read(parse_path(path))
        if raw is None:
            raise DocumentError(f"There is no document {path}.", hint="`list` shows what there is.")
        return raw.decode()

    def _searched(self, path: str, asked: str) -> str:
        """Return a text to search; among many, one that cannot be read is passed over."""
        try:
            return self._text(path)
        except (DocumentError, UnicodeDecodeError, OSError):
            if asked:
                raise
            return ""

    def _writable(self, path: str) -> str:
        parse_path(path)
        if tier(path) is None:
            raise RefusedError(
                f"{path} lies outside the memory.",
                hint=f"Write below system, reference, projects, skills, or to {ARCHIVE}.",
            )
        if path == BOUNDARIES:
            raise RefusedError(f"{path} holds the user's own words; no run changes it.")
        if protects(self._folder.read(path) or b""):
            raise RefusedError(f"{path} is read-only.")
        return path

    def _change(self, path: str, text: str) -> None:
        raw = text.encode("utf-8", "surrogatepass")
        if len(raw) > MAX_BYTES:
            raise RefusedError(f"{path} would have {len(raw)} bytes, more than {MAX_BYTES}.")
        raw.decode()
        self._before.setdefault(path, self._folder.read(path))
        self._folder.write(path, raw)
        self._uncommitted = True

    def _remove(self, path: str) -> None:
        self._before.setdefault(path, self._folder.read(path))
        self._folder.remove(path)
        self._uncommitted = True


def _entry_id(text: str) -> str:
    return re.sub(r"^\[?(?:entry )?|\]$", "", text.strip())


def _lines(raw: bytes | None) -> list[str]:
    return (raw or b"").decode(errors="replace").split("\n") if raw else []
