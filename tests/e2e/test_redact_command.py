"""`reflector redact`: stdin to stdout, any bytes, any size."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.cli import ROOT
from tests.support.secret_samples import ALNUM

pytestmark = pytest.mark.slow

TOKEN = b"ghp" + b"_" + ALNUM[:36].encode()


def redact(given: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "reflector", "redact", *words],
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "PYTHONPATH": str(ROOT)},
        input=given,
        capture_output=True,
        timeout=50,
        check=False,
    )


def test_bytes_that_are_no_text_pass_unharmed():
    given = b"a\r\n\xff\xfe\x00 \xc3( " + TOKEN + b"\xf0\x9f\n no newline at the end"
    done = redact(given)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == given.replace(TOKEN, b"[REDACTED:github]")


def test_a_text_without_secrets_comes_out_as_it_went_in():
    for given in (b"", b"\n", bytes(range(256)) * 3, "密码 ключ\u2028 é".encode()):
        assert redact(given).stdout == given


def test_the_machine_form_gives_text_and_counts():
    value = "Zx9Yw8" + "Vu7Ts6"
    given = b"password: " + value.encode() + b"\nagain " + value.encode() + b" \xff " + TOKEN
    done = redact(given, "--json")
    assert json.loads(done.stdout) == {
        "text": "password: [REDACTED:password-field]\nagain [REDACTED:password-field] \ufffd "
        "[REDACTED:github]",
        "counts": {"github": 1, "password-field": 2},
    }


def test_a_large_input_goes_through_a_pipe_whole():
    line = b"x" * 60 + b" " + TOKEN + b"\n"
    done = redact(line * 20_000)
    assert done.stdout == line.replace(TOKEN, b"[REDACTED:github]") * 20_000


def test_it_needs_no_home_and_makes_none(tmp_path):
    done = redact(b"x", "--home", str(tmp_path / "home"))
    assert (done.returncode, done.stdout) == (0, b"x")
    assert not (tmp_path / "home").exists()
