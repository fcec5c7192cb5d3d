"""Where the chosen engine asks its model, what it may use, and which credentials it gets."""

from __future__ import annotations

from collections.abc import Mapping

from reflector.agent.engine import Route
from reflector.core.errors import SettingsError
from reflector.runtime.settings import Settings

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
# How a person's machine reaches the network, and whom it trusts there.
_NETWORK = ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
_MODEL = "claude-sonnet-4-5"


def route(settings: Settings, environ: Mapping[str, str], model: str = "") -> Route:
    """Return the route of a run. The address is not in it: it may hold a password."""
    base_url = settings.text("engine.base_url")
    return Route(
        model=model or settings.text("engine.model") or _MODEL,
        keyless=bool(base_url) and not any(environ.get(name) for name in _KEYS),
        fallback=settings.texts("models.fallback"),
        temperature=_temperature(settings),
        most_turns=settings.number("run.max_turns"),
        most_tokens=settings.number("run.max_tokens"),
        most_cost_usd=settings.money("run.max_cost_usd"),
    )


def credentials(engine: str, settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return what the child's environment holds for its engine; nothing for one without a model."""
    if engine != "anthropic":
        return {}
    base_url = settings.text("engine.base_url")
    found = {name: environ[name] for name in (*_KEYS, *_NETWORK) if environ.get(name)}
    return found | ({"ANTHROPIC_BASE_URL": base_url} if base_url else {})


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
