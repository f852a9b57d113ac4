"""The house: imports point down, rooms on one floor do not know each other, nothing is imported inside a function."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "rag_evaluation_framework"
SOURCE = Path(__file__).parent.parent / "src" / PACKAGE
FLOORS = (
    {"", "contracts"},
    {"loaders", "chunkers", "embedders", "vector_stores", "rerankers", "datasets", "metrics", "llms"},
    {"retrievers", "synthesis", "demo"},
    {"experiments"},
    {"reports", "integrations"},
    {"dashboard"},
    {"cli"},
    {"testing"},  # for people who write parts: it may import everything, and nothing imports it
)
WHOLE_PACKAGE = "(the root)"
MAY_IMPORT_THE_ROOT = {"cli", "testing"}


@dataclass(frozen=True)
class Import:
    importer: str  # dotted, below the package: "chunkers.fixed_token"
    imported: str
    line: int
    at_run_time: bool

    def __str__(self):
        return f"{self.importer}:{self.line} imports {self.imported}"


def dotted(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for path in sorted(SOURCE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def room(module):
    """The folder of a module; `""` for the words of the ground floor."""
    if module == "__main__":
        return "cli"  # `python -m rag_evaluation_framework` is the command line by another name
    return module.partition(".")[0] if MODULES[module].parent != SOURCE else ""


def floor(name):
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def targets(node) -> Iterator[str]:
    """The modules of this package that an import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in names:
        if name.partition(".")[0] != PACKAGE:
            continue
        inner = name.removeprefix(PACKAGE).lstrip(".")
        while inner and inner not in MODULES:
            inner = inner.rpartition(".")[0]
        yield inner or WHOLE_PACKAGE


def imports() -> Iterator[Import]:
    for module, tree in TREES.items():
        checked_only = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for statement in node.body
            for inner in ast.walk(statement)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for target in targets(node):
                    yield Import(module, target, node.lineno, id(node) not in checked_only)


IMPORTS = list(imports())


def test_the_imports_are_seen():
    assert len(IMPORTS) > 50
    assert any(i.importer == "retrievers.bm25" and i.imported == "contracts.chunker" for i in IMPORTS)


def test_every_room_has_its_floor():
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms <= set().union(*FLOORS)


def test_imports_are_absolute():
    relative = [
        f"{module}:{node.lineno}"
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_imports_point_down():
    upwards = [
        str(i) for i in IMPORTS if i.imported != WHOLE_PACKAGE and floor(room(i.imported)) > floor(room(i.importer))
    ]
    assert upwards == []


def test_rooms_on_one_floor_do_not_know_each_other():
    sideways = [
        str(i)
        for i in IMPORTS
        if i.imported != WHOLE_PACKAGE
        and room(i.imported) != room(i.importer)
        and floor(room(i.imported)) == floor(room(i.importer)) > 0
    ]
    assert sideways == []


def test_only_the_top_floor_imports_the_whole_package():
    through_the_root = [
        str(i) for i in IMPORTS if i.imported == WHOLE_PACKAGE and room(i.importer) not in MAY_IMPORT_THE_ROOT
    ]
    assert through_the_root == []


def test_nothing_imports_the_conformance_suites():
    assert [str(i) for i in IMPORTS if i.imported.startswith("testing") and room(i.importer) != "testing"] == []


def test_nothing_is_imported_inside_a_function():
    # Optional packages are loaded through `_optional.require`, so not even they need it.
    inside = [
        f"{module}:{node.lineno}"
        for module, tree in TREES.items()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


def test_modules_do_not_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for i in IMPORTS:
        if i.at_run_time and i.imported not in (WHOLE_PACKAGE, i.importer):
            graph[i.importer].add(i.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_rooms_do_not_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {}
    for i in IMPORTS:
        if i.imported != WHOLE_PACKAGE and room(i.importer) != room(i.imported):
            graph.setdefault(room(i.importer) or "words", set()).add(room(i.imported) or "words")
    graph.get("words", set()).discard("contracts")  # one floor: the tokenizers and the registry know their contracts
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_optional_packages_are_never_imported_directly():
    optional = {"sklearn", "pandas", "tiktoken", "tiktoken_ext", "tokenizers"}
    optional |= {"torch", "transformers", "sentence_transformers", "huggingface_hub", "onnx", "onnxruntime"}
    optional |= {"chromadb", "qdrant_client"}
    direct = [
        f"{module}:{node.lineno} {name}"
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        if name.partition(".")[0] in optional and not _for_type_checkers(tree, node)
    ]
    assert direct == []


def _for_type_checkers(tree, node):
    return any(
        isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test) and node in block.body
        for block in ast.walk(tree)
    )
