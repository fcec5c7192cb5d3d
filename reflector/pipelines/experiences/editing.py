"""Which rows change a file, as the harnesses that we read call their tools."""

from __future__ import annotations

import re

from reflector.pipelines.experiences.rows import Row, is_call

_EDITS = frozenset(
    {
        *("edit", "multiedit", "write", "notebookedit", "applypatch", "strreplace", "insert"),
        *("strreplaceeditor", "strreplacebasededittool", "editfile", "writefile", "createfile"),
        *("replace", "replaceinfile", "writetofile", "searchreplace", "patch", "fileeditor"),
        *("create", "filechange", "insertcontent", "editnotebook"),
    }
)
_VIEWS = re.compile(r'"command"\s*:\s*"(?:view|undo_edit)"')
_PATCH = re.compile(
    r"\bapply_patch\b|\*\*\* Begin Patch|\bgit apply\b|\bsed\s+(?:-\w+\s+)*-i|"
    r"(?<![->0-9&])>{1,2}\s*(?!/dev/null)['\"]?[\w./~$-]*\.\w"
)
_SHELLS = frozenset({"bash", "shell", "execcommand", "localshell", "runshellcommand", "terminal"})


def edits(one: Row) -> bool:
    """Tell whether a row is a call that changes a file."""
    if not is_call(one):
        return False
    tool = "".join(sign for sign in one.tool.rpartition("__")[2].casefold() if sign.isalnum())
    if tool in _SHELLS:
        return _PATCH.search(one.arguments) is not None
    return tool in _EDITS and not _VIEWS.search(one.arguments)
