"""PrecisionOmega: the precision of retrieving all chunks that share text with the truth, and no others."""

import csv
import json
from dataclasses import replace
from time import process_time

import brute_force
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CharacterSpan,
    ConfigError,
    PrecisionOmega,
    TokenLevelMetric,
    score_spans,
)
from rag_evaluation_framework.metrics import ALL_METRICS, SpanJudgements, SpanMetric, judge_attainable

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
    attainable = brute_force.union(passage(chunk) for chunk in chunks if relevant & set(passage(chunk)))
    return len(relevant & attainable) / len(attainable) if attainable else 0.0


@st.composite
def spans(draw):
    start = draw(st.integers(0, 30))
    return CharacterSpan(draw(st.sampled_from("ab")), start, start + draw(st.integers(0, 12)))


some_spans = st.lists(spans(), max_size=8)


@pytest.mark.parametrize(("chunks", "truth", "score"), WORKED.values(), ids=WORKED)
def test_worked_by_hand(chunks, truth, score):
    assert OMEGA.calculate(list(map(span, chunks)), list(map(span, truth))) == pytest.approx(score)


def test_it_is_a_metric_of_text_that_needs_all_chunks():
    assert OMEGA.name == "precision_omega"
    assert isinstance(OMEGA, TokenLevelMetric)
    assert {
        metric.name for metric in ALL_METRICS.values() if isinstance(metric, SpanMetric) and metric.needs_chunks
    } == {"precision_omega"}


@given(some_spans, st.lists(some_spans, max_size=5))
def test_it_is_what_counting_characters_gives(chunks, truth):
    expected = [by_characters(chunks, right) for right in truth]
    assert [OMEGA.calculate(chunks, right) for right in truth] == pytest.approx(expected)
    judged = replace(SpanJudgements.zeros(len(truth), 3), attainable=judge_attainable(chunks, truth))
    assert OMEGA.score(judged).tolist() == pytest.approx(expected)


@given(some_spans, st.lists(some_spans, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_chunks_and_truth_changes_nothing(chunks, truth, source):
    expected = judge_attainable(chunks, truth)
    shuffled = judge_attainable(source.sample(chunks, len(chunks)), [source.sample(r, len(r)) for r in truth])
    assert shuffled.found.tolist() == expected.found.tolist()
    assert shuffled.extent.tolist() == expected.extent.tolist()


@given(some_spans, some_spans)
def test_attainable_says_what_is_covered_and_what_it_costs(chunks, truth):
    relevant = brute_force.union(map(passage, truth))
    sharing = [passage(chunk) for chunk in chunks if relevant & set(passage(chunk))]
    judged = judge_attainable(chunks, [truth])
    assert judged.found.tolist() == [len(brute_force.union(sharing) & relevant)]
    assert judged.extent.tolist() == [len(brute_force.union(sharing))]
    assert judged.expense.tolist() == [brute_force.raw_length(sharing)]
    assert judged.truth.tolist() == [len(relevant)]


@given(some_spans, some_spans)
def test_no_retrieval_of_whole_chunks_with_all_attainable_truth_is_more_precise(chunks, truth):
    relevant = brute_force.union(map(passage, truth))
    score = OMEGA.calculate(chunks, truth)
    assert 0 <= score <= 1
    everything = brute_force.union(map(passage, chunks))
    if everything & relevant:
        assert score >= len(everything & relevant) / len(everything)


def test_cutting_the_ranking_keeps_what_is_attainable():
    attainable = judge_attainable([span("d 0 10")], [[span("d 0 5")]])
    judged = replace(SpanJudgements.zeros(1, 5), attainable=attainable)
    assert judged.at(2).attainable is attainable
    assert OMEGA.score(judged.at(0)).tolist() == [0.5]
    assert SpanJudgements.zeros(1, 5).at(2).attainable is None


def test_judgements_without_chunks_are_refused():
    with pytest.raises(ConfigError, match="precision_omega needs all chunks of the corpus"):
        OMEGA.score(SpanJudgements.zeros(1, 5))


def test_many_nested_chunks_and_questions_take_well_under_a_second():
    source = np.random.default_rng(0)
    chunks = [CharacterSpan(f"d{n % 200}", 500 * (n // 200), 500 * (n // 200) + 800) for n in range(20_000)]
    chunks += [CharacterSpan(f"d{n}", 0, 60_000) for n in range(200)]
    places = source.integers(0, (200, 50_000), size=(1_000, 3, 2)).tolist()
    truth = [[CharacterSpan(f"d{document}", start, start + 150) for document, start in place] for place in places]
    start = process_time()
    judged = judge_attainable(chunks, truth)
    assert process_time() - start < 1
    for question in range(0, 1_000, 200):
        assert judged.extent[question] == sum(60_000 for _ in {right.doc_id for right in truth[question]})


@pytest.mark.parametrize(
    "chunking",
    ["fixed_200_0", "fixed_400_200", "recursive_200_0", "recursive_400_0", "recursive_400_200", "recursive_800_400"],
)
def test_the_public_chunking_evaluation_states_the_same(shared, chunking):
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
