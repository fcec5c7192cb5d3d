"""Where a snapshot is cut, by example."""

from __future__ import annotations

from reflector.core.snapshot import Cut, Row, cut

# A person's row that nobody heard (a blank one), then a question, and an answer in three rows.
BLANK = Row(1, "blank", 1, canonical=False, size=10)
ASKED = Row(2, "asked", 2, canonical=True, size=10)
ANSWER = [
    Row(number, f"answer {number}", 5, canonical=number == 3, size=10) for number in (3, 4, 5)
]
LATER = Row(6, "later", 6, canonical=True, size=10)
ROWS = [BLANK, ASKED, *ANSWER, LATER]


def test_no_cut_parts_a_message_from_the_results_of_its_calls():
    assert cut(ROWS, 45) == Cut(BLANK, ASKED, 2, 20)
    assert cut(ROWS, 50) == Cut(BLANK, ANSWER[-1], 5, 50)


def test_rows_before_the_first_word_ride_along():
    assert cut(ROWS, 999) == Cut(BLANK, LATER, 6, 60)
    assert cut([BLANK], 999) is None


def test_a_group_that_is_alone_over_the_budget_ships_alone():
    assert cut(ROWS, 5) == Cut(BLANK, ASKED, 2, 20)
    assert cut(ROWS[2:], 15) == Cut(ANSWER[0], ANSWER[-1], 3, 30)
