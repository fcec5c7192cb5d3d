"""Memories and transcripts of any size, made up and always the same."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

FOLDERS = ("reference", "projects", "experiences", "facts")
_SENTENCE = (
    "the build reads its settings from one file and the tests run against a copy of the database "
    "so that nobody waits for the network while a page is rendered and every change is reviewed "
    "before it is merged because a failure in the nightly import costs a morning of work"
)
_WORDS = _SENTENCE.split()


def prose(seed: int, words: int) -> str:
    """Return made-up prose: the words of a sentence in an order that the seed turns."""
    count = len(_WORDS)
    return " ".join(_WORDS[(seed * 7 + at * (seed % 5 + 1)) % count] for at in range(words))


def document(number: int) -> str:
    """Return a memory document of about a kilobyte."""
    lines = "".join(f"- {prose(number + line, 12)} ({number}.{line})\n" for line in range(12))
    return f"---\ndescription: {prose(number, 8)}\n---\n\n# Topic {number}\n\n{lines}"


def path_of(number: int) -> str:
    """Return where the document with this number lies: a hundred to a folder."""
    folder = FOLDERS[number // 100 % len(FOLDERS)]
    return f"{folder}/part-{number // 100:03d}/topic-{number:05d}.md"


def fill(repo: Path, documents: int, environ: Mapping[str, str]) -> None:
    """Add documents to a repository by one commit, packed as a memory of that age would be."""
    for number in range(documents):
        place = repo / path_of(number)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(document(number), "utf-8")
    git(repo, environ, "add", "-A")
    git(repo, environ, "commit", "-q", "-m", "chore(bench): documents")
    git(repo, environ, "gc", "-q")


def git(repo: Path, environ: Mapping[str, str], *words: str) -> str:
    """Run git and return its output."""
    done = subprocess.run(
        ["git", *words], cwd=repo, env=dict(environ), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"git {' '.join(words)}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout.decode("utf-8", "replace")


def talk(path: Path, session: str, says: Sequence[str]) -> Path:
    """Write a conversation in the generic form: what a person says, with short answers."""
    rows = []
    for number, text in enumerate(says):
        at = f"2026-11-30T10:{number // 30:02d}:{number % 30 * 2:02d}Z"
        for role, content in (("user", text), ("assistant", "Done.")):
            native = f"{session}-{number:06d}-{role}"
            rows.append(
                {"role": role, "content": content, "id": native, "session_id": session,
                 "cwd": "/home/dev/shop", "timestamp": at}
            )  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def session_rows(size: int) -> Iterator[str]:
    """Yield the lines of a made-up Claude Code session until they have so many bytes together.

    Most rows are tool calls and results; results of a few kilobytes, written twice, make up most of
    the bytes, as in real sessions.
    """
    written = number = 0
    while written < size:
        for row in _exchange(number):
            line = json.dumps(row, ensure_ascii=False) + "\n"
            written += len(line.encode())
            yield line
        number += 1


def _exchange(number: int) -> Iterator[Mapping[str, object]]:
    yield _row(number, 0, "user", f"{prose(number, 30)}?")
    for call in (1, 3):
        tool = f"toolu_{number:08d}{call}"
        code = {"command": f"sed -n {number},{number + 80}p src/module_{number % 90}.py"}
        yield _row(
            number,
            call,
            "assistant",
            [
                {"type": "text", "text": prose(number + call, 20)},
                {"type": "tool_use", "id": tool, "name": "Bash", "input": code},
            ],
        )
        output = "".join(
            f"{line:5d}\t    value_{line} = compute({prose(number + line, 5)!r}, limit={line})\n"
            for line in range(number * 13 % 90 + 5)
        )
        result = {"type": "tool_result", "tool_use_id": tool, "content": output}
        told = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        yield {**_row(number, call + 1, "user", [result]), "toolUseResult": told}
    yield _row(number, 5, "assistant", [{"type": "text", "text": f"{prose(number, 60)}."}])


def _row(number: int, part: int, kind: str, content: object) -> Mapping[str, object]:
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 12, "cache_read_input_tokens": 20_480, "output_tokens": 240}
        message |= {"id": f"msg_{number:08d}{part}", "model": "model-1", "usage": usage}
    second = number * 6 + part
    clock = f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": message,
        "uuid": f"00000000-0000-4000-8000-{number:08d}{part:04d}",
        "timestamp": f"2026-11-30T{clock}.000Z",
        "userType": "external",
        "entrypoint": "cli",
        "cwd": "/home/dev/shop",
        "sessionId": "5e55105e-0000-4000-8000-000000000001",
        "version": "2.1.332",
        "gitBranch": "main",
    }


def session(path: Path, size: int) -> Path:
    """Write a made-up Claude Code session of at least so many bytes."""
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(session_rows(size))
    return path
