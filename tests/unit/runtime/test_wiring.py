"""A command finds its home, its identity and its settings, from wherever it is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflector.core.errors import HomeError, SettingsError
from reflector.runtime import wiring
from reflector.runtime.settings import Settings, load
from reflector.runtime.wiring import context, resolve
from reflector.store.disk import slug


def at(settings: Settings, folder: Path) -> str:
    return resolve(settings, lambda: folder)


def test_the_longest_folder_decides_whose_memory_it_is(tmp_path):
    paths = {"work/acme": "acme", "work": "work", "": "outer", "other": "other"}
    settings = Settings({}, {}, {str(tmp_path / path): name for path, name in paths.items()})
    for folder, name in (
        ("work/acme", "acme"),
        ("work/acme/deep/er", "acme"),
        ("work/acmes", "work"),
        ("work", "work"),
        ("elsewhere", "outer"),
    ):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        assert at(settings, tmp_path / folder) == name
    assert at(settings, Path("/")) == "default"
    assert at(Settings({}, {}), tmp_path) == "default"


def test_a_folder_is_recognised_however_it_is_written(tmp_path, guarded):
    (tmp_path / "real" / "acme").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (guarded / "own").mkdir()
    here = tmp_path / "real" / "acme"
    for written in (f"{tmp_path}/link/acme", f"{tmp_path}/real/../link/acme/", f"{tmp_path}//real"):
        assert at(Settings({}, {}, {written: "acme"}), here) == "acme"
    assert at(Settings({}, {}, {f"{tmp_path}/real": "acme"}), tmp_path / "link" / "acme") == "acme"
    assert at(Settings({}, {}, {"~/own": "own"}), guarded / "own") == "own"


def test_a_folder_of_an_unknown_user_or_a_relative_one_matches_nothing():
    settings = Settings({}, {}, {"~no-such-user/x": "a", "": "b", "relative": "c"})
    assert at(settings, Path("/usr")) == "default"


def test_a_deleted_working_directory_belongs_to_default(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[identity.paths]\n'/' = 'all'\n", "utf-8")
    assert context(str(tmp_path / "home")).agent.identity == "default"
    with pytest.raises(HomeError, match="cannot be used"):
        context("relative")


def test_flags_win_over_the_environment_and_that_over_folders(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(f"[identity.paths]\n'{tmp_path}' = 'by folder'\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REFLECTOR_HOME", str(home))
    assert context().agent.identity == "by folder"
    monkeypatch.setenv("REFLECTOR_IDENTITY", "by variable")
    assert context().agent.identity == "by variable"
    assert context(identity="by flag").agent.identity == "by flag"
    assert context(str(tmp_path / "other"), "x").home.path == tmp_path / "other"


def test_without_a_word_the_home_lies_in_the_persons_own(guarded):
    assert context().home.path == guarded / ".reflector"
    assert context("~/mine").home.path == guarded / "mine"


def test_a_home_that_nobody_can_find_is_an_error_in_our_words():
    with pytest.raises(HomeError, match="no-such-user") as caught:
        context("~no-such-user/x")
    assert "full path" in caught.value.hint


def test_an_identity_has_settings_of_its_own_that_win(tmp_path):
    agent = tmp_path / "agents" / slug("acme")
    agent.mkdir(parents=True)
    (tmp_path / "config.toml").write_text("[run]\nmax_bytes = 5\ntimeout_minutes = 6\n", "utf-8")
    (agent / "config.toml").write_text("[run]\nmax_bytes = 7\n", "utf-8")
    mine = context(str(tmp_path), "acme").settings
    assert (mine.number("run.max_bytes"), mine.number("run.timeout_minutes")) == (7, 6)
    assert mine.origins["run.max_bytes"] == str(agent / "config.toml")
    assert context(str(tmp_path), "other").settings.number("run.max_bytes") == 5
    (agent / "config.toml").write_text("nonsense = 1\n", "utf-8")
    with pytest.raises(SettingsError, match="nonsense"):
        context(str(tmp_path), "acme")


def test_an_identity_that_was_never_made_has_no_database(tmp_path):
    found = context(str(tmp_path), "nobody here")
    with pytest.raises(HomeError, match="no memory for the identity 'nobody here'") as caught:
        found.require()
    assert "reflector init" in caught.value.hint
    with pytest.raises(HomeError), found.state():
        pytest.fail("it was opened")
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_a_copy(monkeypatch, tmp_path):
    found = context(str(tmp_path))
    monkeypatch.setenv("CANARY", "1")
    assert "CANARY" not in found.environ


def test_personas_and_templates_are_found_beside_the_package():
    folder = wiring.data_folder()
    assert (folder / "personas").is_dir()
    assert (folder / "templates" / "model").is_dir()
    assert load([], {}).text("engine.name")
