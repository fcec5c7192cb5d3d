"""A quick child of a run: one line per user entry, into the file that a person edits as well.

`python child.py RUN_FOLDER`. Lessons whose number divides by three also make a file of their own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.children import Child

NUMBER = re.compile(r"Lesson (\d+) of the race\.")


def learn(child: Child) -> list[str]:
    """Write what is not there yet; return the items for the commit."""
    human = child.tree / "system" / "human.md"
    items = []
    for entry in child.payload["conversations"]:
        for said in entry["entries"]:
            found = NUMBER.fullmatch(said["text"])
            text = human.read_text("utf-8")
            if said["kind"] != "user" or not found or f"- {said['text']}\n" in text:
                continue
            line = f"- {said['text']}\n"
            human.write_text(
                text.replace("## Preferences\n\n", f"## Preferences\n\n{line}"), "utf-8"
            )
            items.append(f"system/human.md: {said['text']} [entry {said['id']}]")
            if int(found[1]) % 3 == 0:
                place = child.tree / "reference" / f"lesson-{found[1]}.md"
                head = f"---\ndescription: {said['text']}\n---\n"
                before = place.read_text("utf-8") if place.exists() else head
                place.write_text(before + line, "utf-8")
    return items


def main(child: Child) -> None:
    """Speak the protocol."""
    print("ready", flush=True)
    if sys.stdin.readline() != "go\n":
        return
    items = learn(child)
    if items:
        child.commit(*items)
    child.finish("committed" if items else "nothing_to_record")


if __name__ == "__main__":
    main(Child(Path(sys.argv[1])))
