"""The first message of a run: of a thousand facts a few are named, of the rest there is a count."""

from __future__ import annotations

from reflector.memory.experiences.form import render
from reflector.memory.tree import Tree
from reflector.runtime.opening import opening
from tests.support.memory_trees import doc
from tests.support.stored import linked, stored


def test_the_newest_facts_are_named_and_the_others_counted():
    facts = [
        stored(n, "fact", created=f"2026-{1 + n % 12:02d}-01T12:00:00.000Z", project=f"p{n}")
        for n in range(1000)
    ]
    old, new = linked(stored(2001), stored(2002)).values()
    files = {one.path: render(one) for one in (*facts, old, new)}
    text = opening(Tree.of(files | {"reference/a.md": doc("x"), "facts/mine.md": b"no header"}), ())
    assert text.count('"facts/') == 12 + 7
    assert '"facts/earlier" 0 "502 more facts"' in text
    assert f'"{new.path}"' in text
    assert f'"{old.path}"' not in text
    assert '"reference/a.md"' in text
    assert len(text) < 10_000
