"""An agent of your own that learns: a loop of the openai package, and what Reflector adds to it.

    OPENAI_API_KEY=… python examples/openai_loop.py --model gpt-5

Works with every server that speaks chat completions (OPENAI_BASE_URL). Type a line and press
return; an empty line ends the conversation, and what was said is reflected on. Start it again, and
the first request already holds what was learned.
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from pathlib import Path
from typing import Any

import openai

from reflector import Memory

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "count_lines",
            "description": "Count the lines of a text file.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            },
        },
    }
]


def run_tool(arguments: str) -> str:
    """Do what the model asked for."""
    try:
        return str(len(Path(json.loads(arguments)["path"]).read_text().splitlines()))
    except (OSError, KeyError, ValueError) as error:
        return f"That did not work: {error}"


class Agent:
    """One conversation. What Reflector adds is marked."""

    def __init__(self, client: openai.OpenAI, memory: Memory, model: str) -> None:
        """Begin a conversation with what is remembered."""
        self.client = client
        self.memory = memory
        self.model = model
        self.conversation = f"session-{uuid.uuid4()}"
        # Reflector: once per conversation, so that the provider's cache keeps the prefix.
        system = "You are a helpful assistant.\n\n" + memory.prompt()
        self.messages: list[Any] = [{"role": "system", "content": system}]

    def turn(self, text: str) -> str:
        """Let the person say something; return the answer when all tools have run."""
        self.messages.append({"role": "user", "content": text})
        while True:
            reply = self.client.chat.completions.create(
                model=self.model, messages=self.messages, tools=TOOLS
            )
            message = reply.choices[0].message
            self.messages.append(message)
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                result = run_tool(call.function.arguments) if call.type == "function" else "?"
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        self.memory.append(self.conversation, self.messages)  # Reflector: adds only what is new
        self.memory.settled(self.conversation)  # Reflector: starts a run when one is due
        return message.content or ""


def main(words: list[str]) -> int:
    """Talk with the person on standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="gpt-5")
    parser.add_argument("--home", help="the Reflector home")
    args = parser.parse_args(words)
    with Memory.open(args.home, cwd=Path.cwd(), create=True) as memory:
        with openai.OpenAI() as client:
            agent = Agent(client, memory, args.model)
            for line in sys.stdin:
                if not line.strip():
                    break
                print(agent.turn(line.strip()), flush=True)
        for path, learned in memory.reflect().learned.items():
            print(path, *learned, sep="\n  ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
