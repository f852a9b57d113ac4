"""`rag-eval components`: list the components that a configuration can name."""

import sys
from collections.abc import Mapping
from dataclasses import MISSING
from math import inf, isfinite
from shutil import get_terminal_size
from typing import Any

import typer

from rag_evaluation_framework import registry
from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.optional import install_command, missing_extras
from rag_evaluation_framework.base.outside import name_line, one_line, raised
from rag_evaluation_framework.cli import run_options
from rag_evaluation_framework.cli.output import print_json, print_text
from rag_evaluation_framework.contracts.component import Component, default_parameters


def components(
    *,
    as_json: run_options.AsJson = False,
) -> None:
    """List the available components, their parameters and the extras they need.

    Args:
        as_json: Print JSON.
    """
    listed = {kind: [_listed(kind, name) for name in registry.components(kind)] for kind in registry.KINDS}
    if as_json:
        print_json(listed, indent=1)
        return
    width = get_terminal_size().columns - 2 if sys.stdout.isatty() else inf  # one line each for grep
    for kind, entries in listed.items():
        typer.secho(kind, bold=True)
        for entry in entries:
            needs = f"needs: {entry['install']}" if entry["install"] else ""
            problem = f"broken: {one_line(entry['problem'])}" if entry["problem"] else ""
            for line in _lines(name_line(entry["name"]), entry["parameters"], needs or problem, width):
                print_text(f"  {line}")
    typer.echo("\nYour own component is named module:attribute, as in --retriever my_module:search")


def _lines(name: str, parameters: Mapping[str, Any], remark: str, width: float) -> list[str]:
    """Return a component as it is written on a command line, broken where a terminal ends."""
    parts = [f"{key}={one_line(str(value))}," for key, value in parameters.items()]
    lines, indent = [f"{name}:" if parts else name], " " * (len(name) + 1)
    for part in [*parts[:-1], *(last.removesuffix(",") for last in parts[-1:])]:
        if len(lines[-1]) + len(part) > width:
            lines.append(indent)
        lines[-1] += part
    if remark and len(lines[-1]) + len(remark) + 5 > width:
        lines.append(indent)
    return [*lines[:-1], lines[-1] + (f"   ({remark})" if remark else "")]


def _listed(kind: Any, name: str) -> dict[str, Any]:
    broken: dict[str, Any] = {"name": name, "parameters": {}, "install": None}
    return outcome(lambda: _described(kind, name), lambda error: broken | {"problem": raised(error)})


def _described(kind: Any, name: str) -> dict[str, Any]:
    target = registry.load(kind, name)
    extras = missing_extras(getattr(target, "requires", {}))
    return {
        "name": name,
        "parameters": {key: _shown(value) for key, value in default_parameters(target).items()},
        "install": install_command(*extras) if extras else None,
        "problem": None,
    }


def _shown(value: object) -> Any:
    """Return a default value as listed; a parameter without one is required."""
    if value is MISSING:
        return "(required)"
    if isinstance(value, tuple):
        items: list[object] = [*value]
        return [_shown(item) for item in items]
    if isinstance(value, float) and not isfinite(value):  # JSON knows no such numbers
        return str(value)
    return value.name if isinstance(value, Component) else registry.plain(value)
