"""What of a document is searched, and for whom."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.memory.experiences.form import Stored, render
from reflector.memory.indexed import Passage, Standing, details_of, indexed, layer_of, passages
from tests.support.secret_samples import ALNUM, CAUGHT

TOKEN = "ghp" + "_" + ALNUM[:36]


def document(body: str = "text\n", **header: object) -> bytes:
    lines = "".join(
        f"{key}: {value}\n" for key, value in {"description": "about", **header}.items()
    )
    return f"---\n{lines}---\n{body}".encode()


def test_a_body_is_cut_at_its_headings_and_not_inside_code():
    body = "intro\n\n# One\na\n```\n# no heading\n```\n## Two\nb\n"
    assert list(passages(body)) == [
        Passage("", "intro"),
        Passage("One", "a\n```\n# no heading\n```"),
        Passage("Two", "b"),
    ]
    assert list(passages("")) == [Passage("", "")]


def test_a_long_passage_ends_at_a_line():
    long = "".join(f"{number} {'word ' * 20}\n" for number in range(200))
    cut = list(passages(f"# Notes\n{long}"))
    assert 8 < len(cut) < 15
    assert {each.heading for each in cut} == {"Notes"}
    assert max(len(each.text) for each in cut) < 2300


@given(st.text("# \n`abc", max_size=200))
@settings(deadline=None)
def test_no_word_of_a_body_is_lost(body):
    cut = list(passages(body))
    kept = "".join(each.heading + each.text for each in cut)
    assert cut
    assert all(kept.count(char) >= (body.count(char) if cut else 0) for char in "abc")


@pytest.mark.parametrize(
    ("path", "header", "bank"),
    [
        ("reference/a.md", {"project": "shop-1"}, ""),
        ("system/a.md", {}, ""),
        ("projects/shop-1/style.md", {}, "shop-1"),
        ("facts/2026-05/a.md", {"project": "shop-1"}, "shop-1"),
        ("experiences/a.md", {"project": "shop-1"}, "shop-1"),
        ("experiences/a.md", {}, ""),
    ],
)
def test_what_is_of_a_project_is_bound_to_it(path, header, bank):
    found = indexed(path, document(**header))
    assert found is not None
    assert found.bank == bank


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("skills/a/scripts/run.md", document()),
        ("reference/a.txt", document()),
        ("elsewhere.md", document()),
        ("reference/a.md", b"no header"),
        ("reference/a.md", b"\xff\xfe"),
        (f"reference/{TOKEN}.md", document()),
    ],
)
def test_what_nobody_is_to_find_is_not_indexed(path, raw):
    assert indexed(path, raw) is None


def test_keys_are_searched_details_and_secrets_are_not():
    body = f"It is so.\nThe token {TOKEN} works.\n\n## Details\nverbatim rows\n"
    raw = document(body, search_keys='["how is it", 7]')
    found = indexed("facts/2026-05/a.md", raw)
    assert found is not None
    assert found.keys == "how is it"
    told = str(found)
    assert "verbatim" not in told
    assert TOKEN not in told
    assert "[REDACTED:github]" in told


@pytest.mark.parametrize(
    ("path", "header", "standing"),
    [
        ("reference/a.md", {"confidence": 0.1, "verified": "false"}, Standing()),
        ("experiences/a-0badcafe.md", {}, Standing(item="0badcafe")),
        ("experiences/0badcafe.md", {"branch": "fix/x"}, Standing("0badcafe", branch="fix/x")),
        ("experiences/by-hand.md", {"confidence": 0.25}, Standing(confidence=0.25)),
        ("experiences/a.md", {"confidence": "much"}, Standing(confidence=0.7)),
        ("experiences/a.md", {"confidence": ".nan"}, Standing(confidence=0.7)),
        ("experiences/a.md", {"confidence": 7}, Standing(confidence=1.0)),
        ("facts/a.md", {"verified": "false"}, Standing(verified=False)),
        ("facts/a.md", {"verified": '"false"'}, Standing(verified=False)),
        ("facts/a.md", {"evidence": "[e-1, e-2]"}, Standing(evidence=("e-1", "e-2"))),
        ("facts/a.md", {"superseded_by": "0badcafe"}, Standing(status="superseded")),
        ("facts/a.md", {"status": "superseded"}, Standing(status="superseded")),
        ("reference/a.md", {"status": "superseded"}, Standing(status="superseded")),
    ],
)
def test_an_item_says_how_far_it_can_be_trusted(path, header, standing):
    found = indexed(path, document(**header))
    assert found is not None
    assert found.standing == standing


def test_what_an_extraction_writes_is_searched_as_it_says():
    path = "facts/2026-11/port-0badcafe.md"
    fact = Stored(
        *("fact", "0badcafe", path, "gateway port", "It is 8443.", "2026-11-30T12:00:00.000Z"),
        project="shop-1",
        branch="fix/port",
        confidence=0.5,
        verified=False,
        status="superseded",
        superseded_by="12345678",
        search_keys=("which port",),
        evidence=("e-1", "e-2"),
        details="listen 8443;",
    )
    found = indexed(path, render(fact))
    assert found is not None
    assert (found.layer, found.bank, found.keys) == ("facts", "shop-1", "which port")
    assert found.standing == Standing(
        *("0badcafe", "superseded", "fix/port", 0.5),
        verified=False,
        evidence=("e-1", "e-2"),
    )
    assert details_of(render(fact), path) == "listen 8443;"


def test_an_item_says_what_it_belongs_to():
    found = indexed("facts/a.md", document("See [[experiences/b]] and `[[no/link]]`.\n"))
    assert found is not None
    assert found.standing.links == ("experiences/b",)


@pytest.mark.parametrize(
    ("path", "layer"),
    [
        ("system/human.md", "documents"),
        ("skills/a/SKILL.md", "documents"),
        ("projects/shop-1/style.md", "decisions"),
        ("experiences/a.md", "experiences"),
        ("facts/2026-05/a.md", "facts"),
    ],
)
def test_every_document_is_of_one_layer(path, layer):
    assert layer_of(path) == layer


def test_details_are_shown_on_request_without_secrets_and_are_no_part_of_what_is_searched():
    raw = document(f"It works.\n\n## Details\n\nport | 8443\ntoken {TOKEN}\n")
    found = indexed("facts/a.md", raw)
    assert found is not None
    assert "8443" not in str(found)
    assert details_of(raw, "facts/a.md") == "port | 8443\ntoken [REDACTED:github]"
    assert details_of(raw, "experiences/a.md") == details_of(b"no header", "facts/a.md") == ""


def test_a_secret_among_the_evidence_is_not_searched():
    key = CAUGHT["anthropic"][0]
    raw = f"---\ndescription: d\nevidence: [{key}]\n---\nbody\n".encode()
    found = indexed("facts/a.md", raw)
    assert found is not None
    assert key not in repr(found)
