"""The wheel as a newcomer installs it: built offline, unpacked elsewhere, the main job done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pygit2
import pytest

from tests.support.auditor import audit
from tests.support.cli import EXAMPLE, ROOT

pytestmark = pytest.mark.slow

PARTS = ("reflector", "personas", "templates", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy, so that nothing but what is packed can be found there."""
    copy = tmp_path_factory.mktemp("copy")
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / part, copy / part, ignore=ignore)
        else:
            shutil.copy2(ROOT / part, copy / part)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=copy,
        env={"PATH": os.environ["PATH"], "HOME": str(copy)},
        capture_output=True,
        check=True,
    )
    (built,) = (copy / "dist").glob("*.whl")
    kept = tmp_path_factory.mktemp("wheel") / built.name
    shutil.move(built, kept)
    shutil.rmtree(copy)
    return kept


@pytest.fixture(scope="module")
def reflector(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in a fresh environment; return its `reflector` command."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
        (name,) = (each for each in archive.namelist() if each.endswith("/entry_points.txt"))
        entries = ConfigParser()
        entries.read_string(archive.read(name).decode())
    # The dependencies of this checkout; a .pth file in there is not followed, so that the
    # checkout itself is out of sight.
    dependencies = Path(pygit2.__file__).resolve().parents[1]
    (packages / "dependencies.pth").write_text(f"{dependencies}\n", "utf-8")
    module, _, function = entries["console_scripts"]["reflector"].partition(":")
    command = place / "bin" / "reflector"
    command.write_text(
        f"#!{place}/bin/python\nimport sys\nfrom {module} import {function}\n"
        f"sys.exit({function}())\n",
        "utf-8",
    )
    command.chmod(0o755)
    return command


def run(reflector: Path, folder: Path, *words: str) -> str:
    done = subprocess.run(
        [reflector, *words],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_the_wheel_holds_the_program_and_its_words_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    folders = {name.split("/")[0] for name in names}
    assert {name.partition("-")[0] for name in folders} == {"reflector"}
    for part in ("personas", "templates"):
        packed = {name for name in names if name.startswith(f"reflector/_data/{part}/")}
        found = {
            f"reflector/_data/{path.relative_to(ROOT).as_posix()}"
            for path in (ROOT / part).rglob("*")
            if path.is_file()
        }
        assert packed == found
    assert not [name for name in names if "test" in name.lower() or name.endswith(".pyc")]


def test_the_installed_program_and_its_words_come_from_the_wheel(reflector, tmp_path):
    asks = (
        "import reflector, sys; from reflector.runtime.wiring import data_folder;"
        "print(reflector.__file__); print(data_folder()); print(*sys.path, sep='\\n')"
    )
    done = subprocess.run(
        [reflector.parent / "python", "-c", asks],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    program, words, *path = done.stdout.decode().splitlines()
    venv = reflector.parents[1].resolve()
    assert Path(program).resolve().is_relative_to(venv)
    assert Path(words).resolve().is_relative_to(venv)
    assert str(ROOT) not in path


def test_the_main_job_runs_from_an_installed_wheel(reflector, tmp_path):
    shutil.copy2(EXAMPLE, tmp_path / "session.jsonl")
    assert run(reflector, tmp_path, "--version").startswith("reflector ")
    run(reflector, tmp_path, "init")
    done = json.loads(run(reflector, tmp_path, "reflect", "session.jsonl", "--json"))
    assert done["run"]["outcome"] == "merged"
    home = tmp_path / ".reflector"
    prompt = next((home / "agents").glob("*/runs/*/prompt.md")).read_text("utf-8")
    persona = (ROOT / "personas" / "reflection.md").read_text("utf-8")
    assert persona.splitlines()[-1] in prompt
    assert "make test" in run(reflector, tmp_path, "prompt")
    assert done["run"]["id"] in run(reflector, tmp_path, "show", done["run"]["id"], "--diff")
    run(reflector, tmp_path, "undo", done["run"]["id"])
    audit(home)
