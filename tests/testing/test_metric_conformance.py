"""The conformance suite of metrics: on every built-in one, and on those that break it."""

import rag_evaluation_framework as rag
from rag_evaluation_framework.data import calculate_overlap
from support.suites import RankMetricConformance, SpanMetricConformance


class TestSpanRecall(SpanMetricConformance):
    def make(self):
        return rag.SpanRecall()


class TestSpanPrecision(SpanMetricConformance):
    def make(self):
        return rag.SpanPrecision()


class TestSpanPrecisionRaw(SpanMetricConformance):
    def make(self):
        return rag.SpanPrecisionRaw()


class TestSpanIoU(SpanMetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.SpanIoU()


class TestSpanIoURaw(SpanMetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.SpanIoURaw()


class TestSpanF1(SpanMetricConformance):
    def make(self):
        return rag.SpanF1()


class TestSpanHit(SpanMetricConformance):
    def make(self):
        return rag.SpanHit()


class TestSpanDCG(SpanMetricConformance):
    def make(self):
        return rag.SpanDCG()


class TestSpanU(SpanMetricConformance):
    def make(self):
        return rag.SpanU()

    def score(self, metric, retrieved, truth):
        table = rag.score_spans({"q": truth}, {"q": retrieved}, [(metric, "400ch")])
        return table.mean["span_u@400ch"] or 0.0


class TestPrecisionOmega(SpanMetricConformance):
    def make(self):
        return rag.PrecisionOmega()


class TestTokenSetRecall(SpanMetricConformance):
    def make(self):
        return rag.TokenSetRecall(tokenizer=list)


class TestTokenSetPrecision(SpanMetricConformance):
    def make(self):
        return rag.TokenSetPrecision(tokenizer=list)


class TestTokenSetIoU(SpanMetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.TokenSetIoU(tokenizer=list)


class TestTokenSetF1(SpanMetricConformance):
    def make(self):
        return rag.TokenSetF1(tokenizer=list)


class TestHitRate(RankMetricConformance):
    def make(self):
        return rag.HitRate()


class TestRecall(RankMetricConformance):
    def make(self):
        return rag.Recall()


class TestPrecision(RankMetricConformance):
    def make(self):
        return rag.Precision()


class TestF1(RankMetricConformance):
    def make(self):
        return rag.F1()


class TestMRR(RankMetricConformance):
    def make(self):
        return rag.MRR()


class TestMAP(RankMetricConformance):
    def make(self):
        return rag.MAP()


class TestNDCG(RankMetricConformance):
    def make(self):
        return rag.NDCG()


class TestRPrecision(RankMetricConformance):
    def make(self):
        return rag.RPrecision()


class TestChunkRecall(RankMetricConformance):
    def make(self):
        return rag.ChunkRecall()


class TestChunkPrecision(RankMetricConformance):
    def make(self):
        return rag.ChunkPrecision()


class TestChunkF1(RankMetricConformance):
    def make(self):
        return rag.ChunkF1()


# A suite that no metric can fail proves nothing: each of these breaks one promise.


class Percent(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 100 * rag.SpanRecall().calculate(retrieved, ground_truth)


class CountsOverlaps(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        truth = sum(span.length() for span in ground_truth)
        shared = sum(a.overlap_chars(b) for a in retrieved for b in ground_truth)
        return shared / truth if truth else 0.0


class FirstOnly(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return rag.SpanRecall().calculate(retrieved, ground_truth[:1])


class Touching(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return float(
            any(a.doc_id == b.doc_id and a.start <= b.end and b.start <= a.end for a in retrieved for b in ground_truth)
        )


class DividesByZero(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return calculate_overlap(retrieved, ground_truth) / sum(span.length() for span in ground_truth)


class Sorting(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        if isinstance(retrieved, list):
            retrieved.sort(key=lambda span: span.start)
        return rag.SpanRecall().calculate(retrieved, ground_truth)


class OddName(rag.SpanRecall):
    name = "span recall @ 5"


class ListRecall(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return sum(unit in ground_truth for unit in retrieved) / len(ground_truth)


class FirstRelevantOnly(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return float(bool(ground_truth) and ground_truth[0] in retrieved)


class Popping(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        score = rag.ChunkRecall().calculate(retrieved, ground_truth)
        if isinstance(retrieved, list) and retrieved:
            retrieved.pop()
        return score


class Generous(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 1.0 if ground_truth else 0.0


class SpansOnly(rag.ChunkRecall):
    evaluation_types = frozenset({"token-level"})


BROKEN = {
    RankMetricConformance: [
        (ListRecall, "test_duplicates_never_raise_a_score_above_perfection"),
        (ListRecall, "test_an_empty_ground_truth_has_the_documented_score"),
        (ListRecall, "test_scores_are_finite_numbers_in_range"),
        (FirstRelevantOnly, "test_the_ground_truth_is_a_set"),
        (Popping, "test_the_inputs_are_not_changed"),
        (Generous, "test_retrieving_something_else_or_nothing_is_a_miss"),
        (SpansOnly, "test_it_says_what_it_scores"),
    ],
    SpanMetricConformance: [
        (Percent, "test_scores_are_finite_numbers_in_range"),
        (Percent, "test_perfect_retrieval_has_the_perfect_score"),
        (CountsOverlaps, "test_duplicates_never_raise_a_score_above_perfection"),
        (CountsOverlaps, "test_overlapping_ground_truth_counts_once"),
        (FirstOnly, "test_the_ground_truth_is_a_set"),
        (Touching, "test_retrieving_something_else_or_nothing_is_a_miss"),
        (DividesByZero, "test_an_empty_ground_truth_has_the_documented_score"),
        (Sorting, "test_the_inputs_are_not_changed"),
        (OddName, "test_the_name_can_be_read_back"),
    ],
}
