"""Answers with several documents or chunks, scored: against walking down the ranking, and by what has to hold."""

import random

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
)
from rag_evaluation_framework.data import Answer, ChunkId, Hit, QueryId, QueryRanking, QueryText, Rankings
from rag_evaluation_framework.scoring import score
from support import brute_force_answers as brute_force

LENGTH, CUTS = 10, (None, 1, 2, 3, 5)
CORPUS = Corpus([Document(DocumentId(f"u{number}"), str(number) * LENGTH) for number in range(8)])
OF_BOTH = ["hit", "recall", "precision", "f1", "mrr", "map", "ndcg", "r_precision"]
OF_CHUNKS = [*OF_BOTH, "chunk_recall", "chunk_precision", "chunk_f1"]

FEW_AND_MANY = pytest.mark.parametrize(("first", "last"), [(0, 200), pytest.param(200, 2_500, marks=pytest.mark.slow)])


def worlds(first, last, **options):
    return [brute_force.world_of_ids(random.Random(seed), **options) for seed in range(first, last)]


def query(number):
    return Query(QueryId(str(number)), QueryText(f"question {number}"))


def answer(places):
    return Answer(tuple(tuple(sorted(place)) for place in places))


def documents(some, gains=None):
    truth = [
        DocumentLevelGroundTruth(query(number), tuple(map(answer, answers)), gains=gains[number] if gains else {})
        for number, (answers, _) in enumerate(some)
    ]
    rankings = [
        QueryRanking(query(number), tuple(Hit(DocumentId(unit)) for unit in results))
        for number, (_, results) in enumerate(some)
    ]
    return Dataset(truth, DOCUMENT, corpus=CORPUS), Rankings.of(rankings, CORPUS)


def chunks(some):
    truth = [
        ChunkLevelGroundTruth(query(number), tuple(map(answer, answers))) for number, (answers, _) in enumerate(some)
    ]
    rankings = [
        QueryRanking(query(number), tuple(Hit(DocumentId("u0"), chunk_id=ChunkId(unit), text=unit) for unit in results))
        for number, (_, results) in enumerate(some)
    ]
    return Dataset(truth, CHUNK, corpus=CORPUS), Rankings.of(rankings, CORPUS)


def scored(pair, names, cuts=(1, 2, 3, 5, "20ch", "35ch")):
    dataset, rankings = pair
    table = score(rankings, dataset, names, cuts)
    return [{name: table.columns[name][row] for name in table.columns} for row in range(len(rankings))]


def counted(answers, results, names, cuts=(1, 2, 3, 5), gains=None):
    return {
        f"{name}@{cut}": brute_force.id_scores(answers, results, cut, gains)[name] for name in names for cut in cuts
    }


@pytest.mark.no_cover
@FEW_AND_MANY
def test_every_score_of_documents_equals_walking_down_the_ranking(first, last):
    some = worlds(first, last)
    for scores, (answers, results) in zip(scored(documents(some), OF_BOTH), some, strict=True):
        expected = counted(answers, results, OF_BOTH)
        for budget, most in (("20ch", 2), ("35ch", 4)):  # a document has 10 characters; of the fourth, half is read
            distinct = brute_force.id_scores(answers, results[:most])
            expected |= {f"{name}@{budget}": distinct[name] for name in OF_BOTH}
        assert scores == pytest.approx(expected, abs=1e-12), (answers, results)


def test_questions_score_alone_as_among_others():
    # One question alone scores as walking down its ranking:
    for world in worlds(30_000, 30_060):
        (scores,), (answers, results) = scored(documents([world]), OF_BOTH, (1, 2, 3, 5)), world
        assert scores == pytest.approx(counted(answers, results, OF_BOTH), abs=1e-12), world

    # Questions without alternatives score as they do alone:
    single, several = worlds(0, 300, alternatives=0), worlds(300, 600)
    mixed = [world for pair in zip(single, several, strict=True) for world in pair]
    assert scored(documents(mixed), OF_BOTH)[::2] == scored(documents(single), OF_BOTH)


@pytest.mark.no_cover
@FEW_AND_MANY
@pytest.mark.filterwarnings("ignore:.* cannot list its chunks")
def test_every_score_of_chunks_equals_walking_down_the_ranking(first, last):
    some = worlds(10_000 + first, 10_000 + last)
    cuts = (1, 2, 3, 5)
    for scores, (answers, results) in zip(scored(chunks(some), OF_CHUNKS, cuts), some, strict=True):
        assert scores == pytest.approx(counted(answers, results, OF_CHUNKS), abs=1e-12), (answers, results)


def test_gains_are_those_of_the_first_places():
    some = worlds(20_000, 20_500)
    chance = random.Random(0)
    gains = [
        {unit: chance.choice([0.5, 2.0, 3.0]) for unit in sorted({unit for one in answers for unit in one[0]})}
        for answers, _ in some
    ]
    for scores, (answers, results), weights in zip(
        scored(documents(some, gains), ["ndcg"], (1, 3, 5)), some, gains, strict=True
    ):
        assert scores == pytest.approx(counted(answers, results, ["ndcg"], (1, 3, 5), weights), abs=1e-12)


@pytest.mark.no_cover
def test_one_full_place_of_each_answer_has_all_of_it_and_another_place_lowers_nothing_but_map():
    monotone = [name for name in OF_BOTH if name != "map"]
    more = []
    for seed, (answers, results) in enumerate(worlds(0, 1_000)):
        chance = random.Random(seed)
        further = [[*answer, {f"u{chance.randrange(8)}"}] for answer in answers]
        more.append(((answers, results), (further, results)))
    before = scored(documents([one for one, _ in more]), monotone)
    after = scored(documents([other for _, other in more]), monotone)
    for one, other in zip(before, after, strict=True):
        assert all(other[name] >= one[name] - 1e-12 for name in one)
    full = [
        (answers, sorted(set().union(*(random.Random(seed).choice(answer) for answer in answers))))
        for seed, (answers, _) in enumerate(worlds(0, 1_000))
    ]
    for scores in scored(documents(full), ["recall"], (8,)):
        assert scores == {"recall@8": 1.0}


def test_a_prefix_and_two_ids_of_a_chunk_are_one_place():
    # A prefix is a place like any other:
    truth = DocumentLevelGroundTruth(
        query(0), (Answer.any_of(DocumentId("u3"), DocumentId("v7")),), relevant_prefixes=("v",)
    )
    assert [answer.places for answer in truth.answers] == [(("u3",), ("v*",)), (("v*",),)]
    assert truth.relevant == ("u3", "v*")

    # Two ids of one chunk are one place:
    truth = ChunkLevelGroundTruth(
        query(0), (Answer.any_of(ChunkId("chunk_0123456789ab"), ChunkId("pa_chunk_0123456789ab")),)
    )
    assert truth.relevant_chunk_ids == ("chunk_0123456789ab",)
    assert not truth.has_alternatives
