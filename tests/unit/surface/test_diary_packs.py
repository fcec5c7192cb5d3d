"""`reflector diary export`, `import` and `tidy`, as a person and a program call them."""

from __future__ import annotations

import argparse
import getpass
import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.diary import Diary, Entry
from reflector.core.errors import UsageError
from reflector.runtime.diary.repository import Repository
from reflector.surface.cli.diary.passphrase import asked
from reflector.surface.cli.main import main
from reflector.surface.cli.output import Output
from tests.support.cli import Cli
from tests.support.scenes import Scene

pytestmark = pytest.mark.slow

ESCAPE = "Yesterday she sent \x1b[2J and laughed."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    folder = tmp_path_factory.mktemp("diary")
    scene = Scene(folder, config="[diary]\nenabled = true\n")
    entry = Entry("a", "2026-11-30", ESCAPE, "chat")

    def written(before: Diary) -> Diary:
        return replace(before, entries={"a": entry})

    Repository(scene.context()).change("write", "test", written)
    return Cli(scene.home)


def test_a_pack_goes_out_and_comes_in(home: Cli, tmp_path: Path):
    file = tmp_path / "diary.pack"

    told = home("diary", "export", file, "--json").json
    merged = home("diary", "import", file, "--merge", "--json").json

    assert (told["entries"], told["sealed"], told["bytes"]) == (1, False, file.stat().st_size)
    assert merged == {
        "commit": None,
        "how": "merge",
        "entries": 1,
        "traits": 0,
        "terms": 0,
        "stayed_deleted": 0,
        "deleted_here": 0,
        "secrets_removed": 0,
        "notes_not_taken": [],
    }


def test_without_a_choice_and_a_terminal_an_import_is_a_usage_error(home: Cli, tmp_path: Path):
    done = home("diary", "import", tmp_path / "x.pack")

    assert done.code == 2
    assert "--merge" in done.err
    assert "--replace" in done.err


def test_a_refused_pack_has_a_code_and_a_next_step(home: Cli, tmp_path: Path):
    file = tmp_path / "x.pack"
    file.write_bytes(b"no pack")

    error = home("diary", "import", file, "--merge", "--json").json["error"]

    assert error["code"] == "not_a_pack"
    assert error["hint"]


def test_a_passphrase_comes_from_a_file(home: Cli, tmp_path: Path):
    file, secret, other = (tmp_path / name for name in ("d.pack", "secret", "other"))
    secret.write_text("open sesame\n", "utf-8")
    other.write_text("open barley\n", "utf-8")

    assert home("diary", "export", file, "--passphrase-file", secret, "--json").json["sealed"]

    assert home("diary", "import", file, "--merge", "--passphrase-file", secret).code == 0
    wrong = home("diary", "import", file, "--merge", "--passphrase-file", other, "--json")
    assert wrong.json["error"]["code"] == "pack_passphrase"
    assert home("diary", "import", file, "--merge").code == 2


def test_tidy_shows_what_would_change_and_drives_no_terminal(home: Cli):
    done = home("diary", "tidy")

    assert done.code == 0
    assert "time-words" in done.out
    assert "\x1b" not in done.out
    assert "--apply" in done.out
    assert home("diary", "tidy", "--json").json["commit"] is None


class _Person(io.StringIO):
    """Somebody at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "said"),
    [("\n", "Nothing was changed"), ("merge\n", "has all of it"), ("r\n", "holds")],
)
def test_on_a_terminal_a_person_is_asked(
    home: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str,
    said: str,
):
    file = tmp_path / "diary.pack"
    home("diary", "export", file)
    monkeypatch.setattr(sys, "stdin", _Person(typed))

    code = main(["diary", "import", str(file), "--home", str(home.home)])

    told = capsys.readouterr()
    assert code == 0
    assert "Merge the pack" in told.err
    assert said in told.out


def test_a_passphrase_that_nobody_types_is_a_usage_error(monkeypatch):
    def ended(_: str) -> str:
        raise EOFError

    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(getpass, "getpass", ended)
    given = argparse.Namespace(passphrase_file=None)
    with pytest.raises(UsageError, match="No passphrase was typed"):
        asked(given, Output(json=False, colour=False, live=False))
