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
@each("cutoff", [Cutoff(4000, "ch"), Cutoff(4000, "ch", whole=True), Cutoff(100, "tok")])
def test_span_metrics_are_cut_at_budgets_too(name, cutoff):
    assert parse_score(f"{name}@{cutoff}") == (ALL_METRICS[name], ScoreName(name, cutoff))


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
    scores = score_rankings({"q": list("abc")}, {"q": list("xaybzzc")}, [spelling, name])
    assert list(scores.columns) == [name]
    assert scores.mean[spelling] == scores.mean[name]


def test_every_name_that_ir_measures_has_for_these_measures_is_understood():
    measures = pytest.importorskip("ir_measures.measures")
    ours = {measures.registry[name] for name in ("nDCG", "R", "P", "RR", "AP", "Success", "Rprec", "SetF")}
    names = [name for name, measure in measures.registry.items() if measure in ours]
    assert len(names) > len(ours)
    for name in names:
        parse_score(name)


@each(
    ("name", "message"),
    [
        ("ndgc@10", r"'ndgc@10'.*did you mean ndcg\?"),
        ("Span_Recall@5", r"'Span_Recall@5'.*did you mean span_recall\?"),
        ("SpanRecall@5", r"'SpanRecall@5'.*did you mean span_recall\?"),
        ("recal", r"'recal'.*did you mean recall\?"),
        ("chunk-recall", r"'chunk-recall'.*did you mean chunk_recall\?"),
        ("Succes@5", r"'Succes@5'.*did you mean Success\?"),
        ("precisionomega", r"'precisionomega'.*did you mean precision_omega\?"),
        *((name, f"score '{name}'") for name in ("", "@5", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@1.5")),
        *((name, f"score '{name}'") for name in ("ndcg@@5", "ndcg@5_whole")),
        *((name, "expected a text") for name in (None, 5, ("ndcg", 10), b"ndcg@10")),
        *(
            (f"{name}@{budget}", f"'{name}@{budget}'.*no length.*@10")
            for name in (*RANK_METRICS, "chunk_recall", "nDCG")
            for budget in ("4000ch", "4000ch_whole", "100tok")
        ),
    ],
)
def test_what_is_no_name_of_a_score_is_quoted_and_the_right_one_suggested(name, message):
    with pytest.raises(ConfigError, match=message):
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


@each("name", [*RANK_METRICS, *CHUNK_METRICS])
def test_metrics_of_ids_are_sent_to_score_rankings(name):
    assert score_rankings({"q": ["a"]}, {"q": ["a"]}, [name, f"{name}@1"]).mean == {name: 1.0, f"{name}@1": 1.0}
    for score in (name, f"{name}@5"):
        with pytest.raises(ConfigError, match=f"{name} scores ids: use score_rankings; score_spans takes span_recall"):
            score_spans({"q": [("d", 0, 5)]}, {}, [score])


@each("name", [*SPAN_METRICS, *TOKEN_SET_METRICS])
def test_metrics_of_text_are_sent_to_score_spans(name):
    for score in (name, f"{name}@5"):
        with pytest.raises(ConfigError, match=f"{name} scores spans: use score_spans; score_rankings takes hit, rec"):
            score_rankings({"q": ["a"]}, {"q": ["a"]}, [score])


@each("name", TOKEN_SET_METRICS)
def test_token_set_metrics_score_spans_that_have_a_text(name):
    span = CharacterSpan("d", 0, 5, "words")
    assert name in score_spans({"q": [span]}, {"q": []}, [name]).columns


def listed(message):
    """The names that an error offers, our own and those of ir_measures."""
    own, _, foreign = message.partition("there are ")[2].partition(", and as ir_measures spells them ")
    return own.split(", "), foreign.split(", ") if foreign else []
