"""What a person said no to is in no byte of the home: pause, exclude, off, #norecord, headless."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reflector.store.schema import MIGRATIONS
from tests.support.auditor import audit, bytes_everywhere
from tests.support.cli import Cli
from tests.support.harness_rows import (
    assistant,
    codex,
    lines,
    meta,
    result,
    spoke,
    tool_use,
    user,
)

pytestmark = pytest.mark.slow

CANARY = "Kanarienvogel"
KEPT = "Always use tabs in Makefiles"
DAY = datetime(2024, 3, 4, 10, 0, tzinfo=UTC)


def put(path: Path, *rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(*rows))
    return path


def append(path: Path, *rows) -> None:
    with path.open("ab") as stream:
        stream.write(lines(*rows))


def at(seconds: int) -> str:
    """A time of day for rows, so many seconds into a morning in the past."""
    return f"{DAY + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.500Z"


def now() -> str:
    found = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
    return found.replace(".000Z", ".001Z")  # with no fraction it would stand for the whole second


def ingest(cli: Cli, *files: Path, **options):
    """Ingest and return what became of the files."""
    done = cli("ingest", *files, "--json", **options)
    assert done.code == 0, done.err + done.out
    return done.json["files"]


def occurs(cli: Cli, text: str) -> list[str]:
    return [where for where, content in bytes_everywhere(cli.home) if text.encode() in content]


def nothing_of_it(cli: Cli, *more: str) -> None:
    """Let everything be used that was recorded; then search every byte."""
    assert cli("reflect").code == 0
    for text in (CANARY, *more):
        assert occurs(cli, text) == []
    audit(cli.home)


def entries(cli: Cli) -> list[str]:
    (agent,) = (cli.home / "agents").iterdir()
    with sqlite3.connect(agent / "state.db") as connection:
        found = connection.execute("SELECT text FROM entries WHERE hidden = 0 ORDER BY rowid")
        texts = [text for (text,) in found]
    connection.close()
    return texts


def settings(cli: Cli, text: str) -> None:
    (cli.home / "config.toml").write_text(text, "utf-8")


def test_what_is_recorded_is_found_so_that_its_absence_means_something(cli, tmp_path):
    talk = put(tmp_path / "s1.jsonl", user("u1", f"Always call it {CANARY}."))
    assert cli("reflect", talk).code == 0
    found = " ".join(occurs(cli, CANARY))
    assert "state.db" in found
    assert "payload.json" in found
    assert "repo" in found


# Excluded folders


PATTERNS = {
    "{home}/private": "{home}/private",
    "~/private": "{home}/private/deep/down",
    "~/private/": "{home}/private/app",
    "~/private/**": "{home}/private",
    "~/*/secret-?": "{home}/src/secret-1/app",
    "private": "/srv/private/app",
    "clients/acme*": "/srv/clients/acme-shop",
    "~/[private]": "{home}/[private]/app",
    "~/Gescha\u0308ft": "{home}/Gesch\u00e4ft/app",
    "*": "/anywhere",
}


def test_a_pattern_keeps_everything_said_in_and_below_a_folder_out(cli, tmp_path):
    home = os.environ["HOME"]
    for number, (pattern, folder) in enumerate(PATTERNS.items()):
        cwd = folder.format(home=home)
        settings(cli, f"[journal]\nexclude = [{json.dumps(pattern.format(home=home))}]\n")
        files = ingest(cli, *_three_harnesses(tmp_path / str(number), cwd))
        assert [each["entries"] for each in files] == [0, 0, 0], pattern
        assert all(set(each["left_out"]) == {"excluded"} for each in files)
        assert not [where for where in occurs(cli, cwd) if not where.endswith("config.toml")]
    nothing_of_it(cli, "excluded-")
    assert cli("status", "--json").json["conversations"] == []


def _three_harnesses(folder: Path, cwd: str) -> list[Path]:
    said = f"Always call it {CANARY}."
    claude = [
        {"type": "summary", "leafUuid": "x", "summary": f"About {CANARY}"},
        user("u1", said, cwd=cwd),
        assistant("a1", said, tool_use("c1", path=CANARY), cwd=cwd),
        result("r1", ("c1", CANARY), cwd=cwd),
        {"type": "ai-title", "sessionId": "s1", "aiTitle": f"About {CANARY}"},
    ]
    about = codex("session_meta", id="excluded-session", cwd=cwd, source="cli")
    rollout = [about, spoke("user", said), spoke("assistant", said)]
    generic = [{"role": "user", "content": said, "cwd": cwd}]
    return [
        put(folder / f"excluded-{number}.jsonl", *rows)
        for number, rows in enumerate((claude, rollout, generic))
    ]


def test_other_folders_are_recorded_beside_an_excluded_one(cli, tmp_path):
    settings(cli, '[journal]\nexclude = ["~/private", "~/src/*/secret"]\n')
    home = os.environ["HOME"]
    for n, cwd in enumerate([f"{home}/private2", f"{home}/src/secret", "/x/private"]):
        talk = put(tmp_path / f"{n}.jsonl", user(f"u{n}", KEPT, cwd=cwd, sessionId=f"s{n}"))
        assert ingest(cli, talk)[0]["entries"] == 1


def test_a_pattern_written_through_a_link_fits_the_real_folder(cli, tmp_path):
    (tmp_path / "disk" / "private").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    for pattern, folder in (("link", "disk"), ("disk", "link")):
        settings(cli, f'[journal]\nexclude = ["{tmp_path}/{pattern}/priv*"]\n')
        cwd = f"{tmp_path}/{folder}/private/app"
        talk = put(tmp_path / "talk.jsonl", user("u1", CANARY, cwd=cwd))
        assert ingest(cli, talk)[0]["left_out"] == {"excluded": 1}
    nothing_of_it(cli)


def test_exclusion_may_come_from_the_environment(tmp_path):
    cli = Cli(tmp_path / "home", REFLECTOR_JOURNAL_EXCLUDE="~/one:/srv/two")
    cli("init")
    talk = put(tmp_path / "talk.jsonl", user("u1", CANARY, cwd="/srv/two/app"))
    assert ingest(cli, talk)[0]["left_out"] == {"excluded": 1}
    nothing_of_it(cli)
    shown = cli("config", "show", "--json").json["settings"]["journal.exclude"]
    assert shown["value"] == ["~/one", "/srv/two"]
    assert shown["origin"] == "REFLECTOR_JOURNAL_EXCLUDE"


def test_a_folder_that_is_no_longer_excluded_is_recorded_from_its_beginning(cli, tmp_path):
    settings(cli, '[journal]\nexclude = ["/srv"]\n')
    talk = put(tmp_path / "talk.jsonl", *(user(f"u{n}", KEPT, cwd="/srv") for n in range(3)))
    assert ingest(cli, talk)[0]["entries"] == 0
    settings(cli, "")
    assert ingest(cli, talk)[0]["entries"] == 3


def test_a_session_that_moves_is_left_out_while_it_is_in_the_excluded_folder(cli, tmp_path):
    settings(cli, '[journal]\nexclude = ["/srv/private"]\n')
    secret, open_ = "/srv/private", "/srv/open"
    talk = put(
        tmp_path / "talk.jsonl",
        user("u1", KEPT, cwd=open_),
        assistant("a1", "Moving.", tool_use("c1", cmd="cd"), cwd=open_),
        # Asked for outside, answered inside; then asked for inside, answered outside.
        result("r1", ("c1", CANARY), cwd=secret),
        assistant("a2", CANARY, tool_use("c2", cmd=CANARY), cwd=secret, message="m2"),
        result("r2", ("c2", CANARY), cwd=open_),
        user("u2", "Never push to main", cwd=open_),
        {"type": "custom-title", "sessionId": "s1", "customTitle": CANARY},
    )
    assert ingest(cli, talk)[0]["left_out"] == {"excluded": 3}
    assert entries(cli) == [KEPT, "Moving.", "Never push to main"]
    nothing_of_it(cli)


def test_a_rollout_that_moved_is_known_to_have_moved_when_reading_goes_on(cli, tmp_path):
    settings(cli, '[journal]\nexclude = ["/srv/private"]\n')
    talk = put(
        tmp_path / "talk.jsonl",
        meta(),
        spoke("user", KEPT),
        codex("turn_context", cwd="/srv/private"),
        spoke("user", CANARY),
    )
    assert ingest(cli, talk)[0]["entries"] == 1
    append(talk, spoke("assistant", CANARY), spoke("user", CANARY + " 2"))
    assert ingest(cli, talk)[0]["entries"] == 0
    append(talk, codex("turn_context", cwd="/srv/open"), spoke("user", "Never push to main"))
    assert ingest(cli, talk)[0]["entries"] == 1
    nothing_of_it(cli)


# A project that opts out


def test_a_project_opts_out_with_an_empty_file(cli, tmp_path):
    project = tmp_path / "opted-out-4711"
    (project / ".reflector").mkdir(parents=True)
    (project / ".reflector" / "off").touch()
    (project / "deep" / "down").mkdir(parents=True)
    (tmp_path / "link").symlink_to(project / "deep")
    for n, cwd in enumerate([project, project / "deep" / "down", tmp_path / "link", project / "x"]):
        talk = put(tmp_path / f"{n}.jsonl", user(f"u{n}", CANARY, cwd=str(cwd), sessionId=f"s{n}"))
        assert ingest(cli, talk)[0]["left_out"] == {"off": 1}
    nothing_of_it(cli, "opted-out-4711")
    beside = put(tmp_path / "b.jsonl", user("u9", KEPT, cwd=str(tmp_path / "other")))
    assert ingest(cli, beside)[0]["entries"] == 1
    here = cli("status", "--json", cwd=project / "deep").json["consent"]["here"]
    assert here == "off"
    assert "left out (off)" in cli("status", cwd=project).out
    assert cli("status", "--json").json["consent"]["here"] is None


# Sessions without a person


def test_sessions_without_a_person_are_left_out_on_request(cli, tmp_path):
    settings(cli, "[journal]\nheadless = false\n")
    claude = put(
        tmp_path / "claude.jsonl",
        user("u1", CANARY),  # what it is may be said only later
        assistant("a1", CANARY, entrypoint="sdk-cli"),
    )
    rollout = put(tmp_path / "codex.jsonl", meta() | {"payload": {"id": "e1", "source": "exec"}})
    append(rollout, spoke("user", CANARY), spoke("assistant", CANARY))
    person = put(tmp_path / "p.jsonl", user("u2", KEPT, sessionId="s2", entrypoint="cli"))
    files = ingest(cli, claude, rollout, person)
    assert [each["left_out"] for each in files] == [{"headless": 2}, {"headless": 2}, {}]
    nothing_of_it(cli)
    append(rollout, spoke("user", CANARY))
    assert ingest(cli, rollout)[0]["entries"] == 0
    nothing_of_it(cli)
    settings(cli, "")
    assert [each["entries"] for each in ingest(cli, claude, rollout)] == [2, 3]


def test_a_session_is_left_out_from_the_setting_on(cli, tmp_path):
    talk = put(tmp_path / "t.jsonl", meta() | {"payload": {"id": "e1", "source": "exec"}})
    append(talk, spoke("user", KEPT))
    assert ingest(cli, talk)[0]["entries"] == 1
    settings(cli, "[journal]\nheadless = false\n")
    append(talk, spoke("assistant", CANARY))
    assert ingest(cli, talk)[0]["left_out"] == {"headless": 1}
    nothing_of_it(cli)


# Turns off the record


@pytest.mark.parametrize(
    "mark", ["#norecord", "  #norecord", "\n#NoRecord:", "#norecord,", "[image]\n#norecord"]
)
def test_a_message_keeps_its_whole_turn_out(cli, tmp_path, mark):
    talk = put(
        tmp_path / "talk.jsonl",
        user("u1", KEPT, timestamp=at(0)),
        assistant("a1", "Yes.", timestamp=at(1)),
        user("u2", f"{mark} I call it {CANARY}.", timestamp=at(2)),
        assistant("a2", CANARY, tool_use("c1", path=CANARY), message="m2", timestamp=at(3)),
        result("r2", ("c1", CANARY), timestamp=at(4)),
        {"type": "ai-title", "sessionId": "s1", "aiTitle": f"About {CANARY}"},
        assistant("a3", f"{CANARY} again", message="m3", timestamp=at(5)),
        user("u3", "Never push to main", timestamp=at(6)),
        {"type": "ai-title", "sessionId": "s1", "aiTitle": f"About {CANARY} and more"},
        assistant("a4", "Understood.", message="m4", timestamp=at(7)),
    )
    (file,) = ingest(cli, talk)
    assert file["left_out"] == {"norecord": 4}
    assert entries(cli) == [KEPT, "Yes.", "Never push to main", "Understood."]
    nothing_of_it(cli)
    assert cli("status", "--json").json["consent"]["left_out"] == {"norecord": 4}


def test_a_message_that_only_mentions_it_is_recorded(cli, tmp_path):
    texts = ["#norecording is", "Do not say #norecord", "norecord"]
    talk = put(tmp_path / "t.jsonl", *(user(f"u{n}", text) for n, text in enumerate(texts)))
    assert ingest(cli, talk)[0]["entries"] == 3


@pytest.mark.parametrize("form", ["claude-code", "codex", "generic"])
def test_a_turn_stays_out_however_its_rows_arrive(cli, tmp_path, form):
    say = {
        "claude-code": lambda n, role, text: (
            user(f"u{n}", text) if role == "user" else assistant(f"a{n}", text, message=f"m{n}")
        ),
        "codex": lambda _n, role, text: spoke(role, text),
        "generic": lambda _n, role, text: {"role": role, "content": text},
    }[form]
    rows = [
        say(1, "user", KEPT),
        say(2, "assistant", "Yes."),
        say(3, "user", f"#norecord {CANARY}"),
        say(4, "assistant", f"{CANARY} 1"),
        say(5, "assistant", f"{CANARY} 2"),
        say(6, "user", "Never push to main"),
        say(7, "assistant", "Understood."),
    ]
    talk = put(tmp_path / "talk.jsonl", *([meta()] if form == "codex" else []))
    for row in rows:
        append(talk, row)
        assert cli("ingest", talk).code == 0
        assert occurs(cli, CANARY) == []
    assert entries(cli) == [KEPT, "Yes.", "Never push to main", "Understood."]
    # Replaced by itself, the file is read from its start again, and gives nothing again.
    copy = talk.read_bytes()
    talk.unlink()
    talk.write_bytes(copy)
    append(talk, say(8, "assistant", "And more."))
    assert ingest(cli, talk)[0]["entries"] == 1
    nothing_of_it(cli)


def test_a_file_read_again_does_not_end_the_silence_of_its_last_turn(cli, tmp_path):
    rows = [user("u1", KEPT), assistant("a1", "Yes."), user("u2", f"#norecord {CANARY}")]
    talk = put(tmp_path / "talk.jsonl", *rows)
    ingest(cli, talk)
    # A second compaction copies earlier rows behind later ones (F77); then the turn goes on.
    append(talk, *rows[:2], assistant("a2", CANARY, message="m2"))
    assert ingest(cli, talk)[0]["left_out"] == {"norecord": 1}
    talk.unlink()
    put(talk, *rows, *rows[:2], assistant("a2", CANARY), assistant("a3", CANARY, message="m3"))
    assert ingest(cli, talk)[0]["entries"] == 0
    nothing_of_it(cli)


def test_a_fork_knows_what_its_origin_kept_off_the_record(cli, tmp_path):
    rows = [user("u1", KEPT), user("u2", f"#norecord {CANARY}"), assistant("a2", CANARY)]
    ingest(cli, put(tmp_path / "origin.jsonl", *rows))
    fork = [row | {"sessionId": "fork"} for row in rows]
    own = [assistant("b1", CANARY, message="m9", sessionId="fork")]
    # One fork copies the whole turn and goes on with it, another only the turn's end.
    forked = put(tmp_path / "fork.jsonl", *fork, *own)
    torn = put(tmp_path / "torn.jsonl", *(row | {"sessionId": "torn"} for row in rows[2:]))
    assert [each["entries"] for each in ingest(cli, forked, torn)] == [0, 0]
    append(forked, user("b2", "Never push to main", sessionId="fork"))
    assert ingest(cli, forked)[0]["entries"] == 1
    nothing_of_it(cli)
    forked.unlink()
    put(forked, *fork, *own, user("b2", "Never push to main", sessionId="fork"))
    append(forked, assistant("b3", "Understood.", message="m10", sessionId="fork"))
    assert ingest(cli, forked)[0]["entries"] == 1
    nothing_of_it(cli)


@pytest.mark.parametrize("first", ["main", "agent"])
def test_subagents_of_a_turn_off_the_record_stay_out(cli, tmp_path, first):
    side = {"isSidechain": True, "agentId": "ag1"}
    main = put(
        tmp_path / "s1.jsonl",
        user("u1", KEPT, timestamp=at(0)),
        user("u2", f"#norecord {CANARY}", timestamp=at(10)),
        user("p1", f"Look at {CANARY}", timestamp=at(11), **side | {"agentId": "inline"}),
        assistant("p2", CANARY, timestamp=at(12), **side | {"agentId": "inline"}),
        user("u3", "Never push to main", timestamp=at(20)),
        # A background agent goes on after its turn.
        assistant("p3", CANARY, timestamp=at(21), message="m3", **side | {"agentId": "inline"}),
    )
    agent = put(
        tmp_path / "agent-ag1.jsonl",
        user("g1", f"Look at {CANARY}", timestamp=at(11), **side),
        assistant("g2", CANARY, tool_use("c1", path=CANARY), timestamp=at(12), **side),
        result("g3", ("c1", CANARY), timestamp=at(13), **side),
    )
    ingest(cli, *((main, agent) if first == "main" else (agent, main)))
    assert entries(cli) == [KEPT, "Never push to main"]
    nothing_of_it(cli)


def test_a_summary_of_everything_does_not_tell_what_was_off_the_record(cli, tmp_path):
    talk = put(
        tmp_path / "talk.jsonl",
        meta(),
        spoke("user", f"#norecord {CANARY}"),
        spoke("assistant", CANARY),
        spoke("user", KEPT),
        spoke("assistant", f"Summary: {CANARY}"),
        codex("compacted", message=f"Before: Summary: {CANARY}"),
        spoke("assistant", "Going on."),
    )
    ingest(cli, talk)
    assert entries(cli) == [KEPT, "Going on."]
    nothing_of_it(cli)


def test_only_the_retracted_answer_is_hidden_never_an_earlier_one(cli, tmp_path):
    talk = put(tmp_path / "talk.jsonl", meta(), spoke("user", KEPT), spoke("assistant", "Yes."))
    append(talk, spoke("user", f"#norecord {CANARY}"), spoke("assistant", f"{CANARY} summary"))
    append(talk, codex("compacted", message=f"{CANARY} summary"))
    ingest(cli, talk)
    assert entries(cli) == [KEPT, "Yes."]
    nothing_of_it(cli)


# Pause


def test_while_paused_nothing_is_recorded_and_the_next_step_is_named(cli, tmp_path):
    talk = put(tmp_path / "talk.jsonl", user("u1", KEPT, timestamp=at(0)))
    paused = cli("pause", "--json").json
    assert paused["recording"] is False
    assert paused["paused_until"] is None
    for words in (["ingest", talk], ["reflect", talk]):
        refused = cli(*words)
        assert refused.code == 4
        assert "paused" in refused.err
        assert "reflector resume" in refused.err
        assert cli(*words, "--json").json["error"]["code"] == "paused"
    told = cli("status", "--json").json
    assert told["consent"]["recording"] is False
    assert told["conversations"] == []
    assert "paused until you resume it" in cli("status").out
    assert cli("reflect").code == 0  # what was recorded before may be worked on
    assert cli("resume", "--json").json["recording"] is True
    assert ingest(cli, talk)[0]["entries"] == 1  # it was said long before
    assert cli("resume").code == 0


def test_what_was_said_while_paused_is_never_recorded_later(cli, tmp_path):
    talk = put(
        tmp_path / "talk.jsonl",
        user("u1", KEPT, timestamp=now()),
        assistant("a1", "Working.", tool_use("c1", cmd="make"), timestamp=now()),
    )
    assert cli("pause", "--for", "2h").code == 0
    append(
        talk,
        # Asked for before the pause, answered in it.
        result("r1", ("c1", CANARY), timestamp=now()),
        {"type": "ai-title", "sessionId": "s1", "aiTitle": CANARY},
        user("u2", f"Always call it {CANARY}.", timestamp=now()),
        assistant("a2", CANARY, message="m2", timestamp=now()),
        user("u3", CANARY, timestamp=now()[:19] + "Z"),  # whole seconds
    )
    assert cli("resume").code == 0
    append(
        talk,
        {"type": "ai-title", "sessionId": "s1", "aiTitle": CANARY},
        user("u4", "Never push to main", timestamp=now()),
    )
    (file,) = ingest(cli, talk)
    assert entries(cli) == [KEPT, "Working.", "Never push to main"]
    assert file["left_out"] == {"paused": 4}
    assert ingest(cli, talk)[0]["entries"] == 0
    nothing_of_it(cli)


def test_rows_without_a_time_that_came_while_paused_stay_out(cli, tmp_path):
    known = put(tmp_path / "known.jsonl", {"role": "user", "content": KEPT})
    assert ingest(cli, known)[0]["entries"] == 1
    mixed = put(tmp_path / "mixed.jsonl")
    assert cli("pause").code == 0
    append(known, {"role": "assistant", "content": CANARY})
    new = put(tmp_path / "new.jsonl", {"role": "user", "content": f"{CANARY} new"})
    append(mixed, {"role": "user", "content": f"{CANARY} mixed", "timestamp": now()})
    append(mixed, {"role": "assistant", "content": f"{CANARY} mixed"})
    assert cli("resume").code == 0
    # Touched again later: the file's own time says nothing any more, the row before it does.
    append(mixed, {"role": "user", "content": "Never push to main", "timestamp": now()})
    counts = [each["left_out"] for each in ingest(cli, known, new, mixed)]
    assert counts == [{"paused": 1}, {"paused": 1}, {"paused": 2}]
    ingest(cli, known, new, mixed)
    assert entries(cli) == [KEPT, "Never push to main"]
    nothing_of_it(cli)


def test_a_pause_holds_for_every_identity_and_needs_none(tmp_path):
    cli = Cli(tmp_path / "home")
    assert cli("pause").code == 0
    for name in ("work", "play"):
        assert cli("init", "--identity", name).code == 0
        talk = put(tmp_path / "t.jsonl", user("u1", CANARY))
        assert cli("ingest", talk, "--identity", name).code == 4


def test_a_pause_ends_by_itself_and_is_never_made_shorter(cli, tmp_path):
    talk = put(tmp_path / "talk.jsonl", user("u1", KEPT, timestamp=at(0)))
    long = cli("pause", "--for", "1h30m", "--json").json
    assert cli("pause", "--for", "10m", "--json").json == long
    assert cli("pause", "--json").json["paused_until"] is None
    cli("resume")
    over = f"{datetime.now(UTC) - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    (cli.home / "pauses").write_text(f"2024-01-01T00:00:00+01:00 {over}\n", "utf-8")
    assert cli("ingest", talk).code == 0
    assert entries(cli) == []  # it was said in that pause
    lines_ = (cli.home / "pauses").read_text("utf-8")
    assert lines_.startswith("2024-01-01")


def test_a_duration_that_is_none_is_refused_before_anything_happens(cli):
    for text in ("0s", "-5m", "2", "h", "2h!", "99999w", "", "1h 5m"):
        assert cli("pause", f"--for={text}").code == 2
    assert not (cli.home / "pauses").exists()


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"nonsense\n",
        b"2026-11-30T10:00:00Z",
        b"2026-11-30T10:00:00.000Z 2026-11-30T1",
        b"2026-11-30T10:00:00 -\n",
        b"2026-11-30T10:00:00Z 2026-11-30T09:00:00Z\n",
        b"\xff\xfe\x00",
        "folder",
        "link",
    ],
)
def test_pauses_that_cannot_be_read_stop_all_recording(cli, tmp_path, damage):
    talk = put(tmp_path / "talk.jsonl", user("u1", KEPT))
    file = cli.home / "pauses"
    if damage == "folder":
        file.mkdir()
    elif damage == "link":
        file.symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").write_text("2026-11-30T10:00:00Z 2026-11-30T11:00:00Z\n")
    else:
        file.write_bytes(damage)
    for words in (["ingest", talk], ["reflect", talk], ["pause"], ["resume"]):
        refused = cli(*words)
        assert refused.code == 3, words
        assert str(file) in refused.err
        assert "move it away" in refused.err
    assert entries(cli) == []
    told = cli("status", "--json").json
    assert told["consent"]["recording"] is False
    assert [each["code"] for each in told["problems"]] == ["pauses_unreadable"]
    if damage not in ("folder", "link"):
        assert file.read_bytes() == damage  # never overwritten
    file.rename(tmp_path / "away")
    assert ingest(cli, talk)[0]["entries"] == 1


def test_status_shows_every_no(cli):
    fresh = cli("status", "--json").json["consent"]
    assert fresh == {
        "recording": True,
        "paused_since": None,
        "paused_until": None,
        "excluded": [],
        "headless": True,
        "here": None,
        "left_out": {},
    }
    settings(cli, '[journal]\nexclude = ["~/private", "/srv/x"]\nheadless = false\n')
    cli("pause", "--for", "3d")
    told = cli("status", "--json").json["consent"]
    assert told["excluded"] == ["~/private", "/srv/x"]
    assert told["headless"] is False
    assert told["paused_until"] > told["paused_since"]
    text = cli("status").out
    for part in ("paused until 20", "~/private", "/srv/x", "headless sessions are left out"):
        assert part in text


def test_a_pattern_list_of_the_wrong_type_is_refused(cli, tmp_path):
    talk = put(tmp_path / "t.jsonl", user("u1", CANARY))
    for value in ('"~/x"', "[1]", '[""]', "[[]]", "true", "{}"):
        settings(cli, f"[journal]\nexclude = {value}\n")
        refused = cli("ingest", talk)
        assert refused.code == 3
        assert "journal.exclude must be a list of strings" in refused.err
    assert cli("pause").code == 0  # works whatever the settings say


def test_a_database_from_before_takes_what_is_needed(cli, tmp_path):
    (agent,) = (cli.home / "agents").iterdir()
    (agent / "state.db").unlink()
    with sqlite3.connect(agent / "state.db") as connection:
        connection.executescript(f"{MIGRATIONS[0]}; PRAGMA user_version = 1")
    connection.close()
    talk = put(tmp_path / "t.jsonl", user("u1", KEPT), user("u2", f"#norecord {CANARY}"))
    assert ingest(cli, talk)[0]["entries"] == 1
    nothing_of_it(cli)
