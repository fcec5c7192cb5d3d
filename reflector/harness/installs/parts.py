"""What we want to stand in the files of a harness, and the only ways to put it there and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reflector.harness.installs.json_edit import (
    Style,
    appended,
    emptied,
    hollow,
    removed,
    replaced,
    style_of,
)
from reflector.harness.installs.json_text import MalformedError, Node, parse

_COMMAND = re.compile(
    r"(\[ -x (?P<tested>.+) \] \|\| exit 0; exec (?P=tested)|'.+'|[^\s']+) hook (?P<harness>\S+) \S+"
)
_PROGRAM = re.compile(r"/bin/reflector'? (hook|memory) ")

Foreign = Callable[[Any], bool]
Before = Mapping[str, str | None]
"""How a file was before us: container → None where we made it, its white space where it was empty.

A rule that a person had written already stands under its own text, after an equals sign.
"""


@dataclass(frozen=True, slots=True)
class Shared:
    """Entries of ours in a JSON file that belongs to a person and to others.

    `hooks` maps events to groups as they stand under `hooks`; `rules` stand in the list at
    `rules_at`, each like `rule_form` with a command in the place of `%`.
    """

    harness: str
    hooks: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    rules_at: tuple[str, ...] = ()
    rule_form: str = "%"
    comments: bool = False

    def ours(self, hook: Any) -> bool:
        """Tell by its command whether a hook is ours, whatever its path and event."""
        command = hook.get("command") if isinstance(hook, dict) else None
        found = _COMMAND.fullmatch(command) if isinstance(command, str) else None
        return bool(found and found["harness"] == self.harness and _PROGRAM.search(found[0]))

    def our_rule(self, rule: Any) -> bool:
        """Tell whether a rule is the one that lets an agent read its memory."""
        head, _, tail = self.rule_form.partition("%")
        whole = isinstance(rule, str) and rule.startswith(head) and rule.endswith(tail)
        command = rule.removeprefix(head).removesuffix(tail) if whole else ""
        return command.endswith(("/bin/reflector memory cat", "/bin/reflector' memory cat"))


@dataclass(frozen=True, slots=True)
class Whole:
    """A file that is ours from its first byte to its last; `mark` stands in its first line."""

    text: str
    mark: str

    def ours(self, text: str) -> bool:
        """Tell whether a file is one that we wrote, in this or another version."""
        return self.mark in text.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Merged:
    """A file's new text, and how it was before us."""

    text: str
    before: Before


def merged(part: Shared, text: str, before: Before | None) -> Merged:
    """Put our entries into a text, changing nothing else; the same text if they stand there.

    `before` is what an earlier install noted. Raises MalformedError.
    """
    edit = _Edit(part, text, dict(before or {}), known=before is not None)
    if not text.removeprefix("\ufeff").strip():
        edit.before[_BLANK] = text
        edit.text = ("\ufeff" if text.startswith("\ufeff") else "") + "{}\n"
    edit.root()
    edit.note_rules()
    for event in _events(edit):
        edit.event(event)
    edit.rules()
    return Merged(edit.text, edit.before)


def without(part: Shared, text: str, before: Before | None) -> str:
    """Take our entries out of a text, and the containers that were made for them.

    Without a note of how it was, every container that our entries leave empty goes as well.
    Raises MalformedError.
    """
    if not text.removeprefix("\ufeff").strip():
        return text
    bare = replace(part, hooks={}, rules=())
    edit = _Edit(bare, text, dict(before or {}), known=before is not None)
    edit.root()
    for event in _events(edit):
        edit.event(event)
    edit.rules()
    blank = edit.before.get(_BLANK)
    gone = blank is not None and not parse(edit.text, comments=part.comments).elements
    return str(blank) if gone else edit.text


def holds(part: Shared, text: str) -> bool:
    """Tell whether exactly our entries stand in a text."""
    try:
        return merged(part, text, {}).text == text
    except MalformedError:
        return False


_BLANK = "(blank)"


@dataclass(slots=True)
class _Edit:
    """One file while it is changed: the text is parsed anew after every change."""

    part: Shared
    text: str
    before: dict[str, str | None]
    known: bool

    def root(self) -> Node:
        """Parse the text, and make sure that our containers are what they should be."""
        root = parse(self.text, comments=self.part.comments)
        self._expect(root, "object", "the document")
        for path in (("hooks",), self.part.rules_at):
            self._walk(root, path)
        hooks = root.member("hooks")
        for each in hooks.elements if hooks else ():
            if each.key in self.part.hooks:
                self._expect(each.node, "array", f'"hooks"."{each.key}"')
        return root

    def _walk(self, root: Node, path: Sequence[str]) -> None:
        node: Node | None = root
        for depth, key in enumerate(path, 1):
            node = node.member(key) if node else None
            kind = "array" if path == self.part.rules_at and depth == len(path) else "object"
            if node:
                self._expect(node, kind, ".".join(f'"{name}"' for name in path[:depth]))

    def _expect(self, node: Node, kind: str, what: str) -> None:
        if node.kind != kind:
            an = "an object" if kind == "object" else "a list"
            raise MalformedError(self.text, node.start, f"{what} should be {an}")

    def event(self, event: str) -> None:
        """Make our group of one event the only one of ours there."""
        wanted = self.part.hooks.get(event)
        groups = self._at(("hooks", event))
        ours = self._ours(groups)
        if wanted is not None and ours and groups:
            kept = groups.elements[ours[0]].node
            if kept.plain() != wanted:
                self.text = replaced(self.text, kept, wanted, self._style())
        elif wanted is not None:
            self.add(("hooks", event), wanted)
        self.clear(("hooks", event), self.foreign_group, wanted)

    def _ours(self, groups: Node | None) -> list[int]:
        elements = groups.elements if groups else ()
        return [n for n, each in enumerate(elements) if not self.foreign_group(each.node.plain())]

    def note_rules(self) -> None:
        """Note the rule that a person wrote before us: it is not ours to take away."""
        if self.known or any(self._ours(self._at(("hooks", event))) for event in _events(self)):
            return
        listed = self._at(self.part.rules_at)
        there = [each.node.plain() for each in listed.elements] if listed else []
        self.before |= {"=" + rule: "" for rule in self.part.rules if rule in there}

    def rules(self) -> None:
        """Make our rules the only ones of ours in their list."""
        listed = self._at(self.part.rules_at)
        there = [each.node.plain() for each in listed.elements] if listed else []
        for rule in self.part.rules:
            if rule not in there:
                self.add(self.part.rules_at, rule)
        if self.part.rules_at:
            wanted = self.part.rules[0] if self.part.rules else None
            self.clear(self.part.rules_at, self.foreign_rule, wanted)

    def foreign_group(self, group: Any) -> bool:
        """Tell whether a group of hooks is somebody else's, wholly or in part."""
        hooks = group.get("hooks") if isinstance(group, dict) else None
        return not (isinstance(hooks, list) and hooks and all(map(self.part.ours, hooks)))

    def foreign_rule(self, rule: Any) -> bool:
        """Tell whether a rule is somebody else's: not of our form, or there before us."""
        return not self.part.our_rule(rule) or f"={rule}" in self.before

    def add(self, path: tuple[str, ...], value: Any) -> None:
        """Append a value to the list at a path, making what is missing on the way."""
        root = parse(self.text, comments=self.part.comments)
        style = style_of(self.text, root)
        node, depth = root, 0
        while depth < len(path) and (inner := node.member(path[depth])):
            node, depth = inner, depth + 1
        if not node.elements:
            self.before.setdefault(".".join(path[:depth]), hollow(self.text, node))
        for made in range(depth + 1, len(path) + 1):
            self.before[".".join(path[:made])] = None
        key = path[depth] if depth < len(path) else ""
        nested: Any = value
        for name in reversed((*path[depth:], "")[1:]):
            nested = {name: nested} if name else [nested]
        self.text = appended(self.text, node, key, nested, style)

    def clear(self, path: tuple[str, ...], foreign: Foreign, spare: Any) -> None:
        """Take what is ours out of the list at a path, but for the first that equals `spare`."""
        changed = False
        while (found := self._first_ours(path, foreign, spare)) is not None:
            node, index = found
            self.text = removed(self.text, node, index)
            changed = True
        if changed:
            self._close(path)

    def _first_ours(
        self, path: tuple[str, ...], foreign: Foreign, spare: Any
    ) -> tuple[Node, int] | None:
        """Return the next element that has to go: a whole group or rule, or a hook among others."""
        node = self._at(path)
        spared = False
        for index, each in enumerate(node.elements if node and node.kind == "array" else ()):
            plain = each.node.plain()
            if not foreign(plain):
                if plain == spare and not spared:
                    spared = True
                    continue
                return (node, index) if node else None
            hooks = each.node.member("hooks") if path[0] == "hooks" else None
            for inner, hook in enumerate(hooks.elements if hooks else ()):
                if self.part.ours(hook.node.plain()) and hooks:
                    return hooks, inner
        return None

    def _close(self, path: tuple[str, ...]) -> None:
        """Leave containers that are empty now as they were before us, from the inside out."""
        for depth in range(len(path), -1, -1):
            node, name = self._at(path[:depth]), ".".join(path[:depth])
            if node is None or node.elements:
                return
            made = name in self.before and self.before[name] is None
            if depth and (made or not self.known):
                self._remove(path[:depth])
            else:
                self.text = emptied(self.text, node, self.before.get(name) or "")
                return

    def _remove(self, path: tuple[str, ...]) -> None:
        parent = self._at(path[:-1])
        keys = [each.key for each in parent.elements] if parent else []
        if parent:
            last = len(keys) - 1 - keys[::-1].index(path[-1])
            self.text = removed(self.text, parent, last)
            self.before.pop(".".join(path), None)

    def _at(self, path: Sequence[str]) -> Node | None:
        node: Node | None = parse(self.text, comments=self.part.comments)
        for key in path:
            node = node.member(key) if node else None
        return node

    def _style(self) -> Style:
        return style_of(self.text, parse(self.text, comments=self.part.comments))


def _events(edit: _Edit) -> list[str]:
    """Return our events and those of any entry that stands there, ours first."""
    hooks = parse(edit.text, comments=edit.part.comments).member("hooks")
    there = [each.key for each in hooks.elements] if hooks else []
    return list(dict.fromkeys([*edit.part.hooks, *there]))
