"""Where a harness keeps what its hook does not name: a moved transcript, those of subagents."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Beside:
    """A folder, and the pattern of a subagent's transcripts below it.

    With `mark`, the folder is shared: only a file in whose beginning these bytes stand is meant.
    """

    folder: str
    pattern: str
    mark: bytes = b""


def second_places(harness: str, transcript: PurePosixPath) -> tuple[tuple[str, str], ...]:
    """Return folders, each with the pattern of a path below it, for a transcript that is missing.

    Claude Code files a session under the folder that it began in, and a hook in a git worktree may
    name another; Codex moves old sessions into an archive.
    """
    name = glob.escape(transcript.name)
    match harness:
        case "claude-code" if transcript.parent.parent.name == "projects":
            return ((str(transcript.parent.parent), f"*/{name}"),)
        case "codex" if "sessions" in transcript.parts:
            parts = transcript.parts
            root = PurePosixPath(*parts[: len(parts) - 1 - parts[::-1].index("sessions")])
            return (
                (str(root), f"archived_sessions/{name}"),
                (str(root), f"archived_sessions/*/*/*/{name}"),
                (str(root), f"sessions/*/*/*/{name}"),
            )
        case _:
            return ()


def subagents(harness: str, transcript: PurePosixPath, session: str) -> tuple[Beside, ...]:
    """Return where the transcripts of a session's subagents lie, given where its own does.

    Claude Code once put them beside all sessions of a folder, each row naming its session.
    """
    match harness:
        case "claude-code" if transcript.suffix == ".jsonl":
            beside = str(transcript.parent)
            mark = f'"sessionId":"{transcript.stem}"'.encode("utf-8", "replace")
            return (
                Beside(str(transcript.with_suffix("") / "subagents"), "agent-*.jsonl"),
                Beside(beside, "agent-*.jsonl", mark),
            )
        case "gemini-cli" if transcript.parent.name == "chats" and _is_name(session):
            folder = str(transcript.parent / session)
            return (Beside(folder, "*.jsonl"), Beside(folder, "*.json"))
        case _:
            return ()


def _is_name(session: str) -> bool:
    return bool(session.strip(".")) and "/" not in session and "\0" not in session
