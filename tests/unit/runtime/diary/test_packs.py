"""A diary carried from one place to another: what comes over, and what is refused before it does."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.ambient import Ambient, SystemChance
from reflector.core.diary import Diary, Entry, Term
from reflector.core.errors import NotFoundError
from reflector.pipelines.diary import records
from reflector.pipelines.diary.merging import buried
from reflector.runtime.diary.pack_errors import (
    NotAPackError,
    PackDamagedError,
    PackError,
    PackNewerError,
    PassphraseError,
)
from reflector.runtime.diary.pack_zip import packed, unpacked
from reflector.runtime.diary.packs import How, export, import_pack
from reflector.runtime.diary.repository import DiaryOffError, Repository
from reflector.runtime.diary.tidying import apply, look
from reflector.runtime.wiring import Context
from tests.support.cli import git
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

ON = "[diary]\nenabled = true\n"
TIME = "2026-11-30T12:00:00.000Z"
KEY = "AKIA" + "Q3EGRBXKZ7WMTNPL"


def _context(folder: Path, config: str = ON) -> Context:
    folder.mkdir()
    found = Scene(folder, config=config).context()
    # Two diaries that meet were named by chance, not by counting.
    return replace(found, ambient=Ambient(found.ambient.clock, SystemChance()))


def _entry(name: str, text: str) -> Entry:
    return Entry(name, "2026-11-30", text, "chat", created_at=TIME, updated_at=TIME)


def _writes(context: Context, *entries: Entry, count: int = 0) -> None:
    def written(before: Diary) -> Diary:
        term = before.lexicon.get("the lamp") or Term("the lamp", 0)
        lexicon = {"the lamp": replace(term, count=term.count + count)} if count else {}
        added = {entry.id: entry for entry in entries}
        return replace(
            before,
            entries={**before.entries, **added},
            lexicon={**before.lexicon, **lexicon},
        )

    Repository(context).change("write", "test", written)


def _deletes(context: Context, name: str) -> None:
    def without(before: Diary) -> Diary:
        kept = {key: entry for key, entry in before.entries.items() if key != name}
        return buried(before, replace(before, entries=kept))

    Repository(context).change("forget", "test", without)


def _nobody() -> str:
    raise AssertionError("nobody asks for a passphrase here")


def _bring(context: Context, file: Path, how: How = "merge", said: str = "") -> Diary:
    import_pack(context, file, how, (lambda: said) if said else _nobody)
    return Repository(context).read()


def _records(diary: Diary) -> dict[str, bytes]:
    own = ("diary.json", "persona.md")
    return {path: raw for path, raw in records.files(diary).items() if path not in own}


@pytest.fixture
def here(tmp_path: Path) -> Context:
    return _context(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Context:
    return _context(tmp_path / "there")


def test_a_diary_comes_over_whole(here: Context, there: Context, tmp_path: Path):
    _writes(here, _entry("a", "She laughed."), count=3)
    file = tmp_path / "diary.pack"

    done = export(here, file)
    found = _bring(there, file)

    assert (done.entries, done.terms) == (1, 1)
    assert file.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob(".*"))
    assert _records(found) == _records(Repository(here).read())
    assert git(there.agent.diary, "log", "-1", "--format=%s").strip() == "import a pack (merge)"
    assert git(there.agent.diary, "status", "--porcelain") == ""


def test_a_pack_holds_data_and_no_view(here: Context, tmp_path: Path):
    _writes(here, _entry("a", "She laughed."))
    file = tmp_path / "diary.pack"

    export(here, file)

    with zipfile.ZipFile(file) as archive:
        assert sorted(archive.namelist()) == [
            "diary.json",
            "entries/2026-11/a.json",
            "manifest.json",
            "persona.md",
        ]


def test_replicas_that_exchange_packs_become_the_same(
    here: Context, there: Context, tmp_path: Path
):
    first, second = tmp_path / "1.pack", tmp_path / "2.pack"
    _writes(here, _entry("a", "One."), _entry("gone", "Not for long."), count=2)
    export(here, first)
    _bring(there, first)
    now = Repository(there).read().entries["a"]
    _writes(there, replace(now, text="One. There."), _entry("b", "Two."), count=3)
    _deletes(there, "gone")
    now = Repository(here).read().entries["a"]
    _writes(here, replace(now, text="One. Here."), count=5)

    export(there, second)
    ours = _bring(here, second)
    export(here, first)
    theirs = _bring(there, first)

    assert _records(ours) == _records(theirs)
    assert sorted(ours.entries) == ["a", "b"]
    assert sorted(ours.entries["a"].text.split(". ")) == sorted(["One", "Here", "There."]) or (
        sorted(ours.entries["a"].text.split(". ")) == sorted(["One", "There", "Here."])
    )
    assert ours.lexicon["the lamp"].count == 10
    assert import_pack(here, second, "merge", _nobody).commit == ""


def test_what_was_deleted_stays_so_until_it_is_brought_back_on_purpose(
    here: Context, tmp_path: Path
):
    file = tmp_path / "diary.pack"
    _writes(here, _entry("a", "One."), _entry("b", "Two."))
    export(here, file)
    _deletes(here, "a")

    assert import_pack(here, file, "merge", _nobody).stayed_deleted == 1
    assert sorted(Repository(here).read().entries) == ["b"]
    assert sorted(_bring(here, file, "replace").entries) == ["a", "b"]


def test_what_a_pack_brings_to_an_end_here_is_counted(
    here: Context, there: Context, tmp_path: Path
):
    first, second = tmp_path / "first.pack", tmp_path / "second.pack"
    _writes(here, _entry("a", "One."), _entry("b", "Two."))
    export(here, first)
    import_pack(there, first, "merge", _nobody)
    _deletes(there, "a")
    export(there, second)

    assert import_pack(here, second, "merge", _nobody).gone == 1
    assert sorted(Repository(here).read().entries) == ["b"]


def test_an_import_after_everything_was_deleted_lives(here: Context, tmp_path: Path):
    file = tmp_path / "diary.pack"
    _writes(here, _entry("a", "One."))
    export(here, file)
    _deletes(here, "a")

    assert _bring(here, file).entries["a"].text == "One."


def test_replacing_leaves_what_the_pack_has(here: Context, there: Context, tmp_path: Path):
    file = tmp_path / "diary.pack"
    _writes(here, _entry("a", "One."))
    _writes(there, _entry("a", "Another one."), _entry("b", "Two."))
    export(here, file)

    found = _bring(there, file, "replace")

    assert {name: one.text for name, one in found.entries.items()} == {"a": "One."}
    assert "b" in found.tombstones


def test_secrets_leave_and_enter_by_no_pack(here: Context, there: Context, tmp_path: Path):
    file = tmp_path / "diary.pack"
    _writes(here, _entry("a", f"He pasted {KEY} and swore."))

    assert export(here, file).secrets == 1
    with zipfile.ZipFile(file) as archive:
        assert not any(KEY.encode() in archive.read(name) for name in archive.namelist())

    entry = _entry("a", f"He pasted {KEY} and swore.")
    file.write_bytes(packed(records.files(Diary(entries={"a": entry})), TIME))
    done = import_pack(there, file, "merge", _nobody)
    assert done.secrets == 1
    assert KEY not in Repository(there).read().entries["a"].text


def test_a_passphrase_closes_a_pack(here: Context, there: Context, tmp_path: Path):
    file = tmp_path / "diary.pack"
    _writes(here, _entry("a", "She laughed."))

    export(here, file, "open sesame")

    with pytest.raises(PassphraseError):
        import_pack(there, file, "merge", lambda: "open barley")
    assert not Repository(there).exists
    assert _bring(there, file, said="open sesame").entries["a"].text == "She laughed."


def _not_of_its_kind() -> bytes:
    return packed({"entries/2026-11/a.json": b'{"id": "a"}'}, TIME)


def _newer() -> bytes:
    return packed({"diary.json": b'{"schema": 9}'}, TIME)


def _outside() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": "reflector-diary"}))
        archive.writestr("../../escaped.json", b"{}")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (_not_of_its_kind, PackDamagedError),
        (_newer, PackNewerError),
        (_outside, PackError),
        (lambda: b"no zip", NotAPackError),
    ],
)
@pytest.mark.parametrize("how", ["merge", "replace"])
def test_what_is_refused_leaves_every_byte(
    here: Context, tmp_path: Path, made: Callable[[], bytes], error: type[PackError], how: How
):
    file = tmp_path / "diary.pack"
    file.write_bytes(made())
    _writes(here, _entry("a", "She laughed."))
    before = git(here.agent.diary, "rev-parse", "--all")

    with pytest.raises(error) as raised:
        import_pack(here, file, how, _nobody)

    assert raised.value.hint
    assert git(here.agent.diary, "rev-parse", "--all") == before
    assert git(here.agent.diary, "status", "--porcelain") == ""
    assert not list(tmp_path.rglob("escaped.json"))


def test_notes_are_told_and_left_to_the_person(here: Context, there: Context, tmp_path: Path):
    file = tmp_path / "diary.pack"
    _writes(here, _entry("a", "One."))
    (here.agent.diary / "NOTES.md").write_text("- I sleep badly.\n", "utf-8")
    export(here, file)
    _writes(there, _entry("b", "Two."))
    before = (there.agent.diary / "NOTES.md").read_bytes()

    assert import_pack(there, file, "merge", _nobody).notes == ("I sleep badly.",)
    assert (there.agent.diary / "NOTES.md").read_bytes() == before


def test_notes_that_cannot_be_taken_in_are_packed_as_they_were(here: Context, tmp_path: Path):
    file, notes = tmp_path / "diary.pack", here.agent.diary / "NOTES.md"
    _writes(here, _entry("a", "One."))
    notes.write_text("- I sleep badly.\n", "utf-8")
    export(here, file)
    notes.unlink()
    notes.symlink_to("/etc/passwd")
    export(here, file)
    assert unpacked(file.read_bytes())["NOTES.md"] == b"- I sleep badly.\n"


def test_a_pack_is_written_over_nothing_but_a_pack(here: Context, tmp_path: Path):
    _writes(here, _entry("a", "One."))
    file, letter = tmp_path / "diary.pack", tmp_path / "letter.md"
    letter.write_text("Dear friend", "utf-8")

    export(here, file)
    export(here, file)

    with pytest.raises(PackError, match="no pack"):
        export(here, letter)
    assert letter.read_text("utf-8") == "Dear friend"
    with pytest.raises(PackError, match="lies in the home"):
        export(here, here.agent.path / "diary.pack")
    with pytest.raises(PackError):
        export(here, tmp_path / "no folder" / "diary.pack")


def test_a_diary_that_is_turned_off_is_exported_and_takes_nothing_in(tmp_path: Path):
    scene = Scene(tmp_path, config=ON)
    _writes(scene.context(), _entry("a", "One."), count=1)
    (scene.home / "config.toml").write_text("", "utf-8")
    file = tmp_path / "diary.pack"

    export(scene.context(), file)

    with pytest.raises(DiaryOffError):
        import_pack(scene.context(), file, "merge", _nobody)


def test_without_a_diary_there_is_nothing_to_export(here: Context, tmp_path: Path):
    with pytest.raises(NotFoundError):
        export(here, tmp_path / "diary.pack")
    assert not here.agent.diary.exists()


def test_tidying_shows_first_and_keeps_what_was(here: Context):
    _writes(here, _entry("a", "Yesterday she laughed."))
    repository = Repository(here)
    head = repository.head()

    shown = look(here)

    assert [change.rule for change in shown.changes] == ["time-words"]
    assert repository.head() == head

    done = apply(here)

    assert repository.read().entries["a"].text == "She laughed."
    assert git(here.agent.diary, "rev-parse", done.kept).strip() == head
    assert apply(here).changes == []
