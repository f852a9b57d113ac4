"""Results as experiments in LangSmith: its real SDK, over real sockets, against the server of `LoopbackProviders`."""

import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from langsmith import Client, traceable
from langsmith.run_helpers import tracing_context
from langsmith.utils import get_env_var

from rag_evaluation_framework import BM25Retriever, EvaluationConfig, OpenAIEmbedder, TokenLevelEvaluation
from rag_evaluation_framework.errors import (
    ConfigError,
    DatasetError,
    InvalidAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    ResultError,
)
from rag_evaluation_framework.runs import load_result
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import publish_experiment, push_dataset
from support.nightly import nightly
from support.published import (
    CORPUS,
    NAME,
    experiments_of,
    is_there_once,
    local_scores,
    published_dataset,
    published_result,
    quick_client,
    runs_of,
    scores_of,
)

RUNS = "POST /runs/multipart"
AT_ONCE = {"headers": {"Retry-After": "0"}}


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        push_dataset(published_dataset(), NAME)
        yield opened


@pytest.fixture
def client(providers):
    made = quick_client()
    yield made
    providers.clear_faults()
    made.close(timeout=0)


# --- what arrives -----------------------------------------------------------------------------------------------------


def test_a_result_becomes_an_experiment_with_every_question_and_every_score_once(providers):
    result = published_result(name="of June")
    before = {name: column.tobytes() for name, column in result.scores.columns.items()}
    told = publish_experiment(result, NAME)
    experiment = is_there_once(providers, result)
    assert told.complete
    assert told.problems == ()
    assert (told.dataset_name, told.questions, told.runs) == (NAME, 8, 8)
    assert told.scores == told.scores_there == len(local_scores(result)) == 36
    assert told.name == experiment.name
    assert told.name.startswith("of June-")
    assert told.told == f"experiment {told.name} in LangSmith: 8 of 8 runs and 36 of 36 scores are there"
    assert experiment.dataset_id == providers.langsmith.datasets[NAME].id
    assert told.url.endswith(f"/datasets/{experiment.dataset_id}/compare?selectedSessions={experiment.id}")
    # A program gave the scores, of which those here stay exact and those there have four decimals.
    assert {feedback["feedback_source"]["type"] for feedback in experiment.feedback} == {"model"}
    assert all(math.isfinite(feedback["score"]) for feedback in experiment.feedback)
    assert {name: column.tobytes() for name, column in result.scores.columns.items()} == before
    assert any(score != round(score, 4) for score in local_scores(result).values())


@pytest.mark.parametrize("at_once", [1, 2])
def test_every_publication_is_an_experiment_of_its_own_also_of_two_at_once(providers, at_once):
    push_dataset(published_dataset(), "other")
    result, alike = published_result(name="mine"), published_result(name="mine")
    with ThreadPoolExecutor(at_once) as threads:
        given = [(result, NAME), (result, NAME), (alike, NAME), (result, "other")]
        told = list(threads.map(lambda each: publish_experiment(*each), given))
    assert len({each.name for each in told}) == len(providers.langsmith.experiments) == 4
    for each in told:
        assert each.complete
        assert each.url.endswith(is_there_once(providers, result, each.name).id)


@pytest.mark.parametrize("zero", [(), ("failed",)], ids=["left out here", "zero here"])
def test_a_question_that_failed_has_a_run_with_its_error_and_no_score(providers, zero):
    result = published_result(count_as_zero=zero)
    told = publish_experiment(result, NAME)
    (experiment,) = experiments_of(providers, result)
    (failed,) = runs_of(providers, experiment)["fails"]
    assert failed["status"] == "error"
    assert "retrieve: ValueError: the index is gone" in failed["error"]
    assert {question for question, _ in scores_of(providers, experiment)} == {f"q{number}" for number in range(6)}
    assert (told.complete, told.scores) == (True, 36)
    assert experiment.metadata["means"]["span_recall@1"] == pytest.approx(result.metrics["span_recall@1"])


@pytest.mark.parametrize("remote", [False, True], ids=["of this machine", "of a server that is not the provider's own"])
def test_metadata_names_components_servers_and_what_was_measured_and_runs_have_places_and_times_and_no_text(
    providers, remote
):
    config = EvaluationConfig(experiment_name="mine, sentences")
    embedder = OpenAIEmbedder() if remote else None
    result = TokenLevelEvaluation(CORPUS, published_dataset()).run(embedder=embedder, k=2, config=config)
    told = publish_experiment(result, NAME)
    experiment = providers.langsmith.experiments[told.name]
    (run,) = runs_of(providers, experiment)["q0"]
    assert {name for hit in run["outputs"]["hits"] for name in hit} == {"doc_id", "start", "end", "chunk_id", "score"}
    assert run["outputs"]["seconds"].keys() == ({"embed", "search"} if remote else {"search"})
    assert run["outputs"]["status"] == "scored"
    sent = b"".join(e.request.body for e in providers.exchanges if e.route == RUNS)
    assert b"Refunds take" not in sent
    assert b"loopback-key" not in sent
    metadata = experiment.metadata
    assert metadata["chunker"] == "recursive-character"
    assert metadata["evaluation_type"] == "token-level"
    assert metadata["retriever"] == "mine, sentences"
    assert metadata["dataset_hash"] == result.config["dataset"]["hash"]
    assert metadata["corpus_hash"] == CORPUS.content_hash
    assert metadata["means"]["span_recall@2"] == pytest.approx(result.metrics["span_recall@2"])
    assert (metadata["k"], metadata["cutoffs"]) == ("2", ["2", "4000ch"])
    assert metadata.get("servers") == ([f"openai at {providers.url}/v1"] if remote else None)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (None, "BM25 (k1=2.0), recursive 800"),
        *((name, name) for name in ("v1(chunk=200)", "v1(chunk=500) rerank", "BM25Retriever(k1=2.0)")),
    ],
)
def test_the_name_is_the_whole_one_that_was_given_or_tells_the_parts_also_of_a_saved_result(
    providers, tmp_path, name, shown
):
    config = EvaluationConfig(experiment_name=name)
    result = TokenLevelEvaluation(CORPUS, published_dataset()).run(retriever=BM25Retriever(k1=2.0), k=2, config=config)
    assert publish_experiment(result, NAME).name.startswith(f"{shown}-")
    again = load_result(result.save(tmp_path / "run"))
    assert publish_experiment(again, NAME).name.startswith(f"{shown}-")


def test_no_evaluator_is_traced_and_nothing_goes_elsewhere(providers):
    publish_experiment(published_result(), NAME)
    assert [run["name"] for run in providers.langsmith.experiments.popitem()[1].runs] == ["retrieve"] * 8
    with closing(Client(auto_batch_tracing=False)) as client:
        assert {project.name for project in client.list_projects()} == {
            "default",
            *providers.langsmith.experiments,
        }


@pytest.mark.parametrize("rate", ["0", "0.5"])
def test_all_is_sent_though_others_trace_a_part_only(providers, monkeypatch, rate):
    monkeypatch.setenv("LANGSMITH_TRACING_SAMPLING_RATE", rate)
    get_env_var.cache_clear()
    result = published_result()
    assert publish_experiment(result, NAME, patience=0.5).complete
    is_there_once(providers, result)
    monkeypatch.undo()
    get_env_var.cache_clear()


def test_an_address_that_cannot_be_kept_is_noted_and_a_folder_that_is_gone_is_not_made_again(providers, tmp_path):
    folder = published_result().save(tmp_path / "run")
    result = load_result(folder)
    assert len(result.queries.hits) == 8
    (folder / "experiment.json").mkdir()
    with pytest.warns(UserWarning, match="the address of the experiment is not kept: "):
        assert publish_experiment(result, NAME).complete
    shutil.rmtree(folder)
    assert publish_experiment(result, NAME).complete
    assert list(tmp_path.iterdir()) == []


# --- which question is which example ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "change", "times"),
    [
        ("GET /examples", lambda examples: examples[::-1], None),
        ("GET /examples", lambda examples: random.Random(3).sample(examples, len(examples)), None),
        ("GET /sessions/{id}", lambda read: {**read, "feedback_stats": {}, "run_count": 0}, 4),
    ],
    ids=["newest first", "shuffled", "after a while"],
)
def test_questions_are_matched_by_id_in_any_order_and_what_can_be_read_only_after_a_while_is_waited_for(
    providers, route, change, times
):
    providers.fault(route, change=change, times=times)
    result = published_result()
    assert publish_experiment(result, NAME, patience=5).complete
    is_there_once(providers, result)


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"metadata": {"query_id": "mine"}},
        {"metadata": {"queryId": "mine"}},
        {"metadata": {"query_id": ""}},
        {"inputs": {"query_id": "mine"}},
        {"reference_outputs": {"metadata": {"queryId": "mine"}}},
    ],
)
@pytest.mark.filterwarnings("ignore:.*unknown key 'query_id' is kept as metadata")
def test_examples_of_others_are_the_questions_as_which_they_are_read(providers, client, where):
    made = client.create_dataset("theirs")
    spans = [{"doc_id": "a.md", "start": 3, "end": 40}]
    row = {"inputs": {"query": "Refunds?"}, "reference_outputs": {"relevant_spans": spans}}
    named = {key: {**row.get(key, {}), **fields} for key, fields in where.items()}
    client.create_examples(dataset_id=made.id, examples=[{**row, **named}])
    evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="theirs", publish=False)
    result = evaluation.run(k=2)
    told = publish_experiment(result, "theirs", client=client)
    assert (told.questions, told.runs, told.complete) == (1, 1, True)
    (example,) = providers.langsmith.datasets["theirs"].examples
    (experiment,) = experiments_of(providers, result)
    assert [run["reference_example_id"] for run in experiment.runs] == [example["id"]]


def test_questions_that_are_not_in_the_dataset_or_in_another_wording_are_not_published(providers, client):
    made = client.create_dataset("theirs")
    client.create_examples(dataset_id=made.id, examples=[{"inputs": {"query": "Whose?"}, "reference_outputs": {}}])
    with pytest.raises(DatasetError, match="none of the questions of retrieve is in the dataset 'theirs' of LangSmith"):
        publish_experiment(published_result(), "theirs")
    assert providers.langsmith.experiments == {}
    example = next(each for each in client.list_examples(dataset_name=NAME) if each.metadata["query_id"] == "q3")
    asked = [{"id": example.id, "inputs": {"query": "When?"}, "outputs": example.outputs, "metadata": example.metadata}]
    client.update_examples(dataset_id=example.dataset_id, updates=asked)
    result = published_result(9)
    told = publish_experiment(result, NAME)
    assert (told.questions, told.runs, told.scores, told.complete) == (7, 7, 30, False)
    assert told.unmatched == ("q3", "q6", "q7", "q8")
    absent = f"not published are 4 of the run's questions, which the dataset {NAME} does not have in this wording"
    assert f"{absent}: q3, q6, q7, q8" in told.told
    (experiment,) = experiments_of(providers, result)
    assert runs_of(providers, experiment).keys() == {"q0", "q1", "q2", "q4", "q5", "none", "fails"}


# --- what goes wrong --------------------------------------------------------------------------------------------------

LOSSES = {
    # What happens, whether the first publication is complete all the same, and what is said if it is not.
    "429 once": ({"status": 429, **AT_ONCE}, True, ""),
    "429 always": ({"status": 429, "times": None, **AT_ONCE}, False, "too many 429 error responses"),
    "500 once": ({"status": 500, **AT_ONCE}, True, ""),
    "500 always": ({"status": 500, "times": None, **AT_ONCE}, False, "too many 500 error responses"),
    "422": ({"status": 422}, False, "422 Client Error"),
    "422 for all": ({"status": 422, "times": None}, False, "422 Client Error"),
    "404": (
        {"status": 404, "times": None},
        False,
        None,
    ),  # the SDK may send runs in another way, and no scores, and tell nobody
    "413 later": ({"status": 413, "after": 1}, False, "413 Client Error"),
    "dropped": ({"drop": True}, True, ""),
    "dropped always": ({"drop": True, "times": None}, False, "Connection"),
    "answer lost": ({"drop": True, "lost": True}, True, ""),
    "answers lost": ({"status": 502, "lost": True, "times": 2, **AT_ONCE}, True, ""),
}


@pytest.mark.parametrize(("fault", "complete", "why"), LOSSES.values(), ids=LOSSES)
def test_runs_that_are_lost_are_reported_and_the_next_publication_is_whole(providers, client, fault, complete, why):
    push_dataset(published_dataset(60), "many")
    result, losses = published_result(60), []
    with closing(quick_client(tracing_error_callback=losses.append)) as own:
        providers.fault(RUNS, **fault)
        first = publish_experiment(result, "many", client=own, patience=0.2)
    experiment = providers.langsmith.experiments[first.name]
    there = (len(runs_of(providers, experiment)), len(experiment.feedback))
    complete = complete or ("after" in fault and not losses)  # the SDK may have sent all in its first request
    assert (first.complete, first.runs, first.scores_there) == (complete, *there)
    if not complete:
        assert first.runs < first.questions or first.scores_there < first.scores
        assert "is incomplete: " in first.told
        assert first.told.endswith("Publishing the result again makes a new experiment")
        assert why is None or any(why in str(loss) for loss in losses)
    providers.clear_faults()
    second = publish_experiment(result, "many", client=client, patience=0.5)
    assert (second.complete, second.runs, second.scores_there) == (True, 62, 360)
    is_there_once(providers, result, second.name)


@pytest.mark.parametrize(
    ("status", "why"), [(422, "422 Client Error"), (413, "413 Client Error"), (401, r".*; check LANGSMITH_API_KEY$")]
)
def test_our_own_client_tells_why_runs_were_lost(providers, status, why):
    result = published_result()
    providers.fault(RUNS, status=status, times=None)
    told = publish_experiment(result, NAME, patience=0.2)
    assert (told.runs, told.scores_there, told.complete) == (0, 0, False)
    assert re.search(why, told.problems[0])
    assert told.problems[0] in told.told
    assert "trace=" not in told.told
    assert "loopb" not in told.told
    providers.clear_faults()
    assert publish_experiment(result, NAME).complete
    is_there_once(providers, result)


@pytest.mark.parametrize(("lost", "complete"), [(True, True), (False, False)])
def test_what_arrived_though_its_answers_were_lost_is_complete_and_one_reason_is_told_once(providers, lost, complete):
    push_dataset(published_dataset(250), "many")
    providers.fault(RUNS, status=422, lost=lost, times=None)
    told = publish_experiment(published_result(250), "many", patience=0.2)
    assert len({exchange.request.body for exchange in providers.exchanges if exchange.route == RUNS}) > 1
    assert (told.complete, len(told.problems)) == (complete, int(not complete))


ASKED = {
    "GET /datasets": "looking for the dataset 'mine'",
    "GET /examples": "listing the examples",
    "POST /sessions": "recording the experiment",
    "GET /sessions/{id}": "reading back what arrived",
}
FAILURES = [
    ({"status": 401}, ProviderRefused, "status 401: .*; check LANGSMITH_API_KEY"),
    ({"status": 429, **AT_ONCE}, ProviderUnavailable, "status 429: "),
    ({"status": 500, **AT_ONCE}, ProviderUnavailable, "status 500: "),
    ({"status": 422}, ProviderRefused, "status 422: "),
    ({"body": "<html>", "status": 200}, InvalidAnswer, "an answer that cannot be used"),
    ({"body": {"id": 7}, "status": 200}, InvalidAnswer, "an answer that cannot be used"),
    ({"drop": True}, ProviderUnavailable, "no answer"),
]


@pytest.mark.parametrize(
    ("route", "fault", "kind", "told"),
    [(route, *failure) for route in ASKED for failure in FAILURES],
)
def test_every_failure_is_one_error_and_the_next_publication_succeeds(providers, client, route, fault, kind, told):
    result = published_result()
    list(client.list_projects(limit=1))  # which the SDK asks for its own sake, once
    providers.fault(route, times=None, **fault)
    with pytest.raises(ProviderError, match=rf"^LangSmith at {providers.url}: {ASKED[route]} failed: {told}") as caught:
        publish_experiment(result, NAME, client=client, patience=0.2)
    assert isinstance(caught.value, kind)
    assert "loopb" not in str(caught.value)
    providers.clear_faults()
    client.flush()
    again = publish_experiment(result, NAME, client=client, patience=0.5)
    assert again.complete
    is_there_once(providers, result, again.name)


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 429, **AT_ONCE},
        {"status": 503, **AT_ONCE},
        {"lost": True, "drop": True},
        {"lost": True, "status": 500, **AT_ONCE},
    ],
)
def test_an_experiment_that_is_refused_at_first_or_whose_answer_was_lost_is_made_once(providers, client, fault):
    result = published_result()
    providers.fault("POST /sessions", **fault)
    assert publish_experiment(result, NAME, client=client).complete
    assert len(providers.langsmith.experiments) == 1
    is_there_once(providers, result)


@pytest.mark.parametrize(
    ("late", "told"),
    [
        ({"feedback_stats": {}}, "8 of 8 runs and 0 of 36 scores are there"),
        ({"run_count": 3}, "3 of 8 runs and 36 of 36 scores are there"),
        ({"feedback_stats": {"span_recall@1": {"n": 4}, "other@1": {"n": 99}}}, "8 of 8 runs and 4 of 36 scores"),
    ],
)
def test_what_is_later_than_the_patience_is_told_as_missing(providers, client, late, told):
    providers.fault("GET /sessions/{id}", change=lambda read: {**read, **late}, times=None)
    experiment = publish_experiment(published_result(), NAME, client=client, patience=0.1)
    assert (experiment.complete, experiment.problems) == (False, ())
    assert told in experiment.told


@pytest.mark.parametrize("traced", [lambda function: function, traceable], ids=["alone", "in a traced function"])
@pytest.mark.parametrize("enabled", [True, False])
def test_whether_the_caller_traces_does_not_matter(providers, client, enabled, traced):
    result = published_result()
    with tracing_context(enabled=enabled, client=client):
        assert traced(lambda: publish_experiment(result, NAME, client=client, patience=1))().complete
    is_there_once(providers, result)


@pytest.mark.parametrize(
    ("route", "changed"),
    [
        ("GET /sessions/{id}", {"feedback_stats": {"span_recall@1": 7}}),
        ("GET /sessions/{id}", {"feedback_stats": {"span_recall@1": {}}}),
        ("GET /sessions/{id}", {"feedback_stats": {"span_recall@1": {"n": "many"}}}),
        ("GET /examples", {"id": "no id"}),
    ],
)
def test_counts_and_ids_that_cannot_be_read_are_one_error(providers, client, route, changed):
    def change(answer):
        return [{**each, **changed} for each in answer] if isinstance(answer, list) else {**answer, **changed}

    providers.fault(route, change=change, times=None)
    with pytest.raises(InvalidAnswer, match=f"{ASKED[route]} failed"):
        publish_experiment(published_result(), NAME, client=client, patience=0.2)


# --- killed -----------------------------------------------------------------------------------------------------------

PUBLISHING = """
import sys
from rag_evaluation_framework.trackers import publish_experiment
from rag_evaluation_framework.runs import load_result
result = load_result(sys.argv[1])
print("ready", flush=True)
publish_experiment(result, "many")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("route", "moment"),
    [
        ("POST /sessions", 0),
        (RUNS, 60),
        nightly(RUNS, 1),
        nightly(RUNS, 150),
        nightly("GET /sessions/{id}", 0),
    ],
)
def test_after_a_publication_that_was_killed_the_next_one_is_whole(providers, client, tmp_path, route, moment):
    push_dataset(published_dataset(200), "many")
    result = load_result(published_result(200).save(tmp_path / "run"))
    has_come, is_over = threading.Event(), threading.Event()

    def held(answer):  # the process waits here for its end
        if len(providers.langsmith.runs) >= moment:
            has_come.set()
            is_over.wait()
        return answer

    providers.fault(route, change=held, times=None)
    process = subprocess.Popen(
        [sys.executable, "-c", PUBLISHING, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    assert has_come.wait(60)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    providers.clear_faults()
    is_over.set()
    told = publish_experiment(result, "many", client=client, patience=0.5)
    assert told.complete
    is_there_once(providers, result, told.name)
    assert len(list(tmp_path.joinpath("run").glob("experiment.json"))) == 1


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_result_of_a_report_alone_is_refused_before_anything_is_sent(providers, tmp_path):
    folder = published_result().save(tmp_path / "run")
    shutil.copy(folder / "report.json", tmp_path / "report.json")
    with pytest.raises(ResultError, match="what was retrieved is not known"):
        publish_experiment(load_result(tmp_path / "report.json"), NAME)
    assert providers.langsmith.experiments == {}


REFUSED = [
    *[("result", value, r"result=.*: expected an EvaluationResult") for value in (None, "x", load_result)],
    *[("dataset_name", value, "expected the name of a dataset in LangSmith") for value in ("", " ", 7, None)],
    *[
        ("patience", value, r"patience=.*expected a number of at least 0")
        for value in ("x", None, True, -1, math.nan, math.inf)
    ],
]


@pytest.mark.parametrize(("option", "value", "told"), REFUSED)
def test_what_is_no_result_no_name_and_no_time_is_refused_before_anything_is_sent(providers, option, value, told):
    before = len(providers.exchanges)
    with pytest.raises(ConfigError, match=told):
        publish_experiment(**{"result": published_result(), "dataset_name": NAME, option: value})
    assert len(providers.exchanges) == before
