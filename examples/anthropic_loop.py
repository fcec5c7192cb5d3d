"""An agent of your own that learns: a loop of the Anthropic SDK, and what Reflector adds to it.

    ANTHROPIC_API_KEY=… python examples/anthropic_loop.py --model claude-sonnet-5

Type a line and press return; an empty line ends the conversation, and what was said is reflected on.
Start it again, and the first request already holds what was learned.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from pathlib import Path
from typing import Any

import anthropic

from reflector import Memory

TOOLS: list[Any] = [
    {
        "name": "count_lines",
        "description": "Count the lines of a text file.",
        "input_schema": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    }
]


def run_tool(given: Any) -> str:
    """Do what the model asked for."""
    try:
        return str(len(Path(given["path"]).read_text().splitlines()))
    except (OSError, KeyError, UnicodeDecodeError) as error:
        return f"That did not work: {error}"


class Agent:
    """One conversation. What Reflector adds is marked."""

    def __init__(self, client: anthropic.Anthropic, memory: Memory, model: str) -> None:
        """Begin a conversation with what is remembered."""
        self.client = client
        self.memory = memory
        self.model = model
        self.conversation = f"session-{uuid.uuid4()}"
        self.messages: list[Any] = []
        # Reflector: once per conversation, so that the provider's cache keeps the prefix.
        self.system = "You are a helpful assistant.\n\n" + memory.prompt()

    def turn(self, text: str) -> str:
        """Let the person say something; return the answer when all tools have run."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
        while True:
            with self.client.messages.stream(
                model=self.model,
                max_tokens=2000,
                system=self.system,
                tools=TOOLS,
                messages=self.messages,
            ) as stream:
                reply = stream.get_final_message()
            self.messages.append({"role": "assistant", "content": reply.content})
            calls = [block for block in reply.content if block.type == "tool_use"]
            if not calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": each.id, "content": run_tool(each.input)}
                for each in calls
            ]
            self.messages.append({"role": "user", "content": results})
        self.memory.append(self.conversation, self.messages)  # Reflector: adds only what is new
        self.memory.settled(self.conversation)  # Reflector: starts a run when one is due
        return "".join(block.text for block in reply.content if block.type == "text")


def main(words: list[str]) -> int:
    """Talk with the person on standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="claude-sonnet-5")
    parser.add_argument("--home", help="the Reflector home")
    args = parser.parse_args(words)
    with Memory.open(args.home, cwd=Path.cwd(), create=True) as memory:
        with anthropic.Anthropic() as client:
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
