"""Where documents and chunks were lost: a case for every cause, made by hand, and any world against sets."""

import random

import numpy as np
import pytest

from rag_evaluation_framework import (
    ChunkLevelGroundTruth,
    Corpus,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    PositionAwareChunk,
    Query,
)
from rag_evaluation_framework.analysis.attribution.losses import CAUSES, STEPS, Evidence, unit_losses
from rag_evaluation_framework.data import Answer, ChunkId
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.hits import Hit, RankedHits
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT
from rag_evaluation_framework.text.reading import RankingCutter
from support.brute_force_answers import unit_ranks, world_of_ids

NAMES = [f"u{number}" for number in range(8)]
CORPUS = Corpus([Document(DocumentId(name), f"This is {name}.") for name in [*NAMES, "guide/a", "guide/b"]])
QUERY = Query.from_text("q")
ALL = [document.id for document in CORPUS]


def documents(*ids, prefixes=()):
    return DocumentLevelGroundTruth(QUERY, ids, prefixes)


def chunk(name):
    return PositionAwareChunk.of(CORPUS[name], 0, 5)


def evidence(truth, final, *, k="2", deep=None, first=None, indexed=ALL):
    """One question, its ranking of documents, and what is known beside it."""
    cutter = RankingCutter([Cutoff.parse(k)], None, CORPUS)
    rankings = {"final": final, "first": first, "deep": deep or first or final}
    found = {
        name: None if ids is None else RankedHits.of([tuple(Hit(DocumentId(one), 0, 5) for one in ids)])
        for name, ids in rankings.items()
    }
    chunks = None if indexed is None else [chunk(name) for name in indexed]
    return Evidence((truth,), CORPUS, cutter, asked=np.array([True]), chunks=chunks, **found)


def losses_of(known):
    losses = unit_losses(known, DOCUMENT)
    assert losses.recall[0] + sum(losses.lost[cause][0] for cause in CAUSES) == pytest.approx(1, abs=1e-12)
    return losses


def told(known):
    losses = losses_of(known)
    return losses.recall[0], {cause: losses.lost[cause][0] for cause in CAUSES if losses.lost[cause][0]}


GUIDES = documents(prefixes=["guide/"])
EITHER = documents(Answer.any_of(DocumentId("u0"), DocumentId("u1")))


@pytest.mark.parametrize(
    ("known", "recall", "lost"),
    [
        (evidence(documents("u0"), ["u0"]), 1, {}),
        (evidence(documents("gone", "u0"), ["u0"]), 0.5, {"not_in_corpus": 0.5}),
        (evidence(documents("u1"), ["u0"], indexed=["u0"]), 0, {"in_no_chunk": 1}),
        (evidence(documents("u1"), ["u0"], indexed=None), 0, {"not_retrieved": 1}),
        (evidence(documents("u1"), ["u0"]), 0, {"not_retrieved": 1}),
        (evidence(documents("u1"), ["u0", "u2", "u1"]), 0, {"beyond_cutoff": 1}),
        (evidence(documents("u1"), ["u0"], deep=["u0", "u2", "u1"]), 0, {"beyond_cutoff": 1}),
        (evidence(documents("u1"), ["u0", "u2", "u1"], first=["u1", "u0", "u2"]), 0, {"dropped_by_reranker": 1}),
        (evidence(documents("u1"), ["u0"], first=["u0"], deep=["u0", "u1"]), 0, {"not_a_candidate": 1}),
        (evidence(documents("u1"), ["u0"], first=["u0"], deep=["u0", "u2", "u1"]), 0, {"not_a_candidate": 1}),
        (evidence(documents("u1"), ["u2", "u0", "u1"], first=["u0", "u2", "u1"]), 0, {"beyond_cutoff": 1}),
        (evidence(documents("u1"), ["u0", "u2", "u1"], first=["u0"], deep=["u0", "u2"]), 0, {"beyond_cutoff": 1}),
        (evidence(documents("u1"), ["u1", "u0"], k="6ch"), 1, {}),
        (evidence(documents("u1"), ["u0", "u1"], k="5ch"), 0, {"beyond_cutoff": 1}),
        (evidence(GUIDES, ["guide/b"]), 1, {}),
        (evidence(GUIDES, ["u0", "u1", "guide/b"]), 0, {"beyond_cutoff": 1}),
        (evidence(documents(prefixes=["other/"]), ["u0"]), 0, {"not_in_corpus": 1}),
        (evidence(GUIDES, ["u0"], indexed=["u0"]), 0, {"in_no_chunk": 1}),
        (evidence(EITHER, ["u1"]), 1, {}),
        (evidence(EITHER, ["u2", "u3", "u1"]), 0, {"beyond_cutoff": 1}),
    ],
    ids=[
        "found",
        "not in the corpus",
        "in no chunk",
        "of unknown chunks",
        "not retrieved",
        "behind the cutoff",
        "in the deep ranking only",
        "dropped by the reranker",
        "not a candidate",
        "not a candidate, and behind the cutoff",
        "a candidate, behind the cutoff before and after",
        "ranked by the run, and so a candidate",
        "within a budget",
        "behind a budget",
        "a document of its prefix was read",
        "a document of its prefix behind the cutoff",
        "no document has its prefix",
        "no document of its prefix in a chunk",
        "another place of its answer was read",
        "another place of its answer behind the cutoff",
    ],
)
def test_one_case_of_each_cause(known, recall, lost):
    assert told(known) == (recall, pytest.approx(lost))


@pytest.mark.parametrize(
    ("known", "rank"),
    [
        (evidence(documents("u0"), ["u0"]), 0),
        (evidence(documents("u1"), ["u0"]), 0),
        (evidence(documents("u0", "u1"), ["u0", "u0", "u0", "u1"]), 4),
        (evidence(documents("u1"), ["u0"], deep=["u0", "u2", "u1"]), 3),
        (evidence(documents("u1"), ["u0", "u2", "u1"], first=["u1", "u0", "u2"]), 3),
        (evidence(documents(Answer((("u0",), ("u3", "u4")))), ["u1", "u2", "u3", "u4"]), 4),
        (evidence(documents(prefixes=["guide/"]), ["u1", "u2", "guide/b", "guide/a"]), 3),
    ],
)
def test_the_best_rank_is_the_first_with_more(known, rank):
    assert losses_of(known).best_rank.tolist() == [rank]


def test_of_chunks_one_that_is_not_in_the_index_is_in_no_chunk():
    ids = [chunk("u0").id, ChunkId("which no chunk holds")]
    known = evidence(ChunkLevelGroundTruth(QUERY, tuple(map(ChunkId, ids))), [])
    ranked = RankedHits.of([(Hit.of(chunk("u0")),)])
    known = Evidence(known.truth, CORPUS, known.cutter, ranked, None, ranked, known.asked, known.chunks)
    losses = unit_losses(known, CHUNK)
    assert (losses.recall[0], losses.lost["in_no_chunk"][0]) == (0.5, 0.5)


def test_the_best_order_has_as_many_units_as_fit():
    losses = losses_of(evidence(documents("u0", "u1", "u2", "gone"), ["u5"], deep=["u5", "u0", "u1"]))
    assert losses.chunking.recall[0] == losses.candidates.recall[0] == 0.5
    assert losses.chunking.exact[0]
    assert losses.lost["beyond_cutoff"][0] == 0.5
    at_a_budget = losses_of(evidence(documents("u0", "u1", "u2", "gone"), ["u5"], k="5ch"))
    assert (at_a_budget.chunking.recall[0], at_a_budget.chunking.exact[0]) == (0.75, False)


@pytest.mark.parametrize(
    ("deep", "given", "recall"), [("u2 u1 u0", 1, 0.5), ("u2 u1 u0", 2, 0.5), ("u2 u1 u0", 3, 0.5), ("u0 u1 u2", 3, 1)]
)
def test_without_the_reranker_as_much_is_read_whatever_it_was_given(deep, given, recall):
    deep = deep.split()
    losses = losses_of(evidence(documents("u0", "u1"), deep[:given][::-1], first=deep[:given], deep=deep))
    assert losses.without_reranker.tolist() == [recall]
    assert losses.unexplained == losses.lost


def test_without_a_reranker_nothing_is_known_without_it():
    assert losses_of(evidence(documents("u0"), ["u0"])).without_reranker is None


def test_losses_are_those_of_sets():
    for seed in range(600):
        chance = random.Random(seed)
        answers, deep = world_of_ids(chance)
        deep = [*dict.fromkeys(deep)]
        indexed = [name for name in NAMES if name in deep or chance.random() < 0.7]
        reranks, k = chance.random() < 0.5, chance.randint(1, 4)
        some = deep[: chance.randint(0, len(deep))]
        given = chance.choice([some, deep])
        final = chance.sample(given, len(given)) if reranks else some
        candidates, kept = (given, given) if reranks else (deep, final)
        places = [Answer(tuple(tuple(map(DocumentId, sorted(place))) for place in one)) for one in answers]
        known = evidence(
            documents(*places), final, k=str(k), deep=deep, first=given if reranks else None, indexed=indexed
        )
        part = [*kept[:k], *final[:k]]
        steps = [[*NAMES], indexed, deep, candidates, part, final[:k], final[:k]]
        found = []
        for step in steps:
            ranks, _ = unit_ranks(answers, [*dict.fromkeys(step)])
            found.append(sum(rank <= len(step) for rank in ranks.values()) / len(ranks))
        losses = losses_of(known)
        expected = {cause: one - other for cause, one, other in zip(STEPS, [1, *found[:-1]], found, strict=True)}
        assert {cause: losses.lost[cause][0] for cause in STEPS} == pytest.approx(expected, abs=1e-12), seed
