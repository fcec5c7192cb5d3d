"""What a revision shows of a memory, and to which project."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.memory.view import Named, Shown, Skill, gist, view_of
from tests.support.memory_trees import WHEN, doc, skill


@pytest.mark.parametrize(
    ("path", "raw", "expected"),
    [
        ("system/human.md", doc("- one"), ("what it is about", "- one\n")),
        ("reference/api.md", doc("- one"), ("what it is about", "")),
        ("projects/shop/style.md", doc("- one"), ("what it is about", "- one\n")),
        ("projects/shop/notes.md", doc("- one"), ("what it is about", "")),
        ("projects/shop/old/style.md", doc("- one"), ("what it is about", "")),
        ("projects/style.md", doc("- one"), ("what it is about", "")),
        ("ARCHIVE.md", doc("- one"), ("what it is about", "")),
        ("skills/cut/SKILL.md", skill("cut-it"), (WHEN, "cut-it")),
        ("skills/cut/SKILL.md", doc("x"), ("what it is about", "cut")),
        ("skills/cut/notes.md", doc("x"), None),
        ("skills/cut/references/SKILL.md", doc("x"), None),
        ("skills/SKILL.md", doc("x"), None),
        ("reference/data.json", b"{}", None),
        ("elsewhere/a.md", doc("x"), None),
        ("reference/broken.md", b"no header", None),
        ("reference/latin.md", b"---\ndescription: x\n---\n\xe4", None),
    ],
)
def test_only_what_can_be_read_is_shown(path, raw, expected):
    assert gist(path, raw) == expected


_PART = st.sampled_from(["a", "b-c", "shop-1", "shop-10", "SKILL.md", "system", "z.md", "ж", "/"])
_TOP = st.sampled_from(
    ["system", "skills", "projects", "reference", "projects-old", "systemx", "ARCHIVE.md"]
)
_PATHS = st.lists(
    st.builds(lambda top, rest: "/".join((top, *rest)), _TOP, st.lists(_PART, max_size=3)),
    max_size=20,
)


@given(_PATHS, st.sampled_from(["", "shop-1", "shop-10", "a"]))
def test_every_document_is_in_its_place_and_of_projects_only_the_sessions_own(paths, bank):
    gists = {path: (f"about {path}", f"text {path}") for path in paths}
    view = view_of("me", "none", gists, bank)
    ordered = sorted(gists)
    assert list(view.system) == [
        Shown(path, *gists[path]) for path in ordered if path.startswith("system/")
    ]
    assert list(view.skills) == [
        Skill(gists[path][1], gists[path][0], path)
        for path in ordered
        if path.startswith("skills/")
    ]
    own = f"projects/{bank}/" if bank else "\0"
    assert list(view.others) == [
        Named(path, gists[path][0])
        for path in ordered
        if not path.startswith(("system/", "skills/"))
        and (not path.startswith("projects/") or path.startswith(own))
    ]
    assert len(view.others[1:]) == max(0, len(view.others) - 1)


def test_the_files_of_the_bank_are_decisions_in_their_order_and_are_not_listed_beside():
    names = ("style", "architecture", "notes", "product")
    banks = ("shop-1", "shop-10")
    gists = {f"projects/{bank}/{name}.md": ("", name) for name in names for bank in banks}

    view = view_of("me", "none", gists, "shop-1")

    assert [one.body for one in view.decisions] == ["architecture", "product", "style"]
    assert [one.path for one in view.others] == ["projects/shop-1/notes.md"]

    off = view_of("me", "none", gists, "shop-1", decisions=False)

    assert off.decisions == ()
    assert len(off.others) == 4
    assert view_of("me", "none", gists).decisions == ()
