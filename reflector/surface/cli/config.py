"""`reflector config show`."""

from __future__ import annotations

import argparse

from reflector.core.errors import UsageError
from reflector.runtime import hook_gate
from reflector.runtime.settings_keys import KEYS, Value, in_toml
from reflector.runtime.wiring import context
from reflector.surface.cli.output import Output, safe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the one action there is."""
    parser.description = "Print every setting, its value and where that comes from."
    parser.add_argument("words", nargs="*", metavar="show", help="may be left out")


def run(args: argparse.Namespace, out: Output) -> int:
    """Print every setting, its value and where that comes from."""
    found = context(args.home, args.identity)
    if args.words not in ([], ["show"]):
        raise UsageError(
            "`reflector config` shows the settings and changes none.",
            hint=f"Write them into {found.home.path / 'config.toml'}, such as `enabled = true` "
            "under `[push]` for `push.enabled`.",
        )
    hook_gate.refresh(found)
    settings = found.settings
    width = max(len(key.name) for key in KEYS)
    out.say(
        f"home      {found.home.path}",
        f"identity  {found.agent.identity}",
        f"file      {found.home.path / 'config.toml'}",
        "",
    )
    for key in KEYS:
        value, origin = settings.values[key.name], settings.origins[key.name]
        out.say(f"{key.name:<{width}}  {_shown(value):<10}  {out.style(origin, 'dim')}  {key.told}")
    for prefix, name in settings.identity_paths.items():
        out.say(f"identity.paths  {prefix} = {name}")
    out.object(
        {
            "home": str(found.home.path),
            "identity": found.agent.identity,
            "settings": {
                key.name: {
                    "value": settings.values[key.name],
                    "origin": settings.origins[key.name],
                    "variable": key.variable,
                }
                for key in KEYS
            },
            "identity_paths": dict(settings.identity_paths),
        }
    )
    return 0


def _shown(value: Value) -> str:
    return safe(in_toml(value))
