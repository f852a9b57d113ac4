from dataclasses import dataclass, field, replace

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import (
    CachedEmbedder,
    HybridRetriever,
    InMemoryVectorStore,
    LsaEmbedder,
    QdrantVectorStore,
    SentenceTransformerEmbedder,
)
from rag_evaluation_framework.contracts.registry.building import build, describe, load
from rag_evaluation_framework.contracts.registry.loading import KINDS, components

# Parameters that have no default.
REQUIRED = {
    "cached": {"embedder": "sentence-transformer"},
    "cross-encoder": {"model": "a/model"},
    "semantic": {"embedder": "lsa"},
    "scoped": {"retriever": "bm25"},
    "engine": {"engine": {"type": "http", "url": "http://127.0.0.1:9"}},
    "http": {"url": "http://127.0.0.1:9"},
    "junit": {"path": "gates.xml"},
    "langsmith": {"dataset": "handbook"},
    "reranked": {
        "retriever": "bm25",
        "reranker": "rag_evaluation_framework.testing:ReversingReranker",
    },
}


class TestDescribe:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_built_in_part_can_be_described_and_built_again(self, kind):
        for name in components(kind):
            for module in getattr(load(kind, name), "requires", ()):
                pytest.importorskip(module)
            required = REQUIRED.get(f"{kind} {name}", REQUIRED.get(name, {}))
            part = build(kind, {"type": name, **required})
            description = describe(part)
            assert description["type"] == name
            again = build(kind, {**required, **description})
            assert type(again) is type(part)
            assert describe(again) == description
            assert (
                again == part or "in-memory" in str(description) or kind in ("vector_store", "engine")
            )  # each store is its own

    @pytest.mark.parametrize(
        "part",
        [
            rag.RecursiveCharacterChunker(90, 10, ("\n", "。"), "cl100k_base"),
            rag.FixedTokenChunker(5, 2, "o200k_base"),
            rag.BM25Retriever(rag.FixedTokenChunker(9), 0.9, 0.4),
            rag.VectorRAGRetriever(rag.RecursiveCharacterChunker(70), LsaEmbedder(8, 3), None, 7),
            HybridRetriever((rag.BM25Retriever(k1=1.2), rag.BM25Retriever()), (1, 0.5), 10, 7),
            rag.ChromaVectorStore("vectors", ef_search=50),
            QdrantVectorStore(collection="mine"),
            SentenceTransformerEmbedder(batch_size=8),
            CachedEmbedder(SentenceTransformerEmbedder(batch_size=8), "kept"),
        ],
        ids=lambda part: type(part).__name__,
    )
    def test_parameters_survive(self, part):
        (kind,) = (kind for kind in KINDS if describe(part)["type"] in components(kind))
        again = build(kind, describe(part))
        assert describe(again) == describe(part)
        assert (
            again == part or kind == "vector_store" or replace(again, vector_store=None) == part
        )  # each store is its own

    def test_a_record_is_plain_data_with_the_store_also_where_it_is_the_default_one(self):
        retriever = rag.VectorRAGRetriever()
        assert describe(rag.VectorRAGRetriever(vector_store=InMemoryVectorStore())) == describe(retriever)
        assert describe(HybridRetriever())["retrievers"][1] == describe(retriever)
        assert retriever.name == "VectorRAGRetriever"
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

    def test_own_parts_and_functions_are_named_by_their_module_unknown_objects_by_their_class(self, own_parts):
        class BM25Retriever(rag.BM25Retriever):  # called as a built-in one
            pass

        part = build("chunker", f"{own_parts}:Lines:skip_blank=false")
        assert describe(part) == {"type": f"{own_parts}:Lines", "skip_blank": False}
        assert build("chunker", describe(part)) == part
        assert describe(BM25Retriever())["type"].startswith(__name__)
        assert describe(rag.RecursiveCharacterChunker(length=str.split))["length"].endswith(":str.split")
        assert describe(rag.FixedTokenChunker(tokenizer=object()))["tokenizer"] == "builtins:object"
        assert "123" in str(describe(rag.ChunkerPositionAdapter(rag.RecursiveCharacterChunker(chunk_size=123))))


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
