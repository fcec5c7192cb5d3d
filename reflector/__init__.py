"""Reflector: a git-backed memory for coding agents that improves by itself."""

from __future__ import annotations

__version__ = "0.1.0"
