"""One span dataset, one retriever, three evaluation types: the numbers are those of a slow and obvious brute_force."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag_evaluation_framework
from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    EvaluationConfig,
    PositionAwareChunk,
    Query,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.scoring.metrics import ALL_METRICS
from support import brute_force_levels as brute_force
from support.retrievers import Listing

EVALUATIONS = {
    "token-level": TokenLevelEvaluation,
    "document-level": DocumentLevelEvaluation,
    "chunk-level": ChunkLevelEvaluation,
}
METRICS = {
    "token-level": {*brute_force.token_scores([], [("d", 0, 1)], [])},
    "document-level": {*brute_force.rank_scores([], {"d"}, 1)},
    "chunk-level": {*brute_force.rank_scores([], {"d"}, 1), *brute_force.set_scores([], {"d"})},
}
KS = (5, 1, 2, 3)
BUDGETS = ("1ch", "7ch", "7ch_whole", "20ch", "20ch_whole", "1000ch")


def spans_of(places):
    return tuple(CharacterSpan(DocumentId(document), start, end) for document, start, end in places)


def place_of(chunk):
    return chunk.doc_id, chunk.start, chunk.end


def check(corpus, truths, retriever, rankings, chunks, ks=KS, budgets=BUDGETS):
    """Evaluate at all three levels and compare every score of every question, and every mean, with the brute_force."""
    entries = [
        TokenLevelGroundTruth(Query(QueryId(name), QueryText(name)), spans_of(truth)) for name, truth in truths.items()
    ]
    dataset = Dataset(entries, TOKEN, corpus=corpus)
    texts = {document.id: document.content for document in corpus}
    expected = {
        name: brute_force.scores(rankings[name], truth, chunks, texts, ks, budgets) for name, truth in truths.items()
    }
    results = {}
    for level, evaluation in EVALUATIONS.items():
        result = evaluation(corpus, dataset).run(
            retriever=retriever,
            k=ks,
            metrics=[ALL_METRICS[name] for name in sorted(METRICS[level])],
            config=EvaluationConfig(budgets=budgets),
        )
        results[level] = result
        assert not result.failures
        for query in result.queries:
            assert query.scores == pytest.approx(expected[query.query_id][level], abs=1e-9)
        answered = [expected[name][level] for name, truth in truths.items() if truth]
        for name, mean in result.metrics.items():
            values = [scores[name] for scores in answered]
            assert mean == (pytest.approx(sum(values) / len(values), abs=1e-9) if values else None)
    assert len({result.config["dataset"]["hash"] for result in results.values()}) == 1
    return results


@st.composite
def places(draw, texts, smallest=1):
    """Draw a place in one of the texts."""
    document = draw(st.sampled_from(sorted(texts)))
    start = draw(st.integers(0, len(texts[document]) - smallest))
    return document, start, draw(st.integers(start + smallest, len(texts[document])))


@st.composite
def cases(draw):
    """Draw texts that repeat themselves, chunks of any kind, questions with rankings, and their truth."""
    words = st.lists(st.sampled_from(["a", "b", "ab", " ", "\n", "é", "𝄞"]), min_size=1, max_size=14).map("".join)
    texts = {
        f"{name}.md": text for name, text in zip("abc", draw(st.lists(words, min_size=1, max_size=3)), strict=False)
    }
    chunks = draw(st.lists(places(texts, smallest=draw(st.sampled_from([0, 1, 1]))), min_size=1, max_size=10))
    truths, rankings = {}, {}
    for number in range(draw(st.integers(1, 3))):
        truths[f"q{number}"] = draw(st.lists(places(texts), max_size=4))
        rankings[f"q{number}"] = draw(st.lists(st.integers(0, len(chunks) - 1), max_size=8))
    return texts, chunks, truths, rankings


@pytest.mark.no_cover
@pytest.mark.slow
@given(cases())
def test_three_evaluation_types_agree_with_brute_force_on_any_chunking_and_ranking(case):
    texts, chunks, truths, rankings = case
    corpus = Corpus(Document(DocumentId(name), text) for name, text in texts.items())
    listed = [PositionAwareChunk.of(corpus[document], start, end) for document, start, end in chunks]
    ranked = {name: [chunks[number] for number in ranking] for name, ranking in rankings.items()}
    found = {name: [listed[number] for number in ranking] for name, ranking in rankings.items()}
    check(corpus, truths, Listing(listed, found), ranked, chunks)


HANDBOOK = Path(rag_evaluation_framework.__file__).parent / "demo"


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    "chunker",
    [RecursiveCharacterChunker(300), RecursiveCharacterChunker(400, overlap=200)],
    ids=["plain", "overlapping"],
)
def test_three_evaluation_types_agree_with_brute_force_on_the_handbook(chunker):
    corpus = Corpus.from_folder(HANDBOOK / "corpus")
    questions = json.loads((HANDBOOK / "questions.json").read_text(encoding="utf-8"))["questions"]
    truths = {
        question["query"]: [(span["doc_id"], span["start"], span["end"]) for span in question["relevant_spans"]]
        for question in questions
    }
    retriever = BM25Retriever(chunker)
    retriever.index(corpus)
    chunks = [place_of(chunk) for chunk in retriever.chunks()]
    rankings = {}
    for question in truths:
        found = retriever.retrieve(question, len(chunks))
        rankings[question] = [place_of(hit) for hit in getattr(found, "hits", found)]
    results = check(corpus, truths, retriever, rankings, chunks, ks=(5, 1, 10), budgets=("500ch", "4000ch_whole"))
    answered = sum(bool(truth) for truth in truths.values())
    assert 0 < answered < len(truths)
    assert all(result.counts["scored"] == answered for result in results.values())
    assert 0.4 < results["token-level"].metrics["span_recall"] < results["document-level"].metrics["recall"] <= 1.0
