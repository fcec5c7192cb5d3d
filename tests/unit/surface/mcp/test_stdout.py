"""Nothing but the protocol reaches standard output, whoever prints and on whatever level."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.cli import ROOT

TAKES = """
import os, sys
from reflector.surface.mcp.stdout import taken
wire = taken()
print("a library prints")
os.write(1, b"C code prints\\n")
os.system("echo a child prints")
print("to the very stream", file=sys.__stdout__, flush=True)
wire.write("the protocol\\n")
wire.flush()
print("after it")
"""


def run(code: str, **options):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        timeout=30,
        check=False,
        **options,
    )


def test_what_anybody_prints_goes_to_standard_error():
    done = run(TAKES, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "the protocol\n")
    assert {
        "a library prints",
        "C code prints",
        "a child prints",
        "to the very stream",
        "after it",
    } <= set(done.stderr.splitlines())


def test_without_a_standard_error_it_goes_nowhere():
    closed = "import os\nos.close(2)\n" + TAKES
    done = run(closed, stdout=subprocess.PIPE)
    assert done.stdout == b"the protocol\n"


def test_without_a_standard_output_there_is_a_sentence():
    code = (
        "import os\nfrom reflector.core.errors import UsageError\n"
        "from reflector.surface.mcp.stdout import taken\nos.close(1)\n"
        "try:\n    taken()\nexcept UsageError as error:\n    os.write(2, error.hint.encode())\n"
    )
    done = run(code, stderr=subprocess.PIPE)
    assert b"--http" in done.stderr
