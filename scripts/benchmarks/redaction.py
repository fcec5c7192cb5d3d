"""Redaction: speed on ordinary text, and time in proportion to length on the worst."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Row, both, repeated, table
from benchmarks.memories import prose
from benchmarks.place import ROOT
from reflector.core.redact import redact
from reflector.core.secret_rules import BASE64, PLAIN, PREFIXED

MB = 1_000_000
_PEM = "PRIVATE" + " KEY"
Text = Callable[[int], str]
"""A kind of text, at any length."""

_TIMES = 10
_GOAL = 15.0
_SHOWN = "≈ 10 (≤ 15)"
"""Ten times the length takes ten times as long; some more where memory caches overflow."""

_HEADS = [head.decode() for rule in (*PREFIXED, *PLAIN, *BASE64) for head in rule.heads]
_HOSTILE = {
    "all heads": " ".join(_HEADS) + " ", "heads, joined": "".join(_HEADS),
    "heads, long": "".join(head + "a1" * 30 + " " for head in _HEADS),
    "heads": "sk-", "keys": "token: ", "key chain": "token:", "quotes": 'password="',
    "escapes": 'pwd=\\"', "letters": "a", "dashes": "-", "jwt": "eyJ-",
    "jwt dots": "eyJ" + "a" * 12 + ".", "url": "://a:", "pem": f"-----BEGIN {_PEM}-----\n",
    "flags": " --token", "spoken": "password is ", "elements": "<token>",
    "login": "authorization: ", "backslash": "\\", "annotated": "token: " + "a" * 35,
    "aws": "AKIA" + "A" * 16 + " ", "spread": "token=aaaaaaaa1 aaaaaaaa",
}  # fmt: skip


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Measure ordinary text, each hostile text at a tenth of a megabyte and one, all at one and ten."""
    del folder
    size, rounds = (20_000, 1) if quick else (MB, 5)
    rows = [_speed("prose", _prose(size), rounds), _speed("code", _code(size), rounds)]
    texts = {name: _repeated(unit) for name, unit in _HOSTILE.items()}
    texts["distinct values"] = _distinct
    lines = [_line(name, text, size // _TIMES) for name, text in texts.items()]
    print(f"\nHostile text, {size // _TIMES} characters against {size}:\n")
    print(table(("text", "short", "long", "ratio of times"), [line.cells for line in lines]))
    worst = max(lines, key=lambda line: line.ratio)
    name = f"redact hostile text, the worst: {worst.name}"
    rows.append(Row(name, worst.long, worst.short, worst.ratio, _GOAL, _SHOWN))
    mixed = _line("all of it", _mixed(list(texts.values())), size)
    name = f"redact all hostile texts together, {size * _TIMES / MB:g} MB against {size / MB:g} MB"
    return [*rows, Row(name, mixed.long, mixed.short, mixed.ratio, _GOAL, _SHOWN)]


@dataclass(frozen=True, slots=True)
class _Line:
    """How long a text took at two lengths."""

    name: str
    short: str
    long: str
    ratio: float

    @property
    def cells(self) -> tuple[str, ...]:
        return self.name, self.short, self.long, f"{self.ratio:.1f}"


def _line(name: str, text: Text, size: int) -> _Line:
    short, long = text(size), text(size * _TIMES)
    small = repeated(5, lambda: redact(short)).cpu
    large = repeated(2, lambda: redact(long)).cpu
    return _Line(name, _rate(short, small), _rate(long, large), large / small)


def _rate(text: str, seconds: float) -> str:
    return f"{len(text) / MB / seconds:.1f} MB/s"


def _prose(size: int) -> str:
    return _cut((f"{prose(number, 40)}.\n" for number in range(size // 100)), size)


def _code(size: int) -> str:
    files = [file.read_text("utf-8") for file in sorted((ROOT / "reflector").rglob("*.py"))]
    return _cut(files * (size // sum(map(len, files)) + 1), size)


def _cut(parts: Iterable[str], size: int) -> str:
    return "".join(parts)[:size]


def _repeated(unit: str) -> Text:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def _mixed(texts: Sequence[Text]) -> Text:
    return lambda size: "\n".join(text(size // len(texts)) for text in texts)


def _distinct(size: int) -> str:
    """Return ever new values under a key, and as many places where one of them could stand."""
    count = size // 33
    lines = "".join(f"token=aaaaaaaa{number:07d}x\n" for number in range(count))
    return lines + "aaaaaaaa " * count


def _speed(name: str, text: str, rounds: int) -> Row:
    spent = repeated(rounds, lambda: redact(text))
    return Row(
        f"redact {name}",
        _rate(text, spent.least),
        "",
        note=f"{both(spent)} for {len(text) / MB:g} MB",
    )
