"""What a segment does not bear out is taken out where it can be parted, and marked where not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.experience import EpisodicFact, Experience, Extraction
from reflector.pipelines.experiences.claims import claims
from reflector.pipelines.experiences.evidence import Checked, checked
from reflector.pipelines.experiences.rows import Row

ROWS = [
    Row(
        "u1", "user", "On branch feature/pay-2 the export has 1,000 rows and takes 5 s; tol = 1e-3"
    ),
    Row(
        "t1",
        "tool_call",
        "",
        "Bash",
        '{"command": "cd /home/dev/shop && pytest -q tests/test_pay.py"}',
        "3 passed in 0.52s on Python 3.11.4\n[feature/pay-2 9fceb02d0a] exact totals",
    ),
    Row("t2", "tool_call", "", "Edit", '{"file_path": "src/pay.py", "new_string": "a\\nb"}', "ok"),
    Row("t3", "tool_call", "", "Read", '{"file_path": "C:\\\\shop\\\\pay.ini"}', "max=20"),
]


def _fact(statement: str, **fields) -> Checked:
    return checked(Extraction(fact=EpisodicFact(statement, **fields)), ROWS)


@pytest.mark.parametrize(
    "statement",
    [
        "The export has 1000 rows.",
        "The export has 1e3 rows and takes 5.0 s.",
        "It has 1_000 rows; the tolerance is 0.001.",
        "On branch feature/pay-2, `src/pay.py` sums in cents.",
        "分支 feature/支付-2 上没有别的。",
        "分支 feature/pay-2 上 src/pay.py 共1000行，耗时5秒。",
        "`pytest -q tests/test_pay.py` passes: 3 tests, Python v3.11.4.",
        "Ran `pytest -q` in /home/dev/shop; /home/dev/shop/src/pay.py is changed.",
        "Commit 9fceb02 and commit `9fceb02d0a` hold it.",
        "`src/pay.py:5` and `src/` are changed.",
        r"`C:\shop\pay.ini` holds max=20.",
        "1. read and/or write\n2. CI/CD, e.g. this",
        "Nothing that could be looked up.",
    ],
)
def test_what_the_segment_holds_is_verified_however_it_is_written(statement: str) -> None:
    found = _fact(statement)

    assert (found.fact_verified, found.missing) == (True, ())
    assert found.fact == EpisodicFact(statement)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("The export has 1001 rows.", "number"),
        ("It takes 50 s.", "number"),
        ("It takes 0.5 s.", "number"),
        ("It runs on Python 3.11.5.", "number"),
        ("On branch feature/pay-3 it is exact.", "branch"),
        ("在 feature/pay 分支上修好。", "branch"),
        ("src/paying.py is changed.", "path"),
        ("lib/src/pay.py is changed.", "path"),
        ("/srv/shop/src/pay.py is changed.", "path"),
        ("pay.yaml is changed.", "path"),
        ("Ran `pytest -q tests/test_pay.py --maxfail=1`.", "command"),
        ("Ran pytest with --verbose.", "command"),
        ("`src/pay.py:77` is changed.", "command"),
        ("Ran `git push`.", "command"),
        ("Commit 9fceb02e has it.", "command"),
    ],
)
def test_what_the_segment_does_not_hold_makes_a_fact_unverified(statement: str, what: str) -> None:
    found = _fact(statement)

    assert not found.fact_verified
    assert found.fact == EpisodicFact(statement)
    assert found.counts == {f"unverified.fact.{what}": 1}


def test_what_can_be_parted_is_taken_out_and_the_rest_is_verified() -> None:
    found = _fact(
        "The export is exact (see /srv/notes.md).\nrows = 1000; retries = 7\n- limit: 99\nmax=20",
        files=("src/pay.py", "src/none.py", "C:/shop/pay.ini"),
        subject="src/none.py",
        details=("t1", "[t2]", "t9"),
        evidence=("entry u1", "u1", "zz"),
    )

    assert found.fact_verified
    assert found.fact == EpisodicFact(
        "The export is exact.\nrows = 1000;\nmax=20",
        files=("src/pay.py", "C:/shop/pay.ini"),
        details=("t1", "t2"),
        evidence=("u1",),
    )
    assert found.counts == {
        "removed.fact.path": 3,
        "removed.fact.number": 2,
        "removed.fact.entry": 2,
    }


def test_a_sentence_is_not_torn_apart() -> None:
    statement = "src/pay.py now sums 7 cents.\nThe user wants 8 of them."
    found = _fact(statement)

    assert not found.fact_verified
    assert found.fact == EpisodicFact(statement)


def test_a_statement_is_never_emptied() -> None:
    found = _fact("(src/none.py)")

    assert not found.fact_verified
    assert found.fact == EpisodicFact("(src/none.py)")


def test_what_was_said_before_the_segment_counts_but_cannot_be_cited() -> None:
    earlier = [Row("u0", "user", "N = 77")]
    fact = EpisodicFact("All is set.\nN = 77", evidence=("u0",))
    found = checked(Extraction(fact=fact), ROWS, earlier)

    assert found.fact == EpisodicFact("All is set.\nN = 77")
    assert found.fact_verified


def test_what_a_model_only_thought_bears_nothing_out() -> None:
    thought = [*ROWS, Row("r1", "reasoning", "perhaps src/cache.py, with --no-cache")]
    fact = EpisodicFact("src/cache.py is changed.")

    assert not checked(Extraction(fact=fact), thought).fact_verified


def test_an_experience_is_judged_by_its_commands_and_paths_and_what_it_depends_on() -> None:
    sound = Experience(
        "run the tests of a shop",
        "Twice: `cd <folder> && pytest -q tests/test_pay.py`, then look at src/pay.py.",
        "python: 3.11.4\npytest: 8.1.2",
        evidence=("t1", "t7"),
    )
    wrong = Experience("push it", "```sh\n$ cd /home/dev/shop\ngit push --force\n```")
    found = checked(Extraction((sound, wrong)), ROWS)

    assert found.verified == (True, False)
    assert found.experiences[0].boundary_envs == "python: 3.11.4"
    assert found.experiences[0].evidence == ("t1",)
    assert {one.index for one in found.missing if not one.removed} == {1}
    assert found.counts["removed.experience.number"] == 1


def test_nothing_is_checked_where_nothing_was_extracted() -> None:
    assert checked(Extraction(), ROWS) == Checked()


@settings(deadline=None, max_examples=60)
@given(st.text() | st.text(alphabet="ab1.,:/\\`(\n) -=;~<>"))
def test_any_text_can_be_checked_and_nothing_is_added_to_it(text: str) -> None:
    fact = EpisodicFact(text or "x", subject=text[:80], files=(text,), details=(text,))
    found = checked(Extraction((Experience(text, text, text),), fact), ROWS)

    assert found.fact is not None
    left = iter(fact.statement)
    assert all(sign in left for sign in found.fact.statement)
    assert checked(Extraction(found.experiences, found.fact), ROWS).fact == found.fact


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from(["{}", "{:,}", "{:_}", "{}.0", "{}e0", "{}.00"]))
def test_a_number_is_found_by_its_value_in_every_notation(number: int, notation: str) -> None:
    rows = [Row("u", "user", f"there are {notation.format(number)} of them")]
    for other in ("{}", "{:,}", "{}.0"):
        fact = EpisodicFact(f"It is {other.format(number)}.")
        assert checked(Extraction(fact=fact), rows).fact_verified
    wrong = EpisodicFact(f"It is {number + 10**10}.")
    assert not checked(Extraction(fact=wrong), rows).fact_verified


@settings(deadline=None)
@given(st.text(alphabet="ab1.,:/\\`(\n) -=;~#") | st.text())
def test_claims_stand_where_they_say_in_order_and_apart(text: str) -> None:
    end = 0
    for one in claims(text):
        assert text[one.start : one.end] == one.text
        assert one.start >= end
        end = one.end


@pytest.mark.parametrize(
    "piece", ["a", "a/", "a.", "1,", "a=", "a#", "((", "`a", "\\", "a@~%", "a1"]
)
def test_a_long_hostile_text_is_read_to_its_end(piece: str) -> None:
    claims(piece * 8000)
