"""What was learned since the last session is counted by run, and not what was taken back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reflector.runtime import news
from reflector.runtime.news import News
from reflector.store import scheduling
from reflector.store.state import Connection
from tests.support.scenes import Scene


@pytest.fixture
def connection(tmp_path) -> Iterator[Connection]:
    with Scene(tmp_path).context().state() as state, state.transaction() as opened:
        yield opened


def test_what_two_runs_brought_is_one_sum_and_the_last_run_is_named(connection):
    assert news.news(connection) is None
    news.learned_more(connection, "one", 2)
    news.learned_more(connection, "two", 3)
    assert news.news(connection) == News(5, "two")


def test_a_run_that_was_undone_is_no_news(connection):
    news.learned_more(connection, "one", 2)
    news.learned_more(connection, "two", 3)
    news.taken_back(connection, "never heard of")
    assert news.news(connection) == News(5, "two")
    news.taken_back(connection, "two")
    assert news.news(connection) == News(2, "one")
    news.taken_back(connection, "one")
    assert news.news(connection) is None


def test_a_count_that_cannot_be_read_is_no_news(connection):
    scheduling.set_mark(connection, "learned", '{"things": 7, "run": "of an older form"}')
    assert news.news(connection) is None
    news.learned_more(connection, "one", 1)
    assert news.news(connection) == News(1, "one")
