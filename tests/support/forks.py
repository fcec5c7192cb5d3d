"""Work in a copy of the test's own process, which never comes back into the test."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """Let another process do it at the same time; it has to end well."""
    pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - whatever it is, the test must not go on twice
            traceback.print_exc()
        finally:
            os._exit(1)
    try:
        yield
    finally:
        status = os.waitpid(pid, 0)[1]
    assert status == 0
