"""Most tests fork their commands: such a command says and does what a started one does."""

from __future__ import annotations

import pytest

from tests.support.cli import Cli, Done

pytestmark = pytest.mark.slow

WORDS = (
    ("prompt",),
    ("runs", "--json"),
    ("config", "show"),
    ("--help",),
    ("no-such-command",),
    ("ingest", "missing.jsonl"),
    ("show", "no-such-run", "--json"),
)


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_forked_command_ends_and_says_what_a_started_one_does(cli, tmp_path, words):
    given = Cli(cli.home, REFLECTOR_RUN_MAX_BYTES="4711")
    process = given.start(*words, cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert given(*words, cwd=tmp_path) == Done(process.returncode, out.decode(), err.decode())
