"""The documents and labelled queries of the recall benchmark: hand-written targets, made-up others.

The files beside this one hold the targets: `@ path`, `# description`, the body, then the queries
that this document answers as `? kind | query`. The labels were written before anything was tuned.
"""

from __future__ import annotations

import functools
import hashlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILES = ("english", "chinese", "japanese", "korean")
DISTRACTORS = 6
"""So many documents share the words of each target and answer nothing."""

_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+")


@dataclass(frozen=True)
class Target:
    """One hand-written document."""

    language: str
    path: str
    description: str
    body: str

    @property
    def raw(self) -> bytes:
        return rendered(self.description, self.body)


@dataclass(frozen=True)
class Query:
    """One query and the document that answers it. Half of all queries are held out of tuning."""

    kind: str
    text: str
    path: str

    @property
    def held_out(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] % 2 == 1


def rendered(description: str, body: str) -> bytes:
    quoted = description.replace("\\", "\\\\").replace('"', '\\"')
    return f'---\ndescription: "{quoted}"\n---\n{body}'.encode()


@functools.cache
def labelled() -> tuple[tuple[Target, ...], tuple[Query, ...]]:
    """Return every target and every query."""
    targets: list[Target] = []
    queries: list[Query] = []
    for language in FILES:
        text = Path(__file__).with_name(f"{language}.txt").read_text("utf-8")
        for part in text.split("@ ")[1:]:
            if not part.startswith(("reference/", "facts/", "experiences/", "skills/")) and (
                not part.startswith(("projects/", "system/"))
            ):
                raise ValueError(f"{language}: {part[:40]!r} is no path")
            lines = part.rstrip("\n").split("\n")
            path, description = lines[0], lines[1].removeprefix("# ")
            body = [line for line in lines[2:] if not line.startswith("? ")]
            targets.append(Target(language, path, description, "\n".join(body) + "\n"))
            for line in lines[2:]:
                if line.startswith("? "):
                    kind, _, query = line.removeprefix("? ").partition(" | ")
                    queries.append(Query(kind, query, path))
    return tuple(targets), tuple(queries)


def documents() -> dict[str, bytes]:
    """Return the whole memory: targets and distractors, always the same."""
    targets, _ = labelled()
    found = {each.path: each.raw for each in targets}
    for number, target in enumerate(targets):
        kin = [each for each in targets if each.language == target.language]
        for copy in range(DISTRACTORS):
            seed = number * DISTRACTORS + copy
            found[f"reference/notes/{target.language}-{seed:04d}.md"] = _distractor(kin, seed)
    return found


def _distractor(kin: list[Target], seed: int) -> bytes:
    """Put fragments of six documents side by side: their words, and none of their answers."""
    chance = random.Random(seed)
    fragments = [
        fragment
        for each in chance.sample(kin, 6)
        for fragment in _fragments(f"{each.description} {each.body}", chance)
    ]
    chance.shuffle(fragments)
    join = " " if kin[0].language in ("english", "korean") else "、"
    return rendered(join.join(fragments[:5]), join.join(fragments[5:]) + "\n")


def _fragments(text: str, chance: random.Random) -> Iterator[str]:
    words = [word for word in text.split() if word not in ("#", "##")]
    for _ in range(6):
        word = chance.choice(words)
        wide = _WIDE.findall(word)
        if wide:
            run = chance.choice(wide)
            start = chance.randrange(max(len(run) - 2, 1))
            word = run[start : start + 3]
        # Another number, another ticket: near misses, not the same one again.
        yield re.sub(r"\d", lambda found: str((int(found[0]) + 3) % 10), word)
