"""Runs that are gated from Python, as `rag-eval run` and the plug-in of pytest gate them."""

import json
import sys
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.analysis.gates import Gating, Written, unreliable
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.report import gates_as_junit
from rag_evaluation_framework.runs import parse_config, run
from rag_evaluation_framework.trackers import finish, prepared
from support.gated_project import make_project


def gated(folder, **keys):
    given = {"corpus": "docs", "dataset": "help.json", "retriever": "own:search", "save_results_path": "runs-of-ours"}
    spec = parse_config(given | keys, "the keys")
    gating = Gating(spec, folder, Written(["hit@2 >= 0.5"]))
    experiment = spec.experiment(folder)
    result = run(experiment)
    outcome = gating.outcome(result, gating.gates_of(experiment), unreliable(result))
    return replace(outcome, result=finish(outcome, prepared(experiment.config)))


def test_a_run_is_gated_and_compared_with_its_baseline_without_the_command_line(tmp_path, monkeypatch):
    make_project(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)  # that of another test
    first = gated(tmp_path).result
    assert [str(verdict) for verdict in first.gates] == ["hit@2 >= 0.5: passed: 0.750, 4 questions"]
    outcome = gated(tmp_path, retriever="own:worse", baseline="last", gates=["hit@2 >= 0.9", "lost <= 0"])
    worse = outcome.result
    assert {verdict.gate: verdict.verdict for verdict in worse.gates} == {
        "hit@2 >= 0.5": "passed",  # it comes before the one of the configuration that bounds the same
        "lost@2 <= 0 questions": "failed",
        "compared >= 90 %": "passed",
    }
    diff = json.loads((worse.folder / "diff.json").read_text())
    assert (diff["baseline"]["folder"], diff["candidate"]["created"]) == (str(first.folder), worse.created)
    junit = gates_as_junit(outcome)
    assert f"dataset of the baseline: sha256 {first.config['dataset']['hash']}" in junit
    assert 'failures="1"' in junit


def test_gates_that_cannot_be_measured_are_refused_before_anything_is_asked(tmp_path, monkeypatch):
    make_project(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    gated(tmp_path, metrics=["hit"])
    drop = {"baseline": "last", "gates": ["hit@2 drop <= 0.1"]}
    (_, same, _) = gated(tmp_path, metrics=["hit"], **drop).result.gates
    assert same.verdict == "passed"

    def refused(*gates):
        with pytest.raises(ConfigError) as error:
            gated(tmp_path, retriever="own:failing", baseline="last", gates=[*gates])
        return str(error.value)

    assert "gate 'mrr@2 drop <= 0.1': the baseline 'search' has no score mrr@2; there are" in refused(
        "mrr@2 drop <= 0.1"
    )
    assert "gate 'mrr@2 >= 0': cannot fail, as 0.000 is the worst that is possible" in refused("mrr@2 >= 0")


def test_a_gate_on_a_baseline_of_another_level_is_refused_but_for_the_share_that_is_compared(tmp_path, monkeypatch):
    make_project(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    text = "Refunds are available within 30 days of purchase.\n"
    corpus = Corpus([Document(DocumentId("refunds.md"), text)])
    truth = TokenLevelGroundTruth(Query.from_text("q"), (CharacterSpan(DocumentId("refunds.md"), 0, 7, text[:7]),))
    options = {"experiment_name": "spans", "save_results_path": tmp_path / "runs-of-ours"}
    evaluate(lambda query, k: [text], Dataset([truth], TOKEN, corpus=corpus), k=2, **options)
    for gate in ("hit@2 drop <= 0.1", "lost@2 <= 0 questions"):
        with pytest.raises(ConfigError, match="the baseline 'spans' is token-level, the run is document-level"):
            gated(tmp_path, retriever="own:failing", baseline="spans", gates=[gate])
    (_, shown) = gated(tmp_path, baseline="spans", gates=["compared >= 90 %"]).result.gates
    assert shown.verdict == "not measured"
