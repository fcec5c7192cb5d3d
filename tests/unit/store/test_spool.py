"""The spool: every line is read once, whatever hooks and drainers do to it meanwhile."""

from __future__ import annotations

import json

import pytest

from reflector.store import spool
from reflector.store.spool import Mark

TODAY, YESTERDAY, BEFORE = "2026-11-30.jsonl", "2026-11-29.jsonl", "2026-11-28.jsonl"


def line(event: str, **fields: object) -> bytes:
    known = {"time": "1.5", "harness": "claude-code", "event": event, **fields}
    return json.dumps(known, separators=(",", ":")).encode() + b"\n"


def append(folder, name, *lines):
    with (folder / name).open("ab") as file:
        file.write(b"".join(lines))


def read(folder):
    """Take everything that is there, as the drainer does."""
    found = list(spool.lines(folder))
    spool.save(folder, [mark for _, mark in found])
    return [each.event if each else None for each, _ in found]


def test_each_line_is_read_once_in_order_over_all_days(tmp_path):
    append(tmp_path, TODAY, line("c"))
    append(tmp_path, YESTERDAY, line("a"), line("b"))
    assert read(tmp_path) == ["a", "b", "c"]
    append(tmp_path, TODAY, line("d"))
    assert read(tmp_path) == ["d"]
    assert read(tmp_path) == []


def test_a_line_says_who_and_where(tmp_path):
    fields = {"session_id": "s", "transcript_path": "/t", "cwd": "/c", "busy": "1"}
    append(tmp_path, TODAY, line("Stop", **fields))
    ((said, mark),) = spool.lines(tmp_path)
    assert said == spool.Spooled(1.5, "claude-code", "Stop", "s", "/t", "/c", busy=True)
    assert mark == Mark(TODAY, (tmp_path / TODAY).stat().st_size)


def test_a_line_that_is_still_being_written_waits_until_it_is_whole(tmp_path):
    whole = line("b")
    append(tmp_path, TODAY, line("a"), whole[:9])
    assert read(tmp_path) == ["a"]
    assert not spool.pending(tmp_path)
    append(tmp_path, TODAY, whole[9:])
    assert spool.pending(tmp_path)
    assert read(tmp_path) == ["b"]


@pytest.mark.parametrize(
    "odd",
    [
        b"\n",
        b"[]\n",
        b"null\n",
        b"{}\n",
        b'{"time":"x","harness":"h","event":"e"}\n',
        b"\xff\xfe\n",
        b"[" * 5000 + b"\n",
        line("e", transcript_path="a\0b"),
        line("e", cwd="a\0b"),
        line("e", transcript_path="\ud800"),
        line("e", cwd="\ud800"),
    ],
)
def test_a_line_that_is_none_of_ours_is_passed_over(tmp_path, odd):
    append(tmp_path, TODAY, odd, line("a"))
    assert read(tmp_path) == [None, "a"]
    assert read(tmp_path) == []


def test_a_hook_that_began_before_midnight_loses_nothing(tmp_path):
    append(tmp_path, YESTERDAY, line("a"))
    append(tmp_path, TODAY, line("b"))
    with (tmp_path / YESTERDAY).open("ab") as hook:  # it has opened its file, and is slow
        assert read(tmp_path) == ["a", "b"]
        hook.write(line("late"))
    assert read(tmp_path) == ["late"]


def test_files_of_old_days_go_once_they_are_read(tmp_path):
    append(tmp_path, BEFORE, line("a"))
    append(tmp_path, YESTERDAY, line("b"))
    append(tmp_path, TODAY, line("c"))
    found = list(spool.lines(tmp_path))
    spool.save(tmp_path, [found[-1][1]])  # the drainer did not come to the first two
    assert (tmp_path / BEFORE).exists()
    assert read(tmp_path) == ["a", "b"]
    assert sorted(each.name for each in tmp_path.iterdir()) == [YESTERDAY, TODAY, "offsets"]
    assert json.loads((tmp_path / "offsets").read_text()).keys() == {YESTERDAY, TODAY}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"2026-11-30.jsonl": "x"}', b"\xff"])
def test_offsets_that_cannot_be_read_mean_reading_again(tmp_path, content):
    append(tmp_path, TODAY, line("a"))
    (tmp_path / "offsets").write_bytes(content)
    assert read(tmp_path) == ["a"]


def test_a_file_that_became_shorter_is_read_from_its_start(tmp_path):
    append(tmp_path, TODAY, line("a"), line("b"))
    read(tmp_path)
    (tmp_path / TODAY).write_bytes(line("c"))
    assert read(tmp_path) == ["c"]
    assert read(tmp_path) == []


def test_the_line_behind_one_that_a_full_disk_cut_off_is_read(tmp_path):
    append(tmp_path, TODAY, line("a", cwd='/in/a/{"time":/folder')[:-9], line("b"))
    assert read(tmp_path) == ["b"]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    assert not spool.pending(tmp_path / "none")
