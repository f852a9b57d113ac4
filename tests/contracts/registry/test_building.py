from copy import deepcopy
from dataclasses import dataclass

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import (
    FunctionChunker,
    FunctionEmbedder,
    FunctionReranker,
    FunctionRetriever,
    HybridRetriever,
    LsaEmbedder,
)
from rag_evaluation_framework.contracts.registry import building
from rag_evaluation_framework.contracts.registry.building import build
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.trackers import FunctionSink
from support.each import each

A_TYPE = "^chunker: expected a 'type', one of fixed-token, markdown-header, recursive-character"


class TestBuildFromText:
    def test_own_parts_are_written_with_their_module_and_functions_and_objects_are_returned_as_they_are(
        self, own_parts
    ):
        for reference in (f"{own_parts}:Lines", f"{own_parts}:Holder.Lines"):  # attributes of attributes
            assert type(build("chunker", reference)).__name__ == "Lines"
        assert build("chunker", f"{own_parts}:Lines:skip_blank=false").skip_blank is False
        assert build("retriever", f"{own_parts}:search")("q", 2) == ["q", "q"]
        chunker = rag.RecursiveCharacterChunker()
        assert build("chunker", chunker) is chunker
        assert build("retriever", len) is len

    def test_a_secret_with_a_comma_is_not_shown(self):
        with pytest.raises(ConfigError, match="expected parameter=value") as refused:
            build("vector_store", "qdrant:url=http://localhost,api_key=zq81k1,zq81k2")
        assert "zq81" not in str(refused.value)


class TestBuildFromMapping:
    @each(
        ("kind", "given", "made"),
        [
            # Behind the name of a text, parameters are JSON and else texts.
            ("chunker", "recursive-character", rag.RecursiveCharacterChunker()),
            ("metric", "span_recall", rag.SpanRecall()),
            (
                "chunker",
                "recursive-character:chunk_size=400, overlap=50",
                rag.RecursiveCharacterChunker(chunk_size=400, overlap=50),
            ),
            (
                "chunker",
                "fixed-token:tokens=50,tokenizer=o200k_base",
                rag.FixedTokenChunker(tokens=50, tokenizer="o200k_base"),
            ),
            ("chunker", "fixed-token:tokenizer=a=b", rag.FixedTokenChunker(tokenizer="a=b")),
            ("retriever", "bm25:k1=0.9,b=0.4", rag.BM25Retriever(k1=0.9, b=0.4)),
            ("retriever", "bm25:language=german", rag.BM25Retriever(language="german")),
            ("retriever", "bm25:language=null", rag.BM25Retriever(language=None)),
            # A mapping.
            ("chunker", {"type": "fixed-token", "tokens": 7}, rag.FixedTokenChunker(tokens=7)),
            # as in configurations of TypeScript
            ("chunker", {"type": "fixed-token", "tokensPerChunk": 9}, rag.FixedTokenChunker(tokens=9)),
            ("chunker", {"type": "fixed-token", "tokens_per_chunk": 9}, rag.FixedTokenChunker(tokens=9)),
            (
                "chunker",
                {"type": "recursive-character", "chunkSize": 90, "chunkOverlap": 9},
                rag.RecursiveCharacterChunker(chunk_size=90, overlap=9),
            ),
            # lists become tuples
            (
                "chunker",
                {"type": "recursive-character", "separators": ["\n", " "]},
                rag.RecursiveCharacterChunker(separators=("\n", " ")),
            ),
            (
                "retriever",
                {
                    "type": "vector-rag",
                    "chunker": {"type": "recursive-character", "chunk_size": 99},
                    "embedder": "lsa:dimensions=8",
                    "vector_store": None,
                    "batch_size": 3,
                },
                rag.VectorRAGRetriever(rag.RecursiveCharacterChunker(chunk_size=99), LsaEmbedder(8), batch_size=3),
            ),
            # a list of parts under the plural of their kind
            (
                "retriever",
                {
                    "type": "hybrid",
                    "retrievers": ["bm25:k1=0.9", {"type": "vector-rag", "embedder": "lsa:dimensions=8"}],
                    "weights": [0.3, 0.7],
                    "rrfK": 10,
                },
                HybridRetriever(
                    (rag.BM25Retriever(k1=0.9), rag.VectorRAGRetriever(embedder=LsaEmbedder(8))), (0.3, 0.7), rrf_k=10
                ),
            ),
        ],
    )
    def test_parameters_and_parts_are_those_of_the_text_or_mapping_which_is_not_changed(self, kind, given, made):
        before = deepcopy(given)
        assert build(kind, given) == made
        assert given == before


class TestErrors:
    @each(
        ("kind", "name", "meant"),
        [
            ("chunker", "recursive_charater", "recursive-character"),
            ("retriever", "BM25", "bm25"),
            ("retriever", "vectorrag:k=5", "vector-rag"),
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
            ("chunker", "semantik\0@5", "semantic"),
            ("metric", "x" * 100_000, None),
        ],
    )
    def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(self, kind, name, meant):
        with pytest.raises(ConfigError, match="is unknown; ") as caught:
            build(kind, name)
        assert (f"is unknown; did you mean {meant}? " in str(caught.value)) == (meant is not None)
        assert "without its cutoff" not in str(caught.value)
        assert meant is not None or "did you mean" not in str(caught.value)
        assert len(str(caught.value)) < 1_500

    @pytest.mark.parametrize(
        ("name", "meant"), [("span_recall@5", None), ("nDCG@10", "ndcg"), ("span_recal@50ch", "span_recall")]
    )
    def test_a_metric_with_a_cutoff_is_told_where_cutoffs_are_given(self, name, meant):
        with pytest.raises(ConfigError) as caught:
            build("metric", name)
        hint = f"did you mean {meant}? " if meant else ""
        wanted = f"metric '{name}' is unknown; {hint}a metric is named without its cutoff, which k and budgets give; "
        assert str(caught.value).startswith(wanted)

    @pytest.mark.usefixtures("own_parts")
    @each(
        ("kind", "given", "message"),
        [
            ("chunker", "semantik", r"is unknown; did you mean semantic\? there are fixed-token, .*; one of .*module"),
            ("retriever", "fixed-token", "retriever 'fixed-token' is unknown"),
            (
                "chunker",
                "recursive-character:chunk_sise=5",
                "no parameter 'chunk_sise'; it has chunk_size, overlap, separators, length, separator_at$",
            ),
            ("retriever", {"type": "bm25", "_index": None}, "no parameter '_index'; it has chunker, k1, b, language$"),
            ("metric", "span_recall:k=5", "it has none"),
            ("chunker", "no_such_module:C", "'no_such_module' cannot be imported: No module named .*; looked for in /"),
            ("chunker", "json:dunps", r"module 'json' has no 'dunps'; did you mean 'dumps'\?"),
            ("chunker", "json.py:dumps", r"expected a module, no file; did you mean json:dumps\?"),
            ("retriever", "own.parts.search", "one of your own is written own.parts:search$"),
            ("retriever", "own.py", "one of your own is written module:attribute$"),
            ("retriever", ":search", "expected module:attribute, such as my_module:search$"),
            ("retriever", "./search.py:find", "expected module:attribute, such as my_module:search$"),
            ("retriever", "..search:find", "expected module:attribute, such as my_module:search$"),
            ("retriever", "search.:find", "expected module:attribute, such as my_module:search$"),
            ("retriever", "timeit:timeit", r"is of type function\(.*\) of the standard library; "),
            *(
                (
                    "chunker",
                    given,
                    A_TYPE,
                )
                for given in ({}, {"tokens": 7}, {"type": 5}, {"type": None})
            ),
            ("chunker", "own_parts_of_test:Nothing", "module 'own_parts_of_test' has no 'Nothing'"),
            (
                "retriever",
                "own_parts_of_test:Finder",
                r"is the class Finder; .*, or an instance of a class with retrieve\(",
            ),
            ("retriever", "own_parts_of_test:search:speed=2", "is not a class and takes no parameters, got speed"),
            # An impossible value.
            ("chunker", "recursive-character:chunk_size=big", "chunk_size='big'; expected a whole number"),
            ("chunker", "recursive-character:chunk_size=-1", "chunk_size=-1; expected a whole number of at least 1$"),
            ("chunker", "recursive-character:chunk_size=null", "chunk_size=None; expected a whole number"),
            ("chunker", "recursive-character:chunk_size=1.5", "chunk_size=1.5; expected a whole number"),
            ("chunker", "recursive-character:chunk_size=100,chunk_size=200", "': chunk_size is given twice$"),
            ("chunker", "recursive-character:big", "expected parameter=value behind the name and each comma"),
            ("chunker", {"type": "recursive-character", "chunk_size": 1, "chunkSize": 2}, "twice among .*, chunkSize$"),
            ("chunker", "recursive-character:chunk_size=1,chunkSize=2", "twice among chunk_size, chunkSize$"),
            ("chunker", {"type": "recursive-character", "chunk-size": 200}, "has no parameter 'chunk-size'; it has"),
            ("retriever", {"type": "hybrid", "retrievers": "bm25"}, "retrievers='bm25'; expected a list"),
            (
                "retriever",
                {"type": "hybrid", "retrievers": {"type": "bm25"}},
                "bm25'}; expected a list of at least one retr",
            ),
            ("retriever", {"type": "hybrid", "retrievers": []}, r"retrievers=\[\]; expected a list of at least one"),
            ("retriever", {"type": "hybrid", "retrievers": None}, "retrievers=None; expected a list of at least one"),
            ("retriever", {"type": "hybrid", "retrievers": 7}, "retrievers=7; expected a list of at least one ret"),
            # A parameter that is needed, and an error in a list of components, which says in which of them.
            ("chunker", "semantic", r"^chunker 'semantic' needs embedder, as in semantic:embedder=\.\.\.$"),
            ("embedder", {"type": "cached"}, r"^embedder 'cached' needs embedder, as in cached:embedder=\.\.\.$"),
            (
                "retriever",
                "reranked",
                r"^retriever 'reranked' needs retriever and reranker, as in reranked:retriever=\.{3}$",
            ),
            *(
                ("retriever", {"type": "hybrid", "retrievers": given}, rf"^retrievers\[{said}")
                for given, said in (
                    (["bm26"], r"0\]: retriever 'bm26' is unknown; did you mean bm25\?"),
                    (["bm25", {"type": "lsa"}], r"1\]: retriever 'lsa' is unknown"),
                    ([{"k": 3}], r"0\]: retriever: expected a 'type'"),
                    (["bm25", {"type": "bm25", "chunker": "nope"}], r"1\]: chunker 'nope' is unknown"),
                )
            ),
            # on a command line, values are JSON only if that is strict
            ("chunker", f"recursive-character:separators={'[' * 100_000}", "expected a list of texts"),
            ("retriever", "bm25:k1=NaN", "k1='NaN'; expected a number of at least 0$"),
        ],
    )
    def test_what_does_not_exist_and_an_impossible_value_are_refused_with_what_is_possible(self, kind, given, message):
        with pytest.raises(ConfigError, match=message):
            build(kind, given)


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

    monkeypatch.setattr(building, "load", lambda *_, **__: Failing)
    problem = rf"^chunker 'own:Failing' cannot be made of {{'size': 2}}: {type(error).__name__}: .*x"
    with pytest.raises(ConfigError, match=problem):
        build("chunker", {"type": "own:Failing", "size": 2})


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
    monkeypatch.setattr(building, "load", lambda *_, **__: Failing)
    with pytest.raises(ConfigError, match=r"cannot be made of {'size': <list whose repr raises RecursionError>}"):
        build("chunker", {"type": "own:Failing", "size": endless})


@each("base", [FunctionChunker, FunctionEmbedder, FunctionReranker, FunctionRetriever, FunctionSink])
def test_a_class_derived_from_one_of_functions_has_a_name_of_its_own(base):
    class Mine(base):
        pass

    assert Mine(ask).function is ask
    with pytest.raises(ConfigError, match=r"^(Mine: \w+=)?3 is int; expected "):
        Mine(3)


def ask(*given):
    return []
