"""Documents as lines of a block: nothing secret, nothing hidden, nothing that passes for markup."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reflector.core.redact import find_secrets, redact_record
from reflector.memory.entries import parts_of
from reflector.memory.view import MemoryView, Named

GOLDEN = Path(__file__).parents[2] / "golden" / "redaction.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]
SAMPLES = [case["template"].replace("{}", "".join(case["parts"])) for case in CASES]


def listed(*descriptions: str) -> list[str]:
    others = tuple(Named(f"facts/{n:04d}.md", text) for n, text in enumerate(descriptions))
    _, (external, _) = parts_of(MemoryView("a", "none", others=others))
    return [line for entry in external.entries for line in entry.head]


@given(st.lists(st.sampled_from(SAMPLES) | st.text(max_size=20), max_size=40))
def test_a_secret_is_found_among_many_texts_as_well_as_alone(texts):
    assert sum(map(bool, map(find_secrets, SAMPLES))) > len(SAMPLES) // 3
    if any(map(find_secrets, texts)):
        assert find_secrets("\n".join(texts))


def test_a_secret_in_one_of_many_descriptions_does_not_go_out():
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    lines = listed(*["plain"] * 50, f"the token {secret}", *["plain"] * 50)
    assert len(lines) == 101
    assert secret not in "\n".join(lines)
    assert lines[50] == f"- 0050.md: {redact_record((f'the token {secret}',))[0][0]}"
