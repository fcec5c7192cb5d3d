"""The index of a journal: what was said is found, what was taken back never."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from reflector.core.capture import capture
from reflector.core.entry import ConversationKey, Entry, Kind
from reflector.core.sentinel import closing as end_of_block
from reflector.core.sentinel import opening
from reflector.core.tokens import asked
from reflector.store import journal as journals
from reflector.store import left_out, recall_journal
from reflector.store.recall import UnusableError
from reflector.store.recall_journal import Asked
from reflector.store.state import State
from tests.support.journals import append, assistant, hide, journal_in, reasoning, tool, user

OTHER = ConversationKey("claude-code", "other")
ANY = Asked()


@pytest.fixture
def state(tmp_path):
    with journal_in(tmp_path) as state:
        yield state


@pytest.fixture
def index():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(recall_journal.TABLES)
        yield connection


def catch_up(index: sqlite3.Connection, state: State) -> None:
    recall_journal.catch_up(index, state.connection, "1.1")


def find(index: sqlite3.Connection, state: State, query: str, only: Asked = ANY) -> list[str]:
    hits = recall_journal.find(index, state.connection, asked(query), only, 10)
    return [hit.entry.split(":")[1] for hit in hits]


def searched(index: sqlite3.Connection, state: State, query: str, only: Asked = ANY) -> list[str]:
    catch_up(index, state)
    return find(index, state, query, only)


def test_what_anybody_said_and_did_is_found(index, state):
    append(state, [user("u", "Deploy it."), assistant("a", "I will deploy."), tool("t")])
    failed = Entry("claude-code:e:0", "e", Kind.ERROR, "deploy failed: E0502")
    ran = Entry("claude-code:r:0", "r", Kind.TOOL_CALL, "", "Bash", '{"command": "deploy"}', "ok")
    append(state, [failed, ran, reasoning("deploy")])
    assert set(searched(index, state, "deploy")) == {"u", "a", "e", "r"}
    assert find(index, state, "e0502") == ["e"]
    assert find(index, state, "Bash ok") == ["t", "r"] or find(index, state, "Bash ok") == [
        "r",
        "t",
    ]
    assert find(index, state, "reasoning") == find(index, state, "") == []


def test_only_what_is_asked_for_is_found(index, state):
    append(state, [user("u", "deploy"), assistant("a", "deploy")])
    append(
        state,
        [Entry("claude-code:o:0", "o", Kind.USER, "deploy", at="2020-01-01T00:00:00Z")],
        OTHER,
    )
    catch_up(index, state)
    assert find(index, state, "deploy", Asked(conversation=str(OTHER))) == ["o"]
    assert find(index, state, "deploy", Asked(kind="assistant")) == ["a"]
    assert set(find(index, state, "deploy", Asked(since="2021-01-01"))) == {"u", "a"}


def test_an_index_that_is_behind_reads_only_what_is_new(index, state):
    append(state, [user("u1", "alpha")])
    catch_up(index, state)
    assert not recall_journal.behind(index, state.connection, "1.1")
    append(state, [user("u2", "alpha beta")])
    append(state, [user("o1", "alpha")], OTHER)
    assert recall_journal.behind(index, state.connection, "1.1")
    with state.transaction() as connection:  # what was read already is not looked at again
        connection.execute("UPDATE entries SET text = 'gamma' WHERE message_id = 'u1'")
    assert set(searched(index, state, "alpha")) == {"u1", "u2", "o1"}
    assert find(index, state, "gamma") == []


def test_what_is_hidden_after_it_was_indexed_is_not_found(index, state):
    append(state, [user("u", "alpha"), assistant("a", "alpha")])
    append(state, [user("o", "alpha")], OTHER)
    catch_up(index, state)
    hide(state)
    assert set(find(index, state, "alpha")) == {"u", "o"}
    with state.transaction() as connection:
        connection.execute("UPDATE conversations SET hidden = 1 WHERE key = ?", (str(OTHER),))
    assert find(index, state, "alpha") == ["u"]


def test_what_was_hidden_before_is_not_even_indexed(index, state):
    append(state, [user("u", "alpha"), assistant("a", "alpha")])
    hide(state)
    catch_up(index, state)
    assert [row["entry"] for row in index.execute("SELECT entry FROM spoken")] == [
        "claude-code:u:0"
    ]


def test_what_was_aged_out_is_not_found(index, state):
    append(state, [Entry("claude-code:u:0", "u", Kind.USER, "alpha", at="2020-01-01T00:00:00Z")])
    catch_up(index, state)
    with state.transaction() as connection:
        connection.execute("UPDATE conversations SET cursor = 1")
        assert journals.age_out(connection, "2021-01-01T00:00:00Z") == 1
    assert find(index, state, "alpha") == []


def test_an_index_that_holds_what_was_taken_out_is_made_anew(index, state):
    append(state, [user("u", "alpha"), user("v", "beta")])
    catch_up(index, state)
    with state.transaction() as connection:
        left_out.note(connection, [("c", "claude-code:never:0", "paused")])
    assert recall_journal.behind(index, state.connection, "1.1")
    catch_up(index, state)
    assert not recall_journal.behind(index, state.connection, "1.1")
    with state.transaction() as connection:
        left_out.note(connection, [("c", "claude-code:u:0", "norecord")])
    with pytest.raises(UnusableError):
        recall_journal.behind(index, state.connection, "1.1")


def test_an_index_of_another_journal_is_made_anew(index, state):
    append(state, [user("u1", "alpha"), user("u2", "beta")])
    catch_up(index, state)
    with pytest.raises(UnusableError):
        recall_journal.behind(index, state.connection, "1.2")
    with state.transaction() as connection:
        connection.execute("UPDATE conversations SET last_sequence = 1")
    with pytest.raises(UnusableError):
        recall_journal.behind(index, state.connection, "1.1")


def test_memory_that_we_injected_is_not_found(index, state):
    block = f"{opening('default-1', 'none')}\nalpha\n{end_of_block('default-1')}"
    said = user("u", f"{block}\nWhat is beta?")
    captured, _ = capture(said)
    append(state, [captured])
    append(state, [user("v", f"{block}\nWhat is gamma?")])  # as an older version kept it
    assert searched(index, state, "alpha") == []
    assert find(index, state, "beta") == ["u"]
    assert find(index, state, "gamma") == ["v"]
