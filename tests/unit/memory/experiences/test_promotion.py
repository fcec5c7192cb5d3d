"""An experience of three sessions is offered as a skill until a skill names it."""

from __future__ import annotations

from dataclasses import replace

from reflector.memory.experiences.promotion import MOST, ripe
from tests.support.stored import linked, stored

THRICE = stored(1, evidence=("claude-code:a:1", "claude-code:a:9", "claude-code:b:2", "codex:c:3"))


def found(*items, used=(), skills=()):
    known = {one.id: one for one in items}
    return [(each.experience.id[-1], each.sessions) for each in ripe(known, dict(used), skills)]


def test_three_sessions_make_it_ripe_whether_used_or_confirmed():
    twice = replace(THRICE, evidence=THRICE.evidence[:3])
    assert found(THRICE) == [("1", 3)]
    assert found(twice) == []
    assert found(twice, used={twice.path: 3}) == [("1", 3)]
    assert found(twice, used={twice.path: 2}) == []
    assert found(THRICE, used={THRICE.path: 7}) == [("1", 7)]


def test_what_a_skill_names_what_is_no_experience_and_what_does_not_hold_is_not_offered():
    assert found(THRICE, skills=[f"Made of {THRICE.path}."]) == []
    assert found(replace(THRICE, verified=False)) == []
    assert found(replace(stored(2, "fact"), evidence=THRICE.evidence)) == []
    assert found(*linked(THRICE, stored(3)).values()) == []


def test_a_few_are_offered_those_of_most_sessions_first():
    many = [stored(n) for n in range(MOST + 3)]
    used = {one.path: 3 + n for n, one in enumerate(many)}
    assert [sessions for _, sessions in found(*many, used=used)] == [10, 9, 8, 7, 6]
