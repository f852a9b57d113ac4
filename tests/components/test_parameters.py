"""What components are made of, whichever they are: parameters, names, configurations, and packages that they need."""

import math
import subprocess
import sys
from functools import partial

import httpx
import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import (
    BM25Retriever,
    CohereReranker,
    Corpus,
    FixedTokenChunker,
    OpenAIEmbedder,
    RecursiveCharacterChunker,
    SemanticChunker,
    VectorRAGRetriever,
)
from rag_evaluation_framework.components import (
    CachedEmbedder,
    CohereEmbedder,
    CrossEncoderReranker,
    HybridRetriever,
    LsaEmbedder,
    MarkdownHeaderChunker,
    QdrantVectorStore,
    RerankedRetriever,
    SentenceChunker,
    SentenceTransformerEmbedder,
)
from rag_evaluation_framework.components.chunkers import ChunkerPositionAdapter, position_aware
from rag_evaluation_framework.components.engines import HttpEngine
from rag_evaluation_framework.components.llms import AnthropicClient, LanguageModel
from rag_evaluation_framework.components.retrievers import chunk_corpus, embed_chunks
from rag_evaluation_framework.components.vector_stores import PgVectorStore
from rag_evaluation_framework.contracts.registry.building import build, describe
from rag_evaluation_framework.errors import ConfigError, MissingDependency
from rag_evaluation_framework.testing import FixedRetriever, HashingEmbedder, ReversingReranker
from support.each import each

MODEL = partial(LanguageModel, client=AnthropicClient(), model="m")
ENGINE = partial(HttpEngine, url="http://127.0.0.1:8000")
A_URL = "expected a URL such as"
COLLECTIONS = ("", "ab", "a b c", "../up", "-run", "run-", "a/b", "x" * 201, "größe", 7, None)
TABLES = ("", "a b", "1st", "a-b", "x" * 51, "größe", 'a"; DROP TABLE b; --', 7, None)
RERANKED = partial(RerankedRetriever, retriever=BM25Retriever(), reranker=ReversingReranker())
LANGUAGES = (
    "^BM25Retriever: language=.*arabic, .*english, .*yiddish, or None .*; scripts without spaces, such as Japanese, "
    "are compared by the character whatever the language: the default will do$"
)


IMPOSSIBLE = [
    (
        BM25Retriever,
        "k1",
        ("x", "0.5", None, True, [1], 10**400, -0.1, math.nan, math.inf, np.float32("inf")),
        "^BM25Retriever: k1=.*; expected a number of at least 0$",
    ),
    (
        BM25Retriever,
        "b",
        ("x", "0.5", None, True, [1], 10**400, -0.1, math.nan, 1.1),
        "^BM25Retriever: b=.*; expected a number from 0 to 1$",
    ),
    (BM25Retriever, "language", ("klingon", "japanese", "porter", "English", "en", "", 5, True, ["en"]), LANGUAGES),
    (VectorRAGRetriever, "batch_size", (0, -1, 1.5, True), "at least 1"),
    (HybridRetriever, "retrievers", ((), "bm25", None, BM25Retriever(), {"a": BM25Retriever()}), "expected"),
    (HybridRetriever, "retrievers", ([BM25Retriever], ["bm25"]), "is a class; pass|expected a Retriever"),
    (HybridRetriever, "weights", ((1,), (1, 2, 3), (0, 0), (1, -1), "ab", 0.5), "expected 2 numbers"),
    (HybridRetriever, "weights", ((1, math.nan), (1, math.inf), (1, True)), "expected 2 numbers"),
    (HybridRetriever, "rrf_k", (-1, 1.5), "expected a whole number of at least 0"),
    (HybridRetriever, "depth", (0, True), "expected a whole number of at least 1"),
    (RERANKED, "candidates", (0, 2.5, True), "expected a whole number of at least 1"),
    (RERANKED, "retriever", ("bm25", BM25Retriever, None), "expected a Retriever|is a class; pass"),
    (LsaEmbedder, "seed", (-1, 1.0, "0", None, True, 2**32, 10**400), "seed=.*expected"),
    (LsaEmbedder, "dimensions", (0, -1, 1.5), "dimensions=.*expected"),
    (CachedEmbedder, "embedder", (CachedEmbedder(HashingEmbedder()),), "is cached already; pass the embedder itself"),
    (SentenceTransformerEmbedder, "batch_size", (0, True), "at least 1"),
    (HashingEmbedder, "dimensions", (0, -1, 1.5, True), "HashingEmbedder: dimensions=.*at least 1"),
    (SentenceTransformerEmbedder, "model", ("", None), "expected a name or the path"),
    (CrossEncoderReranker, "model", ("", " ", None, 7), "expected"),
    (partial(CrossEncoderReranker, "a/model"), "batch_size", (0,), "at least 1"),
    (OpenAIEmbedder, "model", ("", None), "^OpenAIEmbedder: model=.*; expected the name of a model"),
    (OpenAIEmbedder, "dimensions", (0,), "^OpenAIEmbedder: dimensions=0; expected a whole number of at least 1"),
    (OpenAIEmbedder, "batch_size", (0,), "^OpenAIEmbedder: batch_size=0; expected"),
    (OpenAIEmbedder, "max_concurrency", (0,), "^OpenAIEmbedder: max_concurrency=0; expected"),
    (
        OpenAIEmbedder,
        "max_retries",
        (-1,),
        "^OpenAIEmbedder: max_retries=-1; expected a whole number of at least 0",
    ),
    (
        OpenAIEmbedder,
        "timeout",
        (0, math.inf, True),
        "^OpenAIEmbedder: timeout=.*: expected seconds, a finite number above 0",
    ),
    (
        OpenAIEmbedder,
        "price_in",
        ("cheap", math.nan, -3, True),
        "^OpenAIEmbedder: price_in=.*; expected a number of",
    ),
    (CohereEmbedder, "batch_size", (97,), "^CohereEmbedder: batch_size=97; Cohere takes at most 96 texts"),
    (CohereEmbedder, "truncate", ("MIDDLE",), "^CohereEmbedder: truncate='MIDDLE'"),
    (CohereEmbedder, "dimensions", (1.5,), "^CohereEmbedder: dimensions=1.5; expected"),
    (CohereReranker, "model", (" ",), "^CohereReranker: model=' '; expected the name of a model"),
    (CohereReranker, "max_tokens_per_doc", (0,), "^CohereReranker: max_tokens_per_doc=0; expected"),
    (CohereReranker, "max_retries", (-1,), "^CohereReranker: max_retries=-1; expected"),
    (CohereReranker, "timeout", ("1",), "^CohereReranker: timeout='1': expected seconds, a finite number above 0"),
    (OpenAIEmbedder, "client", (object(), "sk-text"), "has no 'embeddings'; expected a client of its SDK"),
    (
        OpenAIEmbedder,
        "base_url",
        ("localhost:11434/v1", 5, 0, False, [], httpx.URL("http://127.0.0.1:9")),
        "^base_url=.*; expected an address such as http://127.0.0.1:8000$",
    ),
    (MODEL, "client", (7,), "client=7; expected a client with chat.completions.create, such as OpenAI"),
    (MODEL, "client", (AnthropicClient,), "client=<class .*AnthropicClient.*; expected a client with"),
    (MODEL, "model", (None, " "), "model=.*; expected the name of a model"),
    (MODEL, "structure", ("xml",), "structure='xml'"),
    (MODEL, "structure", ("json_object",), "structure='json_object'; expected 'json_schema' or 'none' with Anthropic"),
    (MODEL, "max_retries", (-1,), "max_retries=-1"),
    (MODEL, "max_tokens", (0, True), "max_tokens="),
    (AnthropicClient, "timeout", (0, -1, math.nan, "1"), "timeout"),
    (ENGINE, "timeout", (0, -1, math.nan, "5", True), "timeout=.*: expected seconds"),
    (ENGINE, "url", ("ftp://127.0.0.1", "127.0.0.1:8000", "http://", " http://127.0.0.1", 7), A_URL),
    (ENGINE, "url", tuple(f"http://127.0.0.1:{port}" for port in ("99999", "0", "80a")), A_URL),
    (ENGINE, "url", tuple(f"http://127.0.0.1{end}" for end in ("\n", "/\0", "/\ud800", f"/{'a' * 70_000}")), A_URL),
    (ENGINE, "url", ("http://[::1", "http://\ud800"), A_URL),
    (ENGINE, "url", tuple(f"http://127.0.0.1/{end}" for end in ("?a=b", "?", "#")), "without [?] and #"),
    (ENGINE, "url", ("http://127.0.0.1\\@example.com", "http://me:pw@127.0.0.1"), "holds a user or a password"),
    (ENGINE, "url", tuple(f"http://{at}" for at in ("example.com", "127.0.0.1.a.com", "10.0.0.1")), "another machine"),
    (rag.ChromaVectorStore, "collection", COLLECTIONS, "expected 3 to 200 characters"),
    (QdrantVectorStore, "collection", COLLECTIONS, "expected 3 to 200 characters"),
    (partial(rag.ChromaVectorStore, host="localhost"), "path", ("db",), "path="),
    (rag.ChromaVectorStore, "port", (0, "8000"), "port="),
    (rag.ChromaVectorStore, "ef_search", (0,), "ef_search="),
    (rag.ChromaVectorStore, "ef_construction", (2.5,), "ef_construction="),
    (rag.ChromaVectorStore, "max_neighbors", (-1,), "max_neighbors="),
    (partial(QdrantVectorStore, url="http://localhost"), "path", ("db",), "path="),
    (QdrantVectorStore, "timeout", (0,), "timeout="),
    (PgVectorStore, "table", TABLES, "expected 1 to 50 characters"),
]


@each(
    ("kind", "name", "value", "said"),
    [(kind, name, value, said) for kind, name, values, said in IMPOSSIBLE for value in values],
)
def test_what_a_parameter_cannot_be_is_refused(kind, name, value, said):
    with pytest.raises(ConfigError, match=said):
        kind(**{name: value})


CHUNKER = (RecursiveCharacterChunker, r"chunker=.*; expected a Chunker, or a function \(text\) -> list of texts")
EMBEDDER = (LsaEmbedder, r"embedder=.*; expected an Embedder, or a function \(texts\) -> vectors")
RERANKER = (CrossEncoderReranker, r"expected a Reranker, or a function \(query, texts\) -> scores")


@each(
    ("enter", "kind", "said"),
    [
        (lambda given: BM25Retriever(chunker=given), *CHUNKER),
        (lambda given: VectorRAGRetriever(chunker=given), *CHUNKER),
        (lambda given: chunk_corpus(Corpus([]), given), *CHUNKER),
        (ChunkerPositionAdapter, *CHUNKER),
        (position_aware, *CHUNKER),
        (lambda given: VectorRAGRetriever(embedder=given), *EMBEDDER),
        (lambda given: SemanticChunker(embedder=given), *EMBEDDER),
        (lambda given: embed_chunks([], given), *EMBEDDER),
        (CachedEmbedder, *EMBEDDER),
        (lambda given: RerankedRetriever(FixedRetriever(), given), *RERANKER),
    ],
)
def test_a_class_and_what_is_neither_a_component_nor_a_function_are_refused_where_they_enter(enter, kind, said):
    role = said.partition("=")[0] if "=" in said[:9] else "reranker"
    with pytest.raises(ConfigError, match=rf"{role}={kind.__name__} is a class; .* instance, {kind.__name__}\(...\)"):
        enter(kind)
    for given in ("sentence", 5, None):
        with pytest.raises(ConfigError, match=said):
            enter(given)


@each(
    ("component", "name"),
    [
        (
            BM25Retriever(RecursiveCharacterChunker(300), k1=0.9),
            "BM25Retriever(chunker=RecursiveCharacterChunker(chunk_size=300, overlap=0), k1=0.9)",
        ),
        (HybridRetriever(), "HybridRetriever"),
        (
            HybridRetriever([BM25Retriever(k1=1.2), BM25Retriever()], weights=[1, 2]),
            "HybridRetriever(retrievers=(BM25Retriever(k1=1.2), BM25Retriever), weights=(1.0, 2.0))",
        ),
        (LsaEmbedder(8), "LsaEmbedder(dimensions=8)"),
    ],
)
def test_a_component_is_named_by_what_was_changed(component, name):
    assert component.name == name


PART = RerankedRetriever(HybridRetriever((BM25Retriever(k1=0.9), BM25Retriever())), ReversingReranker(), 20)


@each(
    ("role", "given", "built"),
    [
        ("chunker", "sentence:sentences=3,overlap=1", SentenceChunker(sentences=3, overlap=1)),
        ("chunker", "sentence", SentenceChunker()),
        ("chunker", "sentence:sentences=3", SentenceChunker(sentences=3)),
        ("chunker", "markdown-header:max_level=2,chunkSize=300", MarkdownHeaderChunker(max_level=2, chunk_size=300)),
        ("chunker", "semantic:embedder=lsa", SemanticChunker(LsaEmbedder())),
        (
            "chunker",
            {"type": "semantic", "embedder": {"type": "lsa", "dimensions": 8}, "percentile": 90},
            SemanticChunker(LsaEmbedder(dimensions=8), percentile=90),
        ),
        ("retriever", "bm25:k1=1.25", BM25Retriever(k1=np.float32(1.25))),  # numbers of NumPy are taken
        ("embedder", "openai:model=mine,dimensions=8", OpenAIEmbedder("mine", 8)),
        ("embedder", "cohere:model=embed-english-v3.0", CohereEmbedder("embed-english-v3.0")),
        ("reranker", "cohere:max_tokens_per_doc=512", CohereReranker(max_tokens_per_doc=512)),
        (
            "retriever",
            {
                "type": "reranked",
                "retriever": {"type": "hybrid", "retrievers": ["bm25:k1=0.9", "bm25"]},
                "reranker": "rag_evaluation_framework.testing:ReversingReranker",
                "candidates": 20,
            },
            PART,
        ),
    ],
)
def test_configurations_name_it_and_so_does_its_record(role, given, built):
    assert build(role, given) == build(role, describe(built)) == built


@pytest.mark.parametrize(
    ("package", "extra", "use", "who"),
    [
        ("sklearn", "local", lambda: LsaEmbedder().fit(["A text."]), "LsaEmbedder"),
        ("sentence_transformers", "sentence-transformers", SentenceTransformerEmbedder, "SentenceTransformerEmbedder"),
        ("sentence_transformers", "sentence-transformers", partial(CrossEncoderReranker, "a/model"), "CrossEncoder"),
        ("tiktoken", "tiktoken", lambda: FixedTokenChunker(tokenizer="p50k_base").chunk("some words"), ""),
        ("anthropic", "anthropic", lambda: LanguageModel(AnthropicClient(), "m").text("Why?"), "AnthropicClient"),
        ("chromadb", "chroma", rag.ChromaVectorStore, "ChromaVectorStore"),
        ("qdrant_client", "qdrant", QdrantVectorStore, "QdrantVectorStore"),
        ("psycopg", "pgvector", PgVectorStore, "PgVectorStore"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_without_the_package_the_extra_is_named_when_the_part_is_used(monkeypatch, package, extra, use, who):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    for module in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, module, None)
    in_tokens = partial(RecursiveCharacterChunker, length="cl100k_base")
    for make in (LsaEmbedder, FixedTokenChunker, in_tokens, VectorRAGRetriever):
        make()
    with pytest.raises(MissingDependency, match=rf"{who}.*pip install 'rag-evaluation-framework\[{extra}\]'"):
        use()


def test_making_them_imports_no_package_of_models_or_providers():
    script = (
        "import sys\nfrom rag_evaluation_framework import components\n"
        "from rag_evaluation_framework.components.llms import AnthropicClient, LanguageModel\n"
        "components.SentenceTransformerEmbedder(); components.CrossEncoderReranker('a/model')\n"
        "LanguageModel(AnthropicClient(), 'm')\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'anthropic', 'openai', 'httpx', 'httpx2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
