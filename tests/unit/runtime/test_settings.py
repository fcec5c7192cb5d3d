"""Settings come from files and the environment, and what is wrong is named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from reflector.core.errors import SettingsError
from reflector.runtime.settings import Settings, load
from reflector.runtime.settings_keys import KEYS, Key

_BY_NAME = {key.name: key for key in KEYS}


def other(key: Key, turn: int = 1) -> Any:
    """Return a value that is allowed and, where there is a choice, not the default."""
    if key.choices:
        return key.choices[turn % len(key.choices)]
    if isinstance(key.default, bool):
        return not key.default if turn % 2 else key.default
    if isinstance(key.default, int):
        return key.least + 7 * turn
    if isinstance(key.default, float):
        return key.least + 0.5 * turn
    if isinstance(key.default, tuple):
        return (f"{key.names[0]}={key.least + turn}" if key.most else f"*/two{turn}",)
    return f"2{turn}:00-07:00" if key.hours else f"value{turn}"


def as_variable(value: Any) -> str:
    if isinstance(value, tuple):
        return os.pathsep.join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def toml(key: Key, value: Any) -> str:
    table, _, name = key.name.rpartition(".")
    shown = repr(list(value)) if isinstance(value, tuple) else repr(value)
    shown = shown.lower() if isinstance(value, bool) else shown
    return f"[{table}]\n{name} = {shown}\n" if table else f"{name} = {shown}\n"


def written(tmp_path: Path, text: str | bytes, name: str = "config.toml") -> Path:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refused(tmp_path: Path, text: str | bytes) -> SettingsError:
    file = written(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load([file], {})
    assert caught.value.exit_code == 3
    assert str(file) in caught.value.message
    return caught.value


def test_without_files_and_variables_every_value_is_its_default(tmp_path):
    settings = load([tmp_path / "none.toml"], {"PATH": "/bin", "HOME": "/root"})
    assert settings == Settings(
        {key.name: key.default for key in KEYS}, {key.name: "default" for key in KEYS}
    )


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_key_comes_from_file_then_identity_file_then_environment(tmp_path, key):
    home = written(tmp_path, toml(key, other(key, 1)))
    own = written(tmp_path, toml(key, other(key, 2)), "own.toml")
    value = other(key, 3)
    environ = {key.variable: as_variable(value)}
    for files, variables, expected, origin in (
        ([], {}, key.default, "default"),
        ([home], {}, other(key, 1), str(home)),
        ([home, own], {}, other(key, 2), str(own)),
        ([home, own], environ, value, key.variable),
        ([], environ, value, key.variable),
    ):
        settings = load(files, variables)
        assert settings.values[key.name] == expected
        assert type(settings.values[key.name]) is type(key.default)
        assert settings.origins[key.name] == origin
        untouched = {name: known for name, known in settings.origins.items() if name != key.name}
        assert set(untouched.values()) == {"default"}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
@pytest.mark.parametrize(
    "value", ["[1]", "['']", "{}", "1.5", "2026-11-30", "'no such choice'", "-1"]
)
def test_a_value_of_the_wrong_kind_names_file_key_and_what_was_expected(tmp_path, key, value):
    if isinstance(key.default, str) and not key.choices and value.startswith("'"):
        return
    if isinstance(key.default, float) and value == "1.5":
        return
    table, _, name = key.name.rpartition(".")
    error = refused(tmp_path, f"[{table}]\n{name} = {value}\n" if table else f"{name} = {value}\n")
    assert f"{key.name} must be {key.expected}" in error.message
    assert error.facts["key"] == key.name


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_a_variable_of_the_wrong_kind_names_itself_and_what_was_expected(key):
    if isinstance(key.default, str | tuple) and not key.choices:
        return
    for text in ("", "--5", "five", "1e3", "9" * 5000, "\u0663", "1_000", " 7", "-"):
        with pytest.raises(SettingsError) as caught:
            load([], {key.variable: text})
        assert f"{key.variable}: {key.name} must be {key.expected}" in caught.value.message


def test_a_number_is_no_truth_value_and_has_a_smallest_value(tmp_path):
    refused(tmp_path, "[run]\nmax_bytes = true\n")
    refused(tmp_path, "[run]\nmax_bytes = 0\n")
    assert load([written(tmp_path, "[run]\nmax_bytes = 1\n")], {}).number("run.max_bytes") == 1


@pytest.mark.parametrize(
    "text",
    ["self", "self=", "=5", "self=-1", "self=91", "self=five", "selves=5", "self=5 ", "self=٥"],
)
def test_a_share_that_is_none_is_refused_with_the_names_there_are(tmp_path, text):
    error = refused(tmp_path, f"[prompt]\nfloors = ['memory=30', '{text}']\n")
    names = "self, memory, decisions, diary, external_projection, skills"
    assert f"a list of name=number, names of {names}, numbers 0 to 90" in error.message
    good = load([written(tmp_path, "[prompt]\nfloors = ['self=90']\n")], {})
    assert good.texts("prompt.floors") == ("self=90",)


def test_a_sum_may_be_written_as_a_whole_number_but_not_as_one_without_end(tmp_path):
    for key in (each for each in KEYS if isinstance(each.default, float)):
        table, _, name = key.name.rpartition(".")
        for text in (str(10**400), "nan", "-0.5", "true"):
            assert key.expected in refused(tmp_path, f"[{table}]\n{name} = {text}\n").message
        whole = load([written(tmp_path, f"[{table}]\n{name} = 3\n")], {}).values[key.name]
        assert (whole, type(whole)) == (3.0, float)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[engine]\nnmae = 'rules'\n", "engine.nmae"),
        ("[engin]\nname = 'rules'\n", "engin"),
        ("engine = 'rules'\n", "engine"),
        ("surprise = 1\n", "surprise"),
        ("[engine.more]\nname = 'rules'\n", "engine.more"),
    ],
)
def test_an_unknown_key_is_named(tmp_path, text, key):
    error = refused(tmp_path, text)
    assert f"unknown key '{key}'" in error.message
    assert error.facts["key"] == key
    assert "docs/settings.md" in error.hint


def test_an_unknown_variable_of_ours_is_named_and_those_of_others_are_not_looked_at():
    with pytest.raises(SettingsError, match="REFLECTOR_ENGINE_NMAE"):
        load([], {"REFLECTOR_ENGINE_NMAE": "rules"})
    names = ("REFLECTOR_HOME", "REFLECTOR_IDENTITY", "REFLECTOR_CHILD", "REFLECTOR_RUN")
    assert load([], dict.fromkeys((*names, "ENGINE_NAME"), "x")) == load([], {})


@pytest.mark.parametrize(
    "text",
    [
        "[engine\n",
        "name = \n",
        b"\xff\xfe[\x00",
        b"name = '\xe4'\n",
        f"a = {'9' * 5000}\n",
        f"a = {'[' * 20_000}\n",
        "[engine]\nname = 'rules'\nname = 'rules'\n",
        "\0",
    ],
)
def test_what_is_no_toml_is_refused_with_the_file_named(tmp_path, text):
    assert "is not valid TOML" in refused(tmp_path, text).message


def test_a_byte_order_mark_is_harmless(tmp_path):
    file = written(tmp_path, b"\xef\xbb\xbf[run]\nmax_bytes = 5\n")
    assert load([file], {}).number("run.max_bytes") == 5


def test_a_settings_file_that_cannot_be_read_is_an_error_and_not_empty(tmp_path):
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load([tmp_path / "config.toml"], {})


def test_folders_of_identities_are_read_from_all_files(tmp_path):
    home = written(tmp_path, "[identity.paths]\n'~/a' = 'a'\n'/b' = 'b'\n")
    own = written(tmp_path, "[identity.paths]\n'/b' = 'mine'\n", "own.toml")
    assert load([home, own], {}).identity_paths == {"~/a": "a", "/b": "mine"}


@pytest.mark.parametrize(
    "text",
    [
        "identity = 'x'\n",
        "[identity]\npath = 'x'\n",
        "[identity]\npaths = 'x'\n",
        "[identity.paths]\n'/a' = 1\n",
        "[identity.paths]\n'/a' = ''\n",
        "[identity]\nname = 'x'\n[identity.paths]\n'/a' = 'a'\n",
    ],
)
def test_folders_that_name_no_identity_are_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert "[identity.paths] must map folders to identity names" in error.message
    assert error.facts["key"] == "identity.paths"


def test_every_key_has_a_variable_of_its_own_and_says_what_it_is_for():
    assert len({key.variable for key in KEYS}) == len(KEYS) == len(_BY_NAME)
    for key in KEYS:
        assert key.says.endswith(".")
        assert key.variable == "REFLECTOR_" + key.name.upper().replace(".", "_")


@pytest.mark.parametrize("value", ["22", "22:00-24:00", "07:00-07:00", "night"])
def test_hours_that_are_none_are_refused_by_name(tmp_path, value):
    error = refused(tmp_path, f'[jobs]\noff_peak = "{value}"\n')
    assert "jobs.off_peak must be hours such as '22:00-07:00', or nothing" in error.message
