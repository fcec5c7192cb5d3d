"""Where the chosen engine asks its model, what it may use, and which credentials it gets."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from reflector.agent.engine import Route
from reflector.agent.presets import PRESETS, TRANSCRIPT, Preset, preset_of
from reflector.core.errors import SettingsError
from reflector.runtime.settings import Settings

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
# How a person's machine reaches the network, and whom it trusts there.
_NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_MODEL = "claude-sonnet-5-5"
_ADDRESS = re.compile(
    r"https?://([^\s/?#\x00-\x1f\x7f]*@)?[^\s/?#@\x00-\x1f\x7f]+([/?][^\s#\x00-\x1f\x7f]*)?",
    re.IGNORECASE,
)


def route(
    settings: Settings, environ: Mapping[str, str], model: str = "", engine: str = "anthropic"
) -> Route:
    """Return the route of a run. The address is not in it: it may hold a password."""
    if engine == "command":
        return _command(settings, environ, model)
    base_url = _address(settings)
    return Route(
        model=model or settings.text("engine.model") or _MODEL,
        keyless=bool(base_url) and not any(environ.get(name) for name in _KEYS),
        fallback=settings.texts("models.fallback"),
        temperature=_temperature(settings),
        most_turns=settings.number("run.max_turns"),
        most_tokens=settings.number("run.max_tokens"),
        most_cost_usd=settings.money("run.max_cost_usd"),
    )


def _command(settings: Settings, environ: Mapping[str, str], model: str = "") -> Route:
    """Return the route of an agent CLI: a preset, or a command line of the person's."""
    name = settings.text("engine.command").strip()
    try:
        words = shlex.split(name)
    except ValueError:
        words = []
    if not words:
        raise SettingsError(
            "engine.command names no agent CLI."
            if not name
            else f"engine.command is no command line: {name[:100]!r}.",
            hint=f"Set it to {', '.join(PRESETS)}, or a command line that reads its prompt on stdin: "
            "`command` under `[engine]` in config.toml, see docs/engines/agent-cli.md.",
            key="engine.command",
        )
    return Route(
        model=model or settings.text("engine.model"),
        most_turns=settings.number("run.max_turns"),
        most_tokens=settings.number("run.max_tokens"),
        most_cost_usd=settings.money("run.max_cost_usd"),
        preset=name if name in PRESETS else "",
        command=() if name in PRESETS else [_at_home(word, environ) for word in words],
    )


def _at_home(word: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    return home + word[1:] if home and word.startswith("~/") else word


def credentials(
    engine: str, settings: Settings, environ: Mapping[str, str], worktree: Path
) -> dict[str, str]:
    """Return what the child's environment holds for its engine; nothing for one without a model."""
    if engine == "command":
        return _of_command(preset_of(_command(settings, environ)), settings, environ, worktree)
    if engine != "anthropic":
        return {}
    base_url = settings.text("engine.base_url")
    found = {name: environ[name] for name in (*_KEYS, *_NETWORK) if environ.get(name)}
    return found | ({"ANTHROPIC_BASE_URL": base_url} if base_url else {})


def _of_command(
    preset: Preset, settings: Settings, environ: Mapping[str, str], worktree: Path
) -> dict[str, str]:
    """Return what an agent CLI needs of the person: programs, account, its own configuration."""
    passed = ("PATH", *_NETWORK, *preset.passed)
    found = {name: environ[name] for name in passed if environ.get(name)}
    base_url = settings.text("engine.base_url")
    if base_url and preset.address:
        found[preset.address] = base_url
    for place in preset.places:
        folder = environ.get(place.variable) or os.path.join(environ.get("HOME", ""), place.usual)  # noqa: PTH118 - a word
        if os.path.isabs(folder) and os.path.isdir(os.path.join(folder, place.below)):  # noqa: PTH112, PTH117, PTH118 - words
            found[place.variable] = folder
    own = {"TRANSCRIPT_PATH": str(worktree / TRANSCRIPT), "GIT_OPTIONAL_LOCKS": "0"}
    return found | dict(preset.environment) | own


def _address(settings: Settings) -> str:
    """Return the server's address, "" for the provider's own.

    Refused here and not by the client: a wrong word would count as a server that is down, to be
    asked again and again. It is not quoted, because it may hold a password.
    """
    text = settings.text("engine.base_url")
    if text and not _ADDRESS.fullmatch(text):
        raise SettingsError(
            "engine.base_url is no address of a server.",
            hint="Write it like http://127.0.0.1:8080, or remove it to ask the provider itself.",
            key="engine.base_url",
        )
    return text


def _temperature(settings: Settings) -> float | None:
    text = settings.text("models.temperature")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise SettingsError(
            f"models.temperature must be a number from 0 to 2, not {text!r}.",
            hint="Remove it to send none.",
            key="models.temperature",
        )
    return value
