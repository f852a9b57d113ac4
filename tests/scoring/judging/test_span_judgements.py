from copy import deepcopy
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.data.columns import Numbering
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.scoring.judging import SpanColumns
from rag_evaluation_framework.scoring.judging.spans import SpanJudgements, largest_sums
from rag_evaluation_framework.scoring.judging.stretches import SpanTruth
from rag_evaluation_framework.scoring.metrics import (
    SpanDCG,
    SpanF1,
    SpanHit,
    SpanIoU,
    SpanIoURaw,
    SpanPrecision,
    SpanPrecisionRaw,
    SpanRecall,
)
from support import brute_force_spans as brute_force
from support.examples import examples

METRICS = (
    SpanRecall(),
    SpanPrecision(),
    SpanIoU(),
    SpanF1(),
    SpanHit(),
    SpanPrecisionRaw(),
    SpanIoURaw(),
    SpanDCG(),
)

# --- rankings and truth without any text: few documents, short spans, so that everything collides -------------------


@st.composite
def spans(draw):
    start = draw(st.integers(0, 9))
    return CharacterSpan(DocumentId(draw(st.sampled_from("xyz"))), start, start + draw(st.integers(0, 6)))


rankings = st.lists(spans(), max_size=7)
questions = st.lists(st.tuples(rankings, st.lists(spans(), max_size=4)), max_size=4)


def passages(some_spans):
    return [brute_force.characters(span.doc_id, span.start, span.end) for span in some_spans]


def covers_something(found, right):
    """Return whether there is any character at all; what is scored without one is settled in test_span_metrics."""
    return bool(brute_force.union(passages([*found, *right])))


def split(pairs):
    return [retrieved for retrieved, _ in pairs], [truth for _, truth in pairs]


def columns_of(judged):
    return judged.credit, judged.retrieved, judged.length, judged.truth


def arrays(judged):
    return [(array.dtype, array.tolist()) for array in columns_of(judged)]


def columns(rows, documents):
    """Lay spans out as columns, by hand; `documents` maps ids to numbers."""
    flat = [(q, documents[s.doc_id], s.start, s.end, r) for q, row in enumerate(rows) for r, s in enumerate(row)]
    return SpanColumns(*np.array(flat, dtype=np.int64).reshape(-1, 5).T)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@examples(250)
@given(questions)
def test_every_metric_at_every_k_equals_counting_characters(metric, pairs):
    retrieved, truth = split(pairs)
    judged = SpanJudgements.from_lists(retrieved, truth)
    count = brute_force.METRICS[metric.name]
    for k in range(1, 9):
        for score, (found, right) in zip(metric.score(judged.at(k)).tolist(), pairs, strict=True):
            if covers_something(found[:k], right):
                assert score == pytest.approx(count(passages(found[:k]), passages(right)), abs=1e-12), k


@given(questions)
def test_up_to_each_rank_every_character_counts_once(pairs):
    retrieved, truth = split(pairs)
    judged = SpanJudgements.from_lists(retrieved, truth)
    for number, (found, right) in enumerate(pairs):
        relevant, seen, length = brute_force.union(passages(right)), set(), 0
        for rank in range(judged.length.shape[1]):
            for passage in passages(found[rank : rank + 1]):
                seen |= set(passage)
                length += len(passage)
            assert judged.retrieved[number, rank] == len(seen)
            assert judged.credit[number, rank] == len(seen & relevant)
            assert judged.length[number, rank] == length
        assert judged.truth[number] == len(relevant)


@given(questions)
def test_many_queries_at_once_score_as_each_alone(pairs):
    judged = SpanJudgements.from_lists(*split(pairs))
    for metric in METRICS:
        for together, (found, right) in zip(metric.score(judged).tolist(), pairs, strict=True):
            if covers_something(found, right):
                assert together == pytest.approx(metric.calculate(found, right), abs=1e-12)


@given(questions, st.permutations([3, 0, 11]))
def test_spans_as_columns_are_judged_as_spans_as_objects_are_and_stay_as_they_were(pairs, numbers):
    retrieved, truth = split(pairs)
    documents = dict(zip("xyz", numbers, strict=True))
    given_columns = columns(retrieved, documents), columns(truth, documents)
    before = deepcopy((retrieved, truth, given_columns))
    depth = max([1, *map(len, retrieved)])
    expected = arrays(SpanJudgements.from_lists(retrieved, truth))
    judged, deep = (
        SpanJudgements.from_columns(given_columns[0], SpanTruth(given_columns[1]), len(pairs), ranks)
        for ranks in (max(map(len, retrieved), default=0), 9)
    )
    assert arrays(judged) == arrays(deep.at(depth)) == expected
    for table in columns_of(deep)[:3]:  # ranks beyond every ranking cover nothing
        assert not np.diff(table[:, depth - 1 :], axis=1).any()
    assert (retrieved, truth) == before[:2]
    for now, then in zip(given_columns, before[2], strict=True):
        assert [array.tolist() for array in astuple(now)] == [array.tolist() for array in astuple(then)]


@given(questions)
def test_of_answers_in_several_places_up_to_a_rank_counts_what_a_ranking_of_this_length_holds(pairs):
    retrieved, truth = split(pairs)
    documents = Numbering()
    entries = [
        TokenLevelGroundTruth(
            Query.from_text(str(number)), answers_of([span for span in right if span.end > span.start])
        )
        for number, right in enumerate(truth)
    ]
    relevant = SpanTruth.of_entries(entries, documents)
    deep = SpanJudgements.from_columns(SpanColumns.of(retrieved, documents), relevant, len(pairs), 7)
    for depth in range(1, 8):
        short = SpanColumns.of([ranking[:depth] for ranking in retrieved], documents)
        cut, known = deep.at(depth), SpanJudgements.from_columns(short, relevant, len(pairs), depth)
        assert arrays(cut) == arrays(known)
        assert (cut.relevant.tolist(), cut.once.tolist()) == (known.relevant.tolist(), known.once.tolist())
        assert cut.surplus.tolist() == known.surplus.tolist()


def answers_of(spans):
    """Two spans are an answer in two places; one that is left over is an answer of its own."""
    return [
        Answer(tuple((span,) for span in dict.fromkeys(spans[first : first + 2]))) for first in range(0, len(spans), 2)
    ]


parts_of_questions = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5), min_size=1, max_size=4
)


@given(parts_of_questions, st.integers(1, 12))
def test_the_most_that_parts_add_up_to_is_that_of_each_question_alone(given_parts, size):
    rows = [(query, part, cost) for query, parts in enumerate(given_parts) for part, cost in parts]
    query, parts, costs = (np.array([row[column] for row in rows], dtype=np.int64) for column in range(3))
    numbers = largest_sums(query, parts.astype(np.float64), np.ones_like(costs), Cutoff(size), len(given_parts))
    budgets = largest_sums(query, parts.astype(np.float64), costs, Cutoff(size, "tok"), len(given_parts))
    for number, listed in enumerate(given_parts):
        assert numbers[number] == sum(sorted((part for part, _ in listed), reverse=True)[:size])
        left, most = float(size), max([part for part, _ in listed], default=0.0)
        for part, cost in sorted(listed, key=lambda each: each[0] / max(each[1], 1), reverse=True):
            taken = min(left / max(cost, 1), 1.0)
            most, left = most + part * max(taken, 0.0), left - cost
        assert budgets[number] == pytest.approx(most)


@given(questions)
def test_documents_too_many_and_too_long_for_64_bits_are_still_judged(pairs):
    # Numbered without care, the places of these documents differ by 2^34 * 2^30 = 2^64, which is 0 in an int64.
    retrieved, truth = split(pairs)
    documents = {"x": 0, "y": 2**34, "z": 2**35}
    last = max((span.end for some in (*retrieved, *truth) for span in some), default=0)

    def far(spans_of_all):
        near = columns(spans_of_all, documents)
        shift = 2**30 - 1 - last
        return SpanColumns(near.query, near.document, near.start + shift, near.end + shift, near.rank)

    depth = max(map(len, retrieved), default=0)
    assert arrays(SpanJudgements.from_columns(far(retrieved), SpanTruth(far(truth)), len(pairs), depth)) == arrays(
        SpanJudgements.from_lists(retrieved, truth)
    )


def test_offsets_may_be_huge_and_queries_none():
    # Huge offsets do not overflow:
    def at(doc_id, start, end):
        return CharacterSpan(DocumentId(doc_id), 2**60 + start, 2**60 + end)

    judged = SpanJudgements.from_lists(
        [[at("a", 0, 10), at("b", 0, 10)], [at("c", 5, 9)]], [[at("b", 5, 15)], [at("c", 0, 10)]]
    )
    assert judged.credit.tolist() == [[0, 5], [4, 4]]
    assert judged.truth.tolist() == [10, 10]

    # No queries give empty judgements of one rank:
    judged = SpanJudgements.from_lists([], [])
    assert [array.shape for array in columns_of(judged)] == [(0, 1), (0, 1), (0, 1), (0,)]
    assert all(metric.score(judged).tolist() == [] for metric in METRICS)


@pytest.mark.parametrize(
    ("found", "covered"),
    [
        ([(5, 5), (5, 6), (5, 5)], [0, 1, 1]),
        ([(5, 6), (5, 5), (5, 5)], [1, 1, 1]),
        ([(4, 4), (4, 4), (4, 6), (5, 5), (6, 6), (5, 7)], [0, 0, 2, 2, 2, 3]),
        ([(0, 5), (5, 5), (5, 6), (5, 5)], [5, 5, 6, 6]),
    ],
)
def test_empty_results_do_not_hide_spans_that_start_or_end_at_their_offset(found, covered):
    retrieved = [CharacterSpan(DocumentId("x"), start, end) for start, end in found]
    assert SpanJudgements.from_lists([retrieved], [[CharacterSpan(DocumentId("x"), 0, 9)]]).credit.tolist() == [covered]


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_questions_of_which_not_all_are_judged_at_a_time_are_judged_as_each_alone(count):
    # Of rankings of 4,000 results two questions are judged at a time.
    def place(start, end):
        return CharacterSpan(DocumentId("x"), start, end)

    retrieved = [[place(number, 9), place(4, 12)] for number in range(count)]
    retrieved[-1] = [place(start, start + 1) for start in range(4_000)]
    truth = [[place(2, 7 + number)] for number in range(count)]
    documents = {"x": 0}
    relevant = SpanTruth(columns(truth, documents))
    by_columns = SpanJudgements.from_columns(columns(retrieved, documents), relevant, count, 4_000)
    for judged in (SpanJudgements.from_lists(retrieved, truth), by_columns):
        assert judged.credit.shape == (count, 4_000)
        for number, (found, right) in enumerate(zip(retrieved, truth, strict=True)):
            relevant, seen = brute_force.union(passages(right)), brute_force.union(passages(found))
            assert judged.credit_chars[number] == len(relevant & seen)
            assert judged.retrieved_chars[number] == len(seen)
            assert judged.retrieved_chars_raw[number] == brute_force.raw_length(passages(found))
            assert judged.truth[number] == len(relevant)
            alone = SpanJudgements.from_lists([found], [right])
            for together, single in zip(columns_of(judged)[:3], columns_of(alone)[:3], strict=True):
                assert together[number, : len(found)].tolist() == single[0].tolist()


# --- whole evaluations over a corpus: k and budgets, spent by the brute force on its own ----------------------------

UNPLACED = "zz z"


@st.composite
def experiments(draw):
    texts = draw(st.lists(st.text("ab \n", min_size=1, max_size=14), min_size=1, max_size=3))

    def passage(least):
        document = draw(st.integers(0, len(texts) - 1))
        start = draw(st.integers(0, len(texts[document]) - least))
        return document, start, draw(st.integers(start + least, len(texts[document])))

    results = st.builds(passage, st.just(0)) | st.just(None)
    asked = []
    for _ in range(draw(st.integers(1, 3))):
        truth = [passage(1) for _ in range(draw(st.integers(0, 3)))]
        asked.append((draw(st.lists(results, max_size=14)), truth))
    ks = draw(st.lists(st.integers(1, 12), max_size=3, unique=True))
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=2, unique=True))
    return texts, asked, ks, sizes


def as_result(texts, place, rank=0):
    """Return what the brute force knows of a result: its text and the characters it covers."""
    if place is None:  # wrong text, whose characters are nobody else's
        return UNPLACED, brute_force.characters(f"nowhere {rank}", 0, len(UNPLACED))
    document, start, end = place
    return texts[document][start:end], brute_force.characters(document, start, end)


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "tokenizer", "tokens"),
    [("ch", None, list), ("tok", str.split, brute_force.words), ("tok", list, list)],
    ids=["characters", "words", "one token a character"],
)
@examples(150)
@given(experiments())
@example((["ab ab"], [([(0, 0, 5), (0, 3, 5)], [(0, 2, 5)])], [1, 2], [3]))
@example((["a  b"], [([None] * 14 + [(0, 0, 4)], [(0, 0, 1)])], [1], [60]))
def test_evaluations_equal_counting_characters_at_every_k_and_budget(unit, tokenizer, tokens, experiment):
    texts, asked, ks, sizes = experiment
    corpus = Corpus(Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts))

    def returned(place):
        if place is None:
            return UNPLACED
        return {"doc_id": f"{place[0]}.md", "start": place[1], "end": place[2]}

    found = {f"question {number}": list(map(returned, ranking)) for number, (ranking, _) in enumerate(asked)}
    truth = [
        TokenLevelGroundTruth(Query.from_text(text), [CharacterSpan(DocumentId(f"{d}.md"), s, e) for d, s, e in right])
        for text, (_, right) in zip(found, asked, strict=True)
    ]
    budgets = [f"{size}{unit}{whole}" for size in sizes for whole in ("", "_whole")]
    result = evaluate(
        lambda query, k: found[query][:k],
        Dataset(truth, TOKEN, corpus=corpus),
        k=ks,
        budgets=budgets,
        tokenizer=tokenizer,
        metrics=METRICS,
    )

    def expected(name, cutoff):
        for ranking, places in asked:
            results = [as_result(texts, place, rank) for rank, place in enumerate(ranking)]
            right = [as_result(texts, place)[1] for place in places]
            if cutoff in budgets:
                size, whole = int(cutoff.partition(unit)[0]), cutoff.endswith("_whole")
                cut = brute_force.spend(results, size, tokens, whole)
            else:
                cut = [covered for _, covered in results[: int(cutoff)]]
            yield brute_force.METRICS[name](cut, right) if right else None

    assert not result.failures
    for metric in METRICS:
        for cutoff in [*map(str, ks), *budgets]:
            scores = list(result.per_query(f"{metric.name}@{cutoff}").values())
            assert scores == pytest.approx(list(expected(metric.name, cutoff)), abs=1e-12), (metric.name, cutoff)
