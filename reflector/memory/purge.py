"""Documents and commit messages without what a person wants forgotten."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflector.core.needle import Needle, without

FORGOTTEN = "(forgotten)"
_HEADER = re.compile(r"---\n(.*?\n)---(?:\n|\Z)", re.DOTALL)
_ABOUT = re.compile(r"description:[^\n]*\n(?![ \t])")
_SUBJECT = re.compile(r"(?:[a-z]+\([a-z]+\): )?")


@dataclass(frozen=True, slots=True)
class Purge:
    """What goes: one document or folder by its path, or every line that holds the needle."""

    needle: Needle
    path: str = ""

    def file(self, path: str, content: bytes) -> bytes | None:
        """Return what a file holds afterwards: the same bytes, others, or None for no file."""
        if self.path:
            gone = path == self.path or path.startswith(f"{self.path}/")
            return None if gone else content
        if self.needle.said(path):
            return None
        if not self.needle.within(content):
            return content
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else self._text(path, text)

    def message(self, text: str) -> str:
        """Return a commit's message without it; the subject keeps its kind."""
        if not self._in_message(text):
            return text
        subject, _, body = text.partition("\n")
        if self._in_message(subject):
            kind = _SUBJECT.match(subject)
            subject = f"{kind.group() if kind else ''}{FORGOTTEN}"
        lines = without(self.needle, body).split("\n")
        return "\n".join([subject, *(line for line in lines if not self._in_message(line))])

    def _in_message(self, text: str) -> bool:
        named = self.path if self.path.endswith(".md") else f"{self.path}/"
        return self.needle.said(text) or bool(self.path and named in text)

    def _text(self, path: str, text: str) -> bytes | None:
        found = _HEADER.match(text)
        header, body = (found.group(), text[found.end() :]) if found else ("", text)
        if self.needle.said(header):
            header = _ABOUT.sub(f'description: "{FORGOTTEN}"\n', header, count=1)
            if self.needle.said(header):
                return None
        lines = without(self.needle, body).split("\n")
        kept = "\n".join(line for line in lines if not self.needle.said(line))
        if not kept.strip() and body.strip() and not path.startswith("system/"):
            return None
        new = (header + kept).encode("utf-8")
        return None if self.needle.within(new) else new
