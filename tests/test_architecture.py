"""The house: imports point down, rooms on one floor do not know each other, nothing is imported inside a function."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = "rag_evaluation_framework"
SOURCE = Path(__file__).parent.parent / "src" / PACKAGE
FLOORS = (
    {"base"},  # with `errors`: what they say is made safe to show there, and everything there raises them
    {"corpus"},  # from files to texts: documents are read through it
    {"data"},
    {"adapt"},  # what comes in from outside: the contracts read what components return through it
    {"types", "contracts", "statistics"},
    {"text"},
    {"labels"},
    {"components"},
    {"scoring"},
    {"datasets"},
    {"runs"},
    {"analysis", "authoring"},
    {"sweeps"},
    {"report", "demo"},
    {"trackers"},  # where results go: folders with pages, and LangSmith
    {"cli", "__main__"},
    {"testing"},  # for people who write components: it may import everything below the command line
)
LOOSE = {"__init__", "__main__", "errors", "types"}
DOORS = {  # what reaches upwards: imported for type checkers only, if at all; the registry loads it, by a string
    ("runs.result", "analysis.comparison"),  # result.compare
    ("runs.result", "analysis.attribution.explaining"),  # result.explain
    ("runs.shown", "report.pages.run_notes"),  # notes on a run, which its report has
    ("runs.result", "report.pages.result"),  # print(result), notebooks, result.headline, and all_notes
    ("analysis.comparison", "report.pages.comparison"),  # the same, for what is made of results
    ("analysis.leaderboard", "report.pages.leaderboard"),
    ("sweeps.result", "report.pages.sweep"),
    ("sweeps.price", "report.pages.sweep"),
    ("analysis.leaderboard", "report.pages.comparison"),  # its notes, which JSON has
    ("analysis.attribution.attribution", "report.pages.explanation"),
    ("analysis.gates.verdicts", "report.pages.gates"),  # the power of a gate, which JSON has
    ("analysis.attribution.explaining", "report.pages.explanation"),
    ("trackers.langsmith_datasets", "report.pages.dataset"),  # what arrived, in words, and in notes of a result
    ("trackers.langsmith_publishing", "report.pages.dataset"),
    ("datasets.checks.findings", "report.pages.dataset"),  # print(report), and the advice that JSON has
    ("labels.quote_table", "report.pages.quotes"),  # print(check), and notebooks
    ("labels.relabelling", "report.pages.quotes"),
    ("report.blocks", "report.terminal"),  # loaded when a page is shown in this way
    ("report.blocks", "report.markdown"),
    ("report.blocks", "report.html"),
    ("report.blocks", "report.latex"),
    ("runs.evaluation", "trackers.langsmith_datasets"),  # langsmith_dataset_name=
    ("runs.evaluation", "sweeps.plan"),  # evaluation.sweep
    ("runs.runner", "trackers.sending"),  # save_results_path=, sinks=, and the same for results
    ("authoring.models.generator", "trackers.langsmith_datasets"),  # upload_to_langsmith=
}
TYPED = {
    ("report.pages.dataset", "trackers.langsmith_datasets"),
    ("report.pages.dataset", "trackers.langsmith_publishing"),  # what is named for type checkers only
    ("runs.evaluation", "sweeps.result"),
    ("contracts.roles", "runs.result"),
    ("contracts.roles", "analysis.comparison"),
}
LOADERS = {
    "contracts.registry.loading",
    "base.optional",
    "cli.commands",  # the module of the command that is called
}  # what imports modules by strings
LATE = {
    ("cli.main", "cli.program"),  # loaded when interrupts are answered already
}
TOGETHER = {("__main__", "cli")}  # `python -m` is the command
WHOLE_PACKAGE = "(the root)"
MAY_IMPORT_THE_ROOT = {"cli", "testing"}


@dataclass(frozen=True)
class Import:
    importer: str  # dotted, below the package: "components.chunkers.fixed_token"
    imported: str
    line: int
    at_run_time: bool

    def __str__(self):
        return f"{self.importer}:{self.line} imports {self.imported}"


def dotted(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in sorted(SOURCE.rglob("*.py"))}


@cache
def trees() -> dict[str, ast.Module]:
    """The modules parsed, which takes seconds: not when the tests are collected."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def room(module):
    """The folder of a module; what is loose at the root is a room of its own, but errors."""
    name = module.partition(".")[0]
    return "base" if name == "errors" else name


def floor(name):
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def absolute(node, module) -> str:
    """The full name of what a statement imports from."""
    if not node.level:
        return node.module
    above = PACKAGE.split(".") + [part for part in module.split(".") if part]
    above = above[: len(above) - node.level + (MODULES[module].stem == "__init__")]
    return ".".join([*above, *([node.module] if node.module else [])])


def targets(node, module) -> Iterator[str]:
    """The modules of this package that an import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = [f"{absolute(node, module)}.{alias.name}" for alias in node.names]
    for name in names:
        if name.partition(".")[0] != PACKAGE:
            continue
        inner = name.removeprefix(PACKAGE).lstrip(".")
        while inner and inner not in MODULES:
            inner = inner.rpartition(".")[0]
        yield inner or WHOLE_PACKAGE


@cache
def imports() -> list[Import]:
    return list(found_imports())


def found_imports() -> Iterator[Import]:
    for module, tree in trees().items():
        checked_only = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for target in targets(node, module):
                    yield Import(module, target, node.lineno, id(node) not in checked_only)


def strings_of_the_package(tree) -> Iterator[str]:
    """The strings, and pieces of strings, that begin with the name of this package, as those of the registry do."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and re.match(rf"{PACKAGE}(?![^.:])", str(node.value)):
            yield node.value


def loads_by_name(tree) -> bool:
    """Whether something imports modules by strings."""
    named = {"import_module", "__import__"}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return not named.isdisjoint(names)


def test_rooms_have_floors_and_nothing_else_is_loose():
    # The imports are seen:
    assert len(imports()) > 50
    assert any(i.importer == "components.retrievers.bm25" and i.imported == "contracts.roles" for i in imports())

    # Every room has its floor:
    rooms = {room(module) for module in MODULES if module}
    assert rooms == set().union(*FLOORS)

    # Nothing is loose at the root but what is named:
    assert {path.stem for path in SOURCE.glob("*.py")} == LOOSE


def test_imports_point_down_and_not_sideways():
    # Imports point down:
    upwards = {
        i for i in imports() if i.imported != WHOLE_PACKAGE and floor(room(i.imported)) > floor(room(i.importer))
    }
    assert [str(i) for i in upwards if i.at_run_time] == []
    assert {(i.importer, i.imported) for i in upwards} <= DOORS | TYPED

    # Rooms on one floor do not know each other:
    sideways = [
        str(i)
        for i in imports()
        if i.imported != WHOLE_PACKAGE
        and room(i.imported) != room(i.importer)
        and floor(room(i.imported)) == floor(room(i.importer))
        and (room(i.importer), room(i.imported)) not in TOGETHER
    ]
    assert sideways == []

    # Only the top floor imports the whole package:
    through_the_root = [
        str(i) for i in imports() if i.imported == WHOLE_PACKAGE and room(i.importer) not in MAY_IMPORT_THE_ROOT
    ]
    assert through_the_root == []

    # Only the command imports the command line:
    assert {room(i.importer) for i in imports() if room(i.imported) == "cli"} == {"cli", "__main__"}

    # Nothing imports the conformance suites:
    assert [str(i) for i in imports() if i.imported.startswith("testing") and room(i.importer) != "testing"] == []


def test_doors_by_string_are_those_that_are_listed():
    doors = [
        (module, named.removeprefix(f"{PACKAGE}.").partition(":")[0])
        for module, tree in trees().items()
        if module not in LOADERS
        for named in strings_of_the_package(tree)
    ]
    assert sorted(doors) == sorted(DOORS | LATE)
    loading = {module for module, tree in trees().items() if loads_by_name(tree)}
    assert loading == LOADERS | {importer for importer, _ in LATE}


@pytest.mark.parametrize(
    ("code", "strings", "loads"),
    [
        (f'load_attribute("{PACKAGE}.cli.main:app")', [f"{PACKAGE}.cli.main:app"], False),
        (f'load_installed(f"{PACKAGE}.{{room}}:app")', [f"{PACKAGE}."], False),
        (f'name = "{PACKAGE}"', [PACKAGE], False),
        (f'"""{PACKAGE} is a package."""; other = "{PACKAGE}_notes"', [], False),
        ("importlib.import_module(name)", [], True),
        ("import_module(name)", [], True),
        ("importlib.metadata.version(name)", [], False),
    ],
)
def test_doors_by_string_are_seen(code, strings, loads):
    tree = ast.parse(code)
    assert list(strings_of_the_package(tree)) == strings
    assert loads_by_name(tree) == loads


def test_a_room_is_used_for_what_its_door_lists():
    """A module in it would be there only if something else has imported it before, such as another command."""
    behind_the_door = []
    for module, tree in trees().items():
        statements = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        rooms = {a.name for node in statements if absolute(node, module) == PACKAGE for a in node.names} & set().union(
            *FLOORS
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in rooms:
                listed = import_module(f"{PACKAGE}.{node.value.id}").__all__
                behind_the_door += [f"{module}:{node.lineno} {ast.unparse(node)}"] if node.attr not in listed else []
    assert behind_the_door == []


@pytest.mark.parametrize("part", [str, room], ids=["modules", "rooms"])
def test_neither_modules_nor_rooms_import_each_other_in_a_circle(part):
    graph: dict[str, set[str]] = {part(module): set() for module in MODULES}
    for i in imports():
        if i.at_run_time and i.imported != WHOLE_PACKAGE and part(i.importer) != part(i.imported):
            graph[part(i.importer)].add(part(i.imported))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_imports_are_relative_and_outside_of_functions_and_none_is_of_an_optional_package():
    optional = {"sklearn", "pandas", "tiktoken", "tiktoken_ext", "tokenizers"}
    optional |= {"torch", "transformers", "sentence_transformers", "huggingface_hub"}
    optional |= {"chromadb", "pgvector", "psycopg", "qdrant_client", "vl_convert"}  # see `base.optional.require`
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    strange = []
    for module, tree in trees().items():
        inside = {
            id(node) for function in ast.walk(tree) if isinstance(function, functions) for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            first = {name.partition(".")[0] for name in names}
            if id(node) in inside:
                strange.append(f"{module}:{node.lineno} imports inside a function")
            if first & optional and not _for_type_checkers(tree, node):
                strange.append(f"{module}:{node.lineno} imports {names}, which may not be installed")
            if (
                PACKAGE in first and isinstance(node, ast.ImportFrom) and ".templates." not in module
            ):  # of other projects
                strange.append(f"{module}:{node.lineno} repeats the name of the house")
    assert strange == []


def _for_type_checkers(tree, node):
    return any(
        isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test) and node in block.body
        for block in ast.walk(tree)
    )


def test_nothing_is_cut_by_a_format_that_shows_it_unguarded():
    """`shown(value, 80)` shows what `{value!r:.80}` would, and also what has a `repr` that raises."""
    assert [name for name, path in MODULES.items() if "!r:." in path.read_text(encoding="utf-8")] == []
