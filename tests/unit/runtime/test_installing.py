"""Install and uninstall on real files, for every harness and scope: all, exactly ours, or nothing."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reflector.core.errors import BusyError, HomeError, InstallError, UsageError
from reflector.harness.installs.recipes import RECIPES
from reflector.runtime import foreign_files, installed, installing, launcher
from reflector.runtime.foreign_files import change, difference
from reflector.runtime.harnesses import findings, listed
from reflector.runtime.installing import Wish
from reflector.runtime.wiring import Context, context
from reflector.store.disk import write_atomic
from reflector.surface.cli.main import main

SETTINGS = """{
    "model": "opus",
    "permissions": {"allow": ["Bash(ls)"]},
    "hooks": {
        "SessionStart": [
            {"hooks": [{"type": "command", "command": "one"}]},
            {"matcher": "resume", "hooks": [{"type": "command", "command": "two"}]}
        ]
    }
}"""
HARNESSES = list(RECIPES)


@pytest.fixture
def here(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A person with a home and a project to work in; the launcher is there."""
    project = guarded / "project" / "inner"
    project.mkdir(parents=True)
    (guarded / "project" / ".git").mkdir()
    (guarded / "project" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(project)
    found = context()
    launcher.write(found.home)
    return found


def install(found: Context, harness: str, **more) -> tuple[Path, ...]:
    plan = installing.plan_install(found, Wish(harness, **more))
    installing.apply(found, plan)
    return tuple(each.found.path for each in plan.changes)


def uninstall(found: Context, harness: str, scope=None) -> tuple[Path, ...]:
    plan = installing.plan_uninstall(found, Wish(harness, scope))
    installing.apply(found, plan)
    return tuple(each.found.path for each in plan.changes)


def everything(person: Path) -> dict[str, bytes | None]:
    """Every folder and file of the person, but for the Reflector home."""
    paths = sorted(each for each in person.rglob("*") if ".reflector" not in each.parts)
    return {str(each): each.read_bytes() if each.is_file() else None for each in paths}


def settings(person: Path, text: str = SETTINGS) -> Path:
    place = person / ".claude" / "settings.json"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(text.encode())
    return place


def commands(value) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("command"), str):
            yield value["command"]
        for inner in value.values():
            yield from commands(inner)
    if isinstance(value, list):
        for inner in value:
            yield from commands(inner)


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("harness", HARNESSES)
def test_what_install_made_uninstall_takes_away(here, guarded, harness, scope):
    before = everything(guarded)
    files = install(here, harness, scope=scope)
    inside = guarded / "project" if scope == "project" else guarded
    assert files
    assert all(each.is_relative_to(inside) for each in files)
    assert everything(guarded) != before
    assert uninstall(here, harness) == files
    assert everything(guarded) == before
    assert installed.load(here.home) == ()


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_second_install_has_nothing_to_do(here, guarded, harness):
    install(here, harness)
    before, record = everything(guarded), installed.load(here.home)
    assert install(here, harness) == ()
    assert everything(guarded) == before
    assert installed.load(here.home) == record


@pytest.mark.parametrize(
    ("harness", "file"),
    [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("codex", ".codex/rules/reflector.rules"),
        ("gemini-cli", ".gemini/settings.json"),
        ("gemini-cli", ".gemini/policies/reflector.toml"),
        ("opencode", ".config/opencode/plugins/reflector.js"),
        ("pi", ".pi/agent/extensions/reflector.ts"),
    ],
)
def test_every_harness_has_its_place(here, guarded, harness, file):
    install(here, harness)
    assert str(here.home.path / "bin" / "reflector") in (guarded / file).read_text()


@pytest.mark.parametrize(
    ("harness", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugins/reflector.js"),
        ("pi", "PI_CODING_AGENT_DIR", "extensions/reflector.ts"),
    ],
)
def test_the_variable_of_a_harness_moves_its_files(here, tmp_path, harness, variable, file):
    moved = replace(here, environ={**here.environ, variable: str(tmp_path / "other")})
    install(moved, harness)
    assert (tmp_path / "other" / file).is_file()


def test_a_folder_that_is_no_full_path_is_refused(here):
    odd = replace(here, environ={**here.environ, "CODEX_HOME": "codex"})
    with pytest.raises(InstallError, match="no full path"):
        install(odd, "codex")


def test_a_project_of_claude_code_gets_the_file_that_nobody_commits(here, guarded):
    (file,) = install(here, "claude-code", scope="project")
    assert file == guarded / "project" / ".claude" / "settings.local.json"


def test_events_timeouts_and_the_rule_stand_as_each_harness_reads_them(here, guarded):
    for harness in ("claude-code", "codex", "gemini-cli"):
        install(here, harness)
    claude = json.loads((guarded / ".claude/settings.json").read_text())
    codex = json.loads((guarded / ".codex/hooks.json").read_text())
    gemini = json.loads((guarded / ".gemini/settings.json").read_text())
    program = f"{here.home.path}/bin/reflector"
    assert claude["hooks"]["SessionStart"][0]["matcher"] == "startup|resume|clear|compact"
    assert claude["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] == 5
    assert claude["permissions"]["allow"] == [f"Bash({program} memory cat:*)"]
    assert codex["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert gemini["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] == 5000
    policy = tomllib.loads((guarded / ".gemini/policies/reflector.toml").read_text())
    assert policy["rule"][0]["commandPrefix"] == f"{program} memory cat"
    assert tuple(claude["hooks"]) == tuple(codex["hooks"]) == RECIPES["claude-code"].events


def test_the_entries_of_others_stay_and_come_first(here, guarded):
    place = settings(guarded)
    install(here, "claude-code")
    new = json.loads(place.read_text())
    assert new["hooks"]["SessionStart"][:2] == json.loads(SETTINGS)["hooks"]["SessionStart"]
    assert len(new["hooks"]["SessionStart"]) == 3
    assert new["permissions"]["allow"][0] == "Bash(ls)"
    assert uninstall(here, "claude-code") == (place,)
    assert place.read_text() == SETTINGS


def test_a_command_of_ours_is_harmless_when_the_program_is_gone(here, guarded):
    install(here, "claude-code")
    new = json.loads((guarded / ".claude/settings.json").read_text())
    (here.home.path / "bin" / "reflector").unlink()
    for command in commands(new):
        done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, input=b"{}")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_home_with_a_blank_and_a_quote_can_be_installed(guarded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    odd = context(str(tmp_path / "it's my home"), make=True)
    place = odd.home.path / "bin" / "reflector"
    place.parent.mkdir()
    place.write_text('#!/bin/sh\nprintf "%s " "$@"\n')
    place.chmod(0o700)
    install(odd, "claude-code")
    file = guarded / ".claude" / "settings.json"
    for command in commands(json.loads(file.read_text())):
        done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
        assert done.stdout.startswith(b"hook claude-code ")
    assert install(odd, "claude-code") == ()
    uninstall(odd, "claude-code")
    assert not file.exists()


def test_a_backup_holds_the_old_bytes(here, guarded):
    settings(guarded)
    (backup,) = installing.apply(here, installing.plan_install(here, Wish("claude-code")))
    assert backup.parent == here.home.path / "backups"
    assert backup.read_text() == SETTINGS
    (second,) = installing.apply(here, installing.plan_uninstall(here, Wish("claude-code")))
    assert second != backup


def test_permissions_of_the_file_stay(here, guarded):
    place = settings(guarded)
    place.chmod(0o640)
    install(here, "claude-code")
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_link_into_a_repository_of_dotfiles_stays_a_link(here, guarded, tmp_path):
    target = tmp_path / "dotfiles.json"
    target.write_text(SETTINGS)
    place = guarded / ".claude" / "settings.json"
    place.parent.mkdir()
    place.symlink_to(target)
    install(here, "claude-code")
    assert place.is_symlink()
    assert "SessionEnd" in target.read_text()
    uninstall(here, "claude-code")
    assert place.is_symlink()
    assert target.read_text() == SETTINGS


def spoil_json(place: Path) -> str:
    place.write_text('{\n  "a": 1,\n}')
    return "line 2: a comma stands before the end"


def spoil_text(place: Path) -> str:
    place.write_bytes(b'{"a": "\xff"}')
    return "is not UTF-8"


def spoil_link(place: Path) -> str:
    place.unlink()
    place.symlink_to("/nowhere/at/all")
    return "is a link to /nowhere/at/all, which is not there"


def spoil_kind(place: Path) -> str:
    place.unlink()
    place.mkdir()
    return "is not a file"


def spoil_mode(place: Path) -> str:
    place.chmod(0o444)
    return "is read-only"


def spoil_size(place: Path) -> str:
    place.write_text('{"a": "' + "x" * (1 << 22) + '"}')
    return "is larger than"


def spoil_shape(place: Path) -> str:
    place.write_text('{\n"hooks": {"Stop":\n "none"}}')
    return 'line 3: "hooks"."Stop" should be a list'


SPOILS = [spoil_json, spoil_text, spoil_link, spoil_kind, spoil_mode, spoil_size, spoil_shape]


@pytest.mark.parametrize("spoil", SPOILS)
def test_a_file_that_is_not_as_it_should_be_is_refused_and_nothing_changes(here, guarded, spoil):
    place = settings(guarded)
    what = spoil(place)
    before = everything(guarded)
    with pytest.raises(InstallError) as caught:
        install(here, "claude-code")
    assert str(place) in caught.value.message
    assert what in caught.value.message
    assert caught.value.hint.endswith("Nothing was changed.")
    assert everything(guarded) == before
    assert installed.load(here.home) == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(here, guarded):
    place = settings(guarded)
    os.chown(place, 12345, -1)
    with pytest.raises(InstallError, match="belongs to another user"):
        install(here, "claude-code")


def test_a_plugin_file_that_somebody_else_wrote_is_refused(here, guarded):
    place = guarded / ".config" / "opencode" / "plugins" / "reflector.js"
    place.parent.mkdir(parents=True)
    place.write_text("export const Mine = 1\n")
    with pytest.raises(InstallError, match="was written by somebody else"):
        install(here, "opencode")
    assert uninstall(here, "opencode") == ()
    assert place.read_text() == "export const Mine = 1\n"


def test_an_older_plugin_file_of_ours_is_replaced(here):
    (file,) = install(here, "pi")
    file.write_text(file.read_text().partition("\n")[0] + "\n// an older version\n")
    assert install(here, "pi") == (file,)
    assert install(here, "pi") == ()


class DiskError(OSError):
    """The disk gives up."""


def test_a_failure_in_the_middle_puts_everything_back(here, guarded, monkeypatch):
    folder = guarded / ".codex"
    folder.mkdir()
    (folder / "hooks.json").write_text('{"hooks": {}}')
    before = everything(guarded)

    def failing(path, content, mode=0o600):
        if path.suffix == ".rules":
            raise DiskError(28, "No space left on device")
        write_atomic(path, content, mode)

    monkeypatch.setattr(foreign_files, "write_atomic", failing)
    with pytest.raises(InstallError, match="No space left"):
        install(here, "codex")
    (folder / "rules").rmdir()  # an empty folder is all that may stay
    assert everything(guarded) == before
    assert installed.load(here.home) == ()


def test_the_record_is_there_before_the_first_file_changes(here, guarded, monkeypatch):
    def watched(changes):
        (noted,) = installed.load(here.home)
        assert noted.file(guarded / ".pi/agent/extensions/reflector.ts")
        change(changes)

    monkeypatch.setattr(installing, "change", watched)
    assert install(here, "pi")


@pytest.mark.parametrize("number", [0, 1])
def test_after_a_kill_both_commands_make_the_rest_of_the_way(here, guarded, number):
    before = everything(guarded)
    plan = installing.plan_install(here, Wish("codex"))
    killed = replace(plan, changes=plan.changes[:number])

    installing.apply(here, killed)  # the record is written, then some of the files, then nothing
    assert installed.load(here.home)
    uninstall(here, "codex")
    for folder in (".codex/rules", ".codex"):
        if (guarded / folder).is_dir():
            (guarded / folder).rmdir()
    assert everything(guarded) == before

    installing.apply(here, killed)
    assert len(install(here, "codex")) == 2 - number
    uninstall(here, "codex")
    assert everything(guarded) == before


def test_the_record_is_there_until_the_last_file_is_changed(here, monkeypatch):
    install(here, "pi")
    seen: list[object] = []

    def watched(changes):
        change(changes)
        seen.extend(installed.load(here.home))

    monkeypatch.setattr(installing, "change", watched)
    uninstall(here, "pi")
    assert len(seen) == 1
    assert installed.load(here.home) == ()


def test_two_installs_at_once_are_both_recorded(here):
    first = installing.plan_install(here, Wish("codex"))
    install(here, "claude-code")
    installing.apply(here, first)
    assert {each.harness for each in installed.load(here.home)} == {"codex", "claude-code"}


def test_putting_back_spares_what_somebody_else_wrote_meanwhile(here, guarded, monkeypatch):
    place = settings(guarded)

    def overtaken(path, content, mode=0o600):
        theirs = b'{"model": "haiku"}' if b"hook claude-code" in content else content
        write_atomic(path, theirs, mode)

    monkeypatch.setattr(foreign_files, "write_atomic", overtaken)
    with pytest.raises(InstallError, match="does not hold what was written"):
        install(here, "claude-code")
    assert place.read_text() == '{"model": "haiku"}'


def test_a_pipe_in_the_place_of_a_settings_file_keeps_nobody_waiting(here, guarded):
    install(here, "claude-code")
    place = guarded / ".claude" / "settings.json"
    place.unlink()
    os.mkfifo(place)
    (found,) = (each for each in findings(here) if "claude" in each.name)
    assert "it is not a file" in found.message
    with pytest.raises(InstallError, match="is not a file"):
        install(here, "claude-code")


@pytest.mark.parametrize("home", ["", "relative"])
def test_a_home_that_is_no_full_path_is_refused(here, monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    lost = replace(here, environ={**here.environ, "HOME": home})
    with pytest.raises(InstallError, match="HOME is no full path"):
        installing.plan_install(lost, Wish("claude-code"))


def test_a_file_that_changes_between_plan_and_write_is_left_alone(here, guarded):
    place = settings(guarded)
    plan = installing.plan_install(here, Wish("claude-code"))
    place.write_text('{"model": "haiku"}')
    with pytest.raises(BusyError, match="changed by somebody else"):
        installing.apply(here, plan)
    assert place.read_text() == '{"model": "haiku"}'
    assert installed.load(here.home) == ()


def test_without_the_record_uninstall_finds_the_usual_places(here, guarded):
    place = settings(guarded)
    install(here, "claude-code")
    (here.home.path / "installed.json").unlink()
    assert uninstall(here, "claude-code") == (place,)
    assert place.read_text() == SETTINGS


def test_uninstall_of_one_scope_leaves_the_other(here, guarded):
    install(here, "claude-code")
    install(here, "claude-code", scope="project", force=True)
    uninstall(here, "claude-code", "project")
    assert [each.scope for each in installed.load(here.home)] == ["user"]
    assert (guarded / ".claude" / "settings.json").exists()


@pytest.mark.parametrize(("first", "second"), [("user", "project"), ("project", "user")])
def test_a_second_scope_would_show_the_memory_twice_and_is_refused(here, first, second):
    install(here, "codex", scope=first)
    with pytest.raises(InstallError, match=r"installed in Codex .* already"):
        install(here, "codex", scope=second)
    assert install(here, "codex", scope=second, force=True)


def test_an_enabled_plugin_is_noticed(here, guarded):
    settings(guarded, '{"enabledPlugins": {"reflector@reflector": true}}')
    with pytest.raises(InstallError, match="The plugin reflector@reflector is enabled"):
        install(here, "claude-code")
    assert install(here, "claude-code", force=True)
    messages = [each.message for each in findings(here) if not each.ok]
    assert any("two blocks" in message for message in messages)


def test_a_disabled_plugin_is_no_hindrance(here, guarded):
    settings(guarded, '{"enabledPlugins": {"reflector@reflector": false, "x@y": true}}')
    assert install(here, "claude-code")


def test_without_permission_there_is_no_rule_and_it_can_be_taken_back(here, guarded):
    install(here, "claude-code")
    install(here, "claude-code", permission=False)
    assert "permissions" not in json.loads((guarded / ".claude/settings.json").read_text())
    install(here, "codex")
    install(here, "codex", permission=False)
    assert not (guarded / ".codex" / "rules").exists()


def test_a_dry_run_writes_nothing_and_shows_the_difference(guarded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings(guarded)
    found = context(make=False)
    plan = installing.plan_install(found, Wish("claude-code"))
    text = difference(plan.changes)
    assert text.startswith(f"--- {guarded}/.claude/settings.json\n+++ ")
    lost = [line for line in text.splitlines()[2:] if line.startswith("-")]
    assert len(lost) == 2  # the last of a list gets a comma, a list on one line gets longer
    assert not (guarded / ".reflector").exists()


def test_a_harness_that_nobody_knows_is_a_usage_error(here):
    with pytest.raises(UsageError, match="'emacs' is no harness"):
        install(here, "emacs")


def test_a_record_that_cannot_be_read_is_named(here):
    (here.home.path / "installed.json").write_text('{"installs": [{}]}')
    with pytest.raises(HomeError, match=r"installed\.json"):
        install(here, "codex")


def test_the_list_says_what_is_there(here, guarded):
    (guarded / ".gemini").mkdir()
    install(here, "pi")
    rows = {each.harness: each for each in listed(replace(here, environ={"PATH": ""}))}
    assert list(rows) == HARNESSES
    assert rows["gemini-cli"].found
    assert not rows["codex"].found
    assert rows["pi"].files == (f"{guarded}/.pi/agent/extensions/reflector.ts",)
    assert rows["pi"].scopes == ("user",)


def troubles(found: Context) -> list[str]:
    return [each.message for each in findings(found) if not each.ok]


@pytest.mark.slow  # the launcher is started
def test_the_doctor_finds_nothing_wrong_with_what_was_just_installed(here):
    assert list(findings(here)) == []
    for harness in ("claude-code", "gemini-cli", "opencode", "pi"):
        install(here, harness)
    assert troubles(here) == []


def broken_launcher(found: Context, _person: Path) -> str:
    (found.home.path / "bin" / "reflector").unlink()
    return "does not run"


def gone(_found: Context, person: Path) -> str:
    (person / ".claude" / "settings.json").unlink()
    return "is gone"


def rewritten(_found: Context, person: Path) -> str:
    place = person / ".claude" / "settings.json"
    value = json.loads(place.read_text())
    del value["hooks"]["Stop"]
    place.write_text(json.dumps(value))
    return "does not hold the entries"


def doubled(_found: Context, person: Path) -> str:
    place = person / ".claude" / "settings.json"
    value = json.loads(place.read_text())
    hook = {"type": "command", "command": "log; /opt/bin/reflector hook claude-code Stop"}
    value["hooks"]["Stop"].append({"hooks": [hook]})
    place.write_text(json.dumps(value))
    return "by 1 hook that `install` did not write"


def switched_off(_found: Context, person: Path) -> str:
    place = person / ".claude" / "settings.json"
    value = json.loads(place.read_text())
    place.write_text(json.dumps({**value, "disableAllHooks": True}))
    return "disableAllHooks"


@pytest.mark.parametrize("spoil", [broken_launcher, gone, rewritten, doubled, switched_off])
def test_the_doctor_names_what_is_wrong(here, guarded, spoil):
    (here.home.path / "bin" / "reflector").write_text("#!/bin/sh\necho reflector 0\n")
    install(here, "claude-code")
    assert troubles(here) == []
    what = spoil(here, guarded)
    (message,) = troubles(here)
    assert what in message


def test_a_hook_that_a_person_changed_stays_and_uninstall_tells(here, guarded, capsys):
    install(here, "claude-code")
    doubled(here, guarded)
    assert main(["uninstall", "claude-code"]) == 0
    said = capsys.readouterr().out
    assert "starts Reflector by 1 hook that `install` did not write. They are yours" in said
    assert list(commands(json.loads((guarded / ".claude" / "settings.json").read_text()))) == [
        "log; /opt/bin/reflector hook claude-code Stop"
    ]


def test_a_record_that_cannot_be_read_hides_nothing_else(here):
    assert main(["init"]) == 0
    (here.home.path / "installed.json").write_text("{")
    assert "cannot be read" in troubles(here)[0]
    assert main(["status"]) == 0


def test_hooks_that_codex_does_not_trust_yet_are_trouble(here, guarded):
    (here.home.path / "bin" / "reflector").write_text("#!/bin/sh\necho reflector 0\n")
    install(here, "codex")
    assert "Codex trusts 0 of 6" in troubles(here)[0]
    events = ("session_start", "user_prompt_submit", "stop", "subagent_stop", "pre_compact")
    place = f"{guarded}/.codex/hooks.json"
    lines = [f'[hooks.state."{place}:{name}:0:0"]\ntrusted_hash = "sha256:1"\n' for name in events]
    config = guarded / ".codex" / "config.toml"
    config.write_text("".join(lines))
    assert "Codex trusts 5 of 6" in troubles(here)[0]
    last = f'[hooks.state."{place}:session_end:0:0"]\ntrusted_hash = "sha256:1"\n'
    config.write_text("".join([*lines, last]))
    assert troubles(here) == []
