"""The names of scores: ours, those of ir_measures, and what is said of names that do not exist."""

import pytest

from rag_evaluation_framework import CharacterSpan, score_rankings, score_spans
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.scoring import parse_score
from rag_evaluation_framework.scoring.metrics import ALL_METRICS, RankMetric, SpanMetric
from support.each import each

RANK_METRICS = [name for name, metric in ALL_METRICS.items() if isinstance(metric, RankMetric)]
SPAN_METRICS = [name for name, metric in ALL_METRICS.items() if isinstance(metric, SpanMetric)]
CHUNK_METRICS = ["chunk_recall", "chunk_precision", "chunk_f1"]
TOKEN_SET_METRICS = [name for name in ALL_METRICS if name not in {*RANK_METRICS, *SPAN_METRICS, *CHUNK_METRICS}]


@each("name", list(ALL_METRICS))
def test_every_built_in_metric_is_found_by_its_name(name):
    assert parse_score(name) == (ALL_METRICS[name], ScoreName(name))
    assert parse_score(f"{name}@5") == (ALL_METRICS[name], ScoreName(name, Cutoff(5)))
    assert parse_score(f" {name}@7 ") == (ALL_METRICS[name], ScoreName(name, Cutoff(7)))


@each("name", SPAN_METRICS)
def test_span_metrics_are_cut_at_budgets_and_sent_to_score_spans(name):
    # Span metrics are cut at budgets too:
    for cutoff in (Cutoff(4000, "ch"), Cutoff(4000, "ch", whole=True), Cutoff(100, "tok")):
        assert parse_score(f"{name}@{cutoff}") == (ALL_METRICS[name], ScoreName(name, cutoff))

    # Score rankings sends span metrics to score spans:
    with pytest.raises(ConfigError, match=f"{name} scores spans: use score_spans"):
        score_rankings({"q": ["a"]}, {"q": ["a"]}, [f"{name}@5"])


@each("name", [*RANK_METRICS, "chunk_recall", "nDCG"])
@each("budget", ["4000ch", "4000ch_whole", "100tok"])
def test_metrics_of_ids_are_not_cut_at_budgets(name, budget):
    with pytest.raises(ConfigError, match=f"'{name}@{budget}'.*no length.*@10"):
        parse_score(f"{name}@{budget}")


@each(
    ("spelling", "name"),
    [
        ("nDCG@10", "ndcg@10"),
        ("NDCG@10", "ndcg@10"),
        ("R@10", "recall@10"),
        ("Recall@10", "recall@10"),
        ("P@5", "precision@5"),
        ("Precision@5", "precision@5"),
        ("RR@10", "mrr@10"),
        ("MRR@10", "mrr@10"),
        ("AP@100", "map@100"),
        ("MAP", "map"),
        ("Success@5", "hit@5"),
        ("Rprec", "r_precision"),
        ("RPrec", "r_precision"),
        ("SetF", "f1"),
        ("SetP", "precision"),
        ("SetR", "recall"),
    ],
)
def test_the_spellings_of_ir_measures_stand_for_our_names(spelling, name):
    assert str(parse_score(spelling)[1]) == name
    assert parse_score(spelling) == parse_score(name)


def test_every_name_that_ir_measures_has_for_these_measures_is_understood():
    measures = pytest.importorskip("ir_measures.measures")
    ours = {measures.registry[name] for name in ("nDCG", "R", "P", "RR", "AP", "Success", "Rprec", "SetF")}
    names = [name for name, measure in measures.registry.items() if measure in ours]
    assert len(names) > len(ours)
    for name in names:
        parse_score(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ndgc@10", "ndcg"),
        ("Span_Recall@5", "span_recall"),
        ("SpanRecall@5", "span_recall"),
        ("recal", "recall"),
        ("chunk-recall", "chunk_recall"),
        ("Succes@5", "Success"),
        ("precisionomega", "precision_omega"),
    ],
)
def test_a_misspelt_name_suggests_the_right_one(name, meant):
    with pytest.raises(ConfigError, match=rf"'{name}'.*did you mean {meant}\?"):
        parse_score(name)


def test_an_unknown_name_lists_the_names_that_there_are():
    # An unknown name lists all names:
    with pytest.raises(ConfigError) as caught:
        parse_score("zzzzzzzz@5")
    assert "did you mean" not in str(caught.value)
    assert all(name in str(caught.value) for name in ALL_METRICS)

    # An unknown score lists the names that the function takes:
    with pytest.raises(ConfigError) as caught:
        score_rankings({"q": ["a"]}, {"q": ["a"]}, ["recal@5"])
    own, foreign = listed(str(caught.value))
    assert sorted(own) == sorted([*RANK_METRICS, *CHUNK_METRICS])
    assert "did you mean recall?" in str(caught.value).lower()
    assert {"nDCG", "R", "P", "RR", "AP"} <= set(foreign)
    for name in (*own, *foreign):
        score_rankings({"q": ["a"]}, {"q": ["a"]}, [name])
    with pytest.raises(ConfigError, match=r"did you mean span_recall\?") as caught:
        score_spans({"q": [("d", 0, 5)]}, {}, ["span_recal@5"])
    own, foreign = listed(str(caught.value))
    assert (sorted(own), foreign) == (sorted([*SPAN_METRICS, *TOKEN_SET_METRICS]), [])


@pytest.mark.parametrize("name", ["", "@5", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@1.5", "ndcg@@5", "ndcg@5_whole"])
def test_an_invalid_name_of_a_score_is_quoted_in_the_error(name):
    with pytest.raises(ConfigError, match=f"score '{name}'"):
        parse_score(name)


@pytest.mark.parametrize("name", [None, 5, ("ndcg", 10), b"ndcg@10"])
def test_a_name_that_is_not_text_is_refused(name):
    with pytest.raises(ConfigError, match="expected a text"):
        parse_score(name)


@pytest.mark.parametrize("name", RANK_METRICS)
def test_score_spans_sends_rank_metrics_to_score_rankings(name):
    with pytest.raises(ConfigError, match=f"{name} scores ids: use score_rankings; score_spans takes span_recall"):
        score_spans({"q": [("d", 0, 5)]}, {}, [f"{name}@5"])


@pytest.mark.parametrize("name", CHUNK_METRICS)
def test_chunk_metrics_score_ids(name):
    assert score_rankings({"q": ["a"]}, {"q": ["a"]}, [f"{name}@5"]).mean == {f"{name}@5": 1.0}
    with pytest.raises(ConfigError, match=f"{name} scores ids: use score_rankings; score_spans takes span_recall"):
        score_spans({"q": [("d", 0, 5)]}, {}, [name])


@pytest.mark.parametrize("name", TOKEN_SET_METRICS)
def test_token_set_metrics_score_spans_that_have_a_text(name):
    span = CharacterSpan("d", 0, 5, "words")
    assert parse_score(name)[0].name in score_spans({"q": [span]}, {"q": []}, [name]).columns
    with pytest.raises(ConfigError, match=f"{name} scores spans: use score_spans; score_rankings takes hit, recall"):
        score_rankings({"q": ["a"]}, {"q": ["a"]}, [name])


def listed(message):
    """The names that an error offers, our own and those of ir_measures."""
    own, _, foreign = message.partition("there are ")[2].partition(", and as ir_measures spells them ")
    return own.split(", "), foreign.split(", ") if foreign else []
