"""A conversation that lies in no file is journaled like one that does."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from reflector.core.errors import PausedError, TranscriptError
from reflector.runtime import pauses
from reflector.runtime.ingest import Ingested, ingest_stream
from reflector.runtime.loop import Quiet
from reflector.store import sources
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM
from tests.support.transcripts import conversation

NAME = "opencode:ses_1"
TOKEN = "ghp" + "_" + ALNUM[:36]


@pytest.fixture
def scene(tmp_path):
    return Scene(tmp_path)


def heard(scene: Scene, raw: bytes, name: str = NAME) -> Ingested:
    stream = io.BytesIO(raw)
    done = ingest_stream(scene.context(), stream, name=name, stem="ses_1", watch=Quiet())
    assert not stream.closed
    return done


def rows(folder: Path, *texts: str) -> bytes:
    return conversation(folder / "rows.jsonl", *texts).read_bytes()


def texts(scene: Scene) -> list[str]:
    with scene.context().state() as state:
        found = state.connection.execute("SELECT text FROM entries ORDER BY conversation, sequence")
        return [row["text"] for row in found]


def test_a_stream_is_journaled_under_its_name(scene, tmp_path):
    done = heard(scene, rows(tmp_path, "Hello.", "Hi."))
    assert (done.path, done.entries, done.conversation) == (NAME, 2, "jsonl/talk")
    assert texts(scene) == ["Hello.", "Hi."]
    with scene.context().state() as state:
        assert sources.read_at(state.connection, NAME)


def test_a_stream_that_grew_is_read_from_where_it_ended(scene, tmp_path):
    first = rows(tmp_path, "Hello.", "Hi.")
    heard(scene, first)
    # Were it read from its start again, the broken line would count a second time.
    grown = rows(tmp_path, "Hello.", "Hi.", "And now?")
    assert heard(scene, grown + b"{broken\n").bad_lines == 1
    again = heard(scene, grown + b"{broken\n")
    assert (again.entries, again.bad_lines) == (0, 1)
    assert texts(scene) == ["Hello.", "Hi.", "And now?"]


def test_a_stream_that_begins_differently_is_read_from_its_start(scene, tmp_path):
    heard(scene, rows(tmp_path, "Hello.", "Hi."))
    row = {"role": "user", "content": "Other.", "id": "x", "session_id": "talk"}
    other = json.dumps(row).encode() + b"\n" + rows(tmp_path, "Hello.", "Hi.")
    assert heard(scene, other).entries == 1
    assert texts(scene) == ["Hello.", "Hi.", "Other."]


def test_secrets_stay_out_of_the_journal_and_of_the_name(scene, tmp_path):
    done = heard(scene, rows(tmp_path, f"Use {TOKEN}", "Fine."), name=f"api:{TOKEN}")
    assert TOKEN not in done.path
    assert not any(TOKEN in text for text in texts(scene))


def test_nothing_of_a_stream_is_read_while_paused(scene, tmp_path):
    found = scene.context()
    pauses.pause(found.home, found.ambient, None)
    with pytest.raises(PausedError, match=f"so {NAME} was not read"):
        heard(scene, rows(tmp_path, "Hello.", "Hi."))
    assert texts(scene) == []


def test_a_stream_in_no_known_form_is_refused_and_marked(scene, tmp_path):
    heard(scene, rows(tmp_path, "Hello."))
    with pytest.raises(TranscriptError, match="ses_1 is no transcript"):
        heard(scene, b'{"a": 1}\n')
    with scene.context().state() as state:
        assert [path for path, _ in sources.degraded(state.connection)] == [NAME]
