"""Random files in TREC's format are read, and scored, as pytrec_eval and ir_measures read and score them."""

import random

import pytest

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.datasets.rankings import read_qrels, read_rankings

SEEDS = range(10)
PYTREC_EVAL = {"ndcg_cut_10": "ndcg@10", "map_cut_100": "map@100", "recall_5": "recall@5", "P_5": "precision@5"}
PYTREC_EVAL |= {"recip_rank": "mrr", "Rprec": "r_precision", "success_1": "hit@1"}
IR_MEASURES = ("nDCG@10", "nDCG", "AP@100", "R@5", "P@5", "RR@10", "Rprec", "Success@1")

seeds = pytest.mark.parametrize("seed", SEEDS)


@pytest.fixture
def files(tmp_path, seed):
    """Qrels and a run without ties, its lines in any order and its ranks meaningless; each question has an answer."""
    source = random.Random(seed)
    pool = [f"dokument-{number}é" for number in range(300)]
    judged, ranked = [], []
    for number in range(40):
        units = source.sample(pool, source.randint(1, 25))
        grades = [1, *(source.choice([-1, 0, 0, 1, 2, 3]) for _ in units[1:])]
        judged += [f"q{number} 0 {unit} {grade}" for unit, grade in zip(units, grades, strict=True)]
        found = list(dict.fromkeys(units[::2] + source.sample(pool, source.choice([1, 7, 40, 200]))))
        scores = source.sample(range(-1000, 1000), len(found))
        separator = source.choice([" ", "\t"])
        ranked += [
            separator.join([f"q{number}", "Q0", unit, "0", f"{score / 4}", "run"])
            for unit, score in zip(found, scores, strict=True)
        ]
    source.shuffle(judged)
    source.shuffle(ranked)
    paths = tmp_path / "qrels", tmp_path / "run"
    for path, lines in zip(paths, (judged, ranked), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


@seeds
def test_pytrec_eval_reads_the_same_files_and_gives_the_same_scores(files):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = read_qrels(files[0]), read_rankings(files[1])
    with files[0].open(encoding="utf-8") as lines:
        their_qrels = pytrec_eval.parse_qrel(lines)
    with files[1].open(encoding="utf-8") as lines:
        their_run = pytrec_eval.parse_run(lines)
    assert qrels == their_qrels
    assert run == their_run
    measures = {"ndcg_cut.10", "map_cut.100", "recall.5", "P.5", "recip_rank", "Rprec", "success.1"}
    theirs = pytrec_eval.RelevanceEvaluator(their_qrels, measures).evaluate(their_run)
    scores = score_rankings(qrels, run, list(PYTREC_EVAL.values()))
    for their, our in PYTREC_EVAL.items():
        assert scores.per_query(our) == pytest.approx({query: theirs[query][their] for query in qrels}, abs=1e-9), our


@seeds
def test_ir_measures_reads_the_same_files_and_gives_the_same_means(files):
    ir_measures = pytest.importorskip("ir_measures")
    their_qrels = list(ir_measures.read_trec_qrels(str(files[0])))
    their_run = list(ir_measures.read_trec_run(str(files[1])))
    qrels, run = read_qrels(files[0]), read_rankings(files[1])
    assert {(q, unit): grade for q, truth in qrels.items() for unit, grade in truth.items()} == {
        (line.query_id, line.doc_id): line.relevance for line in their_qrels
    }
    measures = [ir_measures.parse_measure(name) for name in IR_MEASURES]
    theirs = ir_measures.calc_aggregate(measures, their_qrels, their_run)
    ours = score_rankings(qrels, run, IR_MEASURES)
    assert list(ours.mean.values()) == pytest.approx([theirs[measure] for measure in measures], abs=1e-9)
