"""A diary as files: closed, canonical, and what is damaged stays as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.diary import Diary, Entry, Mood, Share, Term, Tombstone, Trait
from reflector.pipelines.diary import migrations, records, settling
from reflector.pipelines.diary.migrations import DiaryPausedError
from reflector.pipelines.diary.records import DiaryRecordError

ENTRY = Entry(
    "e1",
    "2026-11-30",
    "She laughed at the red build.",
    "chat",
    tags=("work", "build"),
    salience=0.6,
    conversation="claude-code/s1",
    turn=3,
    created_at="2026-11-30T12:00:00.000Z",
    updated_at="2026-11-30T12:00:00.000Z",
    reinforced_on="2026-11-30",
)
TRAIT = Trait("t1", "Dislikes small talk before coffee.", "Answered 'later' to a greeting.", "user")
DIARY = Diary(
    entries={"e1": ENTRY},
    traits={"t1": TRAIT},
    lexicon={"the red lamp": Term("The Red Lamp", 4, "2026-11-29")},
    tombstones={"gone": Tombstone("gone", 2)},
    persona="# Who I am\n",
    mood=Mood(0.25, "2026-11-30"),
    replica="ab12",
)


def _entry(files: Mapping[str, bytes], path: str, **changed: object) -> dict[str, bytes]:
    return {**files, path: json.dumps({**json.loads(files[path]), **changed}).encode()}


def test_a_diary_is_read_as_it_was_written():
    files = records.files(DIARY)

    again = records.read(files)

    assert again == DIARY
    assert records.files(again) == files


def test_each_record_is_a_file_of_its_own():
    assert list(records.files(DIARY)) == [
        "diary.json",
        "entries/2026-11/e1.json",
        "lexicon/the-red-lamp-96a86a8c.json",
        "mood.json",
        "persona.md",
        "tombstones/gone.json",
        "traits/t1.json",
    ]


def test_a_file_is_canonical_json_that_a_person_can_read():
    entry = replace(ENTRY, text="她笑了。")

    raw = records.files(Diary(entries={"e1": entry}))["entries/2026-11/e1.json"]

    text = raw.decode("utf-8")
    assert "她笑了。" in text
    assert text.endswith("}\n")
    assert "\r" not in text
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_a_tombstone_holds_no_word_of_what_it_buries():
    name = settling.term_tombstone("our secret word")
    diary = Diary(tombstones={name: Tombstone(name, 1)})

    files = records.files(diary)

    assert not any(b"secret" in content or "secret" in path for path, content in files.items())


def test_terms_that_differ_in_what_cannot_be_read_in_a_path_are_two():
    lexicon = {"咖啡": Term("咖啡", 1), "红灯": Term("红灯", 1), "a/b": Term("a/b", 2)}

    files = records.files(Diary(lexicon=lexicon))

    assert records.read(files).lexicon == lexicon
    assert len([path for path in files if path.startswith("lexicon/")]) == 3


def test_however_a_term_is_typed_it_is_one():
    assert records.term_path("The  Red lamp") == records.term_path("the red LAMP ")


@pytest.mark.parametrize(
    "changed",
    [
        {"salience": 1.5},
        {"salience": float("nan")},
        {"salience": True},
        {"kind": "gossip"},
        {"date": "2026-13-01"},
        {"date": "20261130"},
        {"text": "  "},
        {"text": "x" * 20_001},
        {"text": "\ud800"},
        {"turn": -1},
        {"version": 0},
        {"resolved": 1},
        {"tags": "work"},
        {"id": "../e1"},
        {"id": "e2"},
        {"created_at": "yesterday"},
        {"score": 1},
        {"parts": [{"id": "x", "after": "x", "at": "", "version": 1, "size": 29}]},
        {"parts": [{"id": "0", "after": "", "at": "", "version": 1, "size": -1}]},
    ],
    ids=str,
)
def test_a_damaged_file_is_skipped_and_named(changed: dict[str, object]):
    path = "entries/2026-11/e1.json"

    found = records.read(_entry(records.files(DIARY), path, **changed))

    assert found.damaged == (path,)
    assert found.entries == {}
    assert found.traits == DIARY.traits


@pytest.mark.parametrize(
    "raw", [b"", b"\xff", b"{", b"[]", b"[" * 100_000, b'"' + b"x" * (1 << 20) + b'"'], ids=len
)
def test_what_is_no_json_object_is_damaged(raw: bytes):
    assert records.read({"traits/t1.json": raw}).damaged == ("traits/t1.json",)


def test_a_damaged_file_is_never_written():
    path = "entries/2026-11/e1.json"
    found = records.read({**records.files(DIARY), path: b"{"})

    again = records.files(replace(found, entries={"e1": ENTRY}))

    assert path not in again


def test_an_entry_in_two_months_is_read_once():
    files = records.files(DIARY)
    other = {**json.loads(files["entries/2026-11/e1.json"]), "date": "2026-12-01"}

    found = records.read({**files, "entries/2026-12/e1.json": json.dumps(other).encode()})

    assert found.entries == {"e1": ENTRY}
    assert found.damaged == ("entries/2026-12/e1.json",)


def test_files_that_are_none_of_a_diary_are_passed_over():
    files = records.files(DIARY)

    assert records.read({**files, "README.md": b"\xff", ".gitignore": b"README.md\n"}) == DIARY


def test_a_persons_notes_are_read_and_never_written():
    found = records.read({"NOTES.md": b"# Notes\n\n- I sleep badly.\n"})

    assert found.notes == ("I sleep badly.",)
    assert "NOTES.md" not in records.files(found)


@pytest.mark.parametrize("header", [b'{"schema": 2}', b"{", b"[]", b'{"schema": "1"}', b"{}"])
def test_another_schema_pauses_the_diary(header: bytes):
    with pytest.raises(DiaryPausedError):
        records.read({**records.files(DIARY), "diary.json": header})


def test_an_older_schema_is_brought_forward_step_by_step():
    def second(files: migrations.Files) -> migrations.Files:
        return {**files, "diary.json": b'{"schema": 2}', "second": b""}

    def third(files: migrations.Files) -> migrations.Files:
        return {**files, "third": files["second"]}

    found = migrations.migrated({"diary.json": b'{"schema": 1}'}, (second, third))

    assert set(found) == {"diary.json", "second", "third"}


def test_a_step_that_fails_pauses_the_diary():
    def broken(files: migrations.Files) -> migrations.Files:
        return {"x": files["not there"]}

    with pytest.raises(DiaryPausedError, match="schema 1 to 2"):
        migrations.migrated({}, (broken,))


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        (replace(ENTRY, salience=2.0), "salience"),
        (replace(ENTRY, text=""), "text"),
        (replace(ENTRY, id="a/b"), "id"),
    ],
)
def test_what_would_not_be_read_again_is_not_written(entry: Entry, field: str):
    with pytest.raises(DiaryRecordError, match=f"'{field}'"):
        records.files(Diary(entries={entry.id: entry}))


def test_a_trait_needs_its_moment():
    with pytest.raises(DiaryRecordError, match="evidence"):
        records.files(Diary(traits={"t1": replace(TRAIT, evidence=" ")}))


def test_what_is_appended_is_known_as_a_piece_of_its_own():
    read = records.read(records.files(DIARY))
    longer = replace(read.entries["e1"], text=ENTRY.text + " Then it was green.", version=2)

    again = records.read(records.files(replace(read, entries={"e1": longer})))

    assert [part.text for part in again.entries["e1"].parts] == [ENTRY.text, " Then it was green."]
    assert again.entries["e1"] == longer


def test_a_text_that_was_changed_behind_our_back_is_read_as_it_is():
    read = records.read(records.files(DIARY))
    longer = replace(read.entries["e1"], text=ENTRY.text + " Then it was green.")
    files = records.files(replace(read, entries={"e1": longer}))

    found = records.read(_entry(files, "entries/2026-11/e1.json", text="Something shorter."))

    assert found.damaged == ()
    assert found.entries["e1"].text == "Something shorter."


def test_an_old_session_cannot_write_what_is_buried():
    diary = Diary(entries={"e1": ENTRY}, tombstones={"e1": Tombstone("e1", ENTRY.version)})

    assert "entries/2026-11/e1.json" not in records.files(diary)


def test_a_term_that_fell_out_may_be_coined_again():
    grave = settling.term_tombstone("lamp")
    diary = Diary(lexicon={"lamp": Term("lamp", 1)}, tombstones={grave: Tombstone(grave, 3)})

    found = records.read(records.files(diary))

    assert found.lexicon["lamp"].life == 4


def test_counts_are_kept_by_who_counted():
    read = records.read(records.files(DIARY))
    term = replace(read.lexicon["the red lamp"], count=6)

    found = records.read(records.files(replace(read, lexicon={"the red lamp": term})))

    assert found.lexicon["the red lamp"].counts == (Share("ab12", 2, 6),)


_WORDS = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))


@given(st.lists(_WORDS, min_size=1, max_size=6))
def test_whatever_an_entry_becomes_it_is_read_as_it_was_written(texts: list[str]):
    diary = Diary()
    for text in texts:
        there = diary.entries.get("e1", ENTRY)
        diary = replace(diary, entries={"e1": replace(there, text=text)})
        diary = records.read(records.files(diary))
        written = text.encode("utf-8", "replace").decode("utf-8")
        assert diary.entries["e1"].text == written
        assert "".join(part.text for part in diary.entries["e1"].parts) == written
    assert diary.damaged == ()


@pytest.mark.parametrize(
    "odd",
    [
        {"version": 2**52},
        {"updated_at": "2026-99-99T09:00:00Z"},
        {"created_at": "2026-11-30T25:00:00Z"},
        {"created_at": "２０２６-11-30T09:00:00Z"},
    ],
)
def test_a_record_with_a_version_or_a_time_that_cannot_be_is_damaged(odd: dict[str, object]):
    sound = Entry("a" * 16, "2026-11-30", "Tea.", "chat", created_at="2026-11-30T09:00:00Z")
    files = dict(records.files(Diary(entries={sound.id: sound})))
    path = records.entry_path(sound)
    files[path] = json.dumps({**json.loads(files[path]), **odd}).encode()
    assert records.read(files).damaged == (path,)
