"""`score_spans`: what it takes, what it counts, and that it gives what counting characters gives."""

import re
from copy import deepcopy
from math import isnan, log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    MRR,
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    PrecisionOmega,
    Query,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    TokenSetRecall,
    evaluate,
    score_spans,
)
from rag_evaluation_framework.data import Cutoff, Hit
from rag_evaluation_framework.errors import ConfigError, DatasetError
from support import brute_force_spans as brute_force
from support.each import each

CUTS = ("", "@1", "@2", "@5", "@100", "@1ch", "@7ch", "@20ch", "@1000ch", "@7ch_whole", "@20ch_whole")
SCORES = [metric + cut for metric in brute_force.METRICS for cut in CUTS]

pytestmark = pytest.mark.filterwarnings("ignore:0 of .* ids match a label")  # of drawn worlds


@st.composite
def places(draw):
    start = draw(st.integers(0, 25))
    return draw(st.sampled_from("ab")), start, start + draw(st.integers(0, 10))


queries = st.sampled_from([f"q{number}" for number in range(6)])
lists = st.lists(places(), max_size=6)
all_truth = st.dictionaries(queries, lists, min_size=1)
all_rankings = st.dictionaries(queries, lists)


def expected_score(name, ranking, truth):
    """One score by counting characters, None where nothing is relevant."""
    metric, _, cut = name.partition("@")
    ranked = [brute_force.characters(*place) for place in ranking]
    if "ch" in cut:
        size = int(cut.partition("ch")[0])
        ranked = brute_force.spend([("x" * len(p), p) for p in ranked], size, list, whole=cut.endswith("_whole"))
    elif cut:
        ranked = ranked[: int(cut)]
    relevant = [brute_force.characters(*place) for place in truth]
    return brute_force.METRICS[metric](ranked, relevant) if brute_force.union(relevant) else None


@pytest.mark.no_cover
class TestAgainstBruteForce:
    @given(all_truth, all_rankings)
    def test_every_score_equals_counting_characters_and_irregularities_are_counted(self, truth, rankings):
        before = deepcopy((truth, rankings))
        scores = score_spans(truth, rankings, SCORES)
        for name in SCORES:
            expected = {query: expected_score(name, rankings.get(query, []), right) for query, right in truth.items()}
            assert scores.per_query(name) == pytest.approx(expected, abs=1e-12), name
            scored = [value for value in expected.values() if value is not None]
            assert scores.mean[name] == pytest.approx(sum(scored) / len(scored) if scored else None), name
        assert scores.counts == {
            "queries": len(truth),
            "queries_not_ranked": len(truth.keys() - rankings.keys()),
            "queries_not_judged": len(rankings.keys() - truth.keys()),
            "no_answer": sum(all(start == end for _, start, end in right) for right in truth.values()),
        }
        assert (truth, rankings) == before  # what was given is not changed

    @given(all_truth, all_rankings, st.sampled_from(SCORES), st.sampled_from(SCORES))
    def test_a_score_does_not_depend_on_which_others_are_asked_for(self, truth, rankings, name, other):
        together = score_spans(truth, rankings, [name, other])
        assert score_spans(truth, rankings, [name]).per_query(name) == together.per_query(name)


FORMS = {
    "spans": lambda place: CharacterSpan(*place),
    "spans with text": lambda place: CharacterSpan(*place, text="x" * (place[2] - place[1])),
    "tuples": tuple,
    "lists": list,
    "mappings": lambda place: dict(zip(("doc_id", "start", "end"), place, strict=True)),
    "camel case": lambda place: {"text": "…", **dict(zip(("end", "start", "docId"), reversed(place), strict=True))},
    "numpy numbers": lambda place: (np.str_(place[0]), np.int32(place[1]), np.uint8(place[2])),
}


TRUTH = {"q": [("a", 5, 10)], "r": [("b", 0, 10)]}
RANKINGS = {"q": [("a", 0, 5), ("a", 0, 10)], "r": [("b", 5, 20), ("ä", 1, 2)]}


class TestForms:
    @each("retrieved", FORMS.values())
    @each("relevant", FORMS.values())
    def test_spans_come_in_any_form(self, relevant, retrieved):
        scores = score_spans(
            {query: list(map(relevant, spans)) for query, spans in TRUTH.items()},
            {query: list(map(retrieved, spans)) for query, spans in RANKINGS.items()},
        )
        assert scores.per_query("span_recall@5") == {"q": 1, "r": 0.5}
        assert scores.per_query("span_precision@5") == {"q": 0.5, "r": 5 / 16}
        assert scores.per_query("span_iou@5") == {"q": 0.5, "r": 5 / 21}

    def test_forms_may_be_mixed_and_texts_are_ignored(self):
        # Forms may be mixed in one list:
        mixed = [form(("a", 10 * n, 10 * n + 10)) for n, form in enumerate(FORMS.values())]
        assert score_spans({"q": mixed}, {"q": mixed}, ["span_iou", "span_recall@2"]).mean == pytest.approx(
            {"span_iou": 1, "span_recall@2": 2 / len(FORMS)}
        )

        # The text of a span is ignored:
        truth = {"q": [CharacterSpan("a", 0, 5, text="small")]}
        assert score_spans(truth, {"q": [CharacterSpan("a", 0, 5)]}).mean["span_iou@5"] == 1

        # Ids with unusual characters are distinct:
        documents = ["a", "A", "á", "a\u0301", "a ", "", "\0", "🙂"]
        truth = {document: [(document, 0, 5)] for document in documents}
        assert score_spans(truth, truth).mean["span_iou@5"] == 1
        rolled = dict(zip(documents, [*list(truth.values())[1:], truth["a"]], strict=True))
        assert score_spans(truth, rolled).mean["span_recall@5"] == 0

    @pytest.mark.parametrize("ranked", [list, tuple, iter, lambda spans: (span for span in spans)])
    @pytest.mark.parametrize("relevant", [list, tuple, set, frozenset, iter])
    def test_truth_is_any_collection_and_a_ranking_any_with_an_order(self, relevant, ranked):
        truth = {query: relevant(spans) for query, spans in TRUTH.items()}
        rankings = {query: ranked(spans) for query, spans in RANKINGS.items()}
        scores = score_spans(truth, rankings, ["span_recall@1", "span_recall"])
        assert scores.per_query("span_recall@1") == {"q": 0, "r": 0.5}
        assert scores.mean["span_recall"] == 0.75

    def test_the_default_is_recall_precision_and_iou_of_five_results(self):
        assert list(score_spans(TRUTH, {}).columns) == ["span_recall@5", "span_precision@5", "span_iou@5"]


class TestMatching:
    def test_queries_are_matched_and_counted_by_id(self):
        # Queries are matched by id and scores come in the order of the ground truth:
        truth = {"z": [("d", 0, 5)], "a": [("d", 5, 10)]}
        scores = score_spans(truth, {"a": [("d", 5, 10)], "z": [("d", 5, 10)]})
        assert list(scores.per_query("span_recall@5").items()) == [("z", 0), ("a", 1)]
        assert scores.query_ids == ("z", "a")

        # Queries not ranked score 0 unanswerable ones none and those not judged are left out:
        truth = {"found": [("d", 0, 5)], "missing": [("d", 0, 5)], "no answer": [], "empty span": [("d", 5, 5)]}
        rankings = {"found": [("d", 0, 5)], "no answer": [("d", 0, 5)], "unjudged": [("d", 0, 5)]}
        scores = score_spans(truth, rankings, ["span_recall@5", "span_iou"])
        expected = {"found": 1, "missing": 0, "no answer": None, "empty span": None}
        assert scores.per_query("span_recall@5") == scores.per_query("span_iou") == expected
        assert scores.mean == {"span_recall@5": 0.5, "span_iou": 0.5}
        assert scores.counts == {
            "queries": 4,
            "queries_not_ranked": 2,
            "no_answer": 2,
            "queries_not_judged": 1,
        }
        assert isnan(scores.columns["span_iou"][2])

        # Without any answer or ranking there is no mean:
        assert score_spans({"q": []}, {}, ["span_iou"]).mean == {"span_iou": None}

    def test_a_score_is_looked_up_by_its_own_name_only(self):
        scores = score_spans({"q": [("d", 0, 5)]}, {}, ["span_recall@5", "span_recall@05", "span_iou@4000ch"])
        assert list(scores.columns) == ["span_recall@5", "span_iou@4000ch"]
        assert scores.per_query("span_iou@4000ch") == {"q": 0}
        with pytest.raises(ConfigError, match="no score 'span_recall@4'; there are span_recall@5, span_iou@4000ch"):
            scores.per_query("span_recall@4")
        assert "queries not ranked: 1" in repr(scores)


# ten characters, of which the second half is relevant, twice; then ten others
BUDGET_TRUTH = {"q": [("d", 5, 10)]}
BUDGET_RANKINGS = {"q": [("d", 0, 10), ("d", 0, 10), ("d", 20, 30)]}


class TestBudgets:
    @each(
        ("cutoff", "recall", "precision"),
        [
            ("5ch", 0, 0),
            ("7ch", 2 / 5, 2 / 7),
            ("10ch", 1, 5 / 10),
            ("15ch", 1, 5 / 10),  # what was retrieved before is paid for again
            ("21ch", 1, 5 / 11),
            ("999ch", 1, 5 / 20),
            ("9ch_whole", 0, 0),
            ("10ch_whole", 1, 5 / 10),
            ("29ch_whole", 1, 5 / 10),
            ("30ch_whole", 1, 5 / 20),
        ],
    )
    def test_a_budget_is_filled_from_the_top(self, cutoff, recall, precision):
        names = [f"span_recall@{cutoff}", f"span_precision@{cutoff}"]
        assert list(score_spans(BUDGET_TRUTH, BUDGET_RANKINGS, names).mean.values()) == pytest.approx(
            [recall, precision]
        )

    def test_budgets_stop_at_what_does_not_fit_and_are_of_a_question(self):
        # A whole budget stops at the first span that does not fit:
        rankings = {"q": [("d", 0, 3), ("e", 0, 50), ("d", 5, 10)]}
        assert score_spans(BUDGET_TRUTH, rankings, ["span_recall@10ch_whole"]).mean == {"span_recall@10ch_whole": 0}

        # Every question has a budget of its own:
        truth = {query: [("d", 0, 10)] for query in "qrs"}
        rankings = {query: [("d", 0, 10)] for query in "qrs"}
        scores = score_spans(truth, rankings, ["span_recall@5ch", "span_recall@10ch_whole"])
        assert scores.per_query("span_recall@5ch") == {"q": 0.5, "r": 0.5, "s": 0.5}
        assert scores.per_query("span_recall@10ch_whole") == {"q": 1, "r": 1, "s": 1}


class Seen(TokenLevelMetric):
    """Keeps what it is given."""

    def __init__(self):
        self.calls = []

    def calculate(self, retrieved, ground_truth):
        self.calls.append(([(*place(span), span.text) for span in retrieved], [place(span) for span in ground_truth]))
        return len(retrieved)


def place(span):
    return span.doc_id, span.start, span.end


class TestOwnMetrics:
    @pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
    def test_they_get_the_retrieved_spans_cut_and_the_relevant_ones(self, form):
        seen = Seen()
        truth = {"none": [], "q": map(form, BUDGET_TRUTH["q"]), "empty": [("d", 5, 5)], "not ranked": [("d", 0, 1)]}
        rankings = {"q": map(form, BUDGET_RANKINGS["q"]), "none": [("d", 0, 1)]}
        scores = score_spans(truth, rankings, [seen, (seen, 2), (seen, "13ch"), (seen, Cutoff(20, "ch", whole=True))])
        assert [[row[:3] for row in retrieved] for retrieved, _ in seen.calls[::2]] == [
            [("d", 0, 10), ("d", 0, 10), ("d", 20, 30)],
            [("d", 0, 10), ("d", 0, 10)],
            [("d", 0, 10), ("d", 0, 3)],
            [("d", 0, 10), ("d", 0, 10)],
        ]
        assert [right for _, right in seen.calls] == [[("d", 5, 10)], [("d", 0, 1)]] * 4
        assert all(retrieved == [] for retrieved, _ in seen.calls[1::2])
        assert scores.per_query("seen@13ch") == {"none": None, "q": 2, "empty": None, "not ranked": 0}
        assert list(scores.columns) == ["seen", "seen@2", "seen@13ch", "seen@20ch_whole"]

    def test_own_metrics_get_texts_as_far_as_they_are_read(self):
        # Spans keep their text as far as they are read:
        seen = Seen()
        spans = [CharacterSpan("d", 3, 7, "abcd"), CharacterSpan("e", 0, 4, "efgh"), CharacterSpan("f", 0, 4)]
        score_spans({"q": spans[:1]}, {"q": spans}, [(seen, "7ch"), (seen, "9ch")])
        assert seen.calls[0][0] == [("d", 3, 7, "abcd"), ("e", 0, 3, "efg")]
        assert seen.calls[1][0] == [("d", 3, 7, "abcd"), ("e", 0, 4, "efgh"), ("f", 0, 1, "")]

        # Token set metrics score spans with their text:
        truth = {"q": [CharacterSpan("d", 0, 9, "one two 3")]}
        rankings = {"q": [CharacterSpan("e", 5, 12, "two one"), CharacterSpan("e", 5, 5)]}
        metric = TokenSetRecall(str.split)
        scores = score_spans(truth, rankings, [(metric, 1), (metric, "3ch"), metric])
        assert list(scores.mean.values()) == pytest.approx([2 / 3, 1 / 3, 2 / 3])
        for right, found in ((GOOD, rankings["q"]), (truth["q"], GOOD)):
            with pytest.raises(ConfigError, match=r"'token_set_recall@1' needs the text .*\[0:5\] of 'd' has none"):
                score_spans({"q": right}, {"q": found}, ["span_recall", (metric, 1)])

    @given(all_truth, all_rankings)
    def test_they_see_what_built_in_metrics_see(self, truth, rankings):
        class Recall(TokenLevelMetric):
            def calculate(self, retrieved, ground_truth):
                found, right = (
                    [brute_force.characters(*place(span)) for span in spans] for spans in (retrieved, ground_truth)
                )
                return brute_force.METRICS["span_recall"](found, right)

        cuts = [None, "1", 2, "7ch", "20ch_whole"]
        scores = score_spans(truth, rankings, [Recall() if cut is None else (Recall(), cut) for cut in cuts])
        names = ["span_recall" if cut is None else f"span_recall@{cut}" for cut in cuts]
        for own, name in zip(scores.columns, names, strict=True):
            assert scores.per_query(own) == pytest.approx(score_spans(truth, rankings, [name]).per_query(name))

    def test_what_they_raise_is_a_failure_of_the_question(self):
        class Odd(TokenLevelMetric):
            def calculate(self, retrieved, ground_truth):
                return 1 / len(retrieved)

        scores = score_spans({"none": [], "q": GOOD, "r": GOOD}, {"r": GOOD}, [Odd(), "span_recall"])
        assert scores.per_query("odd") == {"none": None, "q": None, "r": 1.0}
        assert [(query, found[0].kind) for query, found in scores.failures.items()] == [("q", "ZeroDivisionError")]
        assert "failed metric: 1" in repr(scores)

    def test_built_in_metrics_are_what_their_names_say(self):
        for given_, name in ((SpanRecall(), "span_recall"), ((SpanRecall(), "7ch"), "span_recall@7ch")):
            assert score_spans(TRUTH, RANKINGS, [given_]) == score_spans(TRUTH, RANKINGS, [name])
        chunks = {"chunks": CHUNKS}
        expected = score_spans(CHUNK_TRUTH, {}, ["precision_omega"], **chunks)
        assert score_spans(CHUNK_TRUTH, {}, [PrecisionOmega()], **chunks) == expected
        with pytest.raises(ConfigError, match="needs all chunks"):
            score_spans(CHUNK_TRUTH, {}, [(PrecisionOmega(), 5)])


CORPUS = Corpus([Document("a", "x" * 100), Document("b", "y" * 50)])
ANSWER = (CharacterSpan("a", 10, 20),)
PLACE_SCORES = ["span_recall@1", "span_recall@2", "span_precision@2", "span_iou@2", "span_recall@40ch", "span_iou@40ch"]


class TestPlacesThatTheCorpusLacks:
    """`evaluate` knows the documents, and `score_spans` does not."""

    @staticmethod
    def both(*hits):
        query = Query.from_text("Which x?")
        dataset = Dataset([TokenLevelGroundTruth(query, ANSWER)], TOKEN)
        metrics = [SpanRecall(), SpanPrecision(), SpanIoU()]
        budgets = {"k": [1, 2], "budgets": ["40ch"]}
        evaluated = evaluate(lambda _, k: list(hits[:k]), dataset, documents=CORPUS, metrics=metrics, **budgets)
        scored = score_spans({"q": ANSWER}, {"q": [(hit.doc_id, hit.start, hit.end) for hit in hits]}, PLACE_SCORES)
        return [evaluated.scores.mean[name] for name in PLACE_SCORES], [scored.mean[name] for name in PLACE_SCORES]

    @pytest.mark.parametrize(
        "first",
        [
            Hit("b", 0, 30),
            Hit("b", 50, 50),
            Hit("a", 15, 15),
            Hit("elsewhere", 0, 0),
            Hit("elsewhere", 0, 30, text="z" * 30),
            Hit("b", 30, 60, text="z" * 30),
        ],
    )
    def test_places_of_the_corpus_no_text_and_texts_of_ones_own_count_alike(self, first):
        evaluated, scored = self.both(first, Hit("a", 0, 40))
        assert evaluated == scored

    @pytest.mark.parametrize(("cutoff", "expected"), [("40ch", 1.0), ("2", 1 / log2(3))])
    def test_at_a_budget_an_empty_span_takes_no_rank(self, cutoff, expected):
        truth, spans = {"q": [("a", 0, 40)]}, {"q": [("a", 5, 5), ("a", 0, 40)]}
        assert score_spans(truth, spans, [f"span_dcg@{cutoff}"]).mean == {f"span_dcg@{cutoff}": expected}

    @pytest.mark.parametrize(
        ("hits", "known", "unknown"),
        [
            *(
                ([first, Hit("a", 0, 40)], [0, 1, 10 / 40, 10 / 40, 1, 10 / 40], [0, 1, 10 / 70, 10 / 70, 0, 0])
                for first in (Hit("elsewhere", 0, 30), Hit("b", 30, 60), Hit("b", 60, 90))
            ),
            ([Hit("a", 10, 110)], [0] * 6, [1, 1, 10 / 100, 10 / 100, 1, 10 / 40]),  # it begins in the answer
        ],
    )
    def test_a_place_that_there_is_not_has_no_text_where_that_is_known(self, hits, known, unknown):
        evaluated, scored = self.both(*hits)
        assert (evaluated, scored) == (known, unknown)


CHUNK_TRUTH = {"q": [("d", 8, 12)], "far": [("d", 90, 99)], "none": []}
CHUNKS = [("d", 0, 10), ("d", 10, 20), ("d", 20, 30)]


class TestChunks:
    @pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
    def test_precision_omega_is_scored_from_all_chunks_whatever_was_retrieved(self, form):
        names = ["precision_omega", "span_recall@1", "precision_omega@1", "precision_omega@5ch"]
        scores = score_spans(CHUNK_TRUTH, {"q": [("d", 0, 10)]}, names, chunks=map(form, CHUNKS))
        assert list(scores.columns) == names
        for name in (names[0], *names[2:]):
            assert scores.per_query(name) == {"q": 4 / 20, "far": 0, "none": None}
        assert scores.per_query("span_recall@1") == {"q": 0.5, "far": 0, "none": None}

    @pytest.mark.parametrize("chunks", [["d"], [("d", 0)], [("d", 5, 1)], "d", 5, {"d": (0, 5)}])
    def test_chunks_that_cannot_be_read_are_refused(self, chunks):
        for names in (["precision_omega"], ["span_recall"]):
            with pytest.raises(DatasetError, match="chunks"):
                score_spans(CHUNK_TRUTH, {}, names, chunks=chunks)


BAD_SPANS = {
    "a text": "d",
    "a number": 5,
    "nothing": None,
    "two parts": ("d", 0),
    "four parts": ("d", 0, 5, 1.0),
    "a span and its score": (CharacterSpan("d", 0, 5), 0.9),
    "no document": {"start": 0, "end": 5},
    "no end": {"doc_id": "d", "start": 0},
    "a document that is no text": (7, 0, 5),
    "no document at all": (None, 0, 5),
    "a negative start": ("d", -1, 5),
    "an end before the start": ("d", 5, 4),
    "offsets that are fractions": ("d", 0.0, 5.0),
    "an offset that is NaN": ("d", 0, nan),
    "an offset that is a text": ("d", "0", "5"),
    "an offset that is a truth value": ("d", False, True),
    "an offset of NumPy that is a truth value": ("d", 0, np.True_),
    "a place without an end": {"doc_id": "d", "start": 0, "end": None},
    "an offset beyond all texts": ("d", 0, 2**40 + 1),
    "an offset beyond 64 bits": ("d", 0, 2**80),
    "fractions in a mapping": {"docId": "d", "start": 0.5, "end": 1},
}


GOOD, SPAN = [("d", 0, 5)], CharacterSpan("d", 0, 5)


class TestErrors:
    @each("bad", BAD_SPANS.values())
    def test_an_invalid_span_is_shown_with_its_question(self, bad):
        shown = re.escape(repr(bad)[:20])
        for spans in ([bad], [*GOOD, bad], [CharacterSpan("d", 0, 5), bad]):
            with pytest.raises(DatasetError, match=rf"question 'bad one': the ranking holds .*{shown}"):
                score_spans({"q": GOOD, "bad one": GOOD}, {"q": GOOD, "bad one": spans})
            with pytest.raises(DatasetError, match=rf"question 'bad one': the ground truth holds .*{shown}"):
                score_spans({"q": GOOD, "bad one": spans}, {})

    @each(
        ("spans", "of_ranking", "of_truth"),
        [
            *(
                (spans, "is .*expected a list of spans, best first", "is .*expected a list of spans")
                for spans in (None, 5, "d", b"d", {"doc_id": "d", "start": 0, "end": 5}, {("d", 0, 5): 0.9}, SPAN)
            ),
            (("d", 0, 5), "holds the str 'd'", "holds the str 'd'"),  # one span in place of a list
            ([("d", 0.5, 5)], r"whole numbers.*start 0\.5", r"whole numbers.*start 0\.5"),  # and is not rounded
        ],
    )
    def test_anything_but_a_list_of_spans_is_refused(self, spans, of_ranking, of_truth):
        with pytest.raises(DatasetError, match=f"question 'q': the ranking .*{of_ranking}"):
            score_spans({"q": GOOD}, {"q": spans})
        with pytest.raises(DatasetError, match=f"question 'q': the ground truth .*{of_truth}"):
            score_spans({"q": spans}, {})

    @each(
        ("truth", "rankings", "said"),
        [
            *((bad, {}, "ground_truth: .*mapping from question id to relevant spans") for bad in (None, GOOD, "q")),
            *(({"q": GOOD}, bad, "rankings: .*mapping from question id to ranked spans") for bad in (None, GOOD, "q")),
            ({}, {"q": GOOD}, "empty"),
            ({"q": GOOD}, {"q": {("d", 0, 5)}}, "question 'q': the ranking is the set .*no order"),
        ],
    )
    def test_what_is_no_mapping_from_questions_to_spans_is_refused(self, truth, rankings, said):
        with pytest.raises(DatasetError, match=said):
            score_spans(truth, rankings)

    @each(
        ("metrics", "said"),
        [
            *((names, "metrics|score") for names in ("span_recall@5", [], None, 5, ["span_recal@5"], [None])),
            ([MRR()], "mrr scores ids: use score_rankings"),
            ([(MRR(), 5)], "mrr scores ids: use score_rankings"),
            ([(SpanRecall(), "5tok")], "no text whose tokens could be counted"),
            ([SpanRecall], "expected a text such as"),
            (["span_iou@5", "span_recall@1000tok"], r"'span_recall@1000tok': spans carry no text.*@4000ch"),
            (["span_recall@1000tok_whole"], r"'span_recall@1000tok_whole': spans carry no text.*@4000ch"),
            (["span_u"], r"'span_u': span_u .*budget.*span_u@4000ch"),
            (["span_u@5"], r"'span_u@5': span_u .*budget.*span_u@4000ch"),
            (["span_recall", "precision_omega@5"], r"'precision_omega@5' needs all chunks of the corpus.*chunks="),
        ],
    )
    def test_what_does_not_score_spans_is_refused(self, metrics, said):
        with pytest.raises(ConfigError, match=said):
            score_spans({"q": GOOD}, {}, metrics)


def test_the_largest_offsets_are_summed_exactly():
    end = 2**40
    scores = score_spans({"q": [("d", 0, end)]}, {"q": [("d", 1, end)] * 3}, ["span_recall", "span_precision_raw"])
    assert scores.mean == {"span_recall": (end - 1) / end, "span_precision_raw": 1 / 3}


def test_documents_without_a_label_are_told_where_all_that_was_retrieved_are(recwarn):
    truth = {f"q{number}": [(f"a{number}.md", 0, 5)] for number in range(2)}
    with pytest.warns(
        UserWarning, match=r"0 of 2 ids match a label, such as 'docs/a0\.md'; labels are such as 'a0\.md'"
    ):
        score_spans(truth, {query: [(f"docs/{spans[0][0]}", 0, 5)] for query, spans in truth.items()})
    recwarn.clear()
    score_spans(truth, {"q0": [("a1.md", 0, 5)], "q1": [("x.md", 0, 5)]})
    score_spans({"q0": [("a.md", 0, 5)]}, {"q0": [("x.md", 0, 5)]})
    assert not recwarn.list
