"""PrecisionOmega: the precision of retrieving all chunks that share text with the truth, and no others."""

import csv
import json
from dataclasses import replace
from functools import partial
from itertools import accumulate, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CharacterSpan,
    PrecisionOmega,
    SpanPrecision,
    SpanRecall,
    TokenLevelMetric,
    score_spans,
)
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.scoring.judging import SpanJudgements, oracle_from_lists
from rag_evaluation_framework.scoring.metrics import ALL_METRICS, SpanMetric
from support import brute_force_spans as brute_force
from support.each import each
from support.linear import assert_linear

OMEGA = PrecisionOmega()


def span(text):
    document, start, end = text.split()
    return CharacterSpan(document, int(start), int(end))


WORKED = {
    # chunks, truth, precision omega
    "one chunk of four": (["d 0 10", "d 10 20", "d 20 30", "d 30 40"], ["d 12 17"], 5 / 10),
    "two chunks": (["d 0 10", "d 10 20", "d 20 30"], ["d 8 12"], 4 / 20),
    "chunks that touch do not count": (["d 0 10", "d 10 20", "d 20 30"], ["d 10 20"], 10 / 10),
    "one character is enough": (["d 0 10", "d 10 20", "d 20 30"], ["d 9 20"], 11 / 20),
    "overlapping chunks count once": (["d 0 10", "d 5 15"], ["d 6 9"], 3 / 15),
    "nested chunks": (["d 0 100", "d 10 20", "d 12 14", "d 50 60"], ["d 12 14"], 2 / 100),
    "the same chunk twice": (["d 0 10", "d 0 10"], ["d 0 5"], 5 / 10),
    "overlapping truth counts once": (["d 0 20"], ["d 0 10", "d 5 15"], 15 / 20),
    "truth in two documents": (["a 0 10", "b 0 20", "c 0 99"], ["a 0 5", "b 0 5"], 10 / 30),
    "the same place of another document": (["a 0 10"], ["b 0 10"], 0),
    "what no chunk covers is left out": (["d 0 10", "d 20 30"], ["d 5 25"], 10 / 20),
    "no chunk near": (["d 0 10"], ["d 50 60"], 0),
    "empty chunks": (["d 5 5", "d 0 10", "d 10 10"], ["d 4 6"], 2 / 10),
    "only empty chunks": (["d 5 5"], ["d 0 10"], 0),
    "empty truth": (["d 0 10"], ["d 5 5"], 0),
    "no chunks": ([], ["d 0 10"], 0),
    "no truth": (["d 0 10"], [], 0),
    "nothing": ([], [], 0),
}


def passage(place):
    return brute_force.characters(place.doc_id, place.start, place.end)


def by_characters(chunks, truth):
    """Precision omega by counting characters."""
    relevant = brute_force.union(map(passage, truth))
    oracle = brute_force.union(passage(chunk) for chunk in chunks if relevant & set(passage(chunk)))
    return len(relevant & oracle) / len(oracle) if oracle else 0.0


@st.composite
def spans(draw):
    start = draw(st.integers(0, 30))
    return CharacterSpan(draw(st.sampled_from("ab")), start, start + draw(st.integers(0, 12)))


some_spans = st.lists(spans(), max_size=8)


@each(("chunks", "truth", "score"), WORKED.values())
def test_scores_equal_those_worked_by_hand(chunks, truth, score):
    assert OMEGA.calculate(list(map(span, chunks)), list(map(span, truth))) == pytest.approx(score)


def test_it_needs_all_chunks_and_the_token_level():
    # Precision omega is a token level metric that needs all chunks:
    assert OMEGA.name == "precision_omega"
    assert isinstance(OMEGA, TokenLevelMetric)
    assert {
        metric.name for metric in ALL_METRICS.values() if isinstance(metric, SpanMetric) and metric.needs_chunks
    } == {"precision_omega"}

    # Judgements without chunks are refused:
    with pytest.raises(ConfigError, match="precision_omega needs all chunks of the corpus"):
        OMEGA.score(SpanJudgements.from_lists([[]], [[]]))


@given(some_spans, st.lists(some_spans, max_size=5))
def test_scores_and_what_they_are_made_of_equal_counting_characters(chunks, truth):
    expected = [by_characters(chunks, right) for right in truth]
    assert [OMEGA.calculate(chunks, right) for right in truth] == pytest.approx(expected)
    nothing = SpanJudgements.from_lists([[]] * len(truth), [[]] * len(truth))
    judged = replace(nothing, oracle=oracle_from_lists(chunks, truth))
    assert OMEGA.score(judged).tolist() == pytest.approx(expected)
    for number, right in enumerate(truth):
        relevant = brute_force.union(map(passage, right))
        sharing = [passage(chunk) for chunk in chunks if relevant & set(passage(chunk))]
        assert judged.oracle.relevant_chars[number] == len(brute_force.union(sharing) & relevant)
        assert judged.oracle.retrieved_chars[number] == len(brute_force.union(sharing))
        assert judged.oracle.retrieved_chars_raw[number] == brute_force.raw_length(sharing)
        assert judged.oracle.truth[number] == len(relevant)


def precision_with_the_highest_recall(chunks, truth):
    """The highest precision of all sets of chunks that hold as much of the truth as any set does."""
    relevant = brute_force.union(map(passage, truth))
    reachable = relevant & brute_force.union(map(passage, chunks))
    precisions = [0.0]
    for size in range(1, len(chunks) + 1):
        for some in combinations(chunks, size):
            found = brute_force.union(map(passage, some))
            if reachable and found >= reachable:
                precisions.append(len(reachable) / len(found))
    return max(precisions)


def one_after_another(lengths):
    """Chunks of one document that touch and do not overlap."""
    bounds = [0, *accumulate(lengths)]
    return [CharacterSpan("a", start, end) for start, end in pairwise(bounds)]


@given(st.lists(st.integers(0, 9), max_size=6).map(one_after_another), some_spans)
def test_of_chunks_that_do_not_overlap_nothing_with_that_recall_is_more_precise(chunks, truth):
    assert OMEGA.calculate(chunks, truth) == precision_with_the_highest_recall(chunks, truth)


@given(st.lists(spans(), max_size=6), some_spans)
def test_of_chunks_that_overlap_something_with_that_recall_may_be_more_precise_and_never_is_less(chunks, truth):
    relevant = brute_force.union(map(passage, truth))
    everything = brute_force.union(map(passage, chunks))
    score = OMEGA.calculate(chunks, truth)
    assert 0 <= score <= precision_with_the_highest_recall(chunks, truth)
    assert score >= (len(everything & relevant) / len(everything) if everything else 0)


def test_what_overlaps_is_counted_once_and_recall_may_not_be_perfect():
    # Two overlapping chunks hold the truth and one of them alone is more precise:
    chunks, truth = [span("d 0 10"), span("d 5 15")], [span("d 6 9")]
    assert OMEGA.calculate(chunks, truth) == 3 / 15
    assert SpanRecall().calculate(chunks[:1], truth) == 1.0
    assert SpanPrecision().calculate(chunks[:1], truth) == 3 / 10

    # The recall that goes with it is not perfect where chunks leave truth out:
    chunks, truth = [span("d 0 10")], [span("d 5 15")]
    assert (OMEGA.calculate(chunks, truth), SpanRecall().calculate(chunks, truth)) == (0.5, 0.5)

    # Cutting the ranking keeps the oracle:
    oracle = oracle_from_lists([span("d 0 10")], [[span("d 0 5")]])
    judged = replace(SpanJudgements.from_lists([[]], [[]]), oracle=oracle)
    assert judged.at(2).oracle is oracle
    assert OMEGA.score(judged.at(0)).tolist() == [0.5]
    assert SpanJudgements.from_lists([[]], [[]]).at(2).oracle is None


def test_nested_chunks_are_not_compared_with_every_question_one_by_one():
    def nested(documents):  # each with 100 chunks in one that holds them all, and five questions
        chunks = [
            CharacterSpan(f"d{n % documents}", 500 * (n // documents), 500 * (n // documents) + 800)
            for n in range(100 * documents)
        ]
        chunks += [CharacterSpan(f"d{n}", 0, 60_000) for n in range(documents)]
        places = np.random.default_rng(0).integers(0, (documents, 50_000), size=(5 * documents, 3, 2)).tolist()
        truth = [[CharacterSpan(f"d{document}", start, start + 150) for document, start in place] for place in places]
        return chunks, truth

    chunks, truth = nested(200)
    judged = oracle_from_lists(chunks, truth)
    for question in range(0, 1_000, 200):
        assert judged.retrieved_chars[question] == sum(60_000 for _ in {right.doc_id for right in truth[question]})
    assert_linear(lambda documents: partial(oracle_from_lists, *nested(documents)), 50)


@pytest.mark.parametrize(
    "chunking",
    ["fixed_200_0", "fixed_400_200", "recursive_200_0", "recursive_400_0", "recursive_400_200", "recursive_800_400"],
)
def test_scores_equal_those_of_the_reference(shared, chunking):
    folder = shared / "data" / "chunking_questions"
    reference = json.loads((folder / "reference" / f"{chunking}.json").read_text(encoding="utf-8"))
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        truth = {
            row["question"]: [
                (row["corpus_id"], passage["start_index"], passage["end_index"])
                for passage in json.loads(row["references"])
            ]
            for row in csv.DictReader(file)
        }
    scores = score_spans(truth, {}, ["precision_omega"], chunks=reference["chunks"])
    stated = [question["precision_omega"] for question in reference["per_question"]]
    assert len(scores.query_ids) == len(stated) == 276
    assert list(scores.per_query("precision_omega").values()) == pytest.approx(stated, abs=1e-9)
    assert scores.mean["precision_omega"] == pytest.approx(reference["mean"]["precision_omega"], abs=1e-9)
    chunks = [CharacterSpan(*chunk) for chunk in reference["chunks"]]
    some = [OMEGA.calculate(chunks, [CharacterSpan(*place) for place in right]) for right in list(truth.values())[::40]]
    assert some == pytest.approx(stated[::40], abs=1e-9)
