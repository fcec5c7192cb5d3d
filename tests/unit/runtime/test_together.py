"""What a person reads of many faults at once."""

from __future__ import annotations

from reflector.runtime.judgement import together


def test_a_few_faults_are_all_said_and_of_thousands_the_first_and_their_number():
    few = [f"{number}.md:1 wrong" for number in range(10)]
    assert together(few) == "; ".join(few)
    assert together(few * 300) == "; ".join((*few, "and 2990 more"))
    assert together([]) == ""
