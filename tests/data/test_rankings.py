"""Rankings of a run, or made by hand, are read as they were given."""

import numpy as np
import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    Query,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.data import Cutoff, Failure, Hit, QueryId, QueryRanking, QueryText, Rankings, Stage
from rag_evaluation_framework.data.hits import Retrieval
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.runs import retrieve
from rag_evaluation_framework.testing import ReversingReranker

CORPUS = Corpus([Document(DocumentId("d"), "0123456789" * 10)])
HITS = tuple(Hit(DocumentId("d"), place, place + 10, score=1.0) for place in (0, 10, 20))


def query(name):
    return Query(QueryId(name), QueryText(f"{name}?"))


ENTRIES = (
    QueryRanking(query("a"), HITS, stages=(Stage("embed", 0.5), Stage("search", 0.25, HITS[::-1])), exhausted=False),
    QueryRanking(query("b"), failure=Failure("retrieve", "ValueError", "gone")),
    QueryRanking(query("c"), HITS[:1], {Cutoff(5): HITS[1:]}, (Stage("search", None, ()), Stage("rerank", 1.0))),
)


def test_rankings_made_by_hand_are_a_sequence_of_what_was_given():
    rankings = Rankings.of(ENTRIES, CORPUS, retriever="mine", notes=("so",))
    whole = [entry.at.get(Cutoff(5), entry.hits) for entry in ENTRIES]
    assert [entry.hits for entry in rankings] == [entry.hits for entry in ENTRIES]
    assert [entry.at for entry in rankings] == [{Cutoff(5): hits} for hits in whole]
    for entry, given in zip(rankings, ENTRIES, strict=True):
        assert (entry.query, entry.failure, entry.exhausted) == (given.query, given.failure, given.exhausted)
        assert entry.stages == given.stages
    assert rankings[1:] == [rankings[1], rankings[2]]
    assert rankings[-1].query.id == "c"
    with pytest.raises(IndexError):
        rankings[3]
    assert (rankings.retriever, rankings.notes) == ("mine", ("so",))
    assert repr(rankings) == "Rankings(queries: 3, hits: 4, failed: 1)"


def test_some_of_the_rankings_keep_all_that_is_known_of_them():
    taken = Rankings.of(ENTRIES, CORPUS).take(np.array([2, 0]))
    assert [entry.query.id for entry in taken] == ["c", "a"]
    assert taken[0].at == {Cutoff(5): HITS[1:]}
    assert taken[1].stages == ENTRIES[0].stages
    assert (taken.exhausted.tolist(), taken.failures) == ([True, False], {})


def test_stages_of_one_name_in_one_retrieval_add_up():
    stages = (Stage("search", 0.5), Stage("search", None), Stage("search", 0.25, HITS))
    (entry,) = Rankings.of([QueryRanking(query("a"), HITS, stages=stages)], CORPUS)
    assert entry.stages == (Stage("search", 0.75, HITS),)


def test_the_rankings_of_stages_come_with_a_run():
    retriever = RerankedRetriever(BM25Retriever(), ReversingReranker(), candidates=3)
    corpus = Corpus([Document(DocumentId(name), f"{name} pays") for name in "abcd"])
    (entry,) = retrieve(retriever, corpus, ["who pays?"], [3])
    stages = {stage.name: stage.hits for stage in entry.stages}
    assert [hit.doc_id for hit in stages["search"]][::-1] == [hit.doc_id for hit in entry.hits]
    assert len(entry.hits) == 3


class Timed(BM25Retriever):
    """Says what a test wants of its stages."""

    stages, hits = (), HITS

    def retrieve(self, query, k):
        return Retrieval(self.hits, self.stages)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (["search"], "returned the stage 'search'; expected a Stage with a name"),
        ([Stage(None, 1.0)], "expected a Stage with a name"),
        (
            [Stage("search", float("nan"))],
            "the stage 'search' with nan seconds; expected a finite number of at least 0, or None",
        ),
        ([Stage("search", "1 s")], "with '1 s' seconds"),
        ([Stage("search", 1.0, (5,))], "Timed, stage 'search', returned a result of type int"),
        (5, "stages=5; expected a tuple of Stage"),
    ],
)
def test_stages_that_are_none_are_a_failure_of_the_question(monkeypatch, stages, message):
    monkeypatch.setattr(Timed, "stages", stages)
    (entry,) = retrieve(Timed(), CORPUS, ["what?"], [3])
    assert message in entry.failure.message
    assert entry.hits == ()


def test_numbers_of_other_kinds_are_seconds(monkeypatch):
    monkeypatch.setattr(Timed, "stages", [Stage("search", np.float32(0.5))])
    (entry,) = retrieve(Timed(), CORPUS, ["what?"], [3])
    assert entry.stages == (Stage("search", 0.5),)


def test_columns_that_do_not_belong_together_are_refused():
    rankings = Rankings.of(ENTRIES, CORPUS)
    with pytest.raises(DatasetError, match=r"rankings of 3 questions have columns of \[0, 3\]; make them"):
        Rankings(rankings.queries, rankings.hits, CORPUS)


@pytest.mark.parametrize("level", [TOKEN, CHUNK, DOCUMENT])
@pytest.mark.parametrize(
    "hit", [Hit(DocumentId("d.md"), 0, 5), Hit(DocumentId("x"), 0, 5), Hit(DocumentId("d"), 10**30, 10**31)]
)
def test_the_hits_of_stages_are_located_as_others_are(monkeypatch, level, hit):
    corpus = Corpus([Document(DocumentId("guide/d.md"), "0123456789 " * 30)])
    truth = TokenLevelGroundTruth(Query.from_text("0123456789"), [CharacterSpan(DocumentId("guide/d.md"), 0, 5)])
    monkeypatch.setattr(Timed, "stages", [Stage("search", 0.1, (hit,))])
    monkeypatch.setattr(Timed, "hits", ())
    evaluation = {TOKEN: TokenLevelEvaluation, CHUNK: ChunkLevelEvaluation, DOCUMENT: DocumentLevelEvaluation}[level]
    result = evaluation(corpus, Dataset([truth], level=TOKEN, corpus=corpus)).run(retriever=Timed())
    assert result.counts["scored"] == 1
    (entry,) = retrieve(Timed(), corpus, ["0123456789"], [1])
    (found,) = entry.stages[0].hits
    assert found.span == (CharacterSpan(DocumentId("guide/d.md"), 0, 5) if hit.doc_id == "d.md" else None)


ELSEWHERE = Stage("search", 1.0, (Hit(DocumentId("zz"), 0, 5),))
QUERY_RANKING = r".*expected QueryRanking\(query, hits\)"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([QueryRanking(query("a"), (Hit(score="high"),))], "the score 'high'; expected a number"),
        ([QueryRanking(query("a"), (Hit(text=5),))], "expected texts as doc_id, chunk_id and"),
        ([QueryRanking(query("a"), HITS, stages=(ELSEWHERE,))], "document 'zz', which their corpus does not have"),
        (None, f"the rankings hold None{QUERY_RANKING}"),
        ([("a", HITS)], rf"the rankings hold \('a'{QUERY_RANKING}"),
        ([QueryRanking("a", HITS)], f"the rankings hold QueryRanking{QUERY_RANKING}"),
        (5, f"the rankings hold 5{QUERY_RANKING}"),
        ("ab", f"the rankings hold 'a'{QUERY_RANKING}"),
    ],
    ids=["a score", "a text", "hits of a stage", "None", "a pair", "of no query", "a number", "a word"],
)
def test_what_is_no_ranking_of_a_query_is_refused(entries, message):
    with pytest.raises(DatasetError, match=message):
        Rankings.of(entries, CORPUS)


def test_latency_is_told_as_it_was_measured():
    assert Rankings.of(ENTRIES, CORPUS).latency == "not measured"
    assert retrieve(lambda query, k: [], CORPUS, ["what?"], [1]).latency == "one question at a time"
