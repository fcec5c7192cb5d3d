"""A finding of the validator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the validator has to say. `line` is 1-based, 0 when it is about the whole file."""

    code: str
    severity: Severity
    path: str
    line: int
    message: str

    def as_json(self) -> dict[str, str | int]:
        """Return the public form."""
        return {
            "code": self.code,
            "severity": self.severity,
            "path": self.path,
            "line": self.line,
            "message": self.message,
        }
