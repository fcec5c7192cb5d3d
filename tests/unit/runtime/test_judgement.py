"""What a run waits for is said once, with every place that it is said of."""

from __future__ import annotations

from reflector.memory.codes import finding
from reflector.runtime.judgement import reasons


def test_one_sentence_names_all_its_places():
    found = [
        finding("undone_before", "reference/facts.md", 8),
        finding("undone_before", "system/human.md", 8),
        finding("script_changed", "skills/x/scripts/go.sh", 1),
        finding("undone_before", "system/human.md", 14),
        finding("file_too_large", "system/human.md", 1, size=2, limit=1),
    ]
    taken_back, script = reasons([each.as_json() for each in found])
    assert taken_back == (
        "reference/facts.md:8, system/human.md:8,14 "
        "A person undid or rejected this line; it is written again."
    )
    assert script == "skills/x/scripts/go.sh:1 A script is new or changed."
