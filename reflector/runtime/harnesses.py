"""What is known about the harnesses of this machine: found, installed, in order."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import HomeError
from reflector.harness.installs.json_text import MalformedError, Node, parse
from reflector.harness.installs.parts import Shared, Whole, holds
from reflector.harness.installs.recipe import Asked, Recipe, Target
from reflector.harness.installs.recipes import RECIPES
from reflector.runtime import installed
from reflector.runtime.compiled import launcher
from reflector.runtime.foreign_files import read_quickly
from reflector.runtime.installed import Install
from reflector.runtime.installing import asked_for, enabled_plugin
from reflector.runtime.wiring import Context

_SECONDS = 10
BY_HAND = "They are yours: take them out of that file by hand."


@dataclass(frozen=True, slots=True)
class Listed:
    """One harness: is it on this machine, and which files hold our entries."""

    harness: str
    found: bool
    files: tuple[str, ...]
    scopes: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return the machine form."""
        return {
            "harness": self.harness,
            "found": self.found,
            "installed": bool(self.files),
            "scopes": list(self.scopes),
            "files": list(self.files),
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about an installed harness that was looked at."""

    name: str
    ok: bool
    message: str
    hint: str = ""


def listed(context: Context) -> list[Listed]:
    """Return every harness that Reflector knows how to be installed in."""
    record = installed.load(context.home)
    asked = asked_for(context, "user")
    path = context.environ.get("PATH")
    found = []
    for each in RECIPES.values():
        ours = [one for one in record if one.harness == each.name]
        there = bool(shutil.which(each.program, path=path)) or Path(each.config(asked)).is_dir()
        files = tuple(file.path for one in ours for file in one.files)
        found.append(Listed(each.name, there, files, tuple(one.scope for one in ours)))
    return found


def findings(context: Context) -> Iterator[Finding]:
    """Look at every installed harness; nothing is said about the others."""
    try:
        there = bool(installed.load(context.home))
    except HomeError as error:
        yield Finding("installed", ok=False, message=error.message, hint=error.hint or "")
        return
    if there:
        yield _launcher(context)
        yield from entries(context)


def entries(context: Context) -> Iterator[Finding]:
    """Look at the files of every installed harness alone, which starts no program."""
    for each in installed.load(context.home):
        recipe = RECIPES.get(each.harness)
        if recipe is not None:
            yield from _install(context, recipe, each)


def _launcher(context: Context) -> Finding:
    place = launcher(context)
    hint = "`reflector init` writes it anew."
    try:
        done = subprocess.run(  # noqa: S603 - our own launcher
            [place, "--version"], capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("launcher", ok=False, message=f"{place} does not run: {error}", hint=hint)
    said = done.stdout.decode("utf-8", "replace").strip()
    ok = done.returncode == 0 and said.startswith("reflector ")
    message = f"{place} runs ({said})" if ok else f"{place} does not run Reflector."
    return Finding("launcher", ok, message, "" if ok else hint)


def _install(context: Context, recipe: Recipe, each: Install) -> Iterator[Finding]:
    name = f"installed.{recipe.name}"
    again = f"`reflector install {recipe.name}`"
    asked = asked_for(context, "project" if each.project else "user", permission=each.permission)
    again += " --scope project there" if each.project else ""
    troubles = []
    for file in each.files:
        target = recipe.target(asked, file.path)
        troubles += [
            Finding(name, ok=False, message=message, hint=f"{again} mends it.")
            for message in _file(target, Path(file.path))
        ]
        if message := changed_by_hand(recipe, file.path):
            troubles.append(Finding(name, ok=False, message=message, hint=BY_HAND))
    troubles += [
        Finding(name, ok=False, message=message, hint=hint)
        for message, hint in _harness(recipe, asked, each)
    ]
    yield from troubles
    if not troubles:
        where = f" in {each.project}" if each.project else ""
        yield Finding(name, ok=True, message=f"installed in {recipe.title}{where}")


def _file(target: Target, path: Path) -> Iterator[str]:
    """Say what is wrong with one file that should hold our entries."""
    try:
        text = read_quickly(path).decode()
    except FileNotFoundError:
        yield f"{path} is gone: its harness does not tell Reflector anything."
        return
    except OSError as error:
        yield f"{path} cannot be read: {error.strerror}."
        return
    except ValueError as error:
        yield f"{path} cannot be read: {error}."
        return
    match target.part:
        case Shared() as part:
            yield from _held(part, path, text)
        case Whole() as part:
            if text != part.text:
                yield f"{path} is not the file that this version writes."


def changed_by_hand(recipe: Recipe, path: str) -> str:
    """Say how many hooks of a file start Reflector in the words of a person, "" for none."""
    try:
        root = parse(read_quickly(Path(path)).decode(), comments=True)
    except (OSError, ValueError):
        return ""
    part = Shared(recipe.name)
    count = sum(1 for command in _commands(root) if not part.ours({"command": command}))
    hooks = "1 hook" if count == 1 else f"{count} hooks"
    return f"{path} starts Reflector by {hooks} that `install` did not write." if count else ""


def _held(part: Shared, path: Path, text: str) -> Iterator[str]:
    try:
        root = parse(text, comments=part.comments)
    except MalformedError as error:
        yield f"{path}, line {error.line}: {error.what}. Its harness cannot read it either."
        return
    if not holds(part, text):
        yield f"{path} does not hold the entries of this version."
    if root.member("disableAllHooks") is not None and root.plain()["disableAllHooks"] is True:
        yield f"{path} says disableAllHooks: no hook runs."
    config = root.plain().get("hooksConfig")
    if isinstance(config, dict) and config.get("enabled") is False:
        yield f"{path} turns hooksConfig.enabled off: no hook runs."


def _commands(root: Node) -> Iterator[str]:
    """Yield every command below `hooks` that starts a hook of ours, whoever wrote it."""
    events = root.member("hooks")
    for event in events.elements if events else ():
        groups = event.node.plain()
        for group in groups if isinstance(groups, list) else ():
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for hook in hooks if isinstance(hooks, list) else ():
                command = hook.get("command") if isinstance(hook, dict) else None
                if isinstance(command, str) and "/reflector" in command and " hook " in command:
                    yield command


def _harness(recipe: Recipe, asked: Asked, each: Install) -> Iterator[tuple[str, str]]:
    match recipe.name:
        case "claude-code":
            if plugin := enabled_plugin(asked):
                yield (
                    f"The plugin {plugin} is enabled as well: sessions begin with two blocks.",
                    f"`claude plugin disable {plugin}`, or `reflector uninstall claude-code`.",
                )
        case "codex":
            yield from _codex(Path(recipe.config(asked)), each)
        case _:
            return


def _codex(folder: Path, each: Install) -> Iterator[tuple[str, str]]:
    """Say which hooks Codex has not been told to trust; it files a hash under their place."""
    try:
        config = tomllib.loads(read_quickly(folder / "config.toml").decode())
    except FileNotFoundError:
        config = {}
    except (OSError, ValueError):
        yield (f"{folder / 'config.toml'} cannot be read.", "Codex needs it mended as well.")
        return
    features, hooks = config.get("features"), config.get("hooks")
    if isinstance(features, dict) and features.get("hooks") is False:
        yield ("Codex has the feature `hooks` turned off.", "Remove `hooks = false` there.")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    places = {os.path.realpath(file.path) for file in each.files}
    trusted = [
        key
        for key, value in (state.items() if isinstance(state, dict) else ())
        if isinstance(value, dict)
        and value.get("trusted_hash")
        and value.get("enabled") is not False
        and os.path.realpath(key.rsplit(":", 3)[0]) in places
    ]
    if len(trusted) < len(each.events):
        count = f"{len(trusted)} of {len(each.events)}"
        yield (
            f"Codex trusts {count} hooks of Reflector, and skips the others without a word.",
            "Start `codex`, type /hooks, and trust them.",
        )
