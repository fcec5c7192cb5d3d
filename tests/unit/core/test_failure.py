from __future__ import annotations

import itertools

import pytest

from reflector.core.failure import classify, kind_of
from reflector.core.fingerprint import fingerprint, normalised
from reflector.core.run import Outcome, Reason

TRACE = (
    'Traceback (most recent call last): File "/a/x.py", line 3, in main f() '
    'File "/a/y.py", line 9, in f raise ValueError("boom") ValueError: boom'
)
OTHER_TRACE = 'Traceback (most recent call last): File "/b/z.py", line 77, in go ValueError: boom'
LINES = 'File "/a/x.py", line 3, in main\n    f()\nreflector.core.errors.GitError: lost'
CUT_LINES = (
    'k.py", line 4, in cut\n File "/q.py", line 9, in g\nreflector.core.errors.GitError: lost'
)

PROVIDER_FINAL = {"spawn_failed", "sandbox_unavailable", "engine_error", "missing_worktree"}
PROVIDER_RETRYABLE = {"overloaded", "quota", "git_failed", "disk_full", "supervisor_died"}
FATAL = {"auth", "model_not_found", "engine_missing"}
CONTENT_FINAL = {
    "refusal", "context_overflow", "validation", "git_admin_altered", "stuck", "empty", "limits",
}  # fmt: skip
CONTENT_RETRYABLE = {"child_exit", "no_result", "deadline_exceeded"}
COUNTS_FOR_NOTHING = set(Outcome) - {
    Outcome.FAILED,
    Outcome.TIMED_OUT,
    Outcome.DIRTY_UNCOMMITTED,
}


def test_every_reason_is_in_exactly_one_class():
    classes = [PROVIDER_FINAL, PROVIDER_RETRYABLE, FATAL, CONTENT_FINAL, CONTENT_RETRYABLE]
    classes.append({"interrupted"})
    assert sorted(itertools.chain(*classes)) == sorted(reason.value for reason in Reason)


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("reason", [None, *Reason])
def test_every_end_is_judged_by_the_table(outcome, reason):
    failure = classify(outcome, reason, "it broke")
    if outcome in COUNTS_FOR_NOTHING:
        assert failure is None
        return
    if outcome is Outcome.DIRTY_UNCOMMITTED:
        assert failure is not None
        assert (failure.scope, failure.retryable, failure.fatal) == ("content", False, False)
        return
    missing = "deadline_exceeded" if outcome is Outcome.TIMED_OUT else "child_exit"
    name = reason.value if reason else missing
    if name == "interrupted":
        assert failure is None
        return
    assert failure is not None
    assert failure.fatal == (name in FATAL)
    assert failure.retryable == (name in PROVIDER_RETRYABLE | CONTENT_RETRYABLE)
    assert failure.scope == ("content" if name in CONTENT_FINAL | CONTENT_RETRYABLE else "provider")


def test_no_fatal_failure_is_retryable():
    kinds = [kind_of(outcome, reason) for outcome in Outcome for reason in (None, *Reason)]
    assert any(kind and kind.fatal for kind in kinds)
    assert not any(kind.fatal and kind.retryable for kind in kinds if kind)


@pytest.mark.parametrize(
    ("detail", "again"),
    [
        ("fork: Resource temporarily unavailable", True),
        ("[Errno 11] EAGAIN", True),
        ("[Errno 35] no more processes", True),
        ("No such file or directory: engine", False),
        ("[Errno 115] odd", False),
    ],
)
def test_a_failed_spawn_is_retried_only_when_the_machine_said_so(detail, again):
    failure = classify(Outcome.FAILED, Reason.SPAWN_FAILED, detail)
    assert failure is not None
    assert failure.retryable is again


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("system/persona.md:12 No entry is named.", "system/persona.md:408 No entry is named."),
        ("broke at 2026-01-02T03:04:05.678Z again", "broke at 2027-11-12 13:14:15 again"),
        ("run 20260102T030405-0a1b2c3d is lost", "run 20270102T130405-ffeeddcc is lost"),
        (
            "entry claude-code:7b0c2f9e-1111-4222-8333-444455556666:0",
            "entry claude-code:aaaaaaaa-2222-4333-9444-555566667777:3",
        ),
        ("object 9f86d081884c7d659a2f is bad", "object 0011223344aa7d659a2f is bad"),
        ("at address 0x7f001234", "at address 0xdeadbeef01"),
        ("request req_011CSHoEeqs5C35K2UUqR7Fy", "request req_019ZZabEeqs5C35K2UUqR7Fy"),
        ("cannot open /tmp/tmpab12cd/out/a.json", "cannot open /var/folders/x9/out/a.json"),
        ("cannot open /home/one/.reflector/a.json", "cannot open /srv/two/a.json"),
        ("process 12345 is gone", "process 1234567 is gone"),
        ("took 31 s of 4096 bytes", "took 7 s of 1,234,567 bytes"),
        ("it   broke\nhere", "IT broke here"),
        (TRACE, OTHER_TRACE),
        (LINES, CUT_LINES),
        (
            "Error: boom at run (/a/b.js:10:5) at async Promise.all (/c/d.js:1:2)",
            "Error: boom at other (/z/b.js:99:1)",
        ),
        ("Error: boom at /a/b.js:10:5", "Error: boom at /x/y/z.js:1:1"),
    ],
)  # fmt: skip
def test_a_fingerprint_ignores_what_differs_between_two_occurrences(one, other):
    assert normalised(one) == normalised(other)
    assert fingerprint("child_exit", one) == fingerprint("child_exit", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exit code 1", "exit code 137"),
        ("HTTP 500", "HTTP 503"),
        ("system/persona.md was emptied", "system/boundaries.md was emptied"),
        ("ValueError: boom", "ValueError: bang"),
        ('File "/a.py", line 1, in f ValueError: boom', 'File "/a.py", line 1, in f KeyError: boom'),
        ("cannot open /tmp/x/a.json", "cannot open /tmp/x/b.json"),
    ],
)  # fmt: skip
def test_a_fingerprint_tells_different_causes_apart(one, other):
    assert fingerprint("child_exit", one) != fingerprint("child_exit", other)


def test_the_reason_is_part_of_the_fingerprint():
    assert fingerprint("stuck", "x") != fingerprint("empty", "x")


def test_a_detail_that_was_cut_in_another_word_is_the_same():
    words = "something went wrong and the message is long; " * 20
    assert normalised(words[:512]) == normalised(words[:509] + "zzz")


def test_odd_text_has_a_fingerprint():
    assert len(fingerprint("empty", "\ud800 \x00 /" * 400)) == 16


def test_a_hostile_detail_is_normalised_quickly():
    for text in ("a" * 512, "/" * 512, "at " * 170, 'File "' * 85, "0" * 512, "a-1" * 170):
        assert len(normalised(text)) <= 200
