"""Why a change of the memory was made: the subject of its commit, one redacted line."""

from __future__ import annotations

import re

from reflector.core.errors import UsageError
from reflector.core.redact import redact
from reflector.store.disk import is_line

MAX_REASON = 500
# A subject must not read like a receipt: recovery looks for those.
_RECEIPT = re.compile(r"Reflector-[A-Za-z]+:", re.IGNORECASE)


def subject(reason: str) -> str:
    """Return a reason as it goes into a commit. Raises UsageError when it is none."""
    text = redact(reason.strip()).text
    if not text or not is_line(text) or len(text) > MAX_REASON or _RECEIPT.match(text):
        raise UsageError(
            "A change needs a reason in one line of plain text.",
            hint=f"It becomes the subject of the commit; at most {MAX_REASON} characters.",
        )
    return text


def trailer(name: str, value: str) -> str:
    """Return one trailer line. Raises UsageError when the value is no line."""
    if not is_line(value):
        raise UsageError(f"The value of {name} is not one line of plain text.")
    return f"{name}: {redact(value).text}"
