"""The queue of turns that the diary may keep, and what was mentioned of it and how often."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from reflector.core.diary import Mood
from reflector.core.entry import Entry
from reflector.store import scheduling
from reflector.store.state import storable

JobState = Literal["heard", "judged", "done", "skipped"]

ASKED: Final = "asked"
"""Why a turn is not recorded: the person said so, and nothing of it is read again."""
TAKEN_BACK: Final = "taken_back"
"""The same, said when the turn was written down already: what it gave has to go."""
NEW: Final = "new"
"""Why a job is done: it gave an entry of its own."""

_MOOD = "diary_mood"


@dataclass(frozen=True, slots=True)
class Job:
    """One turn of a conversation. `entry` is the journal's id of its first block, and unique."""

    id: int
    conversation: str
    message: str
    entry: str
    turn: int
    attempts: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How the queue stands: numbers only. `failed` are waiting jobs that failed before."""

    heard: int
    judged: int
    done: int
    failed: int
    oldest_at: str
    last_error: str
    skipped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Mention:
    """How often something was recalled or said since the last sleep, and on which day last."""

    item: str
    count: int
    day: str


# The queue


def enqueue(
    connection: sqlite3.Connection, conversation: str, entry: Entry, now: str, *, kept: bool
) -> bool:
    """Let a turn wait to be judged, or note that it is not to be kept; tell whether it was new."""
    state, why = ("heard", "") if kept else ("skipped", ASKED)
    done = connection.execute(
        "INSERT INTO diary_jobs (conversation, message, entry, turn, state, why, queued_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (conversation, message) DO NOTHING",
        (
            storable(conversation),
            entry.message_id,
            entry.id,
            turn(connection, conversation),
            state,
            why,
            now,
        ),
    )
    return done.rowcount == 1


def turn(connection: sqlite3.Connection, conversation: str) -> int:
    """Return how many messages a person has written in a conversation: the turn it is in."""
    row = connection.execute(
        "SELECT count(DISTINCT message_id) AS n FROM entries JOIN conversations AS c "
        "ON c.id = conversation WHERE c.key = ? AND kind = 'user' AND canonical = 1",
        (conversation,),
    ).fetchone()
    return int(row["n"])


def skip_turn(connection: sqlite3.Connection, conversation: str) -> int | None:
    """Let the present turn of a conversation not be kept; return it, None without any turn.

    What follows does not read it again either.
    """
    conversation = storable(conversation)  # a person types it, and may type what is no text
    row = connection.execute(
        "SELECT entries.id, message_id, at FROM entries JOIN conversations AS c "
        "ON c.id = conversation WHERE c.key = ? AND kind = 'user' AND canonical = 1 "
        "ORDER BY sequence DESC LIMIT 1",
        (conversation,),
    ).fetchone()
    if row is None:
        return None
    now = turn(connection, conversation)
    connection.execute(
        "INSERT INTO diary_jobs (conversation, message, entry, turn, state, why, queued_at) "
        "VALUES (?, ?, ?, ?, 'skipped', ?, ?) ON CONFLICT (conversation, message) "
        "DO UPDATE SET why = CASE WHEN state = 'done' OR why = ? THEN ? ELSE excluded.why END, "
        "state = 'skipped'",
        (
            conversation,
            row["message_id"],
            row["id"],
            now,
            ASKED,
            row["at"],
            TAKEN_BACK,
            TAKEN_BACK,
        ),
    )
    return now


def jobs(connection: sqlite3.Connection, state: JobState, limit: int = -1) -> list[Job]:
    """Return the jobs in a state, in the order in which they were noted."""
    rows = connection.execute(
        "SELECT * FROM diary_jobs WHERE state = ? ORDER BY id LIMIT ?", (state, limit)
    )
    return [_job(row) for row in rows]


def _job(row: sqlite3.Row) -> Job:
    names = ("id", "conversation", "message", "entry", "turn", "attempts")
    return Job(*(row[name] for name in names))


def any_waiting(connection: sqlite3.Connection) -> bool:
    """Tell whether a turn waits to be judged or written down."""
    found = connection.execute(
        "SELECT 1 FROM diary_jobs WHERE state IN ('heard', 'judged') LIMIT 1"
    ).fetchone()
    return found is not None


def newest(connection: sqlite3.Connection) -> int:
    """Return the last job that was noted."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM diary_jobs").fetchone()[0])


def taken_back(connection: sqlite3.Connection) -> list[Job]:
    """Return the turns that were written down before a person took them out of the record."""
    rows = connection.execute(
        "SELECT * FROM diary_jobs WHERE state = 'skipped' AND why = ? ORDER BY id", (TAKEN_BACK,)
    )
    return [_job(row) for row in rows]


def is_gone(connection: sqlite3.Connection, job: Job) -> None:
    """Note that nothing of a turn that was taken back is left."""
    connection.execute(
        "UPDATE diary_jobs SET why = ? WHERE id = ? AND why = ?", (ASKED, job.id, TAKEN_BACK)
    )


def judge(connection: sqlite3.Connection, job: Job, *, keep: bool, now: str) -> None:
    """Follow a judgement: the job waits to be written down, or is ended."""
    connection.execute(
        "UPDATE diary_jobs SET state = ?, why = ?, ended_at = ?, attempts = 0 "
        "WHERE id = ? AND state = 'heard'",
        ("judged", "", "", job.id) if keep else ("skipped", "no", now, job.id),
    )


def finish(connection: sqlite3.Connection, job: Job, why: str, now: str) -> None:
    """End a job that was written down, or that gave nothing."""
    connection.execute(
        "UPDATE diary_jobs SET state = 'done', why = ?, ended_at = ? "
        "WHERE id = ? AND state = 'judged'",
        (why, now, job.id),
    )


def skip(connection: sqlite3.Connection, job: Job, why: str, now: str) -> None:
    """End a job for which nothing is asked any more."""
    connection.execute(
        "UPDATE diary_jobs SET state = 'skipped', why = ?, ended_at = ? "
        "WHERE id = ? AND state IN ('heard', 'judged')",
        (why, now, job.id),
    )


def fail(connection: sqlite3.Connection, job: Job, error: str, *, strike: bool) -> None:
    """Note that a call failed; the job waits on. `strike`: it is the turn's own fault."""
    connection.execute(
        "UPDATE diary_jobs SET attempts = attempts + ?, why = ? WHERE id = ? AND state = 'judged'",
        (int(strike), storable(error[:512]), job.id),
    )


def waits(connection: sqlite3.Connection, job: Job) -> bool:
    """Tell whether a job still waits: a person may have said meanwhile not to keep it."""
    row = connection.execute("SELECT state FROM diary_jobs WHERE id = ?", (job.id,)).fetchone()
    return row is not None and row["state"] in ("heard", "judged")


def new_entries(connection: sqlite3.Connection, conversation: str, since: str) -> int:
    """Count the entries that a conversation gave since an instant; continuations are none."""
    row = connection.execute(
        "SELECT count(*) FROM diary_jobs WHERE conversation = ? AND state = 'done' AND why = ? "
        "AND ended_at >= ?",
        (conversation, NEW, since),
    ).fetchone()
    return int(row[0])


def counts(connection: sqlite3.Connection) -> Counts:
    """Count what the queue holds."""
    states: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    failed, oldest, error = 0, "", ""
    for row in connection.execute(
        "SELECT state, why, attempts, queued_at FROM diary_jobs ORDER BY id"
    ):
        states[row["state"]] += 1
        if row["state"] == "skipped":
            skipped[row["why"]] += 1
        elif row["state"] != "done":
            oldest = oldest or row["queued_at"]
            failed += bool(row["why"])
            error = row["why"] or error
    return Counts(
        heard=states["heard"],
        judged=states["judged"],
        done=states["done"],
        failed=failed,
        oldest_at=oldest,
        last_error=error,
        skipped=dict(sorted(skipped.items())),
    )


# What was mentioned


def mentioned(
    connection: sqlite3.Connection,
    ids: Iterable[str],
    conversation: str,
    turn: int,
    day: str,
) -> None:
    """Note that entries, traits or terms (`term:TERM`) were recalled or said in a turn.

    `day` is the local date. The same in the same turn counts once.
    """
    connection.executemany(
        "INSERT INTO diary_mentions (item, conversation, turn, day, count) VALUES (?, ?, ?, ?, 1) "
        "ON CONFLICT (item, conversation) DO UPDATE SET turn = excluded.turn, day = excluded.day, "
        "count = count + 1 WHERE diary_mentions.turn <> excluded.turn",
        [(storable(item), storable(conversation), turn, day) for item in dict.fromkeys(ids)],
    )


def turns_ago(connection: sqlite3.Connection, conversation: str, now: int) -> dict[str, int]:
    """Return how many turns ago each item was mentioned in a conversation that is in turn `now`."""
    rows = connection.execute(
        "SELECT item, turn FROM diary_mentions WHERE conversation = ?", (conversation,)
    )
    return {row["item"]: max(0, now - row["turn"]) for row in rows}


def hold_mentions(connection: sqlite3.Connection, sleep: str) -> tuple[Mention, ...]:
    """Set aside what was mentioned so far for one sleep, and return it; more may be noted beside."""
    connection.execute(
        "UPDATE diary_mentions SET held = count, count = 0, sleep = ? WHERE count > 0 "
        "AND sleep = ''",
        (sleep,),
    )
    rows = connection.execute(
        "SELECT item, sum(held) AS count, max(day) AS day FROM diary_mentions WHERE sleep = ? "
        "GROUP BY item ORDER BY item",
        (sleep,),
    )
    return tuple(Mention(row["item"], row["count"], row["day"]) for row in rows)


def release_mentions(connection: sqlite3.Connection, sleep: str, *, folded: bool) -> None:
    """End the holding of a sleep: what it brought into the files is done, all else counts on."""
    connection.execute(
        "UPDATE diary_mentions SET count = count + CASE WHEN ? THEN 0 ELSE held END, "
        "held = 0, sleep = '' WHERE sleep = ?",
        (folded, sleep),
    )


def holding(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the sleeps that hold mentions: of those that died, nobody knows yet whether they came home."""
    rows = connection.execute("SELECT DISTINCT sleep FROM diary_mentions WHERE sleep <> ''")
    return tuple(row["sleep"] for row in rows)


def any_mentioned(connection: sqlite3.Connection) -> bool:
    """Tell whether something was mentioned that no sleep has folded in."""
    found = connection.execute(
        "SELECT 1 FROM diary_mentions WHERE count > 0 OR held > 0 LIMIT 1"
    ).fetchone()
    return found is not None


def mentioned_before(connection: sqlite3.Connection, day: str) -> bool:
    """Tell whether something was mentioned on an earlier day that no sleep has folded in."""
    found = connection.execute(
        "SELECT 1 FROM diary_mentions WHERE (count > 0 OR held > 0) AND day < ? LIMIT 1", (day,)
    ).fetchone()
    return found is not None


def mood(connection: sqlite3.Connection) -> Mood | None:
    """Return the mood that no file has yet, None when none has moved."""
    found = scheduling.facts(connection, _MOOD)
    value, day = found.get("value"), found.get("day")
    if isinstance(value, int | float) and isinstance(day, str):
        return Mood(float(value), day)
    return None


def set_mood(connection: sqlite3.Connection, now: Mood) -> None:
    """Remember the mood until the next sleep writes it down."""
    told = json.dumps({"value": now.value, "day": now.day})
    scheduling.set_mark(connection, _MOOD, told)


def clear_mood(connection: sqlite3.Connection) -> None:
    """Forget the mood: a file has it now."""
    scheduling.clear_mark(connection, _MOOD)


def burn(connection: sqlite3.Connection) -> None:
    """Remove everything that the database knows of the diary."""
    for table in ("diary_jobs", "diary_mentions"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - constants
    connection.execute("DELETE FROM marks WHERE name LIKE 'diary%'")
