"""What a person had forgotten is not written again: not from where it came, not word for word."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflector.core.run import Run
from reflector.runtime.experiences.due import Wish
from reflector.runtime.experiences.foreground import extract_now
from reflector.runtime.experiences.forgetting import forget
from reflector.runtime.experiences.forgotten import forgotten_in
from reflector.runtime.experiences.reading import held
from reflector.runtime.forgetting.forget import all_locks
from reflector.runtime.forgetting.forget import forget as forget_all
from reflector.runtime.forgetting.target import Asked, target_of
from reflector.runtime.loop import Quiet
from reflector.runtime.restoring import restore
from reflector.surface.cli.show import report
from reflector.vcs.reads import Reads
from tests.support.auditor import audit
from tests.support.segments import QUIET, Person, experience, fact, in_process, person

pytestmark = pytest.mark.slow

SHELL = {"tool": "Bash", "arguments": {"command": "df -h /data"}, "result": "/dev/sdb1 91% /data"}
KNOWN = "The drive /data is 91% full."
AGAIN = Wish(("jsonl/talk",), force=True, everything=True)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    with person(tmp_path) as made:
        in_process(made, monkeypatch)
        made.model.learns["full disk"] = {
            "experiences": [experience("Free space on a data drive", "Run `df -h /data` first.")],
            "fact": fact("/dev/sdb1", KNOWN),
        }
        made.works("We have a full disk, I think", SHELL, "It is 91% full.")
        made.clock.sleep(QUIET)
        made.extracts()
        assert len(made.kept()) == 2
        yield made
        audit(made.home)


def forgets(scene: Person) -> str:
    [item] = held(scene.context(), "fact").kept.of("fact")
    forget(scene.context(), "fact", item.id)
    return item.path


def extracted(scene: Person, wish: Wish = AGAIN) -> str:
    """Extract once more; return what the run says."""
    [run] = extract_now(scene.context(), Quiet(), wish).runs
    assert isinstance(run, Run)
    return report(scene.context(), run)


def test_another_reading_of_the_conversation_does_not_bring_it_back(scene: Person):
    forgets(scene)
    scene.model.learns["full disk"]["fact"]["statement"] = "Nine tenths of /data are in use."
    assert "dropped.forgotten_before: 1" in extracted(scene)
    assert scene.kept("facts/") == {}
    assert scene.kept("experiences/")


def test_nor_when_history_has_no_word_of_it_any_more(scene: Person):
    asked = Asked(forgets(scene), history=True)
    with all_locks(scene.context()) as memory:
        forget_all(memory, asked, target_of(scene.context(), memory.state, asked))
    with Reads(scene.repo) as reads:
        found = forgotten_in(reads, reads.resolve("main") or "")
    assert (len(found.items), found.texts) == (1, ())
    scene.model.learns["full disk"]["fact"]["statement"] = "The drive /data has no space."
    assert "dropped.forgotten_before: 1" in extracted(scene)
    assert scene.kept("facts/") == {}


def test_what_a_later_segment_says_word_for_word_is_not_written_other_words_are(scene: Person):
    forgets(scene)
    learns = scene.model.learns
    learns["still so"] = {"fact": fact("/dev/sdb1", KNOWN)}
    learns["now worse"] = {"fact": fact("/dev/sdb1", "The drive /data is 95% full.")}
    scene.works("Is it still so?", "The drive /data is 91% full, yes.")
    assert "dropped.forgotten_before: 1" in extracted(scene, Wish(force=True))
    assert scene.kept("facts/") == {}
    scene.works("Is it now worse?", "The drive /data is 95% full.")
    assert "forgotten_before" not in extracted(scene, Wish(force=True))
    assert len(scene.kept("facts/")) == 1


def test_a_commit_of_it_holds_ids_alone(scene: Person):
    forgets(scene)
    told = scene.git("show", "-s", "--format=%B", "HEAD")
    assert "Memory-Forgot: fact " in told
    assert "jsonl:talk.talk-0:0" in told
    assert not {"sdb1", "91%", "drive", "/data"} & set(told.replace("-", " ").split())


def test_what_is_restored_is_forgotten_no_longer(scene: Person):
    path = forgets(scene)
    before = scene.git("rev-parse", "HEAD~1").strip()
    restore(scene.context(), f"{path}@{before}")
    with Reads(scene.repo) as reads:
        assert forgotten_in(reads, reads.resolve("main") or "").items == ()
