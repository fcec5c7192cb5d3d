"""What is offered beside a draft: of its project, active, likely, and few."""

from __future__ import annotations

from dataclasses import replace

from reflector.runtime.experiences.candidates import MOST_EXPERIENCES, MOST_FACTS, candidates
from tests.support.stored import BANK, draft, linked, stored, tree_of

LOG = replace(stored(1, title="How do I rotate the nginx log?"), body="Use logrotate, then USR1.")
DISK = replace(stored(2, title="How do I mount the backup disk?"), body="mount -o ro /dev/sdb1")
CHINESE = replace(stored(3, title="数据库迁移怎么回滚"), body="先执行回退语句，再重启服务。")


def offered(one, *held, bank=BANK):
    found = candidates(tree_of(*held), bank, (one,))[one.key]
    return [each.id[-1] for each in found]


def test_what_a_draft_may_be_about_is_offered_and_what_it_is_not_about_is_not():
    held = (LOG, DISK, CHINESE)
    assert offered(draft("x", title="rotate the log of nginx"), *held) == ["1"]
    assert offered(draft("x", title="How do I read a backup disk?"), *held) == ["2"]
    assert offered(draft("x", title="数据库迁移的回滚办法"), *held) == ["3"]
    assert offered(draft("x", title="Which colours does the logo have?"), *held) == []
    one = draft("x", title="Which colours does the start page of nginx have in the shop?")
    assert offered(one, *held) == []
    assert offered(draft("x", title="anything at all")) == []


def test_another_phrasing_finds_it_too():
    one = draft("x", title="What about old access files?", search_keys=("nginx log rotate",))
    assert offered(one, LOG, DISK) == ["1"]


def test_only_what_is_active_and_of_the_same_project_is_offered():
    one = draft("x", title="rotate the nginx log")
    chain = linked(LOG, replace(stored(4, title="rotate the nginx log"), body="Use copytruncate."))
    assert offered(one, *chain.values()) == ["4"]
    assert offered(one, replace(LOG, project="other-00000000")) == []
    assert offered(one, replace(LOG, more='read_only: "true"')) == []
    assert offered(one, replace(LOG, project=""), bank="") == ["1"]
    assert offered(one, replace(stored(5, "fact", title="rotate the nginx log"))) == []


def test_no_more_than_three_experiences_are_offered():
    many = [replace(stored(n, title=f"rotate nginx log {n}"), body="USR1") for n in range(1, 9)]
    assert len(offered(draft("x", title="rotate nginx log"), *many)) == MOST_EXPERIENCES


def test_for_a_fact_the_newest_of_its_subject_are_offered_and_no_other():
    days = [
        stored(
            n,
            "fact",
            title=["Nightly Backup", "nightly  backup"][n % 2],
            created=f"2026-11-{n:02d}T12:00:00.000Z",
        )
        for n in range(1, 9)
    ]
    other = stored(9, "fact", title="weekly backup")
    one = draft("It runs at 3.", "fact", title="NIGHTLY backup")
    found = offered(one, *days, other, stored(10, title="nightly backup"))
    assert found == ["8", "7", "6", "5", "4"]
    assert len(found) == MOST_FACTS
    assert offered(one, *linked(*days[:3]).values()) == ["3"]
    assert offered(draft("x", "fact", title=""), stored(1, "fact", title="")) == []


def test_what_is_offered_says_whether_it_is_verified_and_is_not_endless():
    long = replace(LOG, body="Use logrotate. " * 500, verified=False)
    (found,) = candidates(tree_of(long), BANK, (draft("x", title="rotate the nginx log"),))["e1"]
    assert not found.verified
    assert len(found.text) <= 1200
