"""Secrets out of text: by named rule, with counts, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflector.core.secret_fields import FIELD_RULES, LOWER, WORDS, is_dummy, keyed
from reflector.core.secret_rules import BASE64, HEAD, PLAIN, PREFIXED, Rule, compiled, prefixed

# How it works. Rules look at `flat`, one byte per character of the text, so that offsets agree
# whatever the text holds (lone surrogates included). Two cheap looks come first, since nearly all
# text holds no secret: a secret with a known prefix is a long run of token characters, and every
# other secret stands beside a word or sign out of a short list.

_RUN = 18
_NEAR = 8
_SPREAD_FROM = 8
_ROUNDS = 8
_FEW_HEADS = 16

_URL = re.compile(
    rb"://(?:(?P<user>[\w.~%+-]{20,256})|[^\s:/@?#\"'<>\[]{0,256}:(?P<pass>[^\s/?#\"'<>]{3,256}))@",
    re.ASCII,
)
_HOOK = re.compile(
    rb"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/|/webhookb2/)"
    rb"([\w/@-]{20,256})"
)
_PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(rb"[A-Za-z0-9+/=\s\\]{0,16384}")
_PEM_LIMIT = 65_536
_AWS_NEAR = re.compile(rb"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_REACH = 256

_TOKEN = bytes(
    ord("a") if chr(c).isascii() and (chr(c).isalnum() or chr(c) in "_-.") else ord(" ")
    for c in range(256)
)
_RUN_NEEDLE = b"a" * _RUN


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many each rule took out."""

    text: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    rule: str
    spreads: bool = False


def redact(text: str) -> Redacted:
    """Replace every secret by `[REDACTED:<rule>]`. Doing it twice changes nothing."""
    texts, counts = redact_record((text,))
    return Redacted(texts[0], counts)


def redact_record(texts: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, int]]:
    """Redact texts that belong together.

    A value of at least 8 characters that stands under a secret key in one of them is replaced
    everywhere in all of them.
    """
    counts: Counter[str] = Counter()
    current = tuple(texts)
    # A replacement can bring a key and a value together that were apart; each round takes away
    # more of the text, and more than two rounds have only been seen on made-up input.
    for _ in range(_ROUNDS):
        found = [_spans(text) for text in current]
        if not any(found):
            break
        values = _spread(zip(current, found, strict=True))
        current = tuple(
            _everywhere(_replaced(text, spans, counts), values, counts)
            for text, spans in zip(current, found, strict=True)
        )
    return current, dict(counts)


def find_secrets(text: str) -> list[tuple[str, int]]:
    """Return rule and 1-based line of every secret, never the value."""
    spans = _spans(text)
    if not spans:
        return []
    breaks = [place.start() for place in re.finditer("\n", text)]
    return [(span.rule, bisect_right(breaks, span.start) + 1) for span in spans]


def marker(rule: str) -> str:
    """Return what stands in the place of a secret."""
    return f"[REDACTED:{rule}]"


def _spans(text: str) -> list[_Span]:
    flat = text.encode("latin-1", "replace")
    low = flat.translate(LOWER)
    found: list[_Span] = []
    if runs := _runs(flat):
        found.extend(_prefixed(flat, runs))
        near = b" ".join(flat[max(0, start - _NEAR) : end] for start, end in runs)
        found.extend(_known(flat, [rule for rule in PLAIN if _holds(near, rule)]))
    found.extend(_known(flat, [rule for rule in BASE64 if _holds(flat, rule)]))
    found.extend(_Span(*value, spreads=True) for value in keyed(flat, low))
    if b"://" in flat:
        found.extend(_in_urls(flat))
    if b"-----BEGIN " in flat:
        found.extend(_pem(flat))
    return _merged(found)


def _runs(flat: bytes) -> list[tuple[int, int]]:
    """Return where the long runs of token characters are."""
    shape = flat.translate(_TOKEN)
    found: list[tuple[int, int]] = []
    start = shape.find(_RUN_NEEDLE)
    while start >= 0:
        end = shape.find(b" ", start)
        end = len(flat) if end < 0 else end
        found.append((start, end))
        start = shape.find(_RUN_NEEDLE, end)
    return found


def _merged(found: Iterable[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
        elif span.end > last.end or (last.spreads and not span.spreads):
            # A named vendor says more than "stood under a key".
            rule = last.rule if span.spreads else span.rule
            spreads = last.spreads or span.spreads
            merged[-1] = _Span(last.start, max(last.end, span.end), rule, spreads)
    return merged


def _prefixed(flat: bytes, runs: Iterable[tuple[int, int]]) -> Iterator[_Span]:
    for start, end in runs:
        hopeful = HEAD.search(flat, start, end)
        for match in prefixed().finditer(flat, start, end) if hopeful else ():
            rule = PREFIXED[(match.lastindex or 1) - 1].name
            yield _Span(match.start(), match.end(), rule)
            if rule == "aws":
                yield from _beside_aws_id(flat, match.start(), match.end())


def _holds(flat: bytes, rule: Rule) -> bool:
    return any(head in flat for head in rule.heads)


def _known(flat: bytes, rules: Iterable[Rule]) -> Iterator[_Span]:
    for rule in rules:
        for match in compiled(rule).finditer(flat):
            yield _Span(match.start() - rule.back, match.end(), rule.name)


def _beside_aws_id(flat: bytes, start: int, end: int) -> Iterator[_Span]:
    low, high = max(0, start - _AWS_REACH), end + _AWS_REACH
    for match in _AWS_NEAR.finditer(flat, low, high):
        value = match.group()
        if not value.isupper() and not value.islower() and re.search(rb"\d", value):
            yield _Span(match.start(), match.end(), "aws")


def _in_urls(flat: bytes) -> Iterator[_Span]:
    for match in _URL.finditer(flat):
        if match["pass"] is not None:
            if not is_dummy(match["pass"]) and match["pass"].lower() not in WORDS:
                yield _Span(*match.span("pass"), "url-login", spreads=True)
        elif re.search(rb"\d", match["user"]) and not is_dummy(match["user"]):
            yield _Span(*match.span("user"), "url-login", spreads=True)
    for match in _HOOK.finditer(flat):
        yield _Span(*match.span(1), "webhook")


def _pem(flat: bytes) -> Iterator[_Span]:
    heads = list(_PEM.finditer(flat))
    for index, head in enumerate(heads):
        follows = heads[index + 1].start() if index + 1 < len(heads) else len(flat)
        limit = min(follows, head.end() + _PEM_LIMIT)
        tail = _PEM_END.search(flat, head.end(), limit)
        if tail:
            yield _Span(head.start(), tail.end(), "pem")
        elif body := _PEM_BODY.match(flat, head.end(), limit):
            # Cut off before its end: what still looks like key material goes.
            runs = list(re.finditer(rb"[A-Za-z0-9+/=]{32,}", body.group()))
            if runs:
                yield _Span(head.start(), head.end() + runs[-1].end(), "pem")


def _replaced(text: str, spans: Sequence[_Span], counts: Counter[str]) -> str:
    parts: list[str] = []
    position = 0
    for span in spans:
        parts += (text[position : span.start], marker(span.rule))
        counts[span.rule] += 1
        position = span.end
    return "".join((*parts, text[position:]))


_MARKERS = " ".join(
    marker(name)
    for name in (
        *dict.fromkeys(rule.name for rule in (*PREFIXED, *PLAIN, *BASE64)),
        *FIELD_RULES.values(), "url-login", "webhook", "pem",
    )
)  # fmt: skip


def _spread(found: Iterable[tuple[str, Sequence[_Span]]]) -> dict[str, str]:
    """Return the values to replace everywhere, each with its rule."""
    values: dict[str, str] = {}
    for text, spans in found:
        for span in spans:
            value = text[span.start : span.end]
            if span.spreads and len(value) >= _SPREAD_FROM and value not in _MARKERS:
                values.setdefault(value, span.rule)
    return values


def _everywhere(text: str, values: Mapping[str, str], counts: Counter[str]) -> str:
    """Replace known values wherever they stand, longest first."""
    if not values:
        return text
    lengths: dict[str, set[int]] = {}
    for value in values:
        lengths.setdefault(value[:_SPREAD_FROM], set()).add(len(value))
    parts: list[str] = []
    position = 0
    for start in _places(text, lengths):
        if start < position:
            continue
        candidates = sorted(lengths[text[start : start + _SPREAD_FROM]], reverse=True)
        size = next((n for n in candidates if text[start : start + n] in values), 0)
        if size:
            rule = values[text[start : start + size]]
            parts += (text[position:start], marker(rule))
            counts[rule] += 1
            position = start + size
    return "".join((*parts, text[position:]))


def _places(text: str, heads: Mapping[str, object]) -> Iterable[int]:
    """Return where one of the heads (8 characters each) stands, in order.

    One pass in either form. A pattern of many alternatives would try them all at every place, so
    that a text full of made-up keys would cost the square of its length.
    """
    if len(heads) <= _FEW_HEADS:
        pattern = re.compile("(?=" + "|".join(map(re.escape, heads)) + ")")
        return (match.start() for match in pattern.finditer(text))
    last = len(text) - _SPREAD_FROM
    return (at for at in range(last + 1) if text[at : at + _SPREAD_FROM] in heads)
