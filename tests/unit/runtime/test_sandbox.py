"""What exists in a sandbox is what its profile names, and one trial says whether it works."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.runtime import sandbox
from reflector.runtime.sandbox import Mount, Profile, Work, arguments
from reflector.runtime.sandbox_probe import forget, outlook, probed, wanted
from reflector.runtime.settings import load
from reflector.runtime.wiring import Context, context

HOME = Path("/home/dev/.reflector")
AGENT = HOME / "agents" / "default-37a8eec1"
WORK = Work(HOME, AGENT / "runs" / "one", AGENT / "worktrees" / "one", AGENT / "repo")
GIT = AGENT / "repo" / ".git"
KEY = "sk-ant-api03-" + "k" * 95


def engine(**environ: str) -> Profile:
    return sandbox.engine_profile(sandbox.host_mounts(), WORK, environ, network=True)


def command(*settings: Path) -> Profile:
    return sandbox.command_profile(sandbox.host_mounts(), WORK, settings)


def places(profile: Profile, *kinds: str) -> set[str]:
    return {each.place for each in profile.mounts if each.kind in kinds}


def test_a_child_of_ours_may_write_its_own_objects_branch_worktree_and_result():
    writable = {str(GIT / name) for name in ("objects", "worktrees/one", "refs/heads/memory")}
    writable |= {str(GIT / "logs/refs/heads/memory")}
    writable |= {str(WORK.worktree), str(WORK.run_folder / "out")}
    assert places(engine(), "--bind") == writable


def test_a_program_of_others_may_write_its_worktree_and_its_own_settings():
    own = Path("/home/dev/.tool")
    assert places(command(own), "--bind") == {str(WORK.worktree), str(own)}


@pytest.mark.parametrize("profile", [engine(), command()], ids=["engine", "command"])
class TestEveryProfile:
    def test_of_the_home_there_is_only_what_the_run_needs(self, profile):
        files = {str(WORK.run_folder / f"{name}") for name in ("payload.json", "prompt.md")}
        files |= {str(WORK.run_folder / "opening.md"), str(GIT), str(WORK.worktree / ".git")}
        shown = places(profile, "--ro-bind", "--ro-bind-try")
        assert {each for each in shown if each.startswith(str(HOME))} == files
        assert {str(HOME), str(WORK.run_folder / "home"), "/tmp"} <= places(profile, "--tmpfs")

    def test_what_is_deeper_covers_what_lies_above_it(self, profile):
        words = arguments("bwrap", profile)
        order = [words.index(each.place, words.index("--tmpfs")) for each in profile.mounts]
        at = dict(zip((Path(each.place) for each in profile.mounts), order, strict=True))
        for place, when in at.items():
            assert all(at[above] < when for above in place.parents if above in at), place

    def test_every_power_is_dropped_and_no_process_outlives_the_supervisor(self, profile):
        words = arguments("bwrap", profile)
        assert words[:2] == ["bwrap", "--unshare-all"]
        assert {"--die-with-parent", "--new-session"} < set(words)
        assert words[words.index("--cap-drop") + 1] == "ALL"
        assert words[-1] == "--"

    def test_what_the_mounts_left_open_is_closed_at_the_end(self, profile):
        # A run by root could write the settings of the kernel.
        words = " ".join(arguments("bwrap", profile))
        assert " --remount-ro /proc --remount-ro / --chdir " in words

    def test_of_etc_there_is_what_names_and_certificates_need(self, profile):
        shown = {each for each in places(profile, "--ro-bind", "--ro-bind-try") if "/etc" in each}
        assert not shown & {"/etc", "/etc/ssl", "/etc/ssl/private", "/etc/shadow", "/etc/pki"}
        assert {"/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs"} < shown


def test_the_network_is_shared_only_with_what_needs_it():
    assert "--share-net" in arguments("bwrap", engine())
    assert "--share-net" not in arguments("bwrap", replace(engine(), network=False))


def test_a_sandbox_within_is_forbidden_where_that_can_be():
    assert sandbox.NEWER[1] in arguments("bwrap", engine(), sandbox.NEWER)
    assert sandbox.NEWER[1] not in arguments("bwrap", engine())


def test_no_value_of_the_environment_is_an_argument():
    words = arguments("bwrap", engine(ANTHROPIC_API_KEY=KEY))
    assert not any(KEY in word for word in words)
    assert "--setenv" not in words


def test_certificates_that_a_person_chose_are_there():
    profile = engine(SSL_CERT_FILE="/opt/own/ca.pem", SSL_CERT_DIR="/opt/a:/opt/b:relative")
    assert {"/opt/own/ca.pem", "/opt/a", "/opt/b"} < places(profile, "--ro-bind-try")
    assert "relative" not in places(profile, "--ro-bind-try")


def test_an_interpreter_inside_the_home_stays_visible_and_one_around_it_shows_nothing_of_it():
    inside, around = HOME / "venv", Path("/home/dev")
    host = [Mount("--ro-bind", str(each), str(each)) for each in (inside, around)]
    words = arguments("bwrap", sandbox.engine_profile(host, WORK, {}, network=True))
    covered = words.index(str(HOME))
    assert words.index(str(around)) < covered < words.index(str(inside))


def test_the_interpreter_and_reflector_are_shown_and_no_whole_home(monkeypatch, tmp_path):
    shown = {each.place for each in sandbox.host_mounts()}
    assert {sys.prefix, sys.base_prefix} <= shown
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", "/")
    shown = {each.place for each in sandbox.host_mounts()}
    assert not shown & {"/", str(tmp_path), *map(str, tmp_path.parents)} - {"/tmp"}
    assert str(Path(sandbox.__file__).parents[1]) in shown


def test_every_link_on_the_way_to_the_interpreter_is_shown(monkeypatch, tmp_path):
    (tmp_path / "real").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "middle").symlink_to("../real")
    (tmp_path / "start").symlink_to(tmp_path / "bin" / "middle")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "start"))
    shown = {each.place for each in sandbox.host_mounts()}
    assert {str(tmp_path / "bin" / "middle"), str(tmp_path / "real")} <= shown


# The trial


class Machine:
    """A machine whose `bwrap` is a script that counts how often it was tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        for name in ("sh", "touch", "mktemp"):
            (folder / "bin" / name).symlink_to(shutil.which(name) or name)
        self.home = context(str(folder / "home"), make=True)
        self.bwrap("exit 0")

    def bwrap(self, does: str, version: str = "bubblewrap 1.0") -> None:
        script = self.folder / "bin" / "bwrap"
        script.write_text(
            f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "{version}"; exit 0; }}\n'
            f"echo tried >> {self.folder}/tried\n{does}\n",
            "utf-8",
        )
        script.chmod(0o755)

    def context(self, engine: str = "anthropic", sandbox: str = "auto") -> Context:
        given = {"REFLECTOR_ENGINE_NAME": engine, "REFLECTOR_SANDBOX": sandbox}
        path = {"PATH": str(self.folder / "bin")}
        return replace(self.home, environ=path, settings=load([], given))

    @property
    def trials(self) -> int:
        place = self.folder / "tried"
        return place.read_text("utf-8").count("tried") if place.exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    if not sys.platform.startswith("linux"):
        pytest.skip("bubblewrap is a program of Linux")
    return Machine(tmp_path)


def test_the_sandbox_is_tried_once(machine):
    for _ in range(2):
        found = probed(machine.context())
        assert (found.works, found.detail) == (True, "bubblewrap 1.0")
    assert machine.trials == 1


def test_a_failure_is_kept_with_its_reason(machine):
    machine.bwrap("echo first >&2; echo 'bwrap: No permissions' >&2; exit 1")
    for _ in range(2):
        assert not probed(machine.context()).works
        assert probed(machine.context()).detail == "bwrap: No permissions"
    assert machine.trials == 2  # with what newer versions can do, and without


def test_an_older_version_does_without_what_newer_ones_can(machine):
    assert probed(machine.context()).options == sandbox.NEWER
    machine.bwrap('case "$*" in *--disable-userns*) exit 1;; esac', "bubblewrap 0.6.1")
    for _ in range(2):
        found = probed(machine.context())
        assert (found.works, found.options, found.detail) == (True, (), "bubblewrap 0.6.1")


def test_a_failure_without_a_word_has_its_code(machine):
    machine.bwrap("exit 7")
    assert probed(machine.context()).detail == "the trial ended with code 7"


@pytest.mark.parametrize("changed", ["boot", "version", "python", "package", "program"])
def test_another_boot_another_version_or_another_place_is_tried_again(machine, changed):
    probed(machine.context())
    file = machine.home.home.path / "sandbox"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {changed: "other"}), "utf-8")
    probed(machine.context())
    assert machine.trials == 2


def test_a_newer_bubblewrap_is_tried_again(machine):
    machine.bwrap("exit 1")
    assert not probed(machine.context()).works
    machine.bwrap("exit 0", "bubblewrap 2.0")
    assert probed(machine.context()).detail == "bubblewrap 2.0"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"works": true}'])
def test_a_spoilt_memory_of_the_trial_is_none(machine, content):
    (machine.home.home.path / "sandbox").write_bytes(content)
    assert probed(machine.context()).works
    assert machine.trials == 1


def test_a_file_of_that_name_that_is_no_program_is_no_sandbox(machine):
    (machine.folder / "bin" / "bwrap").write_bytes(b"\x7fELF, but not really")
    found = probed(machine.context())
    assert (found.works, found.detail) == (False, "Exec format error")


def test_what_is_forgotten_or_asked_for_afresh_is_tried_again(machine):
    probed(machine.context())
    forget(machine.context())
    probed(machine.context())
    probed(machine.context(), afresh=True)
    assert machine.trials == 3


def test_a_missing_program_and_another_system_are_said_plainly(machine, monkeypatch):
    (machine.folder / "bin" / "bwrap").unlink()
    assert "not installed" in probed(machine.context()).detail
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "no sandbox on this system" in probed(machine.context()).detail


def test_an_engine_without_a_model_is_never_confined(machine):
    found = machine.context(engine="rules", sandbox="required")
    assert not wanted(found, "rules")
    assert outlook(found).state == "off"
    assert machine.trials == 0


@pytest.mark.parametrize(
    ("wish", "does", "state", "refused"),
    [
        ("auto", "exit 0", "on", False),
        ("required", "exit 0", "on", False),
        ("off", "exit 0", "off", False),
        ("auto", "exit 1", "unavailable", False),
        ("required", "exit 1", "unavailable", True),
    ],
)
def test_a_person_is_told_what_the_next_run_may_expect(machine, wish, does, state, refused):
    machine.bwrap(does)
    found = outlook(machine.context(sandbox=wish))
    assert (found.state, found.refused) == (state, refused)
