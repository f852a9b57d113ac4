"""The facts and screens that are kept of each project, and in what a recording differs from them."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROJECTS = sorted(path.name for path in (HERE / "projects").iterdir())
WIDTH, SHORT = 200, 100
"""Of the lines of kept facts; of what is not worth a reference."""
ABSENT = "nothing"
"""The value of a fact that is not there."""

Steps = list[dict[str, Any]]


def recorded(sources: Path, *projects: str) -> dict[str, Steps]:
    """Return what the package below a folder of sources does in the projects, or in all."""
    command = [sys.executable, "-P", str(HERE / "recording.py"), str(sources), *projects]
    environment = {**os.environ, "PYTHONPATH": str(sources), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise SystemExit(f"{sources}: {done.stderr}")
    found: dict[str, Steps] = json.loads(done.stdout)
    return found


def facts_of(project: str) -> Steps:
    """Return the commands of a project with the facts that are kept of each."""
    seen: dict[str, Any] = {}

    def whole(value: Any, place: str) -> Any:
        if isinstance(value, dict):
            if "as in" in value:
                return seen[value["as in"]]
            seen[place] = value = {key: whole(inner, f"{place} {key}") for key, inner in value.items()}
        elif isinstance(value, list):
            seen[place] = value = [whole(inner, f"{place} {number}") for number, inner in enumerate(value)]
        return value

    steps: Steps = whole(json.loads(facts_file(project).read_text(encoding="utf-8")), "")
    return steps


def once(steps: Steps) -> Any:
    """Return facts without repetition: what is there twice is an object that says where it was before."""
    seen: dict[str, str] = {}

    def shortened(value: Any, place: str) -> Any:
        if not isinstance(value, dict | list) or len(text := json.dumps(value)) < SHORT:
            return value
        if text in seen:
            return {"as in": seen[text]}
        seen[text] = place
        if isinstance(value, dict):
            return {key: shortened(inner, f"{place} {key}") for key, inner in value.items()}
        return [shortened(inner, f"{place} {number}") for number, inner in enumerate(value)]

    return shortened(steps, "")


def facts_file(project: str) -> Path:
    """Return where the facts of a project are kept."""
    return HERE / "facts" / f"{project}.json"


def screens_file(project: str) -> Path:
    """Return where the screens of a project are kept."""
    return HERE / "screens" / f"{project}.txt"


def screens_of(steps: Steps) -> str:
    """Return the commands of a project, each with what it says."""
    return "\n".join(f"$ {step['argv']}\n{step['screen']}" for step in steps)


def keep(project: str, steps: Steps) -> None:
    """Keep what a project does."""
    facts = [{"argv": step["argv"], "facts": step["facts"]} for step in steps]
    facts_file(project).write_text(folded(once(facts)) + "\n", encoding="utf-8")
    screens_file(project).write_text(screens_of(steps), encoding="utf-8")


def folded(value: Any, indent: int = 0) -> str:
    """Return JSON with everything on one line that fits."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or indent + len(line) <= WIDTH:
        return line
    inner = [
        f"{json.dumps(key, ensure_ascii=False)}: {folded(entry, indent + 1)}" if isinstance(value, dict) else entry
        for key, entry in (
            value.items() if isinstance(value, dict) else enumerate(folded(x, indent + 1) for x in value)
        )
    ]
    rows = f",\n{' ' * (indent + 1)}".join(inner)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{' ' * (indent + 1)}{rows}\n{' ' * indent}{closing}"


def flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every fact with its name: the keys that lead to it, of lists the ids of the entries or their numbers."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            if key == "screen":
                yield from ((f"{name}screen {fact}", True) for fact in inner.split())
            else:
                yield from flat(inner, f"{name}{key} ")
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            shown = inner if isinstance(inner, str) else called(inner, number)
            yield from flat(True if isinstance(inner, str) else inner, f"{name}{shown} ")
    else:
        yield name.rstrip(), value


def called(entry: Any, number: int) -> str:
    """Return by what an entry of a list is named."""
    names = (
        [entry[key] for key in ("query_id", "id", "gate", "value", "by") if key in entry]
        if isinstance(entry, dict)
        else []
    )
    return str(names[0] if names else number)


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], digits: float = 0
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the facts of a step that differ, with both values."""
    old, new = dict(flat(before["facts"])), dict(flat(after["facts"]))
    for name in sorted(old.keys() | new.keys()):
        one, other = old.get(name, ABSENT), new.get(name, ABSENT)
        floats = isinstance(one, float) and isinstance(other, float)
        if one != other and not (floats and math.isclose(one, other, rel_tol=digits, abs_tol=digits)):
            yield name, one, other
