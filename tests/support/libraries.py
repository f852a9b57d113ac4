"""Objects as other libraries make them: written by hand after the attributes and signatures of the real ones.

langchain-core 1.8.3, langchain-text-splitters 1.1.3, llama-index-core 0.14.25, haystack-ai 3.4.1, chonkie 1.7.0 and
chromadb 1.5. `test_real_libraries.py` asks the libraries themselves, where they are installed.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


class LangChain:
    @dataclass
    class Document:
        page_content: str
        metadata: dict[str, Any] = field(default_factory=dict)
        id: str | None = None
        type: str = "Document"

    class Retriever:
        """`VectorStoreRetriever`: the number of results is in `search_kwargs`."""

        def __init__(self, found):
            self.found, self.search_kwargs, self.asked = found, {"k": len(found)}, []

        def invoke(self, input, config=None, **kwargs):  # noqa: A002
            assert config is None
            self.asked.append(input)
            return self.found

        async def ainvoke(self, input, config=None, **kwargs):  # noqa: A002
            return self.invoke(input)

    class VectorStore:
        def __init__(self, found):
            self.found = found

        def similarity_search(self, query, k=4, **kwargs):
            return self.found[:k]

        def similarity_search_with_score(self, query, k=4, **kwargs):
            return [(document, 0.1 + rank) for rank, document in enumerate(self.found[:k])]

        def as_retriever(self, **kwargs):
            return LangChain.Retriever(self.found)

    class TextSplitter:
        def __init__(self, add_start_index=False):
            self.add_start_index = add_start_index

        def split_text(self, text):
            return text.split("\n\n")

        def create_documents(self, texts, metadatas=None):
            documents = []
            for text in texts:
                for piece in self.split_text(text):
                    start = {"start_index": text.find(piece)} if self.add_start_index else {}
                    documents.append(LangChain.Document(piece, start))
            return documents

        def split_documents(self, documents):
            return self.create_documents([document.page_content for document in documents])

    class HeaderSplitter:
        """`MarkdownHeaderTextSplitter` has nothing but `split_text`, which returns documents."""

        def split_text(self, text):
            return [LangChain.Document(piece, {"Header 1": "Title"}) for piece in text.split("\n\n")]

    class Embeddings:
        def embed_documents(self, texts):
            return [letters(text) for text in texts]

        def embed_query(self, text):
            return [2 * number for number in letters(text)]

    class Compressor:
        top_n = 2

        def compress_documents(self, documents, query, callbacks=None):
            ordered = sorted(documents, key=lambda document: -shared(query, document.page_content))
            return [LangChain.Document(each.page_content, {"relevance_score": 1.0}) for each in ordered[: self.top_n]]


class LlamaIndex:
    @dataclass
    class TextNode:
        text: str
        id_: str = "0b0e"
        metadata: dict[str, Any] = field(default_factory=dict)
        start_char_idx: int | None = None
        end_char_idx: int | None = None
        ref_doc_id: str | None = None

        @property
        def node_id(self):
            return self.id_

        def get_content(self, metadata_mode="none"):
            return self.text

    @dataclass
    class NodeWithScore:
        node: Any
        score: float | None = None

        @property
        def text(self):
            if not isinstance(self.node, LlamaIndex.TextNode):
                raise ValueError("Node must be a TextNode to get text.")
            return self.node.text

        @property
        def id_(self):
            return self.node.id_

        @property
        def metadata(self):
            return self.node.metadata

        def get_content(self, metadata_mode="none"):
            return self.node.get_content()

    @dataclass
    class QueryBundle:
        query_str: str

    @dataclass
    class Response:
        response: str
        source_nodes: list[Any]
        metadata: dict[str, Any] = field(default_factory=dict)

    class Retriever:
        def __init__(self, found):
            self.found = found

        def retrieve(self, str_or_query_bundle):
            assert isinstance(str_or_query_bundle, str)
            return self.found

        async def aretrieve(self, str_or_query_bundle):
            return self.found

    class QueryEngine:
        def __init__(self, found):
            self.found = found

        def retrieve(self, query_bundle):
            assert query_bundle.query_str
            return self.found

        def query(self, str_or_query_bundle):
            return LlamaIndex.Response("An answer.", self.found)

    class NodeParser:
        """Called with nodes, too, as every transformation of LlamaIndex."""

        def __call__(self, nodes, **kwargs):
            raise AssertionError("it was called with a text")

        def get_nodes_from_documents(self, documents, show_progress=False, **kwargs):
            nodes = []
            for document in documents:
                for piece in document.text.split("\n\n"):
                    start = document.text.find(piece)
                    nodes.append(LlamaIndex.TextNode(piece, "n", {}, start, start + len(piece), "d"))
            return nodes

    class Embedding:
        def __call__(self, nodes, **kwargs):
            raise AssertionError("it was called with texts")

        def get_text_embedding_batch(self, texts, show_progress=False, **kwargs):
            return [letters(text) for text in texts]

        def get_query_embedding(self, query):
            return [2 * number for number in letters(query)]

    class Postprocessor:
        def postprocess_nodes(self, nodes, query_bundle=None, query_str=None):
            return sorted(nodes, key=lambda each: -shared(query_str, each.node.text))


class Haystack:
    @dataclass
    class Document:
        id: str = "77aa"
        content: str | None = None
        blob: Any = None
        meta: dict[str, Any] = field(default_factory=dict)
        score: float | None = None
        embedding: list[float] | None = None
        sparse_embedding: Any = None

    class Retriever:
        def __init__(self, found):
            self.found = found

        def run(self, query: str, filters=None, top_k=None, scale_score=None):
            return {"documents": self.found[:top_k]}

    class Pipeline:
        def __init__(self, found):
            self.found = found

        def inputs(self):
            return {"retriever": {"query": {"is_mandatory": True}, "top_k": {"is_mandatory": False}}}

        def run(self, data, include_outputs_from=None, *, break_point=None):
            assert isinstance(data["retriever"]["query"], str)
            return {"retriever": {"documents": self.found}}

    class Splitter:
        def run(self, documents):
            pieces = []
            for document in documents:
                for piece in document.content.split("\n\n"):
                    meta = {
                        "source_id": "f8f0",
                        "split_id": len(pieces),
                        "split_idx_start": document.content.find(piece),
                    }
                    pieces.append(Haystack.Document(content=piece, meta=meta))
            return {"documents": pieces}

    class TextEmbedder:
        def run(self, text: str):
            return {"embedding": letters(text), "meta": {}}

    class DocumentEmbedder:
        def run(self, documents):
            return {
                "documents": [Haystack.Document(content=d.content, embedding=letters(d.content)) for d in documents]
            }

    class Ranker:
        def __init__(self):
            self.warm = False

        def warm_up(self):
            self.warm = True

        def run(self, query: str, documents, top_k=None):
            assert self.warm
            return {"documents": sorted(documents, key=lambda document: -shared(query, document.content))}


class Chonkie:
    @dataclass
    class Chunk:
        text: str
        start_index: int
        end_index: int
        token_count: int = 1
        context: Any = None
        embedding: Any = None
        id: str = "chnk_1"
        metadata: dict[str, Any] = field(default_factory=dict)

    class Chunker:
        def chunk(self, text):
            pieces = text.split("\n\n")
            return [Chonkie.Chunk(piece, text.find(piece), text.find(piece) + len(piece)) for piece in pieces]

        def chunk_batch(self, texts, show_progress=True):
            return [self.chunk(text) for text in texts]

        def __call__(self, text, show_progress=True):
            return self.chunk(text)

    class Embeddings:
        dimension = 4

        def embed(self, text):
            return np.array(letters(text), dtype=np.float32)

        def embed_batch(self, texts):
            return [self.embed(text) for text in texts]


class Chroma:
    class Collection:
        name, metadata, id = "docs", None, "7"

        def __init__(self, found):
            self.found = found

        def query(
            self,
            query_embeddings=None,
            query_texts=None,
            query_images=None,
            query_uris=None,
            ids=None,
            n_results=10,
            where=None,
            where_document=None,
            include=("metadatas", "documents", "distances"),
        ):
            found = self.found[:n_results]
            assert len(query_texts) == 1
            return {
                "ids": [[str(number) for number in range(len(found))]],
                "embeddings": None,
                "documents": [[document.page_content for document in found]],
                "uris": None,
                "included": ["metadatas", "documents", "distances"],
                "data": None,
                "metadatas": [[document.metadata for document in found]],
                "distances": [[0.1 + rank for rank in range(len(found))]],
            }


def letters(text):
    return [1.0, *(float(text.count(letter)) for letter in "aei")]


def shared(query, text):
    return len({*query.lower().split()} & {*text.lower().split()})
