"""A memory that learned something which is to be forgotten, and processes that die forgetting it."""

from __future__ import annotations

import copy
import os
import shutil
from pathlib import Path

from reflector.runtime.forgetting.forget import Forgotten, all_locks, forget, started, steps
from reflector.runtime.forgetting.target import Asked, target_of
from reflector.runtime.loop import Quiet
from reflector.runtime.reflect import Options, reflect
from tests.support.scenes import Scene

SECRET = "Falcon"
SAID = f"Remember that the {SECRET} project ships in May."
KEPT = "Always run the tests with make test."

_learned: list[Scene] = []


def learned(folder: Path, elsewhere: Path) -> Scene:
    """A memory with two runs: one learned what is to be forgotten, one something else.

    It is made once, below `elsewhere`, with the child that the first test has put in its place.
    """
    if not _learned:
        _learned.append(_taught(Scene(elsewhere)))
    (known,) = _learned
    made = Scene(folder)
    shutil.rmtree(made.home)
    shutil.copytree(known.home, made.home, symlinks=True)
    for file in known.folder.glob("*.jsonl"):
        shutil.copy2(file, made.folder)
    made.talks = copy.deepcopy(known.talks)
    made.clock.passed = known.clock.passed
    made.chance.drawn = known.chance.drawn
    return made


def _taught(scene: Scene) -> Scene:
    scene.says(SAID, f"I note that {SECRET} ships then.", "Thanks.", "Done.")
    run(scene)
    scene.says(KEPT, "I will.", session="other")
    run(scene)
    return scene


def run(scene: Scene, wanted: str = "merged") -> None:
    """Reflect once."""
    runs = reflect(scene.context(), Options(), Quiet()).runs
    assert [each.outcome for each in runs] == [wanted]


def forgotten(scene: Scene, words: str = SECRET, *, history: bool = True) -> Forgotten:
    """Do what the command does after the person's yes."""
    asked = Asked(words, history=history)
    kind = started(scene.context(), asked)
    with all_locks(scene.context()) as memory:
        return forget(memory, asked, target_of(memory.context, memory.state, asked, kind))


def killed_at(scene: Scene, asked: Asked, last: str) -> None:
    """Let a process forget until a step, and die there and then."""
    child = os.fork()
    if child == 0:
        try:
            with all_locks(scene.context()) as memory:
                for step in steps(memory, asked, target_of(memory.context, memory.state, asked)):
                    if step == last:
                        os.kill(os.getpid(), 9)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 9, f"no step {last}"
