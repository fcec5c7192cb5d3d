"""The index of a memory: whatever changed in it, it finds what one made anew finds."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflector.core.tokens import asked
from reflector.memory.indexed import Indexed, Passage, Standing, passages
from reflector.store import recall_memory
from reflector.store.recall_memory import Only

ANY = Only()
EARLY, LATE = "2026-01-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z"


def document(path: str, text: str, about: str = "about", bank: str = "") -> Indexed:
    return Indexed(path, about, "", bank, tuple(passages(text)))


def item(path: str, text: str = "alpha", **said: object) -> Indexed:
    return replace(document(path, text), standing=Standing(**said))  # type: ignore[arg-type]


def made(*documents: tuple[Indexed, str]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    connection.executescript(recall_memory.TABLES)
    recall_memory.put(connection, documents)
    return connection


def hits(connection: sqlite3.Connection, query: str, only: Only = ANY, limit: int = 10):
    chosen = recall_memory.telling(connection, asked(query))
    return recall_memory.find(connection, chosen, only, limit)


def found(connection: sqlite3.Connection, query: str, only: Only = ANY, limit: int = 10):
    return [hit.path for hit in hits(connection, query, only, limit)]


WORDS = st.lists(st.sampled_from(("alpha", "beta", "缓存", "缓解", "ABC-12", "1.2.3")), max_size=4)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=3).map("\n# Part\n".join)
STEPS = st.lists(st.tuples(st.integers(0, 4), st.none() | TEXTS), max_size=12)


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_changes_one_by_one_leave_what_making_it_anew_makes(steps):
    connection = made()
    kept: dict[str, str] = {}
    for number, text in steps:
        path = f"reference/{number}.md"
        recall_memory.take_out(connection, [path])
        kept.pop(path, None)
        if text is not None:
            recall_memory.put(connection, [(document(path, text), EARLY)])
            kept[path] = text
    anew = made(*((document(path, text), EARLY) for path, text in sorted(kept.items())))
    terms = "SELECT term, doc, cnt FROM found_terms ORDER BY term"
    assert [tuple(row) for row in connection.execute(terms)] == [
        tuple(row) for row in anew.execute(terms)
    ]
    for query in ("alpha", "缓", "ABC-12", "1.2"):
        theirs, ours = (
            [(hit.path, round(hit.score, 9), hit.passage) for hit in hits(index, query, ANY, 50)]
            for index in (anew, connection)
        )
        assert sorted(ours, key=str) == sorted(theirs, key=str)


@given(st.text(max_size=60))
@example("upgrade to 1.2.3")
@settings(max_examples=60, deadline=None)
def test_no_query_is_syntax(query):
    connection = made((document("reference/a.md", query + " alpha"), EARLY))
    assert found(connection, query) == (["reference/a.md"] if asked(query) else [])


def test_hostile_and_endless_queries_are_words_like_others():
    connection = made((document("reference/a.md", "near alpha or NOT a column"), EARLY))
    for query in (
        '"',
        'alpha" OR "x',
        "text : alpha",
        "NEAR(alpha, 2)",
        "^alpha*",
        "a AND",
        "(",
        "\0",
    ):
        assert found(connection, query) in ([], ["reference/a.md"])
    assert found(connection, "alpha " + " ".join(f"w{n}" for n in range(5000)))


def test_an_item_of_a_project_is_found_from_its_own_folders_only():
    connection = made(
        (document("projects/mine-1/a.md", "alpha", bank="mine-1"), EARLY),
        (document("projects/theirs-2/a.md", "alpha", bank="theirs-2"), EARLY),
        (document("reference/a.md", "alpha"), EARLY),
    )
    assert set(found(connection, "alpha", Only(bank="mine-1"))) == {
        "projects/mine-1/a.md",
        "reference/a.md",
    }
    assert found(connection, "alpha") == ["reference/a.md"]


def test_only_what_is_asked_for_is_found():
    connection = made(
        (document("reference/a.md", "alpha"), EARLY),
        (document("reference/b.md", "alpha"), LATE),
        (document("system/c.md", "alpha"), LATE),
    )
    assert found(connection, "alpha", Only(path="system/")) == ["system/c.md"]
    assert found(connection, "alpha", Only(since="2026-10-01")) == ["reference/b.md", "system/c.md"]
    assert found(connection, "alpha", Only(outside="system/")) == [
        "reference/b.md",
        "reference/a.md",
    ]
    assert len(found(connection, "alpha", limit=2)) == 2
    assert found(connection, "omega") == found(connection, "") == []


def test_a_document_is_found_once_by_its_best_passage():
    text = "# Other\nnothing\n# Keys\nrotate the keys\n# More\nkeys"
    connection = made((document("reference/a.md", text), EARLY))
    (hit,) = hits(connection, "rotate keys")
    assert hit.passage == Passage("Keys", "rotate the keys")


def test_terms_that_very_many_passages_have_count_only_alone():
    connection = made(
        *((document(f"reference/{n}.md", f"alpha number{n}"), EARLY) for n in range(300))
    )
    assert list(recall_memory.telling(connection, asked("alpha number7 omega"))) == [*("number7",)]
    assert list(recall_memory.telling(connection, asked("alpha omega"))) == ["alpha"]


def test_of_a_long_query_the_rarest_terms_are_asked_for():
    text = " ".join(f"word{n}" for n in range(200))
    connection = made(
        (document("reference/a.md", text), EARLY), (document("reference/b.md", text[:900]), EARLY)
    )
    chosen = recall_memory.telling(connection, asked(text))
    assert len(chosen) < 60
    assert "word126" in chosen
    assert "word1" not in chosen


GONE = (item("facts/old.md", status="superseded"), EARLY)
BRANCHED = (item("facts/branch.md", branch="fix/x"), LATE)
PROJECT = (document("projects/mine-1/style.md", "alpha", bank="mine-1"), EARLY)
METHOD = (item("experiences/how.md"), EARLY)


@pytest.mark.parametrize(
    ("only", "paths"),
    [
        (Only(), {"facts/branch.md", "experiences/how.md"}),
        (Only(status=""), {"facts/branch.md", "experiences/how.md", "facts/old.md"}),
        (Only(status="superseded"), {"facts/old.md"}),
        (Only(branch="fix/x"), {"facts/branch.md"}),
        (Only(layer="experiences"), {"experiences/how.md"}),
        (Only(layer="facts", status=""), {"facts/branch.md", "facts/old.md"}),
        (Only(layer="decisions", bank="mine-1"), {"projects/mine-1/style.md"}),
        (Only(bank="mine-1", bound=True), {"projects/mine-1/style.md"}),
        (Only(bank="other-2", bound=True), set()),
        (Only(until="2026-06-01"), {"experiences/how.md"}),
        (Only(since="2026-06-01", until="2026-12-01"), {"facts/branch.md"}),
    ],
)
def test_a_filter_finds_what_it_says_and_nothing_that_was_superseded_unless_asked(only, paths):
    connection = made(GONE, BRANCHED, PROJECT, METHOD)
    assert set(found(connection, "alpha", only)) == paths


def test_a_filter_reaches_behind_thousands_of_better_matches():
    many = [(document(f"reference/{n}.md", "alpha alpha"), EARLY) for n in range(500)]
    connection = made(*many, (item("facts/one.md", "alpha beta gamma delta"), EARLY))
    assert found(connection, "alpha", Only(layer="facts")) == ["facts/one.md"]


def test_what_is_found_comes_back_with_what_it_says_of_itself():
    said = Standing("0badcafe", "active", "fix/x", 0.4, verified=False, links=("experiences/a",))
    connection = made((replace(document("facts/a.md", "alpha"), standing=said), EARLY))
    (hit,) = hits(connection, "alpha")
    assert (hit.standing, hit.layer) == (said, "facts")


def test_documents_come_in_the_order_of_their_scores():
    texts = ("alpha", "alpha beta gamma", "alpha alpha beta", "beta gamma delta epsilon alpha")
    connection = made(*((document(f"reference/{n}.md", t), EARLY) for n, t in enumerate(texts)))
    scores = [hit.score for hit in hits(connection, "alpha")]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 2


def test_the_commonest_terms_wait_outside_when_too_many_passages_would_be_scored():
    connection = made(
        *((document(f"reference/{n}.md", f"alpha half{n % 2} only{n}"), EARLY) for n in range(100))
    )
    wanted = asked("alpha half1 only7 only8")
    assert set(recall_memory.telling(connection, wanted, most=1000)) == set(wanted)
    assert set(recall_memory.telling(connection, wanted, most=60)) == {"half1", "only7", "only8"}
    assert set(recall_memory.telling(connection, wanted, most=10)) == {"only7", "only8"}
    assert set(recall_memory.telling(connection, asked("alpha half1"), most=10)) == {"half1"}
