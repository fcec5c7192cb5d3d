"""Guards around every test: no home, no settings and no network of the person who runs them."""

from __future__ import annotations

import gc
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

# A run under `nohup` would hand an ignored hang-up on to every command that a test starts.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

_DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"

# Examples are the same in every run on every machine, however slow: only a deep run tries its luck.
settings.register_profile(
    "steady",
    database=None,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("deep", settings.get_profile("steady"), derandomize=False)
settings.load_profile("deep" if _DEEP else "steady")
if not _DEEP:  # else they depend on which modules the tests before have imported
    providers._get_local_constants = Constants
MEMORY = Path("/dev/shm")
ROOM = 4 << 30
LONGEST = (
    "tests/longrun/",
    *(f"tests/race/test_{name}.py" for name in ("person_edits", "scheduler")),
    "tests/quality/injection/test_injection.py::test_at_least_ten",
    "tests/e2e/test_bad_input.py::test_a_line_of_50_mb",
    "tests/unit/test_bench_smoke.py",
)
_LOOPBACK = ("127.", "::1", "localhost")
_TESTED = ("REFLECTOR_", "GIT_", "ANTHROPIC_", "CLAUDE", "CODEX_", "XDG_")
_MACHINE = {
    *("LANGUAGE", "COLUMNS", "LINES", "EDITOR", "VISUAL", "PAGER", "NO_COLOR", "FORCE_COLOR"),
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
}


def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary folders in memory where it has room: every home is flushed to disk often."""
    if config.option.basetemp is None and _roomy(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, after any shuffle: at the end one worker would be alone with them."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def _roomy(folder: Path) -> bool:
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC


@pytest.fixture(scope="session", autouse=True)
def anywhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Be the same machine everywhere, also for what the tests of a module share."""
    mask = os.umask(0o022)
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith((*_TESTED, "LC_")) or name in _MACHINE:
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("nobody")))
        patch.setenv("LANG", "C.UTF-8")
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
    os.umask(mask)


@pytest.fixture(autouse=True)
def guarded(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a HOME of its own and take away what could reach outside."""
    home = tmp_path_factory.mktemp("person")
    for name in list(os.environ):
        if name.startswith(_TESTED):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "A Person")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "person@example.com")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "A Person")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "person@example.com")
    monkeypatch.setattr(socket.socket, "connect", _loopback_only(socket.socket.connect))
    return home


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """In a deep run blame who left something open, not whoever runs when it is found."""
    yield
    if _DEEP:
        gc.collect()


def _loopback_only(connect):
    def guarded_connect(self, address):
        host = address[0] if isinstance(address, tuple) else ""
        if host and not str(host).startswith(_LOOPBACK):
            raise AssertionError(f"a test tried to reach {host}")
        return connect(self, address)

    return guarded_connect
