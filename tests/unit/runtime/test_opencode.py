"""Asking OpenCode for a session: whole or not at all, and by a program that may misbehave."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from reflector.core.ambient import system
from reflector.core.errors import TranscriptError
from reflector.runtime import opencode
from reflector.runtime.opencode import Session, exported, whole
from tests.support.opencode_rows import SESSION, answer, export, user_said

PROGRAM = """#!{python} -I
import json, os, stat, sys, time
from pathlib import Path
here = Path(__file__).parent
piped = stat.S_ISFIFO(os.fstat(1).st_mode)
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), piped]) + "\\n")
said = (here / "export.json").read_bytes()
{act}
sys.stdout.buffer.write(said)
"""
WHOLE = ""
CUT = "said = said[:65536] if piped else said"
ALWAYS_CUT = "said = said[:100]"
BEFORE = 'said = b"Exporting session: x" + said'
FAILS = "sys.exit(3)"
HANGS = "time.sleep(60)"


@pytest.fixture
def asks(tmp_path: Path):
    """Return how to ask a program that acts in some way, for a session of so many bytes."""

    def ask(act: str = WHOLE, size: int = 10) -> Session:
        place = tmp_path / "opencode"
        place.write_text(PROGRAM.format(python=sys.executable, act=act))
        place.chmod(0o700)
        said = export(user_said("msg_1", "x" * size), answer("msg_2", "Yes."))
        (tmp_path / "export.json").write_text(json.dumps(said))
        return Session(SESSION, str(tmp_path), str(place))

    return ask


def given(session: Session, **environ: str) -> bytes:
    with exported(session, environ, system().clock) as stream:
        return stream.read()


def calls(folder: Path) -> list[list[object]]:
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def test_what_it_says_is_given_on(asks, tmp_path):
    assert given(asks()) == (tmp_path / "export.json").read_bytes()
    ((words, cwd, _, piped),) = calls(tmp_path)
    assert (words, cwd, piped) == (["export", SESSION], str(tmp_path), True)


def test_a_pipe_that_was_cut_off_is_noticed_and_a_file_is_used(asks, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert given(asks(CUT, 300_000)) == (tmp_path / "export.json").read_bytes()
    assert [call[3] for call in calls(tmp_path)] == [True, False]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["calls", "export.json", "opencode"]


def test_what_is_never_whole_is_given_to_nobody(asks):
    with pytest.raises(TranscriptError, match="said nothing that is whole"):
        given(asks(ALWAYS_CUT))


def test_a_line_before_the_document_is_left_out(asks, tmp_path):
    assert given(asks(BEFORE)) == (tmp_path / "export.json").read_bytes()


def test_a_program_that_fails_is_named_with_its_code(asks):
    with pytest.raises(TranscriptError, match="failed with exit code 3"):
        given(asks(FAILS))


def test_a_program_that_hangs_is_ended(asks, monkeypatch):
    monkeypatch.setattr(opencode, "SECONDS", 0.2)
    with pytest.raises(TranscriptError, match="took longer than"):
        given(asks(HANGS))


def test_a_program_that_says_too_much_is_ended(asks, monkeypatch):
    monkeypatch.setattr(opencode, "LARGEST", 1000)
    with pytest.raises(TranscriptError, match="said more than"):
        given(asks(size=300_000))


def test_a_program_that_is_missing_is_one_sentence(tmp_path):
    with pytest.raises(TranscriptError, match="opencode is not on PATH") as refused:
        given(Session(SESSION, "/", ""), PATH=str(tmp_path))
    assert "reflector install opencode" in (refused.value.hint or "")


def test_the_one_on_path_is_asked_where_the_plugin_named_none(asks, tmp_path):
    asks()
    for named in ("", "opencode", str(tmp_path / "gone")):
        assert given(Session(SESSION, "/gone", named), PATH=str(tmp_path))
    assert [call[1] for call in calls(tmp_path)] == ["/", "/", "/"]


def test_it_sees_nothing_of_the_environment_but_where_its_sessions_are(asks, tmp_path):
    kept = {"HOME": "/h", "XDG_DATA_HOME": "/d", "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    secret = {"ANTHROPIC_API_KEY": "CANARY", "OPENCODE_SERVER": "x", "REFLECTOR_HOME": "/r"}
    given(asks(), **kept, **secret)
    ((_, _, environ, _),) = calls(tmp_path)
    assert isinstance(environ, dict)
    environ.pop("LC_CTYPE", None)
    assert environ == kept | {"REFLECTOR_CHILD": "1"}


@pytest.mark.parametrize("session", ["", "-h", "--help", "a b", "../x", "ses\n", "x" * 300])
def test_a_session_that_could_be_an_option_is_not_asked_for(asks, tmp_path, session):
    with pytest.raises(TranscriptError, match="no session of OpenCode"):
        given(Session(session, "/", asks().program))
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize(
    ("said", "start"),
    [(b'{"a":1}', 0), (b"x{}", 1), (b"", None), (b"[1]", None), (b'{"a":', None), (b"{}}", None)],
)
def test_whole_is_what_can_be_parsed_to_its_end(said, start):
    assert whole(said) == start
