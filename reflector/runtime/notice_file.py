"""What a session begins with, as a file of each identity that hooks print. Derived."""

from __future__ import annotations

import contextlib
import json

from reflector.core.errors import ReflectorError
from reflector.harness.limits import NOTICE_CHARS, wide
from reflector.runtime import notices
from reflector.runtime.wiring import Context
from reflector.store.disk import write_atomic

_FORMAT = "reflector-notice 1"
_BEGIN = "Reflector: "
_MORE = "More: `reflector status`."


def refresh(context: Context) -> None:
    """Rewrite the file after a change of what it says; remove it when there is nothing to say.

    The form is what `surface/hook.py` reads: two lines, of which the second is the stamp that the
    hook spools when it has shown the text, an empty line, the text. Trouble leaves it as it is.
    """
    file = context.agent.path / "notice"
    with contextlib.suppress(OSError, ReflectorError):
        with context.state() as state:
            sentences, stamp = notices.at_start(context, state)
        content = f"{_FORMAT}\n{stamp}\n\n{shortened(sentences)}".encode("utf-8", "replace")
        if not sentences:
            file.unlink(missing_ok=True)
        elif not file.exists() or file.read_bytes() != content:
            write_atomic(file, content)


def shortened(sentences: tuple[str, ...]) -> str:
    """Join as many whole sentences as a printed line has room for."""
    for count in range(len(sentences), 0, -1):
        more = [_MORE] if count < len(sentences) else []
        text = _BEGIN + " ".join([*sentences[:count], *more])
        if wide(json.dumps(text, ensure_ascii=False)) <= NOTICE_CHARS:
            return text
    return _BEGIN + _MORE
