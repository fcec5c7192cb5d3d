"""Where else a harness may keep a session's transcript than where its hook says."""

from __future__ import annotations

import glob
from pathlib import PurePosixPath


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
