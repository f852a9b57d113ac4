"""`rag-eval components`: list the components that a configuration can name."""

from dataclasses import MISSING
from typing import Any

import typer

from .. import base
from ..base.exits import outcome
from ..base.outside import error_text, name_line, one_line
from ..contracts import registry
from ..contracts.component import Component, default_parameters
from .output import print_json, print_text


def components(*, as_json: bool = False) -> None:
    """List the available components, their parameters and the extras they need."""
    listed = {kind: [_listed(kind, name) for name in registry.components(kind)] for kind in registry.KINDS}
    if as_json:
        print_json(listed, indent=1)
        return
    for kind, entries in listed.items():
        typer.secho(kind, bold=True)
        for entry in entries:
            parameters = ",".join(f"{key}={one_line(str(value))}" for key, value in entry["parameters"].items())
            needs = f"   (needs: {entry['install']})" if entry["install"] else ""
            problem = f"   (broken: {one_line(entry['problem'])})" if entry["problem"] else ""
            print_text(f"  {name_line(entry['name'])}{':' if parameters else ''}{parameters}{needs or problem}")
    typer.echo("\nYour own component is named module:attribute, as in --retriever my_module:search")


def _listed(kind: Any, name: str) -> dict[str, Any]:
    broken: dict[str, Any] = {"name": name, "parameters": {}, "install": None}
    return outcome(lambda: _described(kind, name), lambda error: broken | {"problem": error_text(error)})


def _described(kind: Any, name: str) -> dict[str, Any]:
    target = registry.load(kind, name)
    extras = base.missing_extras(getattr(target, "requires", {}))
    return {
        "name": name,
        "parameters": {key: _shown(value) for key, value in default_parameters(target).items()},
        "install": base.install_command(*extras) if extras else None,
        "problem": None,
    }


def _shown(value: object) -> Any:
    """Return a default value as listed; a parameter without one is required."""
    if value is MISSING:
        return "(required)"
    if isinstance(value, tuple):
        items: list[object] = [*value]
        return [_shown(item) for item in items]
    return value.name if isinstance(value, Component) else registry.plain(value)
