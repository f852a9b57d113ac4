import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import registry
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry import KINDS, build, components, describe, load, load_attribute, load_function

OWN_PARTS = """
from dataclasses import dataclass
import rag_evaluation_framework as rag

@dataclass(frozen=True)
class Lines(rag.Chunker):
    skip_blank: bool = True
    def chunk(self, text):
        return text.splitlines()

class Holder:
    Lines = Lines

def search(query, k):
    return [query] * k
"""

# Parameters that have no default.
REQUIRED = {
    "cached": {"embedder": "sentence-transformer"},
    "cross-encoder": {"model": "a/model"},
    "late-interaction": {"embedder": "rag_evaluation_framework.testing:HashingEmbedder"},
    "semantic": {"embedder": "lsa"},
    "reranked": {
        "retriever": "bm25",
        "reranker": {"type": "late-interaction", "embedder": "rag_evaluation_framework.testing:HashingEmbedder"},
    },
}


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    components.cache_clear()
    yield
    components.cache_clear()


@pytest.fixture
def own_parts(tmp_path, monkeypatch):
    """A module of one's own in the working directory."""
    (tmp_path / "own_parts_of_test.py").write_text(OWN_PARTS)
    monkeypatch.chdir(tmp_path)
    yield "own_parts_of_test"
    sys.modules.pop("own_parts_of_test", None)


@pytest.fixture
def plug_ins(monkeypatch):
    """Say which entry points are installed: `plug_ins(chunker={"name": "module:Class"})`."""

    def install(**by_kind):
        def entry_points(*, group):
            kind = group.removeprefix("rag_evaluation_framework.")
            return [EntryPoint(name, value, group) for name, value in by_kind.get(kind, {}).items()]

        monkeypatch.setattr(registry, "entry_points", entry_points)
        monkeypatch.syspath_prepend(Path.cwd())  # what is installed can be imported
        components.cache_clear()

    return install


class TestBuildFromText:
    def test_a_name_gives_the_part_with_its_defaults(self):
        assert build("chunker", "recursive-character") == rag.RecursiveCharacterChunker()
        assert build("metric", "span_recall") == rag.SpanRecall()

    def test_parameters_follow_the_name(self):
        chunker = build("chunker", "recursive-character:chunk_size=400, overlap=50")
        assert chunker == rag.RecursiveCharacterChunker(chunk_size=400, overlap=50)

    def test_values_are_read_as_json_and_else_as_text(self):
        chunker = build("chunker", "fixed-token:tokens=50,tokenizer=o200k_base")
        assert chunker == rag.FixedTokenChunker(tokens=50, tokenizer="o200k_base")
        assert build("retriever", "bm25:k1=0.9,b=0.4") == rag.BM25Retriever(k1=0.9, b=0.4)
        assert build("retriever", "bm25:language=german") == rag.BM25Retriever(language="german")
        assert build("retriever", "bm25:language=null") == rag.BM25Retriever(language=None)

    def test_a_text_with_an_equals_sign_in_its_value_is_read(self, own_parts):
        assert build("chunker", "fixed-token:tokenizer=a=b") == rag.FixedTokenChunker(tokenizer="a=b")

    def test_own_parts_are_written_with_their_module(self, own_parts):
        chunker = build("chunker", f"{own_parts}:Lines")
        assert type(chunker).__name__ == "Lines"
        assert build("chunker", f"{own_parts}:Lines:skip_blank=false").skip_blank is False

    def test_own_functions_are_returned_as_they_are(self, own_parts):
        search = build("retriever", f"{own_parts}:search")
        assert search("q", 2) == ["q", "q"]

    def test_a_function_takes_no_parameters(self, own_parts):
        with pytest.raises(ConfigError, match="is not a class and takes no parameters, got speed"):
            build("retriever", f"{own_parts}:search:speed=2")

    def test_attributes_of_attributes_are_found(self, own_parts):
        assert type(build("chunker", f"{own_parts}:Holder.Lines")).__name__ == "Lines"

    def test_what_is_no_parameter_is_refused(self):
        with pytest.raises(ConfigError, match="expected parameter=value, got 'big'"):
            build("chunker", "recursive-character:big")

    def test_a_parameter_given_twice_is_refused(self):
        with pytest.raises(ConfigError, match="chunk_size"):
            build("chunker", "recursive-character:chunk_size=100,chunk_size=200")


class TestBuildFromMapping:
    def test_the_type_is_the_name(self):
        assert build("chunker", {"type": "fixed-token", "tokens": 7}) == rag.FixedTokenChunker(tokens=7)

    def test_parts_can_be_nested(self):
        retriever = build(
            "retriever",
            {
                "type": "vector-rag",
                "chunker": {"type": "recursive-character", "chunk_size": 99},
                "embedder": "lsa:dimensions=8",
                "vector_store": None,
                "batch_size": 3,
            },
        )
        assert retriever == rag.VectorRAGRetriever(
            chunker=rag.RecursiveCharacterChunker(chunk_size=99), embedder=rag.LsaEmbedder(dimensions=8), batch_size=3
        )

    @pytest.mark.parametrize(
        ("given", "wanted"),
        [
            (
                {"type": "recursive-character", "chunkSize": 90, "chunkOverlap": 9},
                rag.RecursiveCharacterChunker(chunk_size=90, overlap=9),
            ),
            ({"type": "fixed-token", "tokensPerChunk": 9}, rag.FixedTokenChunker(tokens=9)),
            ({"type": "fixed-token", "tokens_per_chunk": 9}, rag.FixedTokenChunker(tokens=9)),
        ],
    )
    def test_parameters_of_typescript_configurations_are_read(self, given, wanted):
        assert build("chunker", given) == wanted

    @pytest.mark.parametrize("other", ["chunkSize", "chunk-size"])
    def test_two_spellings_of_one_parameter_are_refused(self, other):
        with pytest.raises(ConfigError):
            build("chunker", {"type": "recursive-character", "chunk_size": 100, other: 200})

    def test_a_list_of_parts_is_written_under_the_plural_of_its_kind(self):
        retrievers = ["bm25:k1=0.9", {"type": "vector-rag", "embedder": "lsa:dimensions=8"}]
        hybrid = build("retriever", {"type": "hybrid", "retrievers": retrievers, "weights": [0.3, 0.7], "rrfK": 10})
        assert hybrid == rag.HybridRetriever(
            (rag.BM25Retriever(k1=0.9), rag.VectorRAGRetriever(embedder=rag.LsaEmbedder(8))), (0.3, 0.7), rrf_k=10
        )

    @pytest.mark.parametrize("retrievers", ["bm25", {"type": "bm25"}, [], None, ["bm26"], [{"type": "lsa"}], 7])
    def test_what_is_no_list_of_parts_is_refused(self, retrievers):
        with pytest.raises(ConfigError):
            build("retriever", {"type": "hybrid", "retrievers": retrievers})

    def test_lists_become_tuples(self):
        chunker = build("chunker", {"type": "recursive-character", "separators": ["\n", " "]})
        assert chunker.separators == ("\n", " ")

    def test_the_mapping_is_not_changed(self):
        given = {"type": "fixed-token", "tokens": 7}
        build("chunker", given)
        assert given == {"type": "fixed-token", "tokens": 7}

    @pytest.mark.parametrize("given", [{}, {"tokens": 7}, {"type": 5}, {"type": None}])
    def test_a_mapping_without_a_type_is_refused_with_the_types(self, given):
        with pytest.raises(
            ConfigError,
            match=r"chunker: expected a 'type', one of fixed-token, markdown-header, recursive-character",
        ):
            build("chunker", given)


class TestErrors:
    def test_an_unknown_name_is_refused_with_those_that_exist(self):
        message = r"chunker 'semantik' is unknown; did you mean semantic\? there are fixed-token, .*; .*module"
        with pytest.raises(ConfigError, match=message):
            build("chunker", "semantik")

    @pytest.mark.parametrize(
        ("kind", "name", "meant"),
        [
            ("chunker", "recursive_charater", "recursive-character"),
            ("retriever", "BM25", "bm25"),
            ("retriever", "vectorrag:k=5", None),
            ("metric", "nDCG", "ndcg"),
            ("metric", "NDCG", "ndcg"),
            ("metric", "SpanRecall", "span_recall"),
            ("metric", "R", "recall"),
            ("metric", "P", "precision"),
            ("metric", "RR", "mrr"),
            ("metric", "AP", "map"),
            ("metric", "Success", "hit"),
            ("metric", "Rprec", "r_precision"),
            ("metric", "zzzz", None),
            ("chunker", "R", None),
        ],
    )
    def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(self, kind, name, meant):
        with pytest.raises(ConfigError) as caught:
            build(kind, name)
        assert (f"is unknown; did you mean {meant}? " in str(caught.value)) == (meant is not None)
        assert meant is not None or "did you mean" not in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "meant"), [("span_recall@5", None), ("nDCG@10", "ndcg"), ("span_recal@50ch", "span_recall")]
    )
    def test_a_metric_with_a_cutoff_is_told_where_cutoffs_are_given(self, name, meant):
        with pytest.raises(ConfigError) as caught:
            build("metric", name)
        hint = f"did you mean {meant}? " if meant else ""
        wanted = f"metric '{name}' is unknown; {hint}a metric is named without its cutoff, which k and budgets give; "
        assert str(caught.value).startswith(wanted)

    def test_names_belong_to_a_kind(self):
        with pytest.raises(ConfigError, match="retriever 'fixed-token' is unknown"):
            build("retriever", "fixed-token")

    def test_an_unknown_parameter_is_refused_with_those_that_exist(self):
        message = "no parameter 'chunk_sise'; it has chunk_size, overlap, separators, length, separator_at$"
        with pytest.raises(ConfigError, match=message):
            build("chunker", "recursive-character:chunk_sise=5")

    def test_private_state_is_no_parameter(self):
        with pytest.raises(ConfigError, match=r"has no parameter '_index'; it has chunker, k1, b, language$"):
            build("retriever", {"type": "bm25", "_index": None})

    def test_a_part_without_parameters_says_so(self):
        with pytest.raises(ConfigError, match="it has none"):
            build("metric", "span_recall:k=5")

    @pytest.mark.parametrize("size", ["big", "-1", "null", "1.5"])
    def test_an_impossible_value_is_refused(self, size):
        with pytest.raises(ConfigError):
            build("chunker", f"recursive-character:chunk_size={size}")

    def test_a_missing_module_is_named(self):
        with pytest.raises(ConfigError, match="module 'no_such_module' cannot be imported: No module named"):
            build("chunker", "no_such_module:Chunker")

    def test_a_missing_attribute_is_named(self, own_parts):
        with pytest.raises(ConfigError, match=f"module '{own_parts}' has no 'Nothing'"):
            build("chunker", f"{own_parts}:Nothing")

    @pytest.mark.parametrize("reference", [":search", "./search.py:find", "..search:find", "search.:find"])
    def test_what_cannot_be_a_module_is_refused(self, reference):
        with pytest.raises(ConfigError):
            build("retriever", reference)


class TestObjects:
    def test_an_object_is_taken_as_it_is(self):
        chunker = rag.RecursiveCharacterChunker()
        assert build("chunker", chunker) is chunker
        assert build("retriever", len) is len


class TestDescribe:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_built_in_part_can_be_described_and_built_again(self, kind):
        for name in components(kind):
            for module in getattr(load(kind, name), "requires", ()):
                pytest.importorskip(module)
            part = build(kind, {"type": name, **REQUIRED.get(name, {})})
            description = describe(part)
            assert description["type"] == name
            again = build(kind, description)
            assert type(again) is type(part)
            assert describe(again) == description
            assert again == part or "in-memory" in str(description) or kind == "vector_store"  # each store is its own

    @pytest.mark.parametrize(
        "part",
        [
            rag.RecursiveCharacterChunker(90, 10, ("\n", "。"), "cl100k_base"),
            rag.FixedTokenChunker(5, 2, "o200k_base"),
            rag.BM25Retriever(rag.FixedTokenChunker(9), 0.9, 0.4),
            rag.VectorRAGRetriever(rag.RecursiveCharacterChunker(70), rag.LsaEmbedder(8, 3), None, 7),
            rag.HybridRetriever((rag.BM25Retriever(k1=1.2), rag.BM25Retriever()), (1, 0.5), 10, 7),
        ],
        ids=lambda part: type(part).__name__,
    )
    def test_parameters_survive(self, part):
        kind = "retriever" if isinstance(part, rag.Retriever) else "chunker"
        again = build(kind, describe(part))
        assert describe(again) == describe(part)
        assert again == part or replace(again, vector_store=None) == part  # each store is its own

    def test_the_store_is_named_also_where_it_is_the_default_one(self):
        explicit = rag.VectorRAGRetriever(vector_store=rag.InMemoryVectorStore())
        assert describe(rag.VectorRAGRetriever())["vector_store"] == {"type": "in-memory"}
        assert describe(rag.VectorRAGRetriever()) == describe(explicit)
        assert describe(rag.HybridRetriever())["retrievers"][1]["vector_store"] == {"type": "in-memory"}
        assert rag.VectorRAGRetriever().name == "VectorRAGRetriever"

    def test_a_record_is_plain_data(self):
        retriever = rag.VectorRAGRetriever(vector_store=rag.InMemoryVectorStore())
        assert describe(retriever) == {
            "type": "vector-rag",
            "chunker": {
                "type": "recursive-character",
                "chunk_size": 800,
                "overlap": 0,
                "separators": ["\n\n", "\n", ".", "?", "!", " "],
                "length": "characters",
                "separator_at": "end",
            },
            "embedder": {"type": "lsa", "dimensions": 128, "seed": 0},
            "vector_store": {"type": "in-memory"},
            "batch_size": 256,
        }

    def test_own_parts_are_described_by_their_module(self, own_parts):
        part = build("chunker", f"{own_parts}:Lines:skip_blank=false")
        assert describe(part) == {"type": f"{own_parts}:Lines", "skip_blank": False}
        assert build("chunker", describe(part)) == part

    def test_a_part_of_the_same_class_name_is_not_taken_for_a_built_in_one(self):
        class BM25Retriever(rag.BM25Retriever):
            pass

        assert describe(BM25Retriever())["type"].startswith(__name__)

    def test_functions_are_named(self):
        described = describe(rag.RecursiveCharacterChunker(length=str.split))
        assert described["length"].endswith(":str.split")

    def test_unknown_objects_are_named_by_their_class(self):
        described = describe(rag.FixedTokenChunker(tokenizer=object()))
        assert described["tokenizer"] == "builtins:object"

    def test_a_wrapped_chunker_is_described_too(self):
        described = describe(rag.ChunkerPositionAdapter(rag.RecursiveCharacterChunker(chunk_size=123)))
        assert "123" in str(described)


class TestTable:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_entry_leads_to_a_class_of_its_kind(self, kind):
        base = {
            "chunker": rag.Chunker,
            "embedder": rag.Embedder,
            "vector_store": rag.VectorStore,
            "reranker": rag.Reranker,
            "retriever": rag.Retriever,
            "metric": rag.Metric,
        }[kind]
        names = components(kind)
        assert names
        assert list(names) == sorted(names)
        assert all(issubclass(load(kind, name), base) for name in names)

    def test_metrics_are_listed_under_the_names_of_their_scores(self):
        assert [build("metric", name).name for name in components("metric")] == list(components("metric"))


class TestPlugIns:
    def test_a_plug_in_is_used_like_a_built_in_part(self, plug_ins, own_parts):
        plug_ins(chunker={"lines": f"{own_parts}:Lines"})
        assert "lines" in components("chunker")
        assert "fixed-token" in components("chunker")
        assert build("chunker", "lines:skip_blank=false").skip_blank is False
        assert "lines" not in components("retriever")

    def test_a_plug_in_is_not_imported_before_it_is_chosen(self, plug_ins, own_parts):
        plug_ins(chunker={"lines": f"{own_parts}:Lines"})
        components("chunker")
        build("chunker", "fixed-token")
        assert own_parts not in sys.modules

    def test_a_broken_plug_in_leaves_the_others_usable(self, plug_ins):
        plug_ins(chunker={"broken": "no_such_module:Thing"})
        assert list(components("chunker")) == [
            "broken",
            "fixed-token",
            "markdown-header",
            "recursive-character",
            "semantic",
            "sentence",
        ]
        assert build("chunker", "fixed-token") == rag.FixedTokenChunker()

    def test_choosing_a_broken_plug_in_is_an_error_that_names_it(self, plug_ins, own_parts):
        plug_ins(chunker={"broken": "no_such_module:Thing", "stale": f"{own_parts}:Gone"})
        with pytest.raises(ConfigError, match="no_such_module"):
            build("chunker", "broken")
        with pytest.raises(ConfigError, match=f"{own_parts}.*has no 'Gone'"):
            build("chunker", "stale")

    def test_a_plug_in_cannot_take_the_name_of_a_built_in_part(self, plug_ins, own_parts):
        plug_ins(chunker={"fixed-token": f"{own_parts}:Lines"})
        with pytest.warns(UserWarning, match=f"plug-in '{own_parts}:Lines' calls itself 'fixed-token', which is taken"):
            assert build("chunker", "fixed-token") == rag.FixedTokenChunker()

    def test_the_warning_comes_once(self, plug_ins, own_parts):
        plug_ins(chunker={"fixed-token": f"{own_parts}:Lines"})
        with pytest.warns(UserWarning, match="taken"):
            components("chunker")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            components("chunker")


class TestLoadAttribute:
    def test_modules_of_the_working_directory_are_found(self, own_parts, tmp_path):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", str(tmp_path))]
        assert load_attribute(f"{own_parts}:search")("q", 1) == ["q"]

    def test_installed_modules_are_found(self):
        assert load_attribute("json:dumps") is __import__("json").dumps

    @pytest.mark.parametrize("reference", ["json", "json:", "json:no.such", "json:dumps.no"])
    def test_a_reference_without_a_target_is_refused(self, reference):
        with pytest.raises(ConfigError, match=r"has no|expected module:attribute"):
            load_attribute(reference)


def test_what_a_part_does_not_show_stays_out_of_names_and_records():
    @dataclass(frozen=True)
    class Paid(rag.Embedder):
        api_key: str = field(default="", repr=False)

        @property
        def dimension(self):
            return 1

        def embed(self, texts):
            raise NotImplementedError

    part = Paid("sk-secret")
    assert "sk-secret" not in part.name + str(describe(part)) + repr(part)


def test_a_refused_parameter_that_a_class_keeps_out_of_its_repr_is_not_shown(tmp_path, monkeypatch):
    (tmp_path / "secret_parts_of_test.py").write_text(
        "from dataclasses import dataclass, field\n"
        "from rag_evaluation_framework import Embedder, Retriever\n"
        "class Strict:\n"
        "    def __post_init__(self):\n"
        "        if self.x > 8: raise ValueError('bad x')\n"
        "@dataclass(frozen=True)\n"
        "class E(Strict, Embedder):\n"
        "    key: str = field(default='', repr=False)\n"
        "    x: int = 0\n"
        "    dimension = 1\n"
        "    def embed(self, texts): ...\n"
        "@dataclass(frozen=True)\n"
        "class R(Strict, Retriever):\n"
        "    embedder: Embedder\n"
        "    x: int = 0\n"
        "    def index(self, corpus): ...\n"
        "    def retrieve(self, query, k): ...\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        build("embedder", "secret_parts_of_test:E:key=TOPSECRET,x=9")
    assert str(caught.value) == "embedder 'secret_parts_of_test:E' refuses {'key': '***', 'x': 9}: bad x"
    nested = {"type": "secret_parts_of_test:R", "embedder": "secret_parts_of_test:E:key=TOPSECRET", "x": 9}
    with pytest.raises(ConfigError, match="bad x") as caught:
        build("retriever", nested)
    assert "TOPSECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("component", "said"),
    [
        ({"type": "hybrid", "retrievers": ["bm25", {"type": "nope"}]}, "retrievers[1]: retriever 'nope' is unknown"),
        ({"type": "hybrid", "retrievers": [{"k": 3}]}, "retrievers[0]: retriever: expected a 'type'"),
        (
            {"type": "hybrid", "retrievers": ["bm25", {"type": "bm25", "chunker": "nope"}]},
            "retrievers[1]: chunker 'nope' is unknown",
        ),
    ],
)
def test_an_error_in_a_list_of_components_says_which_of_them_it_is(component, said):
    with pytest.raises(ConfigError) as caught:
        build("retriever", component)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("kind", "component", "message"),
    [
        ("chunker", "semantic", "chunker 'semantic' needs embedder, as in semantic:embedder=..."),
        ("embedder", {"type": "cached"}, "embedder 'cached' needs embedder, as in cached:embedder=..."),
        ("retriever", "reranked", "retriever 'reranked' needs retriever and reranker, as in reranked:retriever=..."),
    ],
)
def test_a_parameter_that_is_needed_is_named(kind, component, message):
    with pytest.raises(ConfigError) as caught:
        build(kind, component)
    assert str(caught.value) == message


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
        with pytest.raises(ConfigError, match=r"expected a subclass of rag_evaluation_framework\.[A-Z]"):
            build(kind, name)
        assert not hostile.exists()

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "retriever"])
    def test_functions_and_finished_objects_are_refused_but_for_retrievers(self, hostile, kind):
        for name in ("touch", "chunks"):
            with pytest.raises(ConfigError, match="expected a subclass of"):
                build(kind, f"hostile_parts_of_test:{name}")
        assert not hostile.exists()

    def test_a_function_for_a_retriever_is_looked_up_and_not_called(self, hostile):
        assert build("retriever", "hostile_parts_of_test:touch").__name__ == "touch"
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
            "rag_evaluation_framework.results.store:write_folder",
            "rag_evaluation_framework.registry:build",
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

    def test_the_refusal_says_whose_function_it_is(self):
        with pytest.raises(ConfigError, match=r"'timeit:timeit' is of type function\(.*\) of the standard library; "):
            build("retriever", "timeit:timeit")

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
        with pytest.raises(ConfigError, match=f"{kind} '.*:Chunks' is the class of a Chunker; expected a subclass"):
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
            ("retriever", {"type": "reranked", "retriever": "os:system", "reranker": "late-interaction"}),
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
            with pytest.raises(ConfigError, match=r"'bad' is the class .*; expected a subclass of"):
                build(kind, "bad")
        assert not hostile.exists()

    @pytest.mark.parametrize("kind", KINDS)
    def test_without_imports_nothing_of_ones_own_is_even_imported(self, hostile, kind):
        for name in ("hostile_parts_of_test:Chunks", {"type": "hostile_parts_of_test:touch"}):
            with pytest.raises(ConfigError, match=f"{kind} 'hostile.*' names your own code, and --no-import"):
                build(kind, name, imports=False)
        assert "hostile_parts_of_test" not in sys.modules

    def test_without_imports_components_in_components_are_not_imported_either(self, hostile):
        for component in (
            {"type": "vector-rag", "embedder": {"type": "cached", "embedder": "hostile_parts_of_test:Run"}},
            {"type": "hybrid", "retrievers": ["bm25", {"type": "hostile_parts_of_test:touch"}]},
        ):
            with pytest.raises(ConfigError, match="--no-import"):
                build("retriever", component, imports=False)
        assert "hostile_parts_of_test" not in sys.modules

    def test_without_imports_built_in_parts_and_plug_ins_are_there(self, plug_ins, own_parts):
        plug_ins(chunker={"lines": f"{own_parts}:Lines"})
        assert build("retriever", {"type": "bm25", "chunker": "fixed-token"}, imports=False)
        assert build("chunker", "lines:skip_blank=false", imports=False).skip_blank is False

    @pytest.mark.parametrize("name", ["json", "rich", "rag_evaluation_framework"])
    def test_a_module_of_the_working_directory_shadows_nothing_that_is_installed(self, hostile, tmp_path, name):
        (tmp_path / f"{name}.py").write_text(f"open({str(hostile)!r}, 'w')\n")
        sys.path[:] = [entry for entry in sys.path if entry not in ("", str(tmp_path))]
        code = (
            "import rag_evaluation_framework.registry as registry\n"
            f"print(registry.load_attribute('{name}:__name__'), registry.sys.path[-1] == {str(tmp_path)!r})"
        )
        environment = {**os.environ, "PYTHONPATH": str(Path(registry.__file__).parents[1]), "PYTHONSAFEPATH": "1"}
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


def test_a_parameter_on_the_command_line_is_json_only_if_it_is_strict():
    with pytest.raises(ConfigError, match="expected a list of texts"):
        build("chunker", f"recursive-character:separators={'[' * 100_000}")
    with pytest.raises(ConfigError, match="k1"):
        build("retriever", "bm25:k1=NaN")


@pytest.mark.parametrize(
    "error", [KeyError("x"), AttributeError("x"), OverflowError("x"), RuntimeError("x"), OSError(5, "x")]
)
def test_whatever_a_constructor_raises_is_told_with_its_parameters(monkeypatch, error):
    @dataclass(frozen=True)
    class Failing(rag.Chunker):
        size: int = 1

        def __post_init__(self):
            raise error

        def chunk(self, text):
            return [text]

    monkeypatch.setattr(registry, "load", lambda *_, **__: Failing)
    problem = rf"^chunker 'own:Failing' cannot be made of {{'size': 2}}: {type(error).__name__}: .*x"
    with pytest.raises(ConfigError, match=problem):
        build("chunker", {"type": "own:Failing", "size": 2})


def test_a_name_of_any_length_is_refused_in_short():
    with pytest.raises(ConfigError, match="is unknown") as caught:
        build("metric", "x" * 100_000)
    assert len(str(caught.value)) < 1_500


def test_a_refused_parameter_that_cannot_be_shown_is_told_too(monkeypatch):
    @dataclass(frozen=True)
    class Failing(rag.Chunker):
        size: object

        def __post_init__(self):
            raise ValueError(f"{self.size}")

        def chunk(self, text):
            return [text]

    endless = []
    for _ in range(100_000):
        endless = [endless]
    with pytest.raises(ConfigError, match=r"max_level=<list whose repr raises RecursionError>"):
        build("chunker", {"type": "markdown-header", "max_level": endless})
    monkeypatch.setattr(registry, "load", lambda *_, **__: Failing)
    with pytest.raises(ConfigError, match=r"cannot be made of {'size': <list whose repr raises RecursionError>}"):
        build("chunker", {"type": "own:Failing", "size": endless})


@pytest.mark.parametrize("name", [{}, [], None, 5])
def test_a_name_that_is_no_text_is_refused(name):
    with pytest.raises(ConfigError, match=r"^chunker .*: expected a name"):
        registry.load("chunker", name)


@pytest.mark.parametrize("kind", [{}, None, "chunkers"])
@pytest.mark.parametrize("use", [registry.load, build])
def test_a_kind_that_there_is_not_is_refused(use, kind):
    with pytest.raises(ConfigError, match=r"is no kind of component; expected one of chunker, "):
        use(kind, "sentence")
