"""The libraries themselves: `make libraries` installs and expects them; elsewhere what is missing is skipped."""

import importlib
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import BM25Retriever, TokenLevelEvaluation, evaluate
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.demo import load_handbook

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]


def library(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(module)
        except ImportError as error:
            if "EXPECT_LIBRARIES" in os.environ:
                raise
            pytest.skip(f"{module} is not installed: {error}")


def test_a_library_that_is_expected_is_not_skipped(monkeypatch):
    monkeypatch.setenv("EXPECT_LIBRARIES", "1")
    with pytest.raises((ImportError, pytest.skip.Exception)) as caught:
        library("a_library_that_is_missing")
    assert caught.type is ModuleNotFoundError


@pytest.fixture(scope="module", autouse=True)
def nothing_is_reported_to_their_makers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")  # read when it is imported
        patch.setenv("ANONYMIZED_TELEMETRY", "False")
        yield


@pytest.fixture(scope="module")
def handbook():
    return load_handbook()


def letters(text):
    return [1.0, *(float(text.count(letter)) for letter in "aeiourst")]


def langchain():
    core = library("langchain_core.vectorstores")
    documents, embeddings = library("langchain_core.documents"), library("langchain_core.embeddings")
    splitters, compressor = library("langchain_text_splitters"), library("langchain_core.documents.compressor")

    class Letters(embeddings.Embeddings):
        def embed_documents(self, texts):
            return [letters(text) for text in texts]

        def embed_query(self, text):
            return letters(text)

    class Reversed(compressor.BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            return documents[::-1]

    splitter = splitters.RecursiveCharacterTextSplitter(chunk_size=400, chunk_overlap=0, add_start_index=True)

    def store(corpus):
        given = [documents.Document(each.content, metadata={"source": each.id}) for each in corpus]
        filled = core.InMemoryVectorStore(Letters())
        filled.add_documents(splitter.split_documents(given))
        return filled

    return {
        "retrievers": [
            lambda corpus: store(corpus).as_retriever(search_kwargs={"k": 7}),
            store,
            lambda corpus: lambda query, k: store(corpus).similarity_search_with_score(query, k=k),
        ],
        "splitters": [splitter, splitters.MarkdownHeaderTextSplitter([("#", "title"), ("##", "section")])],
        "embedders": [Letters()],
        "reranker": Reversed(),
    }


def llama_index():
    core, schema = library("llama_index.core"), library("llama_index.core.schema")
    parsers, types = library("llama_index.core.node_parser"), library("llama_index.core.postprocessor.types")
    llms = library("llama_index.core.llms")

    class Letters(core.MockEmbedding):
        def _get_text_embedding(self, text):
            return letters(text)

        def _get_query_embedding(self, query):
            return letters(query)

    class Reversed(types.BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            assert query_bundle.query_str
            return nodes[::-1]

    splitter = parsers.SentenceSplitter(chunk_size=100, chunk_overlap=0)

    def index(corpus):
        given = [schema.Document(text=each.content, metadata={"file_path": each.id}) for each in corpus]
        return core.VectorStoreIndex(splitter.get_nodes_from_documents(given), embed_model=Letters(embed_dim=9))

    return {
        "retrievers": [
            lambda corpus: index(corpus).as_retriever(similarity_top_k=7),
            lambda corpus: index(corpus).as_query_engine(llm=llms.MockLLM(), similarity_top_k=7),
        ],
        "splitters": [splitter, parsers.MarkdownNodeParser()],
        "embedders": [Letters(embed_dim=9)],
        "reranker": Reversed(),
    }


def haystack():
    whole, stores = library("haystack"), library("haystack.document_stores.in_memory")
    retrievers, splitters = (
        library("haystack.components.retrievers.in_memory"),
        library("haystack.components.preprocessors"),
    )
    embedders, rankers = library("haystack.components.embedders"), library("haystack.components.rankers")
    splitter = splitters.DocumentSplitter(split_by="word", split_length=80, split_overlap=0)

    def retriever(corpus):
        given = [whole.Document(content=each.content, meta={"file_path": each.id}) for each in corpus]
        store = stores.InMemoryDocumentStore()
        store.write_documents(splitter.run(documents=given)["documents"])
        return retrievers.InMemoryBM25Retriever(store, top_k=7)

    def pipeline(corpus):
        made = whole.Pipeline()
        made.add_component("retriever", retriever(corpus))
        return made

    return {
        "retrievers": [retriever, pipeline],
        "splitters": [splitter, splitters.RecursiveDocumentSplitter(split_length=80, split_overlap=0)],
        "embedders": [embedders.MockTextEmbedder(), embedders.MockDocumentEmbedder()],
        "reranker": rankers.LostInTheMiddleRanker(),
    }


def chonkie():
    whole, base = library("chonkie"), library("chonkie.embeddings")

    class Letters(base.BaseEmbeddings):
        dimension = 9

        def embed(self, text):
            return np.array(letters(text))

        def get_tokenizer(self):
            return None

    return {
        "retrievers": [],
        "splitters": [
            whole.RecursiveChunker(chunk_size=400),
            whole.TokenChunker(chunk_size=400, chunk_overlap=20),
            whole.SentenceChunker(chunk_size=400, chunk_overlap=0),
        ],
        "embedders": [Letters()],
        "reranker": None,
    }


def chroma():
    whole = library("chromadb")

    class Letters(whole.EmbeddingFunction):
        def __init__(self):
            pass

        def __call__(self, input):  # noqa: A002
            return [np.array(letters(text), dtype=np.float32) for text in input]

        @staticmethod
        def name():
            return "letters"

        def get_config(self):
            return {}

        @staticmethod
        def build_from_config(config):
            return Letters()

    def collection(corpus):
        made = whole.EphemeralClient().get_or_create_collection("handbook", embedding_function=Letters())
        pieces = [(each.id, text) for each in corpus for text in each.content.split("\n\n") if text.strip()]
        made.upsert(
            ids=[str(number) for number in range(len(pieces))],
            documents=[text for _, text in pieces],
            metadatas=[{"source": str(doc_id)} for doc_id, _ in pieces],
        )
        return made

    return {"retrievers": [collection], "splitters": [], "embedders": [Letters()], "reranker": None}


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "other-libraries.md"
PROGRAMS = dict(re.findall(r"```python title=(\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_of_the_page_run(program, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for module in re.findall(r"^from (\w+)", PROGRAMS[program], re.MULTILINE):
        library(module)
    exec(compile(PROGRAMS[program], str(PAGE), "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.count(" 0 failed)") == PROGRAMS[program].count("print(")


def test_the_five_lines_are_right_with_langchain(tmp_path, monkeypatch):
    """A retriever, documents and questions as people have them: every score is what the retriever's own texts say."""
    documents, splitters = library("langchain_core.documents"), library("langchain_text_splitters")
    core, fakes = library("langchain_core.vectorstores"), library("langchain_core.embeddings")
    monkeypatch.chdir(tmp_path)
    texts = {f"guide/{number}.md": f"About {number}.\n\nThe answer to {number} is {number**9}." for number in range(40)}
    quotes = {f"What is the answer to {number}?": f"The answer to {number} is {number**9}." for number in range(20)}
    rows = [f"{question};{quote}\r\n" for question, quote in quotes.items()]
    Path("questions.csv").write_text(f"sep=;\r\nQuestion;Quote\r\n{''.join(rows)}", encoding="utf-16")
    loaded = [documents.Document(text, metadata={"source": name}) for name, text in texts.items()]
    store = core.InMemoryVectorStore(fakes.DeterministicFakeEmbedding(size=8))
    store.add_documents(
        splitters.RecursiveCharacterTextSplitter(chunk_size=40, chunk_overlap=0).split_documents(loaded)
    )
    retriever = store.as_retriever(search_kwargs={"k": 10})

    result = evaluate(retriever, "questions.csv", documents=loaded)
    worst, frame = result.worst(5), result.to_dataframe()

    assert result.counts["scored"] == len(quotes)
    assert result.counts["unlocated_hits"] == 0
    found = [quote in [hit.page_content for hit in retriever.invoke(question)] for question, quote in quotes.items()]
    assert 0 < sum(found) < len(found)
    assert [*result.per_query("span_recall@10").values()] == [float(one) for one in found]
    assert frame["documents"].tolist() == [f"{number}.md" for number in range(20)]
    assert "first rank" in repr(worst)
    assert [one.query_id for one in result.explain(worst)] == [query.query_id for query in worst]


LIBRARIES = [langchain, llama_index, haystack, chonkie, chroma]


@pytest.mark.parametrize("made", LIBRARIES, ids=lambda made: made.__name__)
def test_retrievers_are_evaluated_and_their_results_located(made, handbook):
    for make in made()["retrievers"]:
        result = evaluate(make(handbook.corpus), handbook, k=5, budgets=[])
        assert not result.failures
        assert result.config["calls"] == len(result.queries)
        assert result.counts["hits"] == 5 * len(result.queries)
        assert result.counts["unlocated_hits"] == 0


@pytest.mark.parametrize("made", LIBRARIES, ids=lambda made: made.__name__)
def test_splitters_cut_and_embeddings_embed(made, handbook):
    parts = made()
    for splitter in parts["splitters"]:
        chunks = chunk_corpus(handbook.corpus, splitter)
        for chunk in chunks:  # but for white space, which splitters tidy
            there = handbook.corpus[chunk.doc_id].content[chunk.start : chunk.end]
            assert there.split() == chunk.content.split()
        assert not evaluate(BM25Retriever(splitter), handbook, k=5, budgets=[]).failures
    for embedder in parts["embedders"]:
        result = TokenLevelEvaluation(handbook.corpus, handbook).run(embedder=embedder, k=5)
        assert not result.failures


@pytest.mark.parametrize("made", LIBRARIES, ids=lambda made: made.__name__)
def test_rerankers_order_the_candidates(made, handbook):
    if (reranker := made()["reranker"]) is None:
        return
    plain = BM25Retriever()
    plain.index(handbook.corpus)
    candidates = plain.retrieve("What does recall measure?", 5).hits
    reranked = RerankedRetriever(BM25Retriever(), reranker, candidates=5)
    reranked.index(handbook.corpus)
    hits = reranked.retrieve("What does recall measure?", 5).hits
    assert {hit.span for hit in hits} == {hit.span for hit in candidates}
    assert [hit.span for hit in hits] != [hit.span for hit in candidates]
