"""The agent CLIs that are known: how each is called without a person, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from reflector.agent.engine import Route

SCRATCH: Final = ".tmp"
TRANSCRIPT: Final = ".tmp/transcript.md"
MESSAGE: Final = ".tmp/commit.md"
PROMPT: Final = ".tmp/prompt.md"
"""What lies in the worktree beside the memory while a CLI works in it."""

Format = Literal["plain", "claude", "codex", "opencode"]
"""In which form a CLI says what it did."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a CLI keeps its configuration: `below` a variable's folder, `usual` below the home."""

    variable: str
    usual: str
    below: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """One agent CLI. The prompt goes to its stdin.

    `words` may hold `{turns}`, `{cost}` and `{prompt}`; `model` is added when one is chosen.
    `passed` are the variables of a person that it may see, `address` the one that names a server;
    `nests` says that it makes a sandbox of its own around what its model runs.
    """

    words: Sequence[str]
    model: Sequence[str] = ()
    format: Format = "plain"
    environment: Mapping[str, str] = field(default_factory=dict)
    places: Sequence[Place] = ()
    passed: Sequence[str] = ()
    address: str = ""
    nests: bool = False


_CLAUDE = Preset(
    # No shell: a document is deleted by emptying it. What is not named here is denied.
    (
        *("claude", "-p", "--output-format", "stream-json", "--verbose"),
        *("--permission-mode", "dontAsk", "--tools", "Read,Edit,Write,Glob,Grep"),
        *("--allowedTools", "Read(./**),Edit(./**),Glob(./**),Grep(./**)"),
        # Neither hooks nor settings nor CLAUDE.md nor servers nor skills of a person or a project.
        *("--setting-sources", "", "--settings", '{"disableAllHooks":true}'),
        *("--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"),
        *("--max-turns", "{turns}", "--max-budget-usd", "{cost}"),
    ),
    ("--model", "{model}"),
    "claude",
    {
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    },
    (Place("CLAUDE_CONFIG_DIR", ".claude"),),
    ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "ANTHROPIC_BASE_URL",
)
_CODEX = Preset(
    # Its own sandbox stays on inside ours: it keeps the network from the commands of the model.
    # Only without a person's configuration are their servers and hooks surely off (tried).
    (
        *("codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--color", "never"),
        *("--sandbox", "workspace-write", "--ignore-user-config", "--ignore-rules"),
        *("--disable", "hooks", "--disable", "memories", "-c", "project_doc_max_bytes=0"),
        *("-c", "check_for_update_on_startup=false", "-"),
    ),
    ("--model", "{model}"),
    "codex",
    {},
    (Place("CODEX_HOME", ".codex"),),
    ("OPENAI_API_KEY", "CODEX_API_KEY"),
    nests=True,
)
_OPENCODE = Preset(
    ("opencode", "run", "--format", "json", "--pure"),
    ("--model", "{model}"),
    "opencode",
    {
        "OPENCODE_CONFIG_CONTENT": '{"autoupdate":false,"share":"disabled","permission":'
        '{"edit":"allow","bash":"deny","webfetch":"deny","external_directory":"deny"}}',
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
    },
    (
        Place("XDG_CONFIG_HOME", ".config", "opencode"),
        Place("XDG_DATA_HOME", ".local/share", "opencode"),
    ),
    ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
)

PRESETS: Final[Mapping[str, Preset]] = {
    "claude": _CLAUDE,
    "codex": _CODEX,
    "opencode": _OPENCODE,
}
"""By the name that `engine.command` holds."""


def preset_of(route: Route) -> Preset:
    """Return the preset of a route; a person's own command line is a plain one."""
    return PRESETS[route.preset] if route.preset else Preset(route.command)


def command_line(route: Route, prompt: str) -> list[str]:
    """Return the words that start the CLI. `prompt` is the file that `{prompt}` stands for."""
    preset = preset_of(route)
    values = {
        "{turns}": str(route.most_turns),
        "{cost}": f"{route.most_cost_usd:g}",
        "{model}": route.model,
        "{prompt}": prompt,
    }
    words = list(preset.words)
    if route.model:
        # Behind the program and its subcommand: a last word may have a meaning of its own.
        at = words.index("-") if "-" in words else len(words)
        words[at:at] = preset.model
    return [_filled(word, values) for word in words]


def _filled(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word
