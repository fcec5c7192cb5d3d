"""Pushing to a person's own remote: bounded in time, without prompts, never by force.

What a push needs of the person's environment, and no other git process gets: HOME (ssh keys and
hosts, `~/.netrc`), the ssh agent, proxies, certificates. Their git settings, credential helpers and
hooks stay out. A password in the URL reaches git in its environment, not in its words, which every
user of a machine can read.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from reflector.core.cleaning import clean
from reflector.core.errors import GitError
from reflector.vcs.port import ref_name
from reflector.vcs.scrub import Scrubbed

_PASSED = (
    "HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
    *(name for low in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (low, low.upper())),
)  # fmt: skip
_SSH = "ssh -o BatchMode=yes -o ConnectTimeout=10"
_SETTINGS = {
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.http.allow": "always",
    "protocol.https.allow": "always",
    # Else a redirect would be shown what the URL holds.
    "http.followRedirects": "false",
    "credential.helper": "",
    "push.gpgSign": "false",
    "push.recurseSubmodules": "no",
    "push.followTags": "false",
}
_GRACE_SECONDS = 2.0
_HELPER = re.compile(r"[\w.+-]+::")
"""How git is told to run a program of that name."""


class Failure(StrEnum):
    """Why a push did not happen."""

    DIVERGED = "diverged"
    REJECTED = "rejected"
    AUTH = "auth"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Refused:
    """A push that did not happen; `detail` is what git or the remote said, without secrets."""

    why: Failure
    detail: str


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to push: a URL without password, and the header that stands for it."""

    url: str
    header: str = ""


def remote(typed: str) -> Remote:
    """Take a URL or path apart. Raises GitError for one that git must not be given."""
    if not typed.isprintable() or not typed or typed.startswith("-") or _HELPER.match(typed):
        raise GitError(
            f"{shown(typed)!r} is no place to push to.",
            hint="Set push.remote to an ssh or https URL, or to the full path of a repository.",
        )
    parts = urlsplit(typed)
    if parts.scheme not in ("http", "https") or "@" not in parts.netloc:
        return Remote(typed)
    login, _, host = parts.netloc.rpartition("@")
    user, _, word = login.partition(":")
    pair = f"{unquote(user)}:{unquote(word)}".encode()
    header = f"Authorization: Basic {base64.b64encode(pair).decode('ascii')}"
    return Remote(urlunsplit(parts._replace(netloc=host)), header)


def shown(typed: str) -> str:
    """Return a remote as people may see it: without user and password, whatever they are."""
    return clean(re.sub(r"(?<=://)[^/\s]*@(?=[^@/\s]*(?:/|$))", "", typed))


def push(
    scrubbed: Scrubbed, repo: Path, to: Remote, commit: str, branch: str, seconds: float
) -> Refused | None:
    """Bring a branch of the remote forward to a commit; None when it is there now.

    Raises GitError when git cannot be started.
    """
    ref = ref_name(f"refs/heads/{branch}")
    words = ["push", "--porcelain", "--no-verify", "--no-signed", "mirror", f"{commit}:{ref}"]
    done = _run(scrubbed, repo, to, words, seconds)
    if done is None:
        return Refused(Failure.TIMED_OUT, f"no answer within {seconds:.0f} s")
    code, out, err = done
    if code == 0:
        return None
    return Refused(_why(out, err), _said(out, err))


def _run(
    scrubbed: Scrubbed, repo: Path, to: Remote, words: Sequence[str], seconds: float
) -> tuple[int, str, str] | None:
    git_dir = repo / ".git"
    command = ["git", f"--git-dir={git_dir}", *scrubbed.options(str(repo)), *words]
    try:
        process = subprocess.Popen(  # noqa: S603 - git with a scrubbed environment
            command,
            env=_environment(scrubbed, to),
            cwd=repo,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise GitError(
            "git could not be started.", hint="Install git 2.32 or newer.", detail=str(error)
        ) from error
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return None
    return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and all it has started: ssh holds its output open, and would keep us waiting."""
    _tell(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_GRACE_SECONDS)
    _tell(process, signal.SIGKILL)
    process.communicate()


def _tell(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)  # it leads a session of its own


def _environment(scrubbed: Scrubbed, to: Remote) -> dict[str, str]:
    passed = {name: scrubbed.environ[name] for name in _PASSED if scrubbed.environ.get(name)}
    settings = _SETTINGS | {"remote.mirror.url": to.url}
    if to.header:
        settings["http.extraHeader"] = to.header
    return scrubbed.variables({**passed, "GIT_SSH_COMMAND": _SSH, **_configured(settings)})


def _configured(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as git reads them from its environment."""
    found = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return found


_SIGNS: tuple[tuple[Failure, re.Pattern[str]], ...] = (
    (Failure.REJECTED, re.compile(r"\[remote rejected\]|pre-receive hook declined")),
    (Failure.DIVERGED, re.compile(r"\[rejected\]|non-fast-forward|fetch first")),
    (
        Failure.AUTH,
        re.compile(
            r"Authentication failed|could not read (?:Username|Password)|Permission denied"
            r"|Host key verification failed|returned error: 40[13]|terminal prompts disabled"
        ),
    ),
    (
        Failure.UNREACHABLE,
        re.compile(
            r"Could not resolve|unable to access|does not appear to be a git repository"
            r"|[Cc]onnection (?:refused|timed out|reset|closed)|No route to host|not found"
            r"|Could not read from remote repository|Network is unreachable|unable to connect"
        ),
    ),
)


def _why(out: str, err: str) -> Failure:
    text = f"{out}\n{err}"
    return next((why for why, sign in _SIGNS if sign.search(text)), Failure.FAILED)


def _said(out: str, err: str) -> str:
    """Return the lines that tell why, on one line, without secrets."""
    lines = [line for line in out.splitlines() if line.startswith("!")]
    lines += [line for line in err.splitlines() if line.strip() and not line.startswith("hint:")]
    return shown(" ".join(" ".join(lines).split()))[:400]
