"""Judges what a life left behind in diaries. Knows nothing of the product but what is on disk.

Git is read with the command line, the database with sqlite3, records as JSON. What should be there
is told by whoever lived it: a JSON object with the zones, the homes, the first sentences of what
they ought to hold by local day, and what may be nowhere. Each judge yields sentences about what is
wrong; `audit` asks them all.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.diary_blocks import lately, preview

_HAND = "hand-edit"
_NO_ANCHOR = ("begin", _HAND)
_ALWAYS = frozenset({".gitattributes", ".gitignore", "NOTES.md", "diary.json", "persona.md"})
_FOLDERS = re.compile(
    r"(entries/\d{4}-\d{2}|traits|lexicon|tombstones)/[^/]+\.json|mood\.json|README\.md"
)
_ANCHOR = re.compile(r"<!-- anchor.*?-->\n(.*?)<!-- /anchor -->", re.DOTALL)


@dataclass(frozen=True)
class Commit:
    """One commit as the command line tells it."""

    sha: str
    parents: tuple[str, ...]
    at: datetime
    message: str

    def trailers(self, name: str) -> list[str]:
        last = self.message.rstrip("\n").rsplit("\n\n", 1)[-1]
        lines = last.split("\n")
        return [line[len(name) + 2 :] for line in lines if line.startswith(f"{name}: ")]


@dataclass(frozen=True)
class Zones:
    """Where somebody was since when."""

    since: tuple[tuple[datetime, ZoneInfo], ...]

    def local(self, at: datetime) -> datetime:
        """Return an instant as a clock on the wall told it there and then."""
        zone = [each for begun, each in self.since if begun <= at] or [self.since[0][1]]
        return at.astimezone(zone[-1])


def audit(told: Mapping[str, Any]) -> None:
    """Assert everything at once; the failure shows every sentence."""
    wrong = list(faults(told))
    assert not wrong, "\n".join(wrong[:60])


def faults(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield everything that is wrong."""
    zones = Zones(tuple((_instant(at), ZoneInfo(name)) for at, name in told["zones"]))
    for name, home in told["homes"].items():
        for part in _judges(told, home, zones):
            yield from (f"{name}: {each}" for each in part)
    yield from alike(told)


def _judges(
    told: Mapping[str, Any], home: Mapping[str, Any], zones: Zones
) -> Iterator[Iterable[str]]:
    repo, database = places(Path(home["home"]))
    yield repository(repo)
    yield records(repo, zones)
    yield each_once(repo, home["present"], home["notes"], told["joined"])
    yield nowhere(Path(home["home"]), told["gone"])
    yield unsaid(repo, database, home["previews"], (*told["never"], *told["silent"]))
    yield commits(repo, database, zones)
    yield persona(repo, zones)
    yield jobs(database)
    for shown in home["previews"]:
        yield preview(shown, home)
    yield sections_alive(repo, home["previews"])


def git(repo: Path, *words: str, feed: bytes | None = None) -> bytes:
    """Ask the git command line."""
    done = subprocess.run(
        ["git", "-C", str(repo), *words], input=feed, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def places(home: Path) -> tuple[Path, Path]:
    """Return the diary's repository and the database of a home's only identity."""
    (agent,) = (home / "agents").iterdir()
    return agent / "diary", agent / "state.db"


def history(repo: Path, ref: str = "main") -> list[Commit]:
    """Return the commits, newest first."""
    raw = git(repo, "log", "--first-parent", "--format=%H%x00%P%x00%cI%x00%B%x00%x01", ref).decode()
    rows = (row.strip("\n").split("\x00") for row in raw.split("\x01") if row.strip())
    return [
        Commit(row[0], tuple(row[1].split()), datetime.fromisoformat(row[2]), row[3])
        for row in rows
    ]


def files(repo: Path, commit: str = "main") -> dict[str, bytes]:
    """Return the files of a commit."""
    listed = git(repo, "ls-tree", "-r", "-z", commit).split(b"\0")
    rows = [row.split(b"\t", 1) for row in listed if row]
    contents = _batch(repo, [meta.split()[2].decode() for meta, _ in rows])
    return {path.decode(): content for (_, path), content in zip(rows, contents, strict=True)}


def _batch(repo: Path, oids: list[str]) -> list[bytes]:
    raw = git(repo, "cat-file", "--batch", feed="".join(f"{oid}\n" for oid in oids).encode())
    found, at = [], 0
    for _ in oids:
        end = raw.index(b"\n", at)
        size = int(raw[at:end].split()[2])
        found.append(raw[end + 1 : end + 1 + size])
        at = end + 2 + size
    return found


def repository(repo: Path) -> Iterator[str]:
    """Judge the repository itself: whole, checked out, never connected with anything."""
    git(repo, "fsck", "--full", "--strict")
    if status := git(repo, "status", "--porcelain").decode().strip():
        yield f"the working tree differs: {status[:200]}"
    if remotes := git(repo, "remote").decode().strip():
        yield f"there is a remote: {remotes}"
    known = files(repo)
    yield from (f"missing: {path}" for path in sorted(_ALWAYS - known.keys()))
    odd = [path for path in known if path not in _ALWAYS and not _FOLDERS.fullmatch(path)]
    yield from (f"nobody knows the file {path}" for path in odd)
    if "README.md" in known:
        yield "the readable view is committed"


def parsed(known: Mapping[str, bytes], folder: str) -> dict[str, dict[str, Any]]:
    """Return the records of a folder by path."""
    return {path: json.loads(raw) for path, raw in known.items() if path.startswith(f"{folder}/")}


def records(repo: Path, zones: Zones) -> Iterator[str]:
    """Judge every record: its place, its dates, and that nothing dead is there."""
    known = files(repo)
    entries = parsed(known, "entries")
    ids = Counter(each["id"] for each in entries.values())
    yield from (f"the entry {one} is there {n} times" for one, n in ids.items() if n > 1)
    for path, each in entries.items():
        if path != f"entries/{each['date'][:7]}/{each['id']}.json":
            yield f"{path} is in the wrong place"
        yield from (f"{path}: {what}" for what in _dates(each, zones))
    stones = {Path(path).stem: each for path, each in parsed(known, "tombstones").items()}
    for path, each in {**entries, **parsed(known, "traits")}.items():
        stone = stones.get(each["id"])
        if stone is not None and stone["version"] >= each.get("life", 1):
            yield f"{path} is dead and there"
    for path, stone in parsed(known, "tombstones").items():
        if set(stone) - {"id", "version"}:
            yield f"{path} says more than that something is dead"


def _dates(entry: Mapping[str, Any], zones: Zones) -> Iterator[str]:
    day = date.fromisoformat(entry["date"])
    created, updated = _instant(entry["created_at"]), _instant(entry["updated_at"])
    if created > updated:
        yield "it was updated before it was made"
    late = (zones.local(created).date() - day).days
    # What a provider's bad day held up is written down later, never earlier.
    if not 0 <= late <= 25:
        yield f"it is dated {day} and was made on {zones.local(created):%Y-%m-%d}"
    reinforced = date.fromisoformat(entry["reinforced_on"])
    if reinforced < day:
        yield f"it was reinforced on {reinforced}, before its day {day}"
    if reinforced > zones.local(zones.since[-1][0]).date() + timedelta(days=400):
        yield f"it was reinforced on {reinforced}, which has not come"


def each_once(
    repo: Path, present: Mapping[str, str], notes: Mapping[str, str], joined: Sequence[str]
) -> Iterator[str]:
    """Judge that all that was told is there once, on its day, and that nothing else is.

    What is `joined` became one with what was told on another day, and is of that day.
    """
    entries = parsed(files(repo), "entries").values()
    events = [each for each in entries if each["kind"] != "note"]
    days: dict[str, list[str]] = {}
    for mark, day in present.items():
        holding = [each for each in events if mark in each["text"]]
        times = sum(each["text"].count(mark) for each in holding)
        if times != 1:
            yield f"{mark!r} of {day} is there {times} times"
        for each in holding if mark not in joined else ():
            days.setdefault(each["id"], []).append(day)
    for each in events:
        yield from _of_its_day(each, days.get(each["id"], []))
    yield from _noted(entries, notes)


def _of_its_day(entry: Mapping[str, Any], told: list[str]) -> Iterator[str]:
    if not told:
        yield f"nobody told {entry['text']!r}"
    elif entry["date"] != min(told) or _days(min(told), max(told)) > 1:
        yield f"{entry['text'][:60]!r} is of {entry['date']}, and was told on {sorted(set(told))}"


def _noted(entries: Iterable[Mapping[str, Any]], notes: Mapping[str, str]) -> Iterator[str]:
    written = [each for each in entries if each["kind"] == "note"]
    texts = Counter(each["text"] for each in written)
    odd = (texts - Counter(notes.keys())) + (Counter(notes.keys()) - texts)
    if odd:
        yield f"notes differ: {list(odd)[:3]}"
    for each in written:
        if notes.get(each["text"]) != each["date"]:
            yield f"the note {each['text']!r} is of another day: {each['date']}"


def alike(told: Mapping[str, Any]) -> Iterator[str]:
    """Judge that homes which met know the same, word for word and number for number."""
    repos = [places(Path(home["home"]))[0] for home in told["homes"].values()]
    one, other = (
        {
            path: {name: value for name, value in each.items() if name != "version"}
            for folder in ("entries", "traits", "lexicon", "tombstones")
            for path, each in parsed(files(repo), folder).items()
        }
        for repo in repos
    )
    for path in sorted({*one, *other}):
        ours, theirs = one.get(path), other.get(path)
        if ours is None or theirs is None:
            yield f"only one home has {path}"
        elif not path.startswith("tombstones/") and ours != theirs:
            odd = [name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)]
            yield f"{path} differs in {odd}"
    for path, each in one.items():
        times = told["terms"].get(each.get("term", ""), 0)
        if path.startswith("lexicon/") and not 1 <= each["count"] <= times:
            yield f"{each['term']!r} was said {times} times and counts {each['count']}"


# What may be nowhere


def nowhere(home: Path, gone: Iterable[str]) -> Iterator[str]:
    """Judge that no byte of a home says what was burned or forgotten."""
    wanted = [(text, text.encode(), json.dumps(text)[1:-1].encode()) for text in gone]
    for place, content in _everything(home):
        for text, plain, escaped in wanted:
            if plain in content or escaped in content:
                yield f"{place} still says {text!r}"


def _everything(home: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(home)), path.read_bytes()
        if path.name == ".git" and path.is_dir():
            repo = path.parent
            listed = git(repo, "cat-file", "--batch-all-objects", "--batch-check").decode()
            oids = [line.split()[0] for line in listed.splitlines()]
            yield f"the objects of {repo.name}", b"\n".join(_batch(repo, oids))


def unsaid(
    repo: Path, database: Path, previews: Iterable[Mapping[str, Any]], never: Iterable[str]
) -> Iterator[str]:
    """Judge that what may not be kept is in no version of the diary, and was never shown."""
    listed = git(repo, "cat-file", "--batch-all-objects", "--batch-check").decode()
    content = b"\n".join(_batch(repo, [line.split()[0] for line in listed.splitlines()]))
    view = repo / "README.md"
    content += view.read_bytes() if view.exists() else b""
    shown = "\n".join(each["text"] for each in previews)
    for text in never:
        if text.encode() in content:
            yield f"the diary says {text!r}"
        if text in shown:
            yield f"a block said {text!r}"
    if any(b"diary" in path.name.encode() for path in database.parent.glob("runs/jobs/*/left-*")):
        yield "a job was left behind"


# What was done


def commits(repo: Path, database: Path, zones: Zones) -> Iterator[str]:
    """Judge that each turn has one commit at most, and each local day one night at most."""
    made = history(repo)
    done: Counter[str] = Counter()
    nights: Counter[str] = Counter()
    for each in made:
        done.update(each.trailers("Diary-Job"))
        if each.trailers("Diary-Sleep"):
            nights[f"{zones.local(each.at):%Y-%m-%d}"] += 1
        if not each.trailers("Diary-Change"):
            yield f"nobody said why there is {each.sha[:12]}"
    yield from (f"the turn {job} was written {n} times" for job, n in done.items() if n > 1)
    # Who flies far enough east to west has a day twice.
    flights = {f"{zones.local(at):%Y-%m-%d}" for at, _ in zones.since}
    for day, times in nights.items():
        if times > 1 and day not in flights:
            yield f"the night of {day} was {times} times"
    asked = rows(database, "SELECT entry, state, why FROM diary_jobs")
    ended = {row["entry"] for row in asked if row["state"] == "done"}
    for job in sorted(done.keys() - ended):
        yield f"the turn {job} was written and is not done"


def jobs(database: Path) -> Iterator[str]:
    """Judge that every turn has come to its end."""
    for row in rows(database, "SELECT entry, state, why FROM diary_jobs"):
        if row["state"] not in ("done", "skipped"):
            yield f"the turn {row['entry']} still is {row['state']} ({row['why']})"
        elif row["why"].startswith("gave_up"):
            yield f"the turn {row['entry']} was given up: {row['why']}"


def rows(database: Path, query: str) -> list[sqlite3.Row]:
    """Ask the database, which nobody changes meanwhile."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def persona(repo: Path, zones: Zones) -> Iterator[str]:
    """Judge that nobody but a person changed an anchored line, or more than two lines a day."""
    days: Counter[str] = Counter()
    made = {each.sha: each for each in history(repo)}
    changed = git(repo, "log", "--first-parent", "--format=%H", "main", "--", "persona.md")
    for sha in changed.decode().split():
        each = made[sha]
        why = (each.trailers("Diary-Change") or [""])[0]
        if why in _NO_ANCHOR or not each.parents:
            continue
        before, after = (_page(repo, one) for one in (each.parents[0], sha))
        if _ANCHOR.findall(before) != _ANCHOR.findall(after):
            yield f"{sha[:12]} ({why}) changed an anchored line"
        if why == "persona":
            days[f"{zones.local(each.at):%Y-%m-%d}"] += 1
        elif why not in ("undo", "burn"):
            yield f"{sha[:12]} ({why}) changed the persona"
    yield from (f"the persona changed {n} times on {day}" for day, n in days.items() if n > 2)


def _page(repo: Path, commit: str) -> str:
    return git(repo, "show", f"{commit}:persona.md").decode()


def hand_written(told: Mapping[str, Any], name: str) -> Iterator[str]:
    """Judge that what a person wrote in the pages of a home is there, word for word."""
    repo, _ = places(Path(told["homes"][name]["home"]))
    for page, line in told["hand"].items():
        if line not in git(repo, "show", f"main:{page}").decode().split("\n"):
            yield f"{page} says no more {line!r}"


# What was shown


def sections_alive(repo: Path, previews: list[Mapping[str, Any]], most: int = 24) -> Iterator[str]:
    """Judge blocks spread over a life by the diary that they were made of."""
    for shown in previews[:: max(1, len(previews) // most)]:
        commit = shown["head"]
        if commit and _there(repo, commit):  # forgetting writes commits anew
            entries = parsed(files(repo, commit), "entries").values()
            yield from (f"block of {shown['at']}: {each}" for each in lately(shown, list(entries)))


def _there(repo: Path, commit: str) -> bool:
    done = subprocess.run(
        ["git", "-C", str(repo), "cat-file", "-e", commit], capture_output=True, check=False
    )
    return done.returncode == 0


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _days(one: str, other: str) -> int:
    return (date.fromisoformat(other) - date.fromisoformat(one)).days
