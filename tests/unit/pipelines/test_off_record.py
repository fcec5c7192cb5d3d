"""Turns that a person asked not to record are read by no pipeline."""

from __future__ import annotations

from reflector.core.entry import Entry, Kind
from reflector.pipelines.off_record import recorded


def said(number: int, kind: Kind, text: str, message: str = "") -> Entry:
    return Entry(f"e{number}", message or f"m{number}", kind, text)


def test_the_message_and_all_that_answers_it_are_left_out_up_to_the_next_message():
    talk = [
        said(1, Kind.USER, "Run the tests."),
        said(2, Kind.ASSISTANT, "They pass."),
        said(3, Kind.USER, "Don't record this: I may leave this job."),
        said(4, Kind.ASSISTANT, "I see."),
        Entry("e5", "m5", Kind.TOOL_CALL, tool="Bash", arguments="mail boss"),
        said(6, Kind.USER, "Now the linter."),
        said(7, Kind.ASSISTANT, "Clean."),
    ]
    assert [each.id for each in recorded(talk)] == ["e1", "e2", "e6", "e7"]


def test_a_wish_in_one_block_of_a_message_holds_for_all_of_it():
    talk = [
        said(1, Kind.USER, "I may leave this job.", "m"),
        said(2, Kind.USER, "别记这个。", "m"),
        said(3, Kind.ASSISTANT, "I see."),
    ]
    assert recorded(talk) == []


def test_a_task_that_speaks_of_recording_is_read():
    talk = [said(1, Kind.USER, "Do not record the build number in the changelog.")]
    assert recorded(talk) == talk
