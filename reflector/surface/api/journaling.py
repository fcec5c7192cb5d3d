"""Messages of an embedding program into the journal, under the rules that hold for transcripts."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Mapping

from reflector.core.cleaning import clean
from reflector.core.entry import ConversationKey, native_entry_id, safe_part
from reflector.core.errors import PausedError, UsageError
from reflector.harness.jsonl import HARNESS
from reflector.runtime.consent import No
from reflector.runtime.ingest import ingest_stream
from reflector.runtime.wiring import Context
from reflector.store import left_out
from reflector.surface.api.messages import Json, rows
from reflector.surface.api.values import Appended
from reflector.surface.api.watching import Eyes

_LONGEST_NAME = 500


def full_id(conversation: str) -> str:
    """Return the id of a conversation in the journal: a name of `append`, or such an id itself."""
    if "/" in conversation:
        return conversation
    return str(ConversationKey(HARNESS, clean(safe_part(_checked(conversation)))))


def append(
    context: Context, conversation: str, messages: Iterable[object], *, title: str, cwd: str
) -> Appended:
    """Journal what is new of a conversation whose messages so far are given, oldest first."""
    session = _checked(conversation.removeprefix(f"{HARNESS}/"))
    said = _unknown(context, list(rows(session, messages)))
    if not said:
        return Appended(full_id(session))
    try:
        done = ingest_stream(
            context,
            io.BytesIO(_stream(said, session=session, cwd=cwd, title=title)),
            name=f"api:{session}",
            stem=session,
            watch=Eyes(),
        )
    except PausedError:
        return _left_out(context, full_id(session), said)
    return Appended(done.conversation, done.entries, done.steps, dict(done.left_out))


def _unknown(context: Context, said: list[Json]) -> list[Json]:
    """Return the rows that the journal does not hold, with the results that their calls wait for.

    A list is given again with every turn: to read, clean and compare all of it each time would cost
    more than all else. A call is held only once its result is known.
    """
    with context.state() as state:
        known = {
            row["id"] for row in said if left_out.recorded_in(state.connection, _entry(row["id"]))
        }
    closed = {_call(row) for row in said if row["id"] in known} - {""}
    return [row for row in said if row["id"] not in known and row.get("tool_call_id") not in closed]


def _entry(row_id: str) -> str:
    return native_entry_id(HARNESS, row_id, 0)


def _call(row: Json) -> str:
    """Return the id of the call that a row is, "" for what is none."""
    content = row["content"]
    return str(content[0].get("id", "")) if isinstance(content, list) else ""


def _stream(said: list[Json], *, session: str, cwd: str, title: str) -> bytes:
    """Write the rows, below one that describes the conversation.

    A list may have changed anywhere (thoughts taken out, old messages dropped), and what begins as
    before would be read on in the middle. The digest makes every other list begin differently.
    """
    lines = [json.dumps(row, ensure_ascii=True).encode() for row in said]
    digest = hashlib.sha256(b"\n".join(lines)).hexdigest()
    head = {"digest": digest, "session_id": session, "cwd": cwd, "title": title}
    return b"\n".join([json.dumps(head).encode(), *lines, b""])


def _left_out(context: Context, key: str, said: list[Json]) -> Appended:
    """Note what was said while recording is paused: given again later, it stays out.

    The messages carry no time, so that nothing else would tell them from what is said afterwards.
    What was recorded before the pause stays.
    """
    entries = [_entry(row["id"]) for row in said]
    with context.state() as state, state.transaction() as connection:
        new = [each for each in entries if not left_out.recorded_in(connection, each)]
        left_out.note(connection, ((key, each, No.PAUSED.value) for each in new))
    counts: Mapping[str, int] = {No.PAUSED.value: len(new)} if new else {}
    return Appended(key, left_out=counts)


def _checked(name: str) -> str:
    if not name.strip() or "/" in name or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{name[:60]!r} is no name for a conversation.",
            hint=f"Use a text without a slash, at most {_LONGEST_NAME} characters: a session's id.",
        )
    return name
