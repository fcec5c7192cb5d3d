"""Project decisions: candidates admitted, and what is planned over a ledger of thousands."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.measure import Cost, Row, Series, both, cost, interleaved
from reflector.core.decision import Delta, Friction, Kind, Source
from reflector.core.overlap import tokens
from reflector.pipelines.decisions.admission import admit
from reflector.runtime import birth
from reflector.runtime.decisions.planning import plans
from reflector.runtime.wiring import Context, context
from reflector.store import decisions

_THINGS = ("queue", "status bar", "export", "session", "draft", "daemon", "composer", "report")
_WAYS = ("lives in", "is shown by", "is named after", "never leaves", "always follows")


def bench(folder: Path, *, quick: bool) -> list[Row]:
    """Measure admission, then planning with a large ledger."""
    candidates, deltas, rounds = (50, 100, 1) if quick else (1000, 5000, 5)
    return [_admission(candidates, rounds), _planning(folder / "decisions", deltas, rounds)]


def _statement(number: int) -> str:
    thing, way = _THINGS[number % len(_THINGS)], _WAYS[number // 8 % len(_WAYS)]
    return f"The {thing} {number} {way} part {number * 7 % 1009} of the house."


def _admission(count: int, rounds: int) -> Row:
    """Admit candidates whose evidence differs from the prompt in quotes and blanks."""
    said = [f"“It’s {_statement(number)}”\n" for number in range(20)]
    prompt = "".join(said)
    given = [
        {
            "kind": "product_decision",
            "statement": _statement(number),
            "source": "explicit_user",
            "evidence": f'"It\'s {_statement(number % 20)}"',
            "friction": {"corrective": False, "regression": False, "subtle": False},
        }
        for number in range(count)
    ]
    text = json.dumps(given)

    def admits() -> Cost:
        with cost() as spent:
            for at in range(0, count, 4):
                admit(prompt, given[at : at + 4])
        return spent

    def parses() -> Cost:
        with cost() as spent:
            json.loads(text)
        return spent

    costs = interleaved(rounds, {"ours": admits, "parse": parses})
    rate = f"{count / costs['ours'].least:.0f} candidates a second, 4 to a message"
    name = f"admit {count} candidates, against reading their JSON"
    return Row(name, both(costs["ours"]), both(costs["parse"]), _ratio(costs), note=rate)


def _planning(folder: Path, count: int, rounds: int) -> Row:
    found = _filled(folder, count)
    now = found.ambient.clock.now()
    with found.state() as state:

        def planned() -> Cost:
            tokens.cache_clear()  # a worker begins with nothing
            with cost() as spent:
                plans(state.connection, found.settings, now)
            return spent

        def read() -> Cost:
            with cost() as spent:
                decisions.ledger(state.connection)
            return spent

        costs = interleaved(rounds, {"ours": planned, "read": read})
    name = f"plan with {count} deltas that wait, against reading the ledger"
    return Row(name, both(costs["ours"]), both(costs["read"]), _ratio(costs))


def _ratio(costs: dict[str, Series]) -> float:
    ours, against = costs.values()
    return ours.least / against.least


def _filled(folder: Path, count: int) -> Context:
    found = context(str(folder / "home"))
    birth.init(found)
    with found.state() as state, state.transaction() as connection:
        for number in range(count):
            friction = Friction(corrective=number % 3 == 0, regression=number % 50 == 0)
            text = _statement(number)
            delta = Delta(Kind.PRODUCT, text, Source.EXPLICIT, text, 0, len(text), friction)
            at = found.ambient.now()
            decisions.add_delta(
                connection, "shop", f"t/{number % 40}", f"t:{number}:0", at, "model", delta
            )
    return found
