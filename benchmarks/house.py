"""How the house is built: rooms, floors and the arrows between rooms, of two commits, counted in the same way.

    python benchmarks/house.py [BEFORE] [AFTER]

Each is a git revision, or `.` for the working tree. Sources are parsed, never imported, and nothing is checked out.

- A *room* is a folder with Python files directly under the package; what is nested in it is part of it.
- A *loose module* is a Python file directly under the package, other than `__init__.py`. People import it as they
  import a room, so it counts as a room of its own; only `__main__` is the command line by another name, and part of
  `cli`. Because that favours a house without loose modules, everything is counted a second time with all of them as one
  room, `(root)`.
- An *import* is a statement, anywhere in a file, that names a module of another room; one that names modules of two
  rooms counts for both. Those under `if TYPE_CHECKING` count, and are told apart. A name that is imported from the
  package itself counts for the room that the package takes it from, as its stub says; imports of the package as a
  whole are listed. Components that the registry finds by name are no imports.
- An *arrow* is a pair of rooms with at least one import.
- *Floors* are the rooms on the longest way along the arrows; rooms that reach each other in a circle are listed, and
  stand on one floor.
- *Code lines* hold something other than comments and docstrings; those of imports count, and are told apart.
- *Sentences* are texts of two words or more outside of `report/`, but docstrings, what errors say (what is raised or
  asserted, what is given to a class of the module `errors` or one named `…Error`, and that module), and what options
  and fields of a run say of themselves (what is given to a class named `Option` or `Argument`): `--help` and the schema
  are made of these. What is only for Python is none either: types in quotes, and patterns of `re`.
- A field of a run is *spelt* in a file that has its name in any place; `timeout` stands for all of them.
- An `except` is *broad* if it catches `Exception` or `BaseException`, or names nothing.
- An arrow runs *upwards* if its end stands above its start on the `FLOORS` that the commit's own
  `tests/test_architecture.py` declares, and *sideways* if both stand on one floor above the ground. What has no floor
  there does neither, and is listed.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

PACKAGE = "rag_evaluation_framework"
SOURCE = f"src/{PACKAGE}/"
FLOORS_FILE = "tests/test_architecture.py"
REPOSITORY = Path(__file__).resolve().parent.parent
ROOT = "(root)"
WHOLE_PACKAGE = "(the package)"
MANY = 8
OF_ERRORS_AND_OPTIONS = (
    *("Error", "ProviderRefused", "ProviderUnavailable", "InvalidAnswer", "UnreadableAnswer", "SaveFailed"),
    *("QueryFailed", "LevelMismatch", "MissingDependency", "NotIndexed", "ComponentExited", "Interrupted"),
    *("Option", "Argument"),
)

Sources = Mapping[str, str]
Arrows = Mapping[tuple[str, str], list["Import"]]


@dataclass(frozen=True)
class Import:
    """One import of another room: both ends dotted, below the package."""

    importer: str
    imported: str
    line: int
    only_for_types: bool

    def __str__(self) -> str:
        only = " (types only)" if self.only_for_types else ""
        return f"{self.importer}:{self.line} imports {self.imported}{only}"


def git(*arguments: str) -> bytes:
    """Return what git prints; what it complains about ends the script."""
    done = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.decode().strip()}")
    return done.stdout


def read(revision: str) -> Sources:
    """Return the sources of the package and its tests, by their path in the tree."""
    if revision == ".":
        paths = [path for folder in ("src", "tests") for path in (REPOSITORY / folder).rglob("*.py*")]
        files = {path.relative_to(REPOSITORY).as_posix(): path for path in paths if path.suffix in (".py", ".pyi")}
        return {name: path.read_text(encoding="utf-8") for name, path in sorted(files.items())}
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision, "src", "tests"))) as archive:
        return {
            member.name: content.read().decode()
            for member in archive
            if member.name.endswith((".py", ".pyi")) and (content := archive.extractfile(member))
        }


class House:
    """The modules of one tree, and what they import.

    Args:
        sources: The files, by their path in the tree.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        inside = {PurePosixPath(path.removeprefix(SOURCE)): path for path in sources if path.startswith(SOURCE)}
        self.files = {path: sources[full] for path, full in inside.items() if path.suffix == ".py"}
        self.modules = {_dotted(path): path for path in self.files}
        self.loose = sorted(path.stem for path in self.files if len(path.parts) == 1 and path.stem != "__init__")
        self.rooms = sorted({path.parts[0] for path in self.files if len(path.parts) > 1})
        self.floors = _declared_floors(sources.get(FLOORS_FILE, ""))
        stub = PurePosixPath("__init__.pyi")
        self.taken_from = dict(self._names_of_the_package(sources[inside[stub]])) if stub in inside else {}
        self.imports = [found for path, text in sorted(self.files.items()) for found in self._imports(path, text)]

    def _names_of_the_package(self, stub: str) -> Iterator[tuple[str, str]]:
        for node in ast.walk(ast.parse(stub)):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield alias.asname or alias.name, self._module(f"{_absolute(node, ())}.{alias.name}")

    def _imports(self, path: PurePosixPath, text: str) -> Iterator[Import]:
        importer = _dotted(path)
        if not importer:
            return  # the package itself only hands out what others define
        tree = ast.parse(text)
        only_for_types = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for target in sorted(set(self._targets(node, path.parent.parts))):
                    yield Import(importer, target, node.lineno, id(node) in only_for_types)

    def _targets(self, node: ast.Import | ast.ImportFrom, folder: tuple[str, ...]) -> Iterator[str]:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [f"{_absolute(node, folder)}.{alias.name}" for alias in node.names]
        for name in names:
            if name.partition(".")[0] == PACKAGE:
                yield self._module(name) or self.taken_from.get(name.rpartition(".")[2]) or WHOLE_PACKAGE

    def _module(self, name: str) -> str:
        """Return the module of this package in which a name is; `""` if only the package itself has it."""
        inner = name.removeprefix(PACKAGE).lstrip(".")
        while inner and inner not in self.modules:
            inner = inner.rpartition(".")[0]
        return inner

    def room(self, module: str) -> str:
        """Return the room of a module, a loose one being its own."""
        room = module.partition(".")[0]
        return "cli" if room == "__main__" else room

    def lumped_room(self, module: str) -> str:
        """Return the room of a module, `(root)` being that of all loose ones."""
        room = self.room(module)
        return ROOT if room in self.loose else room

    def floor(self, room: str) -> int | None:
        """Return the declared floor of a room; `""` stands for what is loose, and what is not declared has none."""
        return self.floors.get(room, self.floors.get("") if room in self.loose else None)

    def arrows(self, room: Callable[[str], str]) -> Arrows:
        """Return the imports between rooms, by the two rooms."""
        arrows: dict[tuple[str, str], list[Import]] = {}
        for found in self.imports:
            ends = room(found.importer), room(found.imported)
            if ends[0] != ends[1] and WHOLE_PACKAGE not in ends:
                arrows.setdefault(ends, []).append(found)
        return arrows


BROAD = (None, "Exception", "BaseException")
NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def size(sources: Sources) -> dict[str, int]:
    """Return how much a tree is that people have to hold in their heads."""
    code = {path: text for path, text in sources.items() if path.startswith(SOURCE) and path.endswith(".py")}
    trees = {path: ast.parse(text) for path, text in code.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    tests = [text for path, text in sources.items() if path.startswith("tests/") and path.endswith(".py")]
    lines = {path: _code_lines(text, trees[path]) for path, text in code.items()}
    handlers = [node.type for node in nodes if isinstance(node, ast.ExceptHandler)]
    names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    return {
        "code_lines": sum(number for number, _ in lines.values()),
        "import_lines": sum(number for _, number in lines.values()),
        "files": len(code),
        "sentences": sum(
            _sentences(tree)
            for path, tree in trees.items()
            if not path.startswith(f"{SOURCE}report/") and path != f"{SOURCE}errors.py"
        ),
        "files_that_spell_timeout": sum(re.search(r"\btimeout\b", text) is not None for text in code.values()),
        "broad_excepts": sum((None if kind is None else ast.unparse(kind)) in BROAD for kind in handlers),
        "check_functions": sum(name.lstrip("_").startswith("check") for name in names),
        "test_functions": sum(len(re.findall(r"(?m)^ *(?:async )?def test_", text)) for text in tests),
    }


def _code_lines(text: str, tree: ast.Module) -> tuple[int, int]:
    """Return the number of lines with code, and of these the number of lines of imports."""
    docstrings = {line for node in _docstrings(tree) for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line for found in tokens if found.type not in NO_CODE for line in range(found.start[0], found.end[0] + 1)
    } - docstrings
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return len(lines), sum((node.end_lineno or 0) - node.lineno + 1 for node in imports)


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        for statement in getattr(node, "body", None) or [] if not isinstance(node, ast.Lambda | ast.IfExp) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield statement.value


def _sentences(node: ast.AST) -> int:
    """Return the number of texts of two words or more below a node."""
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return 0
    if isinstance(node, ast.Assert):
        return _sentences(node.test)
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(OF_ERRORS_AND_OPTIONS):
        return 0
    inner = sum(map(_sentences, _but_python(node)))
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else " " for part in node.values)
        inner -= sum(_is_sentence(str(part.value)) for part in node.values if isinstance(part, ast.Constant))
        return inner + _is_sentence(text)
    return inner + (isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_sentence(node.value))


def _but_python(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node but annotations, the types of casts and variables, and patterns."""
    none = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        none += node.args[:1] if called == "cast" or called.startswith("re.") else []
        none += [*node.args, *node.keywords] if called == "TypeVar" else []
    return (part for part in ast.iter_child_nodes(node) if part not in none)


def _is_sentence(text: str) -> bool:
    return re.search(r"[A-Za-z]{2,}\W* \W*[A-Za-z]{2,}", text) is not None


def _dotted(path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _absolute(node: ast.ImportFrom, folder: tuple[str, ...]) -> str:
    """Return the module that is imported from, with the leading dots of a relative import resolved."""
    if not node.level:
        return node.module or ""
    above = folder[: len(folder) - node.level + 1]
    return ".".join([PACKAGE, *above, *([node.module] if node.module else [])])


def _declared_floors(test: str) -> dict[str, int]:
    """Return the floor of each room that a test file declares as `FLOORS`, a literal, from the ground up."""
    for node in ast.parse(test).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "FLOORS" for target in targets):
            try:
                declared = ast.literal_eval(getattr(node, "value", None) or ast.Constant(None))
            except ValueError:
                print("FLOORS is no literal: nothing is said about upwards", file=sys.stderr)
                return {}
            return dict(_floors(declared))
    return {}


def _floors(declared: Any) -> Iterator[tuple[str, int]]:
    """Read a row of floors with the rooms on each, a mapping of floors to rooms, or one of rooms to numbers."""
    rows = declared.items() if isinstance(declared, dict) else enumerate(declared or ())
    for number, (key, value) in enumerate(rows):
        if isinstance(value, int):
            yield str(key), value
        else:
            for room in [value] if isinstance(value, str) else value:
                yield str(room).replace("/", ".").partition(".")[0], number


def circles(arrows: Arrows) -> list[list[str]]:
    """Return the sets of rooms that reach each other, the largest first."""
    below = _below(arrows)
    reached = {room: _reach(room, below) for room in below}
    together = {frozenset({room} | {other for other in reached[room] if room in reached[other]}) for room in below}
    return sorted((sorted(rooms) for rooms in together if len(rooms) > 1), key=lambda rooms: (-len(rooms), rooms))


def height(arrows: Arrows) -> int:
    """Return the number of floors: the rooms on the longest way, those of a circle counted as one."""
    stands_for = {room: rooms[0] for rooms in circles(arrows) for room in rooms}
    below: dict[str, set[str]] = {}
    for start, end in arrows:
        ends = stands_for.get(start, start), stands_for.get(end, end)
        if ends[0] != ends[1]:
            below.setdefault(ends[0], set()).add(ends[1])

    @cache
    def level(room: str) -> int:
        return 1 + max((level(other) for other in below.get(room, ())), default=0)

    return max(map(level, list(below)), default=1)


def _below(arrows: Arrows) -> dict[str, set[str]]:
    below: dict[str, set[str]] = {room: set() for ends in arrows for room in ends}
    for start, end in arrows:
        below[start].add(end)
    return below


def _reach(room: str, below: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = [room]
    while ahead:
        for other in below[ahead.pop()] - reached:
            reached.add(other)
            ahead.append(other)
    return reached


def measure(house: House) -> dict[str, Any]:
    """Return the figures of one tree, and the lists behind them."""
    apart, lumped = house.arrows(house.room), house.arrows(house.lumped_room)
    floors = {room: house.floor(room) for ends in apart for room in ends}
    known = [(start, end) for start, end in apart if floors[start] is not None and floors[end] is not None]
    upwards = [ends for ends in known if (floors[ends[0]] or 0) < (floors[ends[1]] or 0)]
    sideways = [ends for ends in known if floors[ends[0]] == floors[ends[1]] != 0]
    files = Counter(path.parts[0] for path in house.files if len(path.parts) > 1)
    figures: dict[str, Any] = {
        "folders": len(house.rooms),
        "loose_modules": len(house.loose),
    }
    for suffix, arrows, rooms in (
        ("", apart, len({house.room(module) for module in house.modules if module})),
        ("_lumped", lumped, len({house.lumped_room(module) for module in house.modules if module})),
    ):
        figures |= {
            f"rooms{suffix}": rooms,
            f"floors{suffix}": height(arrows),
            f"rooms_in_circles{suffix}": sum(map(len, circles(arrows))),
            f"arrows{suffix}": len(arrows),
            f"imports{suffix}": sum(map(len, arrows.values())),
            f"types_only{suffix}": sum(found.only_for_types for imports in arrows.values() for found in imports),
        }
    figures |= {
        "of_the_package": sum(found.imported == WHOLE_PACKAGE for found in house.imports),
        "declared_floors": len(set(house.floors.values())),
        "upwards": len(upwards) if house.floors else None,
        "sideways": len(sideways) if house.floors else None,
    }
    return {
        "figures": {**size(house.sources), **figures},
        "loose": house.loose,
        "upwards": [str(found) for ends in upwards for found in apart[ends]],
        "sideways": [str(found) for ends in sideways for found in apart[ends]],
        "circles": circles(apart),
        "circles_lumped": circles(lumped),
        "without_a_floor": sorted(room for room, floor in floors.items() if floor is None) if house.floors else [],
        "through_the_package": [str(found) for found in house.imports if found.imported == WHOLE_PACKAGE],
        "biggest": dict(files.most_common(MANY)),
        "arrows": sorted(f"{start} -> {end}" for start, end in apart),
    }


TITLES = {
    "code_lines": "code lines",
    "import_lines": "  of imports",
    "sentences": "sentences",
    "files_that_spell_timeout": "files that spell timeout",
    "broad_excepts": "broad excepts",
    "check_functions": "functions that check",
    "test_functions": "test functions",
    "files": "Python files",
    "folders": "folders",
    "loose_modules": "loose modules",
    "rooms": "rooms, each loose module one",
    "floors": "  floors",
    "rooms_in_circles": "  rooms in circles",
    "arrows": "  arrows between rooms",
    "imports": "  imports between rooms",
    "types_only": "    only for types",
    "rooms_lumped": "rooms, loose modules lumped",
    "floors_lumped": "  floors",
    "rooms_in_circles_lumped": "  rooms in circles",
    "arrows_lumped": "  arrows between rooms",
    "imports_lumped": "  imports between rooms",
    "types_only_lumped": "    only for types",
    "of_the_package": "imports of the package as a whole",
    "declared_floors": "floors that the test declares",
    "upwards": "  arrows upwards",
    "sideways": "  arrows sideways",
}
LISTS = {
    "loose": "Loose modules",
    "biggest": "The biggest rooms, by files",
    "upwards": "Upwards",
    "sideways": "Sideways",
    "circles": "Rooms in a circle",
    "circles_lumped": "Rooms in a circle, loose modules lumped",
    "without_a_floor": "Without a declared floor",
    "through_the_package": "Imports of the package as a whole",
}


def show(names: tuple[str, str], houses: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Print both side by side, then the lists."""
    print(f"{'':34}{names[0]:>10}{names[1]:>10}")
    for key, title in TITLES.items():
        values = ["-" if house["figures"][key] is None else house["figures"][key] for house in houses]
        print(f"{title:34}{values[0]:>10}{values[1]:>10}")
    for key, title in LISTS.items():
        print(f"\n{title}")
        for name, house in zip(names, houses, strict=True):
            found = house[key]
            if isinstance(found, dict):
                found = [f"{room} {number}" for room, number in found.items()]
            lines = [line if isinstance(line, str) else ", ".join(line) for line in found] or ["none"]
            joined = "; ".join(lines) if key in ("upwards", "sideways", "through_the_package") else ", ".join(lines)
            print(f"  {name}: {joined}")


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", default="560cffb", help="a git revision, or . for the working tree")
    parser.add_argument("after", nargs="?", default=".", help="the same")
    parser.add_argument("--json", action="store_true", help="print one JSON object, with every arrow")
    arguments = parser.parse_args()
    names = (arguments.before, arguments.after)
    houses = (measure(House(read(names[0]))), measure(House(read(names[1]))))
    if arguments.json:
        print(json.dumps({"before": {"revision": names[0], **houses[0]}, "after": {"revision": names[1], **houses[1]}}))
        return
    show(names, houses)


if __name__ == "__main__":
    main()
