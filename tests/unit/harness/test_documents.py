from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import TranscriptError, UnknownFormatError
from reflector.harness import documents
from reflector.harness.reading import Position, open_source
from tests.support.gemini_rows import answered, call, header, journal, typed
from tests.support.harness_rows import Read, lines, read
from tests.support.opencode_rows import answer, export, tool, user_said

TALK = [typed("u1", "one"), answered("g1", "two", call("c1", "out")), typed("u2", "three")]
LEGACY = header(messages=TALK)
OPENCODE = export(user_said("msg_1", "one"), answer("msg_2", "two", tool("c1", "out")))
CHAT = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
TRAJECTORY = {
    "environment": "main",
    "trajectory": [],
    "history": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}],
    "info": {},
}
EVENTS = [
    {"id": 1, "source": "user", "action": "message", "args": {"content": "one"}},
    {"id": 2, "source": "agent", "action": "message", "args": {"content": "two"}},
]
DOCUMENTS = {
    "gemini-cli": LEGACY,
    "opencode": OPENCODE,
    "swe-agent": TRAJECTORY,
    "openhands": EVENTS,
    "jsonl": CHAT,
}


@pytest.mark.parametrize("harness", DOCUMENTS)
@pytest.mark.parametrize("form", [{}, {"indent": 2}, {"separators": (",", ":")}])
@pytest.mark.parametrize("around", [b"%s", b"\xef\xbb\xbf%s", b"%s\n\n", b" \n%s"])
def test_a_document_is_recognised_by_its_content_however_it_is_spelt(harness, form, around):
    data = around % json.dumps(DOCUMENTS[harness], **form).encode()
    source = open_source(io.BytesIO(data), "file")
    assert source.harness == harness
    seen = read(data, settled=True)
    assert [entry.text for entry in seen.entries][:2] == ["one", "two"]
    assert seen.ids == read(json.dumps(DOCUMENTS[harness]).encode(), settled=True).ids


def test_chat_messages_under_a_name_of_their_own_are_read():
    assert len(read(json.dumps({"messages": CHAT}, indent=1).encode()).entries) == 2
    named = {"session_id": "s", "messages": CHAT}
    assert open_source(io.BytesIO(json.dumps(named).encode()), "x").file_key.session == "s"


def test_a_document_that_did_not_change_gives_nothing():
    data = json.dumps(LEGACY, indent=2).encode()
    seen = read(data)
    assert list(open_source(io.BytesIO(data), "file").batches(seen.position)) == []


def test_a_document_that_changed_is_read_again_from_its_start():
    seen = read(json.dumps(LEGACY).encode())
    longer = header(messages=[*TALK, typed("u3", "four")])
    assert [e.text for e in journal(read(json.dumps(longer).encode(), read=seen))][-1] == "four"
    same_size = header(messages=[*TALK, typed("u4", "five")])
    assert [e.text for e in journal(read(json.dumps(same_size).encode(), read=seen))][-1] == "five"


def test_what_a_document_holds_back_comes_when_it_is_settled_though_it_is_the_same():
    data = json.dumps(header(messages=TALK[:2])).encode()
    seen = read(data)
    assert [entry.text for entry in seen.entries] == ["one"]
    assert len(journal(read(data, read=seen, settled=True))) == 3
    assert list(open_source(io.BytesIO(data), "f").batches(seen.position, settled=True)) == []


def test_only_the_last_batch_of_a_document_moves_the_position():
    data = json.dumps(LEGACY).encode()
    *parts, last = open_source(io.BytesIO(data), "f").batches(Position(), rows_per_batch=1)
    assert parts
    assert [batch.position.read_to for batch in parts] == [0] * len(parts)
    assert (last.position.resume_at, last.position.read_to) == (0, len(data))


@pytest.mark.parametrize("harness", DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_not_complete_yet_wherever_it_is_torn(harness, indent):
    data = json.dumps(DOCUMENTS[harness], indent=indent).encode()
    for cut in range(1, len(data) - 1, 7 if indent else 2):
        with pytest.raises(TranscriptError, match=r"complete|no complete line") as raised:
            open_source(io.BytesIO(data[:cut]), "file")
        assert "ry again" in raised.value.hint
        assert not isinstance(raised.value, UnknownFormatError)


def test_a_document_that_breaks_in_the_middle_is_not_complete_yet():
    data = json.dumps(LEGACY, indent=2).encode()
    broken = data.replace(b'"type"', b'"ty', 1)
    with pytest.raises(
        TranscriptError, match=r"not complete yet: it ends, or breaks, in line \d+"
    ) as raised:
        open_source(io.BytesIO(broken), "file")
    assert not isinstance(raised.value, UnknownFormatError)


def test_a_document_that_is_too_large_names_the_bound(monkeypatch):
    monkeypatch.setattr(documents, "LARGEST", 100)
    with pytest.raises(
        TranscriptError, match=r"file is one JSON document of \d+ bytes; at most 100"
    ):
        open_source(io.BytesIO(json.dumps(LEGACY, indent=2).encode()), "file")
    assert documents.LARGEST == 100


def test_rows_behind_a_torn_first_line_are_still_rows():
    data = b"{\n" + lines(*CHAT)
    seen = read(data)
    assert [entry.text for entry in seen.entries] == ["one", "two"]
    assert seen.bad_lines == 1


def test_surrogates_separators_and_bytes_that_are_no_text_are_no_obstacle():
    rows = [typed("u1", "a\u2028b \ud83d"), typed("u2", "c")]
    data = json.dumps(header(messages=rows), indent=2).encode().replace(b'"c"', b'"c\xff"')
    assert [entry.text for entry in read(data).entries] == ["a\u2028b \ud83d", "c\ufffd"]


@pytest.mark.parametrize("value", [[1, "x"], {"messages": 5}, {"history": []}, {"a": 1}, []])
def test_other_documents_are_refused(value):
    with pytest.raises(UnknownFormatError):
        open_source(io.BytesIO(json.dumps(value, indent=2).encode()), "file")


def test_a_document_nested_without_end_is_refused():
    with pytest.raises(UnknownFormatError):
        open_source(io.BytesIO(b"[" * 200_000 + b"]" * 200_000), "file")


@given(st.data())
def test_a_document_that_is_written_anew_gives_the_journal_of_reading_it_once(draws):
    """Of every version the last answer may be unfinished; what was once complete stays."""
    messages = draws.draw(st.lists(st.sampled_from("ua"), min_size=1, max_size=6))
    whole = [
        user_said(f"msg_{n}", f"text {n}")
        if kind == "u"
        else answer(f"msg_{n}", f"text {n}", tool(f"call_{n}", "out"))
        for n, kind in enumerate(messages)
    ]
    versions = draws.draw(st.lists(st.integers(0, len(whole)), max_size=5).map(sorted))
    seen = Read()
    for many in versions:
        rows = whole[:many]
        if rows and rows[-1]["info"]["role"] == "assistant" and draws.draw(st.booleans()):
            rows = [*rows[:-1], answer(rows[-1]["info"]["id"], "unfini", completed=False)]
        read(json.dumps(export(*rows)).encode(), read=seen)
    final = json.dumps(export(*whole)).encode()
    assert journal(read(final, read=seen)) == journal(read(final))


def test_a_message_that_is_nested_too_deep_costs_a_document_no_other():
    deep: object = "end"
    for _ in range(300):
        deep = [deep]
    chat = [{"role": "user", "content": deep}, *CHAT]
    seen = read(json.dumps(chat, indent=0).encode(), settled=True)
    assert [entry.text for entry in seen.entries] == ["one", "two"]
    assert seen.bad_lines == 1


def test_a_number_that_is_too_long_to_be_read_is_said_of_a_document_that_is_familiar():
    data = (
        json.dumps(LEGACY, indent=1).encode().replace(b'"projectHash"', b'"n": %s, "projectHash"')
    )
    with pytest.raises(TranscriptError, match="cannot be decoded") as caught:
        open_source(io.BytesIO(data % (b"9" * 5000)), "file")
    assert caught.value.facts["familiar"]
