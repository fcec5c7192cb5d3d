"""Check the shape of the code: module sentences, module and function lengths."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_MODULE = 400
LONGEST_FUNCTION = 50


def main() -> int:
    """Name every module or function that is out of shape."""
    bad: list[str] = []
    for file in sorted((ROOT / "reflector").rglob("*.py")):
        text = file.read_text("utf-8")
        name = file.relative_to(ROOT)
        lines = text.count("\n")
        tree = ast.parse(text)
        if lines > LONGEST_MODULE:
            bad.append(f"{name}: {lines} lines, at most {LONGEST_MODULE}")
        if lines and not ast.get_docstring(tree):
            bad.append(f"{name}: no sentence that says what it owns")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    bad.append(f"{name}:{node.lineno} {node.name}: {length} lines")
    print("\n".join(bad) or "shape: every module and function keeps its measure")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
