"""Reflector: a git-backed memory for coding agents that improves by itself."""

from __future__ import annotations

__all__ = ["Memory", "ReflectorError", "__version__"]

__version__ = "0.1.0"

_EXPORTS = {"Memory": "reflector.surface.api.memory", "ReflectorError": "reflector.core.errors"}


def __getattr__(name: str) -> object:
    """Import what embedders use when it is asked for: a hook must not pay for it."""
    if name not in _EXPORTS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module(_EXPORTS[name]), name)
