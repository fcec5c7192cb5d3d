"""What every git process may see: an environment built from nothing and options that win."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reflector.vcs.port import Identity

TIMEOUT_SECONDS = 30.0
OLDEST = (2, 32)

_KEPT = ("PATH", "TMPDIR")
_PATH = "/usr/local/bin:/usr/bin:/bin"

_VARIABLES = {
    "LC_ALL": "C",
    "LANGUAGE": "C",
    # Not the person's: `~/.config/git/ignore` and `~/…` in a configuration are read from here,
    # whatever GIT_CONFIG_GLOBAL says. Not unset: git dies on `~/…` without a HOME.
    "HOME": "/dev/null",
    "XDG_CONFIG_HOME": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1",
}

_OPTIONS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "keep",
    "core.fsync": "loose-object,reference",
    "core.autocrlf": "false",
    "core.editor": "true",
    "core.pager": "cat",
    "core.excludesFile": "/dev/null",
    "core.attributesFile": "/dev/null",
    "core.alternateRefsCommand": "true",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "commit.template": "/dev/null",
    "merge.ff": "false",
    "merge.autoStash": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "status.showUntrackedFiles": "all",
    "advice.detachedHead": "false",
    "checkout.workers": "2",
    "worktree.guessRemote": "false",
}


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """How git is started. `environ` is the program's own environment, read once in the wiring.

    `overrides` are settings that win over those of one repository.
    """

    environ: Mapping[str, str]
    identity: Identity = field(default_factory=Identity)
    overrides: Mapping[str, str] = field(default_factory=dict)

    def variables(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the whole environment of a git process; nothing else of `environ` gets in."""
        kept = {name: self.environ[name] for name in _KEPT if self.environ.get(name)}
        who = {
            "GIT_AUTHOR_NAME": self.identity.name,
            "GIT_AUTHOR_EMAIL": self.identity.email,
            "GIT_COMMITTER_NAME": self.identity.name,
            "GIT_COMMITTER_EMAIL": self.identity.email,
        }
        return {"PATH": _PATH} | kept | _VARIABLES | who | dict(extra or {})

    def options(self, folder: str) -> list[str]:
        """Return git's options before the command. They win over every configuration file."""
        pairs = _OPTIONS | dict(self.overrides) | {"safe.directory": folder}
        flags = [word for name, value in pairs.items() for word in ("-c", f"{name}={value}")]
        return ["--no-pager", "--literal-pathspecs", *flags]
