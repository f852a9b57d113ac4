"""A stranger's matrix of shapes: each works as it is, or is refused in one line that says what to do."""

from collections import namedtuple
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    Retriever,
    SpanRecall,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    evaluate,
)
from rag_evaluation_framework.adapt.results import as_hits, as_pieces, as_retrieval
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import FunctionRetriever, HybridRetriever, RerankedRetriever
from rag_evaluation_framework.components.chunkers import FunctionChunker, position_aware
from rag_evaluation_framework.components.embedders import FunctionEmbedder
from rag_evaluation_framework.components.rerankers import FunctionReranker
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.components.retrievers.function import as_retriever
from rag_evaluation_framework.contracts.registry.building import load
from rag_evaluation_framework.data.hits import Stage
from rag_evaluation_framework.errors import ConfigError, InputError, UnreadableAnswer
from rag_evaluation_framework.runs import ranker, retrieve
from support.each import each
from support.libraries import Chonkie, Chroma, Haystack, LangChain, LlamaIndex

TEXT = (
    "Invoices are sent monthly.\n\nRefunds take five days.\n\nServers restart at night.\n\nInvoices are sent monthly."
)
A = Document(DocumentId("a.md"), TEXT)
CORPUS = Corpus([A])
FIRST, SECOND, THIRD = "Invoices are sent monthly.", "Refunds take five days.", "Servers restart at night."
REFUNDS, SERVERS = TEXT.index(SECOND), TEXT.index(THIRD)
QUESTIONS = ("How long do refunds take?", "When do servers restart?", "Which days?")


def dataset():
    spans = [CharacterSpan(A.id, REFUNDS, REFUNDS + len(SECOND)), CharacterSpan(A.id, SERVERS, SERVERS + len(THIRD))]
    entries = [
        TokenLevelGroundTruth(Query(f"q{number}", text), (spans[number % 2],))  # type: ignore[arg-type]
        for number, text in enumerate(QUESTIONS)
    ]
    return Dataset(entries, TOKEN, corpus=CORPUS, name="shapes")


DOCUMENTS = [
    LangChain.Document(SECOND, {"source": "a.md", "start_index": REFUNDS}),
    LangChain.Document(THIRD, {"source": "/data/docs/a.md"}),
]
NODES = [
    LlamaIndex.NodeWithScore(
        LlamaIndex.TextNode(SECOND, "n1", {"file_path": "a.md"}, REFUNDS, REFUNDS + 23, "d1"), 0.9
    ),
    LlamaIndex.NodeWithScore(LlamaIndex.TextNode(THIRD, "n2", {"file_name": "a.md"}), 0.4),
]
PIECES = [
    Haystack.Document("7a", SECOND, meta={"file_path": "a.md", "split_idx_start": REFUNDS}, score=0.9),
    Haystack.Document("7b", THIRD, meta={"source_id": "f8f0"}, score=0.4),
]
Row = namedtuple("Row", "Index text doc_id score")


async def slowly(results):
    for result in results:
        yield result


# What may be returned: (what it is, the value, the scores that count).
RETURNED: list[tuple[str, Any, list[float | None]]] = [
    ("documents of LangChain", DOCUMENTS, [None, None]),
    ("nodes of LlamaIndex", NODES, [0.9, 0.4]),
    ("nodes without scores", [node.node for node in NODES], [None, None]),
    ("a response of LlamaIndex", LlamaIndex.Response("Five days.", NODES), [0.9, 0.4]),
    ("a component of Haystack", {"documents": PIECES}, [0.9, 0.4]),
    ("a pipeline of Haystack", {"retriever": {"documents": PIECES}, "llm": {"replies": ["Five days."]}}, [0.9, 0.4]),
    ("a chain of LangChain", {"input": "Which?", "context": DOCUMENTS, "answer": "Five days."}, [None, None]),
    ("a chain that tells its sources", {"result": "Five days.", "source_documents": DOCUMENTS}, [None, None]),
    ("Chroma", Chroma.Collection(DOCUMENTS).query(query_texts=["Which?"]), [None, None]),
    ("pairs with scores", [(DOCUMENTS[0], 0.9), (DOCUMENTS[1], np.float32(0.5))], [0.9, 0.5]),
    ("texts with scores", [(SECOND, 3), [THIRD, 1]], [3.0, 1.0]),
    ("pairs with distances", [(DOCUMENTS[0], 0.1), (DOCUMENTS[1], 0.7)], [None, None]),
    ("distances called scores", [{"text": SECOND, "score": 0.1}, {"text": THIRD, "score": 0.7}], [None, None]),
    ("columns of distances called scores", {"text": [SECOND, THIRD], "score": [0.1, 0.7]}, [None, None]),
    ("equal scores", [(SECOND, 0.7), (THIRD, 0.7)], [0.7, 0.7]),
    ("columns", {"text": [SECOND, THIRD], "doc_id": ["a.md", "a.md"], "score": [0.9, 0.4]}, [0.9, 0.4]),
    ("columns with a distance", {"text": [SECOND, THIRD], "distance": [0.1, 0.7]}, [None, None]),
    ("distances by name", [{"text": SECOND, "distance": 0.1}, {"text": THIRD, "distance": 0.7}], [None, None]),
    ("rows as tuples", [Row(0, SECOND, "a.md", 0.9), Row(1, THIRD, "a.md", 0.4)], [0.9, 0.4]),
    ("a reranked list", [{"document": DOCUMENTS[0], "score": 0.9}, {"document": DOCUMENTS[1]}], [0.9, None]),
    (
        "payloads of Qdrant",
        SimpleNamespace(
            points=[
                SimpleNamespace(id=1, score=0.9, payload={"text": SECOND, "source": "a.md"}),
                SimpleNamespace(id=2, score=0.4, payload={"page_content": THIRD, "metadata": {"source": "a.md"}}),
            ]
        ),
        [0.9, 0.4],
    ),
    (
        "matches of Pinecone",
        {
            "matches": [
                {"id": "1", "score": 0.9, "metadata": {"text": SECOND}},
                {"id": "2", "metadata": {"text": THIRD}},
            ]
        },
        [0.9, None],
    ),
    (
        "places one level down",
        [
            {"metadata": {"doc_id": "a.md", "start": REFUNDS, "end": REFUNDS + len(SECOND)}},
            {"meta": {"file_path": "a.md", "start": SERVERS, "end": SERVERS + len(THIRD)}, "score": 0.4},
        ],
        [None, 0.4],
    ),
    ("paths one level down", [{"text": SECOND, "metadata": {"path": "docs/a.md"}}, {"text": THIRD}], [None, None]),
    ("a generator", lambda: (document for document in DOCUMENTS), [None, None]),
    ("an asynchronous generator", lambda: slowly(DOCUMENTS), [None, None]),
    ("hits in an asynchronous generator", lambda: {"hits": slowly(DOCUMENTS)}, [None, None]),
]


def placed(results):
    """The places that a run takes the results to be at."""

    def search(query, k):
        return results() if callable(results) else results

    rankings = retrieve(search, CORPUS, QUESTIONS, 2)
    assert not rankings.failures
    return [(hit.start, hit.end) for hit in rankings.hits[0]]


@pytest.mark.parametrize(("what", "returned", "scores"), RETURNED, ids=[what for what, _, _ in RETURNED])
def test_results_of_other_libraries_are_located_with_their_scores(what, returned, scores):
    with collect_notes() as notes:
        assert [hit.score for hit in as_hits(returned() if callable(returned) else returned, "f")] == pytest.approx(
            scores
        )
    assert [note for note in notes if "distances" in note] == (
        ["f returned scores that grow with the rank, as distances do; they were left out"]
        * what.endswith(("with distances", "called scores"))
    )
    assert placed(returned) == [(REFUNDS, REFUNDS + len(SECOND)), (SERVERS, SERVERS + len(THIRD))]


def test_an_iterable_without_end_is_read_as_far_as_it_is_asked_for():
    given = []

    async def endless():
        while True:
            given.append(SECOND)
            yield SECOND

    for number, results in enumerate((repeat(SECOND), endless(), {"hits": endless()})):
        assert len(as_retrieval(results, "f", 5).hits) == 5
        assert len(given) == 5 * number
    ids = count()
    assert [hit.chunk_id for hit in as_hits({"retrieved_chunk_ids": ids}, "f", 2)] == ["0", "1"]
    assert next(ids) == 2


@dataclass
class AnyCall:
    """As classes of some libraries are: callable with anything, which does not tell that it can be called."""

    found: list[Any]

    def __call__(self, *given, **options):
        raise TypeError("expected a signature")

    def retrieve(self, query, k):
        return self.found[:k]


# Retrievers: (what it is, how it is made, whether it can be asked for a number of results).
RETRIEVERS: list[tuple[str, Any, bool]] = [
    ("LangChain", LangChain.Retriever(DOCUMENTS), False),
    ("its method", LangChain.Retriever(DOCUMENTS).invoke, False),
    ("its asynchronous method", LangChain.Retriever(DOCUMENTS).ainvoke, False),
    ("a vector store of LangChain", LangChain.VectorStore(DOCUMENTS), True),
    ("an old retriever of LangChain", SimpleNamespace(get_relevant_documents=lambda query: DOCUMENTS), False),
    ("LlamaIndex", LlamaIndex.Retriever(NODES), False),
    ("a query engine", LlamaIndex.QueryEngine(NODES), False),
    ("Haystack", Haystack.Retriever(PIECES), True),
    ("a pipeline of Haystack", Haystack.Pipeline(PIECES), False),
    ("Chroma", Chroma.Collection(DOCUMENTS), True),
    ("retrieve(question, n)", SimpleNamespace(retrieve=lambda question, n: DOCUMENTS[:n]), True),
    ("a generic __call__ beside retrieve", AnyCall(DOCUMENTS), True),
    ("retrieve(*, query, top_k)", SimpleNamespace(retrieve=lambda *, query, top_k=9: DOCUMENTS[:top_k]), True),
    ("a function (query, filters, k)", lambda query, filters=None, k=9: DOCUMENTS[:k] if filters is None else [], True),
    ("a function (query, *, limit)", lambda query, *, limit: DOCUMENTS[:limit], True),
    ("a partial function", partial(lambda found, query, k: found[:k], DOCUMENTS), True),
]


@dataclass
class AsyncOnly:
    found: list[Any]

    async def aretrieve(self, query):
        return self.found


RETRIEVERS.append(("an asynchronous one alone", AsyncOnly(NODES), False))


@pytest.mark.parametrize(("what", "given", "takes_k"), RETRIEVERS, ids=[what for what, _, _ in RETRIEVERS])
def test_retrievers_of_other_libraries_are_evaluated_as_they_are(what, given, takes_k):
    result = evaluate(given, dataset(), k=[1, 2], budgets=[], metrics=[SpanRecall()])
    assert not result.failures
    assert result.metrics["span_recall@2"] == 1.0
    assert as_retrieval(as_retriever(given).retrieve("Which?", 1), "it", 1).hits[0].text == SECOND
    assert "more results than it was asked for" not in str(result.notes)
    assert result.config["calls"] == len(QUESTIONS)


def test_a_retriever_that_takes_no_number_is_asked_once_and_its_own_number_is_noted():
    retriever = LangChain.Retriever(DOCUMENTS)
    result = evaluate(retriever, dataset(), k=5, metrics=[SpanRecall()])  # with a budget, which it does not fill
    assert retriever.asked == [*QUESTIONS]
    said = (
        "Retriever.invoke returned 2 results for 3 questions and never more, where 5 were asked for; if it has a "
        "number of its own (k, top_k), let it return more"
    )
    assert said in result.notes
    assert result.config["retriever"]["function"].endswith("libraries:Retriever.invoke")
    told = {"hits": DOCUMENTS, "seconds": {"embed": 0.25}}
    found = as_retriever(SimpleNamespace(retrieve=lambda query: told)).retrieve("Which?", 1)
    assert (len(found.hits), found.complete, found.stages) == (1, False, (Stage("embed", 0.25),))
    with collect_notes() as notes:  # that it returns more than was wanted is no news
        found = as_retriever(LangChain.Retriever(DOCUMENTS * 3)).retrieve("Which?", 3)
    assert (len(found.hits), found.complete, notes) == (3, False, [])


@each(
    ("search", "notes"),
    [
        (lambda query, k: DOCUMENTS[:k], 1),
        (lambda query, k: DOCUMENTS if "days" in query else DOCUMENTS[:1], 0),  # only once as many
        (lambda query, k: (DOCUMENTS * 3)[:k], 0),
        (lambda query, k: [], 0),
        (lambda query, k: [{"doc_id": "a.md"}], 0),  # all documents that there are
        (FunctionRetriever(lambda query, k: DOCUMENTS[:k], stable=True), 0),  # it knows what it does
        (BM25Retriever(), 0),
    ],
)
def test_fewer_results_than_asked_for_are_noted_where_twice_as_many_were_returned(search, notes):
    result = evaluate(search, dataset(), k=5, budgets=[], metrics=[SpanRecall()])
    assert sum("and never more" in note for note in result.notes) == notes


def fails(*_args, **_options):
    raise AssertionError("it was called")


@each(
    ("given", "message"),
    [
        (
            lambda query: fails(),
            r"<lambda>\(query\) cannot be called as a retriever, with \(query, k\); expected a function",
        ),
        (lambda *, query: fails(query), r"for example lambda query, k: search\(query\)\[:k\]"),
        (LangChain.Retriever, "Retriever is a class; pass an instance, Retriever"),
        (5, "5 is int; expected a Retriever, or a function .query, k. -> results, or an object of another library"),
        (
            SimpleNamespace(search=fails),
            r"one of the methods retrieve, invoke, .*, similarity_search; for example lambda query, k: search\(query\)",
        ),
        ("bm25", "retriever='bm25': no such file; expected a Retriever, or a function"),
        (pytest, "is module; expected a Retriever"),
        (SimpleNamespace(as_retriever=fails), r"pass what its as_retriever\(\) returns"),
        (
            SimpleNamespace(retrieve=lambda query, top_k, scope: fails()),
            r"cannot be asked with a question .* lambda query, k",
        ),
        (
            SimpleNamespace(retrieve=lambda query, collection: fails()),
            r"retrieve\(query, collection\) cannot be asked with .* lambda query, k: retriever\.retrieve\(",
        ),
        (
            SimpleNamespace(index=fails, retrieve=fails),
            "has index and retrieve, but is not a subclass of Retriever: derive",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_once_before_any_work(given, message):
    with pytest.raises(ConfigError, match=message) as caught:
        evaluate(given, dataset())
    assert "\n" not in str(caught.value)


class Text(str):
    pass


class Answering(Retriever):
    def __init__(self, answer):
        self.answer = answer

    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return self.answer(query, k)


@pytest.mark.parametrize(
    "made",
    [
        lambda answer: answer,
        Answering,
        lambda answer: RerankedRetriever(answer, lambda query, texts: [*range(len(texts))]),
        lambda answer: HybridRetriever([BM25Retriever(), answer]),
        lambda answer: HybridRetriever([RerankedRetriever(BM25Retriever(), answer)]),
    ],
    ids=["a function", "a retriever", "reranked", "merged", "a reranker, merged"],
)
def test_what_first_answers_twice_with_nothing_of_use_is_asked_no_more(made):
    asked = []

    def answer(query, k):
        asked.append(query)
        return {"answer": query}

    with pytest.raises(UnreadableAnswer, match="; so it did for the first 2 questions, and no other was asked"):
        evaluate(made(answer), dataset(), k=2)
    assert asked == [*QUESTIONS[:2]]


def test_a_function_that_answers_one_question_with_nothing_of_use_is_asked_the_others():
    def odd(query, k):
        return None if query == QUESTIONS[0] else DOCUMENTS[:k]

    assert [*evaluate(odd, dataset(), k=2, budgets=[]).failures] == ["q0"]

    def tired(query, k):
        return DOCUMENTS[:k] if query == QUESTIONS[0] else None

    assert [*evaluate(tired, dataset(), k=2, budgets=[]).failures] == ["q1", "q2"]

    def down(query, k):
        raise ConnectionError("the index is down")

    assert len(evaluate(down, dataset(), k=2, budgets=[]).failures) == len(QUESTIONS)


class OfOurs(BM25Retriever):
    pass


@pytest.mark.parametrize(
    ("retriever", "failed"),
    [
        (BM25Retriever(), 0),
        (VectorRAGRetriever(), 0),
        (HybridRetriever([BM25Retriever(), lambda query, k: DOCUMENTS[:k]]), 0),
        (OfOurs(), len(QUESTIONS)),
    ],
    ids=["BM25", "vectors", "merged", "a class of its own"],
)
def test_what_our_retrievers_return_is_not_read_again(monkeypatch, retriever, failed):
    def as_retrieval(*given):
        raise AssertionError("it is read")

    monkeypatch.setattr(ranker, "as_retrieval", as_retrieval)
    assert len(evaluate(retriever, dataset(), k=2).failures) == failed


# Chunkers: (what it is, the object, whether it tells places).
CHUNKERS: list[tuple[str, Any, bool]] = [
    ("LangChain", LangChain.TextSplitter(), False),
    ("LangChain with start_index", LangChain.TextSplitter(add_start_index=True), True),
    ("headers of LangChain", LangChain.HeaderSplitter(), False),
    ("its method", LangChain.TextSplitter().split_text, False),
    ("LlamaIndex", LlamaIndex.NodeParser(), True),
    ("its method", LlamaIndex.NodeParser().get_nodes_from_documents, True),
    ("Haystack", Haystack.Splitter(), True),
    ("chonkie", Chonkie.Chunker(), True),
    ("a function that calls chonkie", lambda text: iter(Chonkie.Chunker()(text)), True),
    ("dictionaries", lambda text: [{"text": each, "start": text.find(each)} for each in text.split("\n\n")], True),
    ("split_documents alone", SimpleNamespace(split_documents=LangChain.TextSplitter().split_documents), False),
]


@pytest.mark.parametrize(("what", "given", "tells"), CHUNKERS, ids=[f"{what}, {tells}" for what, _, tells in CHUNKERS])
def test_splitters_of_other_libraries_cut_documents(what, given, tells):
    chunks = chunk_corpus(CORPUS, given)
    assert [chunk.content for chunk in chunks] == TEXT.split("\n\n")
    # The last chunk is equal to the first: a splitter that looked for it found the first, and what tells that keeps it.
    assert [chunk.start for chunk in chunks] == [0, REFUNDS, SERVERS, 0 if tells else TEXT.rindex(FIRST)]
    assert [piece.start is not None for piece in FunctionChunker(given).pieces(TEXT)] == [tells] * 4
    retriever = BM25Retriever(given)
    assert evaluate(retriever, dataset(), k=2, budgets=[], metrics=[SpanRecall()]).metrics["span_recall@2"] == 1.0


def test_a_start_that_the_text_contradicts_does_not_count():
    pieces = [Chonkie.Chunk(SECOND, 3, 26), Chonkie.Chunk(THIRD, SERVERS, SERVERS + len(THIRD))]
    assert [piece.start for piece in as_pieces(pieces, "f", TEXT)] == [None, SERVERS]
    last = TEXT.rindex(FIRST)
    pieces = [
        Chonkie.Chunk(FIRST, last, last + len(FIRST)),
        *pieces,
    ]  # one is looked for, and the others keep their places
    chunks = position_aware(lambda text: pieces).chunk_with_positions(A)
    assert [chunk.start for chunk in chunks] == [last, REFUNDS, SERVERS]


EMBEDDERS: list[tuple[str, Any, bool]] = [
    ("LangChain", LangChain.Embeddings(), True),
    ("LlamaIndex", LlamaIndex.Embedding(), True),
    ("chonkie", Chonkie.Embeddings(), False),
    ("Haystack, texts", Haystack.TextEmbedder(), False),
    ("Haystack, documents", Haystack.DocumentEmbedder(), False),
    ("encode", SimpleNamespace(encode=LangChain.Embeddings().embed_documents), False),
    ("embed alone", SimpleNamespace(embed=LangChain.Embeddings().embed_documents), False),
    ("embed and dimension", SimpleNamespace(embed=LangChain.Embeddings().embed_documents, dimension=4), False),
    ("a generator of fastembed", SimpleNamespace(embed=lambda texts: (np.ones(4) for _ in texts)), False),
    (
        "embed and embed_query",
        SimpleNamespace(
            **{
                name: getattr(LangChain.Embeddings(), f"embed_{what}")
                for name, what in (("embed", "documents"), ("embed_query", "query"))
            }
        ),
        True,
    ),
]


@pytest.mark.parametrize(("what", "given", "own_query"), EMBEDDERS, ids=[what for what, _, _ in EMBEDDERS])
def test_embedding_models_of_other_libraries_embed(what, given, own_query):
    embedder = FunctionEmbedder(given)
    vectors = embedder.embed([FIRST, SECOND])
    assert vectors.shape == (2, 4)
    assert vectors.dtype == np.float32
    assert embedder.dimension == 4
    expected = embedder.embed([FIRST])[0] * (2 if own_query else 1)
    assert np.array_equal(embedder.embed_query(FIRST), expected)
    assert np.array_equal(embedder.embed_queries([FIRST, SECOND])[0], expected)
    assert embedder.embed_queries([]).shape == (0, 4)
    assert not evaluate(VectorRAGRetriever(embedder=given), dataset(), k=2, budgets=[]).failures


RERANKERS: list[tuple[str, Any, int]] = [
    ("LangChain", LangChain.Compressor(), 2),
    ("LlamaIndex", LlamaIndex.Postprocessor(), 4),
    ("Haystack", Haystack.Ranker(), 4),
    ("scores", SimpleNamespace(rerank=lambda query, texts: [len(text) for text in texts]), 4),
    ("texts", lambda query, texts: sorted(texts, key=len, reverse=True), 4),
    ("texts with equal scores", lambda query, texts: [(text, 1.0) for text in sorted(texts, key=len, reverse=True)], 4),
    ("texts as given, with scores", lambda query, texts: [(text, len(text)) for text in texts], 4),
    ("dicts as given, with scores", lambda query, texts: [{"text": text, "score": len(text)} for text in texts], 4),
    ("the best with scores", lambda query, texts: [(text, len(text)) for text in texts if len(text) > 5], 3),
    ("a generator", lambda query, texts: (len(text) for text in texts), 4),
    ("indexes with scores", lambda query, texts: [(n, len(text)) for n, text in enumerate(texts)][::-1], 4),
    ("Sentence Transformers", lambda query, texts: [{"corpus_id": texts.index(FIRST), "score": np.float32(0.5)}], 1),
    (
        "Jina",
        lambda query, texts: {
            "results": [
                {"index": index, "document": {"text": texts[index]}, "relevance_score": len(texts[index]) / 100}
                for index in range(len(texts))
            ]
        },
        4,
    ),
    (
        "Cohere",
        lambda query, texts: SimpleNamespace(
            results=[SimpleNamespace(index=texts.index(FIRST), relevance_score=0.9, document=None)]
        ),
        1,
    ),
    (
        "best first, not all with scores",
        lambda query, texts: [FIRST, *((text, 2) for text in texts if text != FIRST)],
        4,
    ),
]


@pytest.mark.parametrize(("what", "given", "returned"), RERANKERS, ids=[what for what, _, _ in RERANKERS])
def test_rerankers_of_other_libraries_order_the_candidates(what, given, returned):
    retriever = RerankedRetriever(lambda query, k: [THIRD, SECOND, FIRST, "night"][:k], given)
    with collect_notes() as notes:
        retriever.index(CORPUS)
        hits = retriever.retrieve("Invoices are sent when? Refunds too?", 4).hits
    assert hits[0].text == FIRST
    assert len(hits) == 4
    assert any("left out some of the texts that it was given" in note for note in notes) == (returned < 4)


@each(
    ("returned", "message"),
    [
        ([FIRST, "made up"], "'made up', which is none of the texts that it was given; expected one finite number per"),
        (["made up"], "'made up', which is none of the texts that it was given"),
        ([(2, 0.5)], r"'\(2, 0.5\)', which is none of the texts"),
        (
            [{"document": FIRST, "score": 0.5}],
            r"\[\{'document': .*\}\] for 2 texts; expected one finite number per text",
        ),
        ([(0.5, FIRST)], r"\[.*\] for 2 texts: type <U\d+; expected .* such as .*, or pairs \(text, score\)$"),
        ([FIRST, [SECOND]], r"\[.*\] for 2 texts.*; expected one finite number"),
        ([], r"shape \(0,\) for 2 texts"),
        (
            [(FIRST, float("nan")), (SECOND, float("nan"))],
            f"NaN or infinity for 2 of 2 texts, the first: '{FIRST}'",
        ),
    ],
)
def test_what_a_reranker_was_not_given_is_refused_in_one_line(returned, message):
    with pytest.raises(InputError, match=f" returned {message}"):
        FunctionReranker(lambda query, texts: returned).scores("Which?", [FIRST, SECOND])


@each(
    ("make", "message"),
    [
        (
            lambda: BM25Retriever(lambda: [TEXT]),
            r"chunker=<lambda>\(\) cannot be called as a chunker, with \(text\); expected a",
        ),
        (lambda: BM25Retriever(LangChain.TextSplitter), "chunker=TextSplitter is a class; pass an instance"),
        (
            lambda: BM25Retriever(SimpleNamespace(chunk=fails, chunk_with_positions=fails)),
            "derive it, class SimpleNamespace",
        ),
        (
            lambda: BM25Retriever("recursive"),
            "chunker='recursive' is str; expected a Chunker, or a function .text. -> list",
        ),
        (
            lambda: VectorRAGRetriever(embedder=lambda: [1.0]),
            r"for example lambda texts: \[embed\(text\) for text in texts\]",
        ),
        (lambda: VectorRAGRetriever(embedder="lsa"), "is str; expected an Embedder, or a function .texts. -> vectors"),
        (lambda: VectorRAGRetriever(embedder=Text("lsa")), "is Text; expected an Embedder"),  # which has encode
        (lambda: VectorRAGRetriever(embedder=[1.0]), "expected an Embedder, or a function .texts. -> vectors"),
        (
            lambda: RerankedRetriever(BM25Retriever(), lambda texts: []),
            r"a function \(query, texts\) -> scores, for example",
        ),
        (
            lambda: RerankedRetriever(lambda query: [], LangChain.Compressor()),
            r"a function \(query, k\) -> results, for",
        ),
    ],
)
def test_parts_that_cannot_be_called_are_refused_where_they_enter(make, message):
    with pytest.raises(ConfigError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_configuration_names_a_retriever_of_another_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_pipeline_of_langchain.py").write_text(
        "from support.libraries import LangChain\nfrom sched import scheduler\n"
        "retriever = LangChain.Retriever([])\nsplitter = LangChain.TextSplitter()\nplanner = scheduler()\n"
    )
    assert load("retriever", "own_pipeline_of_langchain:retriever").found == []
    for kind, name in (
        ("chunker", "splitter"),
        ("retriever", "splitter"),
        ("retriever", "planner"),
        ("engine", "retriever"),
    ):
        with pytest.raises(ConfigError, match="expected a"):
            load(kind, f"own_pipeline_of_langchain:{name}")
