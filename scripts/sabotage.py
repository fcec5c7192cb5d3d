"""Take each protection away in a copy and see the test that guards it turn red.

A patch in tests/sabotage begins with a line `# <pytest node id>`: the test that must fail with it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("reflector", "personas", "templates", "tests", "examples", "pyproject.toml")
JOBS = 2


def judge(patch: Path) -> str:
    """Return what is wrong with a patch or its test, "" if the test turned red as it must."""
    node = patch.read_text("utf-8").split("\n", 1)[0].removeprefix("#").strip()
    with tempfile.TemporaryDirectory(prefix="reflector-sabotage-") as folder:
        copy = Path(folder) / "copy"
        copy.mkdir()
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, copy / part)
        applied = _run(["git", "apply", "--recount", str(patch)], copy)
        if applied.returncode:
            return f"{patch.name}: does not apply: {applied.stderr.strip()}"
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", node]
        done = _run(command, copy)
        if done.returncode == 1:
            return ""
        what = "stayed green" if done.returncode == 0 else f"did not run (exit {done.returncode})"
        return f"{patch.name}: {node} {what}\n{done.stdout[-1500:]}"


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # The copy must win over the installed checkout, in our process and in those it starts.
    environ = dict(os.environ) | {"REFLECTOR_TEST_ROOT": str(folder), "PYTHONPATH": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=300
    )


def main() -> int:
    """Judge every patch."""
    patches = sorted((ROOT / "tests" / "sabotage").glob("*.patch"))
    with ThreadPoolExecutor(JOBS) as pool:
        wrong = [answer for answer in pool.map(judge, patches) if answer]
    for answer in wrong:
        print(answer)
    print(f"sabotage: {len(patches) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
