"""Take each protection away in a copy and see the test that guards it turn red.

A patch in tests/sabotage begins with a line `# <pytest node id>`: the test that must fail with it.
Arguments choose patches by a part of their name; `--part 1/3` takes every third, from the second.
With `--green` the tests are not run without a patch first: they all passed just now.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
PATCHES = ROOT / "tests" / "sabotage"
PARTS = ("reflector", "personas", "templates", "tests", "examples", "pyproject.toml")
# Plugins that the tests do without would cost more than most of the tests.
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout", "--timeout=60")
JOBS = 2

# A test that fails for one of these says that the patch is broken, not that it guards something.
_BROKEN = re.compile(r"^\S+:\d+: (?:NameError|ImportError|ModuleNotFoundError)\b", re.MULTILINE)
_moments = itertools.count(1_000_000_000)


@dataclass(frozen=True)
class Patch:
    """One protection taken away. `node` is the test that must turn red with it."""

    path: Path
    node: str
    files: tuple[str, ...]


def read(path: Path) -> Patch:
    text = path.read_text("utf-8")
    node = text.partition("\n")[0].removeprefix("#").strip()
    return Patch(path, node, tuple(re.findall(r"^\+\+\+ b/(\S+)", text, re.MULTILINE)))


def judge(patch: Patch, copy: Path, red_anyway: Sequence[str]) -> str:
    """Return what is wrong with a patch or its test, "" if the test turned red as it must."""
    if any(each == patch.node or each.startswith(f"{patch.node}[") for each in red_anyway):
        return f"{patch.node} is red without the patch"
    applied = _run(["git", "apply", "--recount", str(patch.path)], copy)
    if applied.returncode:
        return f"does not apply: {applied.stderr.strip()}"
    try:
        _touch(copy, patch.files)
        done = _pytest(["-x", "--tb=line", patch.node], copy)
    finally:
        _run(["git", "apply", "--recount", "--reverse", str(patch.path)], copy).check_returncode()
        _touch(copy, patch.files)
    if done.returncode == 0:
        return f"{patch.node} stayed green"
    if done.returncode != 1 or not re.search(r"\b\d+ failed", done.stdout):
        return f"{patch.node} did not run (exit {done.returncode})\n{_end(done)}"
    if _BROKEN.search(done.stdout):
        return f"{patch.node} failed because the patch is broken\n{_end(done)}"
    return ""


def red_without_patch(nodes: Sequence[str], copy: Path) -> list[str]:
    """Return the tests that fail by themselves: their turning red proves nothing."""
    done = _pytest(["-p", "xdist.plugin", "-n", str(JOBS), "--tb=no", *nodes], copy)
    if done.returncode not in (0, 1):  # said of all together, without what hides the reason
        done = _pytest(["--collect-only", *nodes], copy)
        sys.exit(f"The tests do not run without a patch (exit {done.returncode}).\n{_end(done)}")
    return re.findall(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", done.stdout, re.MULTILINE)


def _pytest(words: Sequence[str], copy: Path) -> subprocess.CompletedProcess[str]:
    # A folder of their own for temporary files: all runs of pytest tidy up in the common one.
    return _run([sys.executable, *PYTEST, f"--basetemp={copy}-temporary", *words], copy)


def _touch(copy: Path, files: Sequence[str]) -> None:
    # Bytecode is kept by time in whole seconds and size; two patches may share both.
    for name in files:
        moment = next(_moments)
        os.utime(copy / name, (moment, moment))


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    # The copy must win over the installed checkout, in our process and in those it starts; and git
    # must not find a repository around the copy, whose paths it would take the patch's for.
    ours = {
        "PYTHONPATH": str(folder),
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=dict(os.environ) | ours,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _end(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stdout + done.stderr)[-1500:]


@contextmanager
def copies() -> Iterator[list[Path]]:
    """Give one copy of what the tests need for each job."""
    with tempfile.TemporaryDirectory(prefix="reflector-sabotage-") as folder:
        made = [Path(folder).resolve() / str(number) for number in range(JOBS)]
        for copy, part in itertools.product(made, PARTS):
            target = copy / part
            if (ROOT / part).is_dir():
                leave_out = shutil.ignore_patterns("__pycache__", "sabotage")
                shutil.copytree(ROOT / part, target, ignore=leave_out)
            else:
                shutil.copy2(ROOT / part, target)
        yield made


def _part(text: str) -> tuple[int, int]:
    first, _, step = text.partition("/")
    return int(first), int(step)


def main(words: Sequence[str]) -> int:
    """Judge the chosen patches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", metavar="NAME")
    parser.add_argument("--part", type=_part, default=(0, 1), metavar="K/N")
    parser.add_argument("--green", action="store_true")
    args = parser.parse_args(words)
    first, step = args.part
    paths = sorted(PATCHES.glob("*.patch"))[first::step]
    chosen = [
        one for one in paths if not args.words or any(word in one.name for word in args.words)
    ]
    patches = [read(one) for one in chosen]
    with copies() as made, ThreadPoolExecutor(JOBS) as pool:
        nodes = sorted({one.node for one in patches})
        red_anyway = [] if args.green else red_without_patch(nodes, made[0])
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in made:
            free.put(copy)

        def judged(patch: Patch) -> bool:
            copy, began = free.get(), time.monotonic()
            try:
                wrong = judge(patch, copy, red_anyway)
            finally:
                free.put(copy)
            shown = f"{time.monotonic() - began:5.1f} s  {patch.path.stem}"
            print(f"FAILED {shown}: {wrong}" if wrong else f"red    {shown}", flush=True)
            return not wrong

        passed = sum(pool.map(judged, patches))
    print(f"{passed} passed, {len(patches) - passed} failed")
    return 0 if patches and passed == len(patches) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
