"""Why a pipeline does nothing now, in words for a person."""

from __future__ import annotations

from reflector.runtime.calls.waits import Why


def told(disabled: str, nothing: str) -> dict[Why, str]:
    """Return the words by their reason; two of them are a pipeline's own."""
    return {
        "disabled": disabled,
        "nothing": nothing,
        "no_model": "the engine makes no small calls: `engine.name` anthropic does",
        "kept_tip": "a run waits for the memory to be free",
        "off_peak": "it is done at the hours of jobs.off_peak",
        "back_off": "what failed last is tried again later",
        "failed": "the call failed",
        "held": "stopped, or automatic runs are off: see `reflector doctor`",
        "day_runs": "day.max_runs is reached; `--over-budget` goes on",
        "day_cost": "day.max_cost_usd is reached; `--over-budget` goes on",
        "parked": "the provider does not answer, see `reflector park`",
    }
