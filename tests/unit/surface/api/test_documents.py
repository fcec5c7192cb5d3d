"""What the documents say about embedding and MCP is so."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from reflector.surface.mcp.server import TOOLS
from tests.support.cli import ROOT


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text("utf-8")


@pytest.mark.slow
def test_the_code_that_explains_embedding_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REFLECTOR_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```python\n(.*?)^```$", document("embedding.md"), re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 7
    exec(compile("\n".join(blocks), "docs/embedding.md", "exec"), {})
    out = capsys.readouterr().out
    assert "merged" in out
    assert "sign the tags" in out
    assert "not_found" in out


def test_the_document_names_every_tool_and_no_other():
    assert re.findall(r"^\| `(\w+)` \|", document("mcp.md"), re.MULTILINE) == list(TOOLS)


def test_the_package_itself_imports_nothing():
    code = (
        "import sys; before = set(sys.modules); import reflector; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert set(done.stdout.split()) <= {"__future__", "reflector"}
