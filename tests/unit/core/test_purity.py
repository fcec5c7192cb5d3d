"""Core and memory decide; they reach for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import reflector

_PACKAGE = Path(reflector.__file__).parent
_MODULES = sorted(
    path.relative_to(_PACKAGE).as_posix()
    for folder in ("core", "memory")
    for path in (_PACKAGE / folder).rglob("*.py")
)
_ALLOWED = {
    "__future__",
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "hashlib",
    "html",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "typing",
    "unicodedata",
}
_MORE = {
    "core/ambient.py": {"secrets", "time"},
    "memory/document.py": {"yaml"},
    "memory/header.py": {"yaml"},
}
_FORBIDDEN_NAMES = {"open", "__import__", "exec", "eval", "compile", "input", "print", "breakpoint"}
_FORBIDDEN_CALLS = {"now", "utcnow", "today", "fromtimestamp", "utcfromtimestamp"}


def _allowed(module: str, imported: str) -> bool:
    """Memory stands on core, core on nothing."""
    ours = (
        ("reflector.core.",)
        if module.startswith("core/")
        else ("reflector.core.", "reflector.memory.")
    )
    return imported in _ALLOWED | _MORE.get(module, set()) or f"{imported}.".startswith(ours)


def _imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{'.' * node.level}{node.module or ''}"]
    return []


def offences(module: str, source: str) -> Iterator[str]:
    """Yield what a module of core or memory must not contain."""
    for node in ast.walk(ast.parse(source)):
        yield from (name for name in _imports(node) if not _allowed(module, name))
        if isinstance(node, ast.Name) and node.id in _FORBIDDEN_NAMES:
            yield node.id
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _FORBIDDEN_CALLS:
            on = ast.unparse(called.value)
            if module != "core/ambient.py" and on.split(".")[-1] in ("datetime", "date"):
                yield f"{on}.{called.attr}"


@pytest.mark.parametrize("module", _MODULES)
def test_a_module_of_the_middle_reads_no_file_no_clock_and_no_environment(module):
    assert list(offences(module, (_PACKAGE / module).read_text("utf-8"))) == []


def test_both_folders_are_looked_at():
    assert {"core/run.py", "memory/rules.py"} <= set(_MODULES)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("open('x')", "open"),
        ("read = open", "open"),
        ("def f():\n    __import__('os')", "__import__"),
        ("exec('1')", "exec"),
        ("eval('1')", "eval"),
        ("from datetime import datetime\ndatetime.now()", "datetime.now"),
        ("import datetime\ndatetime.date.today()", "datetime.date.today"),
        ("import os", "os"),
        ("def f():\n    from pathlib import Path", "pathlib"),
        ("import reflector.store.disk", "reflector.store.disk"),
        ("from reflector.memory.tree import Tree", "reflector.memory.tree"),
        ("from . import run", "."),
        ("import time", "time"),
        ("import yaml", "yaml"),
    ],
)
def test_an_offence_would_be_seen(source, named):
    assert named in list(offences("core/run.py", source))
