"""What a forgetting has set out to do, on disk before it begins: never the text itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from reflector.core.errors import BusyError, StateError
from reflector.store.disk import AgentHome, read_regular, write_atomic

FINISH = "Run that command again, word for word: it goes on where it stopped."

_LARGEST = 1 << 24


@dataclass(frozen=True, slots=True)
class Intent:
    """Which command it is, by a salted hash of its words, and where main was and goes."""

    salt: str
    digest: str
    kind: str
    begun_at: str
    old: str = ""
    new: str = ""

    def is_for(self, words: str) -> bool:
        """Tell whether this is the same command."""
        return self.digest == digest(self.salt, words)

    def save(self, agent: AgentHome) -> None:
        """Write it down."""
        write_atomic(place(agent), json.dumps(asdict(self), indent=1).encode("ascii"))


def place(agent: AgentHome) -> Path:
    """Return where the intent lies while a forgetting is under way."""
    return agent.path / "forget.json"


def digest(salt: str, words: str) -> str:
    """Return what a command is known by: its words cannot be read from it."""
    raw = f"{salt}\n{words}".encode("utf-8", "surrogatepass")
    return hashlib.scrypt(raw, salt=salt.encode("ascii"), n=2**14, r=8, p=1).hex()


def load(agent: AgentHome) -> Intent | None:
    """Return the intent of a command that was cut off, None when there is none."""
    raw = read_regular(place(agent), _LARGEST)
    if raw is None:
        return None
    try:
        return Intent(**json.loads(raw))
    except (ValueError, TypeError) as error:
        raise StateError(
            f"{place(agent)} cannot be read: {error}.",
            hint="Delete it and run `reflector memory forget` again from the start.",
        ) from error


def refuse_other(agent: AgentHome, intent: Intent, words: str) -> None:
    """Raise BusyError when another command than this was cut off."""
    if not intent.is_for(words):
        raise BusyError(
            f"Another `reflector memory forget` was cut off, begun at {intent.begun_at}.",
            hint="Run that command again, word for word: it goes on where it stopped. To give it "
            f"up instead, delete {place(agent)}.",
        )


def unfinished(agent: AgentHome) -> str:
    """Say that a forgetting was cut off, "" if none was. For whoever holds the memory-write lock.

    Until it is finished, objects that main, the index or a run rests on may be gone.
    """
    if not place(agent).exists():
        return ""
    return "A `reflector memory forget` was cut off; until it is finished nothing is merged."


def refuse_unfinished(agent: AgentHome) -> None:
    """Raise BusyError when a forgetting was cut off."""
    if said := unfinished(agent):
        raise BusyError(said, hint=FINISH)
