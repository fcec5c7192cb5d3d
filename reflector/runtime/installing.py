"""Install and uninstall: everything is planned first, then written, all of it or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from reflector import __version__
from reflector.core.errors import InstallError, UsageError
from reflector.core.near import did_you_mean
from reflector.harness.installs.json_text import MalformedError, parse
from reflector.harness.installs.parts import Before, Shared, Whole, merged, without
from reflector.harness.installs.recipe import Asked, Recipe, Scope, Target
from reflector.harness.installs.recipes import RECIPES
from reflector.runtime import installed
from reflector.runtime.compiled import launcher
from reflector.runtime.foreign_files import (
    Change,
    Found,
    change,
    look,
    missing_folders,
    read_quickly,
)
from reflector.runtime.installed import File, Install
from reflector.runtime.wiring import Context
from reflector.store.disk import make_folder, write_atomic
from reflector.store.locks import held
from reflector.store.short_memory import project_root

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for. `scope` is None for every scope (uninstall alone)."""

    harness: str
    scope: Scope | None = "user"
    permission: bool = True
    force: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written: the changes, and what is then installed or no longer is."""

    recipe: Recipe
    changes: tuple[Change, ...]
    installs: Install | None = None
    removes: tuple[tuple[str, str, str], ...] = ()
    """The keys of installs that go."""
    folders: tuple[str, ...] = ()
    """Folders of ours that go when they are empty, the innermost first."""
    places: tuple[str, ...] = ()
    """Every file that is looked after, changed or not."""


def recipe_of(harness: str) -> Recipe:
    """Return the recipe of a harness. Raises UsageError."""
    found = RECIPES.get(harness)
    if found is None:
        raise UsageError(
            f"{harness!r} is no harness that Reflector can be installed in.",
            hint=f"{did_you_mean(harness, RECIPES)}One of {', '.join(RECIPES)}.",
        )
    return found


def asked_for(context: Context, scope: Scope, *, permission: bool = True) -> Asked:
    """Return what recipes are asked: this home's launcher, this person, this project."""
    return Asked(
        launcher=launcher(context),
        scope=scope,
        person=_person(context),
        project=PurePosixPath(project_root(str(Path.cwd())) or "/"),
        environ=context.environ,
        permission=permission,
    )


def _person(context: Context) -> PurePosixPath:
    """Return the folder of the person. An empty HOME would be the root of the disk."""
    named = os.path.expanduser("~")  # noqa: PTH111 - Path makes the folder "." of nothing
    if context.environ.get("HOME") == "" or not named.startswith("/"):
        raise InstallError(
            "The harness of nobody can be found: the variable HOME is no full path.",
            hint="Set HOME to your folder by its full path. Nothing was changed.",
        )
    return PurePosixPath(os.path.realpath(named))


def plan_install(context: Context, wish: Wish) -> Plan:
    """Work out what an install changes. Raises InstallError; nothing is written."""
    recipe, scope = recipe_of(wish.harness), wish.scope or "user"
    record = installed.load(context.home)
    asked = asked_for(context, scope, permission=wish.permission)
    project = str(asked.project) if scope == "project" else ""
    if not wish.force:
        _refuse_second(recipe, asked, record)
    earlier = next((each for each in record if each.key == (recipe.name, scope, project)), None)
    steps = [_put_in(target, earlier) for target in recipe.targets(asked)]
    files = tuple(file for _, file in steps)
    kept = {each.path for each in files}
    gone = [each for each in (earlier.files if earlier else ()) if each.path not in kept]
    removals = [_take_out(recipe, asked, Path(each.path), each) for each in gone]
    new = Install(
        recipe.name,
        scope,
        project,
        files,
        recipe.events,
        wish.permission,
        __version__,
        context.ambient.now(),
    )
    changes = tuple(each for each in (*(step for step, _ in steps), *removals) if each)
    same = earlier is not None and not changes
    folders = tuple(folder for each in gone for folder in each.folders)
    places = tuple(each.path for each in files)
    return Plan(recipe, changes, None if same else new, (), folders, places)


def plan_uninstall(context: Context, wish: Wish) -> Plan:
    """Work out what an uninstall changes: what the record names, and the usual places."""
    recipe = recipe_of(wish.harness)
    record = installed.load(context.home)
    asked = {scope: asked_for(context, scope) for scope in _scopes(wish.scope)}
    ours = [
        each
        for each in record
        if each.harness == recipe.name and each.scope in asked and _here(each, asked, wish.scope)
    ]
    noted = {each.path: each for install in ours for each in install.files}
    usual = [str(each.path) for one in asked.values() for each in recipe.targets(one)]
    any_asked = next(iter(asked.values()))
    places = tuple(dict.fromkeys([*noted, *usual]))
    found = [_take_out(recipe, any_asked, Path(path), noted.get(path)) for path in places]
    changes = tuple(each for each in found if each)
    folders = tuple(folder for each in noted.values() for folder in each.folders)
    keys = tuple(each.key for each in ours)
    written = tuple(str(each.found.path) for each in changes)
    return Plan(recipe, changes, None, keys, folders, written)


def apply(context: Context, plan: Plan) -> tuple[Path, ...]:
    """Write a plan; return the backups that were made.

    The record grows first and shrinks last: after a crash it names whatever may still stand
    somewhere, and both commands make the rest of the way.
    """
    home = context.home
    home.create()
    with held(home.path / "locks" / "install.lock", context.ambient.clock, "installing"):
        before = installed.load(home)
        backups = _back_up(context, plan)
        # Others may have been installed since the plan was made: what they noted stays.
        more = _with(before, plan.installs)
        installed.save(home, more)
        try:
            change(plan.changes)
        except BaseException:
            installed.save(home, before)
            raise
        for folder in plan.folders:
            with suppress(OSError):  # somebody else keeps something there by now
                Path(folder).rmdir()
        installed.save(home, [each for each in more if each.key not in plan.removes])
    return backups


def _with(record: tuple[Install, ...], new: Install | None) -> tuple[Install, ...]:
    return record if new is None else (*(one for one in record if one.key != new.key), new)


def _scopes(scope: Scope | None) -> tuple[Scope, ...]:
    return (scope,) if scope else ("user", "project")


def _here(install: Install, asked: dict[Scope, Asked], scope: Scope | None) -> bool:
    """Tell whether an install is meant: with a scope named, only that of this very project."""
    return install.scope == "user" or not scope or install.project == str(asked["project"].project)


def _put_in(target: Target, earlier: Install | None) -> tuple[Change | None, File]:
    if not target.path.is_absolute():
        raise InstallError(
            f"{target.path} is no full path: the harness finds it in one folder only.",
            hint="Set the variable that names its folder to a full path. Nothing was changed.",
        )
    found = look(Path(target.path))
    noted = earlier.file(found.path) if earlier else None
    text, before = _wanted(target.part, found, noted)
    existed = noted.existed if noted else found.content is not None
    folders = noted.folders if noted else tuple(map(str, missing_folders(found.place)))
    return _changed(found, text), File(str(found.path), existed, before, folders)


def _wanted(part: Shared | Whole, found: Found, noted: File | None) -> tuple[str, Before | None]:
    """Return the text that a file is to have, and how it was before us."""
    match part:
        case Shared():
            earlier = noted.before if noted else None
            done = _reading(found, lambda text: merged(part, text, earlier))
            lost = noted is None and done.text.encode() == found.content
            # Our entries without a record of them: nobody knows how it was before.
            return done.text, None if lost else done.before
        case Whole():
            _refuse_foreign(found, part)
            return part.text, None


def _take_out(recipe: Recipe, asked: Asked, path: Path, noted: File | None) -> Change | None:
    with suppress(OSError):  # `look` says why
        if not path.exists():
            return None
    found = look(path)
    part = recipe.target(replace(asked, permission=True), str(path)).part
    match part:
        case Shared():
            text = _reading(
                found, lambda text: without(part, text, noted.before if noted else None)
            )
            ours = noted is not None and not noted.existed
            return Change(found, None) if ours and _is_empty(text) else _changed(found, text)
        case Whole():
            ours = part.ours((found.content or b"").decode("utf-8", "replace"))
            return Change(found, None) if ours else None


def _is_empty(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n") or parse(text).plain() == {}


def _changed(found: Found, text: str) -> Change | None:
    new = text.encode()
    return None if new == found.content else Change(found, new)


def _reading(found: Found, read: Callable[[str], _Read]) -> _Read:
    """Read a file's text with a function; what is wrong with it becomes an error with its line."""
    try:
        return read((found.content or b"").decode())
    except MalformedError as error:
        raise InstallError(
            f"{found.path}, line {error.line}: {error.what}.",
            hint="Mend that line and run the same command again. Nothing was changed.",
            path=str(found.path),
            line=error.line,
        ) from error
    except UnicodeDecodeError as error:
        raise InstallError(
            f"{found.path} is not UTF-8 (byte {error.start}).",
            hint="Save it as UTF-8 and run the same command again. Nothing was changed.",
            path=str(found.path),
        ) from error


def _refuse_foreign(found: Found, part: Whole) -> None:
    if found.content is not None and not part.ours(found.content.decode("utf-8", "replace")):
        raise InstallError(
            f"{found.path} was written by somebody else.",
            hint="Give that file another name, then run the same command again. Nothing was changed.",
            path=str(found.path),
        )


def _refuse_second(recipe: Recipe, asked: Asked, record: Iterable[Install]) -> None:
    """Refuse what would show the memory twice in every session."""
    hint = f"`reflector uninstall {recipe.name}` takes it away; with --force there will be both."
    if recipe.name == "claude-code" and (plugin := enabled_plugin(asked)):
        raise InstallError(
            f"The plugin {plugin} is enabled in Claude Code and does the same.",
            hint=f"`claude plugin disable {plugin}` first, or --force.",
            plugin=plugin,
        )
    for each in record:
        if each.harness == recipe.name and each.scope != asked.scope:
            where = f"in the project {each.project}" if each.project else "for all your projects"
            raise InstallError(
                f"Reflector is installed in {recipe.title} {where} already.", hint=hint
            )


def enabled_plugin(asked: Asked) -> str:
    """Return the id of our plugin if Claude Code has it enabled, else ""."""
    folder = RECIPES["claude-code"].config(asked)
    project = asked.project / ".claude"
    for place in (
        folder / "settings.json",
        project / "settings.json",
        project / "settings.local.json",
    ):
        try:
            root = parse(read_quickly(Path(place)).decode())
        except (OSError, ValueError):
            continue
        listed = root.member("enabledPlugins")
        for each in listed.elements if listed else ():
            if each.key.startswith("reflector@") and each.node.plain() is True:
                return each.key
    return ""


def _back_up(context: Context, plan: Plan) -> tuple[Path, ...]:
    """Copy every file that is about to change, and make sure that the copies are whole."""
    made: list[Path] = []
    folder = context.home.path / "backups"
    for each in plan.changes:
        if each.found.content is None:
            continue
        make_folder(folder)
        copy = _free(
            folder, f"{plan.recipe.name}-{context.ambient.clock.now():%Y%m%dT%H%M%SZ}", each
        )
        write_atomic(copy, each.found.content)
        if copy.read_bytes() != each.found.content:
            raise InstallError(
                f"The backup {copy} does not hold what was written.",
                hint="Check the disk. Nothing was changed.",
            )
        made.append(copy)
    return tuple(made)


def _free(folder: Path, stem: str, change: Change) -> Path:
    name = change.found.path.name
    names = (f"{stem}-{name}", *(f"{stem}-{number}-{name}" for number in range(2, 1000)))
    return next(folder / each for each in names if not (folder / each).exists())
