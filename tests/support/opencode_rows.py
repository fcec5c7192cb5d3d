"""Builds exports of OpenCode."""

from __future__ import annotations

MOMENT = 1_796_033_823_076
SESSION = "ses_dd40abe9bffecOUTxDgC3ar65P"


def export(*messages, **info):
    session = {"id": SESSION, "projectID": "p", "directory": "/home/dev/project", "title": "A talk"}
    return {"info": session | info, "messages": list(messages)}


def message(native, role, *parts, **info):
    own = {"id": native, "sessionID": SESSION, "role": role, "time": {"created": MOMENT}}
    listed = [{"id": f"prt_{native}_{n:016}", "messageID": native} | p for n, p in enumerate(parts)]
    return {"info": own | info, "parts": listed}


def text(said, **more):
    return {"type": "text", "text": said} | more


def user_said(native, said, **info):
    return message(native, "user", text(said), **info)


def answer(native, said, *parts, completed=True, **info):
    time = {"created": MOMENT} | ({"completed": MOMENT + 5} if completed else {})
    return message(native, "assistant", text(said), *parts, time=time, **info)


def tool(call, output="", status="completed", name="bash", **state):
    given = {"status": status, "input": {"command": call}, "time": {"start": MOMENT}}
    told = {"output": output} if status == "completed" else {}
    return {"type": "tool", "tool": name, "callID": call, "state": given | told | state}
