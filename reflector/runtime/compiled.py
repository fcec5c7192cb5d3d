"""The compiled block of an identity, from a committed revision only."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from reflector.harness.limits import escaped_chars, least, wide
from reflector.memory.compile import Block, BlockOptions
from reflector.memory.compile import compile_block as compile_view
from reflector.memory.entries import Part, recalled
from reflector.memory.fitted import Fitted
from reflector.memory.shares import shares_of
from reflector.memory.tree import Tree
from reflector.memory.view import MemoryView
from reflector.memory.view import view_of as sorted_view
from reflector.runtime import short_memory
from reflector.runtime.banks import bank_of
from reflector.runtime.settings import Settings
from reflector.runtime.view_cache import gists_of, viewed
from reflector.runtime.wiring import Context, resolve

_RECALLED = 8
_LESS = 40
"""Characters that a block gives up at least when its escaped form is too long."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """For whom a block is: where the session starts, what it may take, whether a hook prints it.

    `budget_tokens` is 0 for what the settings say. What `query` recalls has a section of its own.
    `note_tool` is how an agent leaves a note in the diary, "" for the command.
    """

    start: Path | None = None
    budget_tokens: int = 0
    by_hook: bool = False
    query: str = ""
    note_tool: str = ""


def compile_block(context: Context, wanted: Wanted) -> tuple[str, Block]:
    """Compile the block of main; return the revision it was built from and the block.

    The working tree is never read: an edit shows once it is committed.
    """
    return compile_with(context, wanted, _diary(context, wanted))


def compile_with(context: Context, wanted: Wanted, diary: Fitted | None) -> tuple[str, Block]:
    """Do the same with this section of the diary, None for none."""
    context.require()
    found = viewed(context)
    tokens, chars = limits(context.settings, wanted)
    texts = context.settings.texts
    options = BlockOptions(
        preface=_preface(context, wanted.start),
        budget_tokens=tokens,
        max_chars=chars,
        short=short_memory.section(context, wanted.start),
        shares=shares_of(*map(texts, ("prompt.floors", "prompt.ceilings", "prompt.weights"))),
        later=_recalled(context, wanted),
        fitted=diary,
    )
    bank = bank_of(wanted.start)
    shown = context.settings.flag("decisions.enabled")
    identity = context.agent.slug
    view = sorted_view(identity, found.commit[:12], found.gists, bank, decisions=shown)
    return found.commit, _fitting(view, options)


def _fitting(view: MemoryView, options: BlockOptions) -> Block:
    """Compile a block; one that hooks may print keeps to their limit in the form of JSON as well."""
    block = compile_view(view, options)
    takes, most = least(), escaped_chars()
    if options.budget_tokens > takes.tokens or options.max_chars > takes.chars:
        return block
    while (escaped := wide(json.dumps(block.text, ensure_ascii=False))) > most:
        length = min(options.max_chars, len(block.text))
        less = max((escaped - most) * len(block.text) // escaped, _LESS)
        options = replace(options, max_chars=length - less)
        block = compile_view(view, options)
    return block


def _diary(context: Context, wanted: Wanted) -> Fitted | None:
    if not context.settings.flag("diary.enabled"):
        return None
    from reflector.runtime.diary.shown import laid  # noqa: PLC0415 - not for memories without one

    found = laid(context, wanted.query, wanted.note_tool or note_command(context, wanted.start))
    return found.fitted if found else None


def _recalled(context: Context, wanted: Wanted) -> tuple[Part, ...]:
    """Return the section of what a query recalls; what is shown whole anyway is not in it."""
    if not wanted.query:
        return ()
    from reflector.runtime.recall import Sought, recall  # noqa: PLC0415 - a start asks nothing

    outside = Sought(outside="system/")
    found = recall(context, wanted.query, outside, cwd=wanted.start, limit=_RECALLED)
    items = [recalled(each.path, each.about, each.excerpt) for each in found]
    return (Part("recalled", items, len(items)),)


def limits(settings: Settings, wanted: Wanted) -> tuple[int, int]:
    """Return the effective budget, in tokens and characters.

    A block that a hook prints keeps to what the least of the harnesses takes: above that it is
    shown to nobody (F116).
    """
    tokens = wanted.budget_tokens or settings.number("prompt.budget_tokens")
    chars = settings.number("prompt.max_chars")
    if wanted.by_hook:
        takes = least()
        tokens, chars = min(tokens, takes.tokens), min(chars, takes.chars)
    return tokens, chars


def view_of(identity: str, revision: str, tree: Tree) -> MemoryView:
    """Return what of a tree a block is compiled from, everything read anew."""
    return sorted_view(identity, revision[:12], gists_of(tree))


def launcher(context: Context) -> str:
    """Return the file by which an agent reaches us, which `install` makes."""
    return str(context.home.path / "bin" / "reflector")


def _preface(context: Context, start: Path | None) -> list[str]:
    # Importing the templates costs more than compiling does.
    from reflector.pipelines.contexts import PrefaceContext  # noqa: PLC0415
    from reflector.runtime.words import open_words  # noqa: PLC0415

    command = _command(context, start, "memory", "cat", "PATH")
    text = open_words().preface(PrefaceContext(read_more=command))
    return text.rstrip("\n").split("\n")


def note_command(context: Context, start: Path | None) -> str:
    """Return the command that leaves a note in the diary, as it works in the agent's own shell."""
    return _command(context, start, "diary", "note", "TEXT")


def _command(context: Context, start: Path | None, *does: str) -> str:
    """Return the command that does something, as it works in the agent's own shell."""
    installed = launcher(context)
    beside = str(Path(sys.executable).parent / "reflector")
    found = next((file for file in (installed, beside) if os.access(file, os.X_OK)), "")
    words = [found] if found else [sys.executable, "-m", "reflector"]
    words += does
    if context.home.path != _usual_home(context):
        words += ["--home", str(context.home.path)]
    if context.agent.identity != resolve(context.settings, lambda: start or Path("/")):
        words += ["--identity", context.agent.identity]
    return shlex.join(words)


def _usual_home(context: Context) -> Path:
    home = context.environ.get("HOME") or "/"
    return Path(os.path.realpath(f"{home}/.reflector"))
