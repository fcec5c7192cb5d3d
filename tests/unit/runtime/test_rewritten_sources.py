"""What a harness writes anew, takes back or keeps as one document, told to the journal."""

from __future__ import annotations

import json

import pytest

from reflector.core.errors import TranscriptError
from reflector.runtime.ingest import ingest
from reflector.runtime.loop import Quiet
from tests.support.gemini_rows import SESSION, answered, call, header, rewound, typed
from tests.support.harness_rows import lines
from tests.support.opencode_rows import answer, export, user_said
from tests.support.scenes import Scene


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def heard(scene, path, data, *, settled=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return ingest(scene.context(), path, Quiet(), settled=settled)


def shown(scene):
    with scene.context().state() as state:
        found = state.connection.execute(
            "SELECT text, result FROM entries WHERE hidden = 0 ORDER BY conversation, sequence"
        )
        return [row["text"] or row["result"] for row in found]


def steps(scene):
    with scene.context().state() as state:
        return state.connection.execute("SELECT total_steps FROM conversations").fetchone()[0]


def test_a_session_that_is_rewritten_as_it_grows_is_journaled_once(scene, tmp_path):
    path = tmp_path / "session.jsonl"
    data = lines(header(), typed("u1", "look"), answered("g1", "I look"))
    assert heard(scene, path, data).entries == 1
    data += lines(answered("g1", "I look", call("c1", "out")), answered("g2", "done"))
    assert heard(scene, path, data).entries == 2
    assert heard(scene, path, data, settled=True).entries == 1
    assert heard(scene, path, data, settled=True).entries == 0
    assert shown(scene) == ["look", "I look", "out", "done"]
    assert steps(scene) == 2


def test_what_a_person_took_back_is_hidden_and_counts_no_more(scene, tmp_path):
    path = tmp_path / "session.jsonl"
    data = lines(header(), typed("u1", "keep"), answered("g1", "kept"), typed("u2", "back"))
    heard(scene, path, data + lines(answered("g2", "also")), settled=True)
    assert steps(scene) == 2
    data += lines(answered("g2", "also"), rewound("u2"), typed("u3", "after"))
    heard(scene, path, data)
    assert shown(scene) == ["keep", "kept", "after"]
    assert steps(scene) == 1


def test_a_subagent_is_journaled_as_a_child_of_the_session_its_folder_names(scene, tmp_path):
    path = tmp_path / SESSION / "child.jsonl"
    row = header(kind="subagent", sessionId="22222222-3333-4444-8555-666666666666")
    heard(scene, path, lines(row, typed("u1", "count")))
    with scene.context().state() as state:
        (parent,) = state.connection.execute("SELECT parent FROM conversations").fetchone()
    assert parent == f"gemini-cli/{SESSION}"


def test_a_document_that_is_written_anew_adds_only_what_is_new(scene, tmp_path):
    path = tmp_path / "export.json"
    talk = [user_said("msg_1", "go"), answer("msg_2", "gone")]
    assert heard(scene, path, json.dumps(export(*talk)).encode()).entries == 2
    assert heard(scene, path, json.dumps(export(*talk)).encode()).entries == 0
    talk.append(user_said("msg_3", "thanks"))
    with pytest.raises(TranscriptError, match="not complete yet"):
        heard(scene, path, json.dumps(export(*talk), indent=1).encode()[:-20])
    assert heard(scene, path, json.dumps(export(*talk)).encode()).entries == 1
    assert shown(scene) == ["go", "gone", "thanks"]
