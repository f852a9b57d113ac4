import os
import subprocess
import sys
from pathlib import Path

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.contracts.registry.building import build, load_function
from rag_evaluation_framework.contracts.registry.loading import KINDS
from rag_evaluation_framework.errors import ConfigError
from support.each import each

FUNCTIONS = ("retriever", "engine", "sink")


class TestTrust:
    """A configuration names classes that keep their contract, and functions only where it says so."""

    @pytest.fixture
    def hostile(self, tmp_path, monkeypatch):
        """A module whose parts leave a mark if they are called; the mark."""
        mark = tmp_path / "mark"
        (tmp_path / "hostile_parts_of_test.py").write_text(
            "from pathlib import Path\n"
            "import rag_evaluation_framework as rag\n"
            f"def touch(query=None, *others, **options):\n    Path({str(mark)!r}).touch()\n"
            "class Run:\n    __init__ = __call__ = touch\n"
            "class Meta(type):\n    __call__ = touch\n"
            "class Made(metaclass=Meta): ...\n"
            "class Chunks(rag.Chunker):\n    __init__ = touch\n    def chunk(self, text): return [text]\n"
            "chunks = object.__new__(Chunks)\n"
        )
        monkeypatch.chdir(tmp_path)
        yield mark
        sys.modules.pop("hostile_parts_of_test", None)

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(
        "name",
        [
            "subprocess:Popen:args=touch mark",
            {"type": "subprocess:Popen", "args": ["touch", "mark"]},
            "os:system",
            "builtins:eval",
            "builtins:print",
            "hostile_parts_of_test:Run",
            "hostile_parts_of_test:Made",
        ],
        ids=str,
    )
    def test_what_is_of_no_kind_is_refused_and_not_called(self, hostile, kind, name):
        with pytest.raises(
            ConfigError, match=r"expected (a subclass of rag_evaluation_framework\.(contracts\.)?[A-Z]|an object with)"
        ):
            build(kind, name)
        assert not hostile.exists()

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FUNCTIONS])
    def test_functions_and_finished_objects_are_refused_where_classes_are_named(self, hostile, kind):
        for name in ("touch", "chunks"):
            with pytest.raises(ConfigError, match="expected a subclass of"):
                build(kind, f"hostile_parts_of_test:{name}")
        assert not hostile.exists()

    @pytest.mark.parametrize("kind", FUNCTIONS)
    def test_a_function_where_one_may_be_named_is_looked_up_and_not_called(self, hostile, kind):
        assert build(kind, "hostile_parts_of_test:touch").__name__ == "touch"
        assert not hostile.exists()

    @pytest.fixture
    def functions(self, tmp_path, monkeypatch):
        """A module that brings functions of others, and its own."""
        (tmp_path / "functions_of_test.py").write_text(
            "import functools, os, pathlib, shutil\n"
            "place, move = pathlib.Path(), functools.partial(shutil.move)\n"
            "def anything(*arguments): return []\n"
            "def decorated(function):\n    @functools.wraps(function)\n"
            "    def inner(*arguments): return function(*arguments)\n    return inner\n"
            "@functools.cache\ndef remembered(query, k): return [query]\n"
            "@decorated\ndef wrapped(question, top_k=5): return [question]\n"
            "def open_ended(q, *rest): return [q]\n"
            "class Pipeline:\n    def __call__(self, query, k): return [query]\n    search = __call__\n"
            "pipeline = Pipeline()\n"
            "class Looped:\n    def __call__(self, query, k): return [query]\n"
            "looped = Looped()\nlooped.__wrapped__ = looped\n"
        )
        monkeypatch.chdir(tmp_path)
        yield "functions_of_test"
        sys.modules.pop("functions_of_test", None)

    @pytest.mark.parametrize(
        "name",
        [
            "subprocess:run",
            "subprocess:check_output",
            "timeit:timeit",
            "runpy:run_path",
            "code:interact",
            "shutil:move",
            "os:makedirs",
            "os.path:join",
            "functions_of_test:os.makedirs",
            "functions_of_test:move",
            "functions_of_test:place.joinpath",
            "rag_evaluation_framework.runs.store:write_folder",
            "rag_evaluation_framework.contracts.registry.building:build",
            "functions_of_test:anything",
            "functions_of_test:looped",
        ],
    )
    def test_functions_that_are_not_written_for_a_pipeline_are_refused(self, functions, name):
        for component in (name, {"type": "hybrid", "retrievers": ["bm25", name]}):
            with pytest.raises(ConfigError, match=r"or a Python function of your own with named arguments, .query, k."):
                build("retriever", component)
        with pytest.raises(ConfigError, match=r"a Python function of your own with named arguments, .chunk, number."):
            load_function("chunk_id", name, "chunk, number")

    @pytest.mark.parametrize(
        "name", ["remembered", "wrapped", "open_ended", "pipeline", "pipeline.search", "Pipeline.search"]
    )
    def test_functions_of_ones_own_may_be_decorated_methods_or_objects(self, functions, name):
        if name == "Pipeline.search":  # its first argument is the object
            with pytest.raises(ConfigError, match=r"function\(self, query, k\) of functions_of_test"):
                build("retriever", f"{functions}:{name}")
        else:
            assert build("retriever", f"{functions}:{name}")("q", 1) == ["q"]
            assert load_function("chunk_id", f"{functions}:{name}", "chunk, number")("q", 1) == ["q"]

    @pytest.mark.parametrize("error", ["TypeError", "KeyError", "SystemExit"])
    def test_a_class_whose_parameters_cannot_be_read_is_refused(self, tmp_path, monkeypatch, error):
        (tmp_path / "unreadable_of_test.py").write_text(
            "import rag_evaluation_framework as rag\n"
            "class Meta(type(rag.Chunker)):\n    @property\n"
            f"    def __signature__(cls): raise {error}\n"
            "class Chunks(rag.Chunker, metaclass=Meta):\n    def chunk(self, text): return [text]\n"
        )
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ConfigError, match=f"unreadable_of_test:Chunks': its signature cannot be read: {error}"):
            build("chunker", "unreadable_of_test:Chunks")
        sys.modules.pop("unreadable_of_test")

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chunker"])
    def test_a_part_of_another_kind_is_refused_before_it_is_made_and_named(self, hostile, kind):
        with pytest.raises(
            ConfigError, match=f"{kind} '.*:Chunks' is a subclass of Chunker; expected (a subclass|an obj)"
        ):
            build(kind, "hostile_parts_of_test:Chunks")
        assert not hostile.exists()

    @pytest.mark.parametrize(
        ("kind", "component"),
        [
            ("chunker", {"type": "semantic", "embedder": "subprocess:Popen:args=touch mark"}),
            ("embedder", {"type": "cached", "embedder": {"type": "hostile_parts_of_test:Run"}}),
            ("retriever", {"type": "vector-rag", "vectorStore": "hostile_parts_of_test:Run"}),
            ("retriever", {"type": "vector-rag", "Chunker": "hostile_parts_of_test:touch"}),
            ("retriever", {"type": "hybrid", "retrievers": ["bm25", "hostile_parts_of_test:Chunks"]}),
            ("retriever", {"type": "reranked", "retriever": "bm25", "reranker": "hostile_parts_of_test:touch"}),
            ("retriever", {"type": "reranked", "retriever": "os:system", "reranker": "cohere"}),
        ],
        ids=str,
    )
    def test_components_in_components_pass_the_same_door(self, hostile, kind, component):
        with pytest.raises(ConfigError, match="expected a subclass of"):
            build(kind, component)
        assert not hostile.exists()

    def test_a_plug_in_is_held_to_its_contract(self, hostile, plug_ins):
        plug_ins(chunker={"bad": "hostile_parts_of_test:Run"}, embedder={"bad": "hostile_parts_of_test:Chunks"})
        for kind in ("chunker", "embedder"):
            with pytest.raises(ConfigError, match=r"'bad' is (the class|a subclass of) \w+; expected a subclass of"):
                build(kind, "bad")
        assert not hostile.exists()

    @each(
        ("kind", "component", "named"),
        [
            *((kind, "hostile_parts_of_test:Chunks", kind) for kind in KINDS),
            *((kind, {"type": "hostile_parts_of_test:touch"}, kind) for kind in KINDS),
            (
                "retriever",
                {"type": "vector-rag", "embedder": {"type": "cached", "embedder": "hostile_parts_of_test:Run"}},
                "embedder",
            ),
            ("retriever", {"type": "hybrid", "retrievers": ["bm25", {"type": "hostile_parts_of_test:x"}]}, "retriever"),
        ],
    )
    def test_without_imports_nothing_of_ones_own_is_even_imported(self, hostile, kind, component, named):
        with pytest.raises(ConfigError, match=f"{named} 'hostile.*' names your own code, and --no-import"):
            build(kind, component, imports=False)
        assert "hostile_parts_of_test" not in sys.modules

    @pytest.mark.parametrize("name", ["json", "rich", "rag_evaluation_framework"])
    def test_a_module_of_the_working_directory_shadows_nothing_that_is_installed(self, hostile, tmp_path, name):
        (tmp_path / f"{name}.py").write_text(f"open({str(hostile)!r}, 'w')\n")
        sys.path[:] = [entry for entry in sys.path if entry not in ("", str(tmp_path))]
        code = (
            "import rag_evaluation_framework.contracts.registry.loading as loading\n"
            f"print(loading.load_attribute('{name}:__name__'), loading.sys.path[-1] == {str(tmp_path)!r})"
        )
        environment = {**os.environ, "PYTHONPATH": str(Path(rag.__file__).parents[1]), "PYTHONSAFEPATH": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == f"{name} True\n"
        assert not hostile.exists()

    def test_a_module_whose_name_begins_like_ours_is_ones_own(self, tmp_path, monkeypatch):
        (tmp_path / "rag_evaluation_framework_x.py").write_text("def search(query, k): return []\n")
        monkeypatch.chdir(tmp_path)
        assert build("retriever", "rag_evaluation_framework_x:search")("q", 1) == []
        sys.modules.pop("rag_evaluation_framework_x")

    def test_a_plug_in_whose_package_is_gone_is_not_looked_for_in_the_working_directory(self, plug_ins, hostile):
        plug_ins(chunker={"gone": "hostile_parts_of_test:Chunks"})
        sys.path[:] = [entry for entry in sys.path if entry not in ("", str(Path.cwd()))]
        with pytest.raises(ConfigError, match="cannot be imported"):
            build("chunker", "gone")
