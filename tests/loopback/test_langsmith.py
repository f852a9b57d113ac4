"""The real SDK of LangSmith, over real sockets, against the routes of LangSmith."""

import os
import sys
import time
import uuid

import pytest
import requests
from langsmith import Client
from langsmith.evaluation import EvaluationResult
from langsmith.utils import (
    LangSmithAuthError,
    LangSmithConflictError,
    LangSmithError,
    LangSmithNotFoundError,
    get_env_var,
)
from urllib3.util import Retry

from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.testing import LoopbackProviders

# The SDK passes itself arguments that it warns of, in a thread: as errors they would lose the scores of experiments.
pytestmark = pytest.mark.filterwarnings("ignore:The following arguments are no longer used:DeprecationWarning")

AT_ONCE = Retry(total=3, backoff_factor=0, status_forcelist=[429, 500, 502, 503], allowed_methods=None)


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def lost():
    return []


@pytest.fixture(params=["", "/api/v1"], ids=["root", "api-v1"])
def client(providers, lost, request):
    url = f"{providers.url}{request.param}"
    made = Client(api_url=url, tracing_error_callback=lost.append, timeout_ms=5_000, retry_config=AT_ONCE)
    yield made
    made.close(timeout=5)


def rows(number, first=0):
    return [
        {
            "id": uuid.uuid5(uuid.NAMESPACE_URL, str(n)),
            "inputs": {"query": f"question {n}"},
            "reference_outputs": {"relevant_chunk_ids": [f"chunk_{n}"]},
            "metadata": {"n": n},
        }
        for n in range(first, first + number)
    ]


def retrieve(inputs):
    return {"retrieved_chunk_ids": [inputs["query"].replace("question ", "chunk_")]}


def found(run, example):
    wanted = example.outputs["relevant_chunk_ids"]
    return EvaluationResult(key="recall", score=float(run.outputs["retrieved_chunk_ids"] == wanted))


def mean(outputs, reference_outputs):
    return {"key": "rows", "score": len(outputs)}


# --- datasets and examples --------------------------------------------------------------------------------------------


def test_a_dataset_is_there_once_it_was_created_and_a_second_of_its_name_is_a_conflict(client):
    assert not client.has_dataset(dataset_name="refunds")
    made = client.create_dataset("refunds", description="what is asked about refunds", metadata={"by": "hand"})
    assert client.has_dataset(dataset_name="refunds")
    read = client.read_dataset(dataset_id=made.id)
    assert (read.name, read.description, read.example_count) == ("refunds", "what is asked about refunds", 0)
    assert read.metadata["by"] == "hand"
    assert [dataset.id for dataset in client.list_datasets(dataset_name_contains="fund")] == [made.id]
    assert read.url.endswith(f"/datasets/{made.id}")
    with pytest.raises(LangSmithConflictError):
        client.create_dataset("refunds")


def test_examples_are_stored_with_everything_and_listed_by_pages(client, providers):
    dataset = client.create_dataset("refunds")
    answer = client.create_examples(dataset_id=dataset.id, examples=rows(250))
    assert (answer["count"], len(answer["example_ids"])) == (250, 250)
    listed = list(client.list_examples(dataset_id=dataset.id))
    assert {(e.id, e.inputs["query"], e.outputs["relevant_chunk_ids"][0], e.metadata["n"]) for e in listed} == {
        (row["id"], f"question {n}", f"chunk_{n}", n) for n, row in enumerate(rows(250))
    }
    assert [e.metadata["n"] for e in listed[:2]] == [249, 248]  # the newest first: no order to rely on
    assert providers.counts()["GET /examples"] == 3
    assert client.read_dataset(dataset_name="refunds").example_count == 250
    (stored,) = providers.langsmith.datasets.values()
    assert [example["metadata"]["n"] for example in stored.examples] == [*range(250)]
    stored.examples[0]["inputs"]["query"] = "another"  # changes a copy
    assert client.read_example(rows(1)[0]["id"]).inputs["query"] == "question 0"


def test_examples_are_found_by_id_until_they_are_deleted_and_updates_replace_what_they_name_and_keep_the_split(client):
    dataset = client.create_dataset("refunds")
    first, second = rows(2)
    client.create_examples(dataset_id=dataset.id, examples=[first | {"split": "test"}, second])

    def ids(**wanted):
        return [example.id for example in client.list_examples(dataset_id=dataset.id, **wanted)]

    assert ids(example_ids=[first["id"]]) == [first["id"]]
    assert len(ids(as_of="latest")) == 2
    assert client.read_example(first["id"]).metadata == {"n": 0, "dataset_split": ["test"]}

    update = {"id": first["id"], "outputs": {"relevant_chunk_ids": []}, "metadata": {"new": 1}}
    client.update_examples(dataset_id=dataset.id, updates=[update])
    changed = client.read_example(first["id"])
    assert (changed.inputs, changed.outputs) == (first["inputs"], {"relevant_chunk_ids": []})
    assert changed.metadata == {"new": 1, "dataset_split": ["test"]}

    client.create_examples(dataset_id=dataset.id, examples=rows(1, first=2))
    client.delete_examples([first["id"], second["id"]])
    assert [example.metadata["n"] for example in client.list_examples(dataset_id=dataset.id)] == [2]
    with pytest.raises(LangSmithNotFoundError):
        client.read_example(first["id"])
    with pytest.raises(LangSmithNotFoundError, match="Example not found"):
        client.delete_examples([first["id"]])


def test_an_id_is_stored_once_and_belongs_to_one_dataset(client, providers):
    dataset, other = (client.create_dataset(name) for name in ("refunds", "invoices"))
    client.create_examples(dataset_id=dataset.id, examples=rows(1))
    with pytest.raises(LangSmithConflictError):
        client.create_examples(dataset_id=other.id, examples=rows(2))
    assert not providers.langsmith.datasets["invoices"].examples
    with pytest.raises(LangSmithConflictError):
        client.update_examples(dataset_id=other.id, updates=[{"id": rows(1)[0]["id"], "outputs": {}}])
    with pytest.raises(LangSmithNotFoundError):
        client.update_examples(dataset_id=dataset.id, updates=[{"id": uuid.uuid4(), "outputs": {}}])


def test_what_this_server_does_not_have_is_not_told_as_a_record_that_is_not_there(client):
    dataset = client.create_dataset("refunds")
    for ask in (client.list_dataset_splits, lambda **of: [*client.list_dataset_versions(**of)]):
        with pytest.raises(LangSmithError, match=r"the loopback server has no route GET .*/datasets/") as caught:
            ask(dataset_id=dataset.id)
        assert not isinstance(caught.value, LangSmithNotFoundError)
    with pytest.raises(LangSmithError, match="does not know the parameter filter"):
        next(client.list_examples(dataset_id=dataset.id, filter='has(metadata, "n")'))


# --- experiments ------------------------------------------------------------------------------------------------------


def evaluated(client, target=retrieve, number=3, **options):
    dataset = client.create_dataset("refunds")
    client.create_examples(dataset_id=dataset.id, examples=rows(number))
    results = client.evaluate(
        target,
        data="refunds",
        evaluators=[found],
        summary_evaluators=[mean],
        experiment_prefix="bm25",
        metadata={"k": 5},
        **options,
    )
    results.wait()
    client.flush(timeout=10)
    return results


def comes(condition):
    """Whether it comes true: the SDK sends the scores of a whole experiment from a thread that nobody waits for."""
    until = time.monotonic() + 5
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def test_an_experiment_is_recorded_with_runs_scores_and_summary_and_read_back(client, providers, lost):
    results = evaluated(client, disable_evaluator_tracing=True)
    name = results.experiment_name
    assert len(results) == 3
    assert results.url
    assert any(exchange.request.headers.get("content-encoding") == "zstd" for exchange in providers.exchanges)
    assert comes(lambda: providers.langsmith.experiments[name].summary_feedback)
    experiment = providers.langsmith.experiments[name]
    assert experiment.name == name
    assert name.startswith("bm25-")
    assert experiment.metadata["k"] == 5
    assert experiment.dataset_id == providers.langsmith.datasets["refunds"].id
    assert {run["reference_example_id"] for run in experiment.runs} == {str(row["id"]) for row in rows(3)}
    assert {run["outputs"]["retrieved_chunk_ids"][0] for run in experiment.runs} == {"chunk_0", "chunk_1", "chunk_2"}
    assert [run["status"] for run in experiment.runs] == ["success"] * 3
    assert [(row["key"], row["score"]) for row in experiment.feedback] == [("recall", 1.0)] * 3
    assert [(row["key"], row["score"]) for row in experiment.summary_feedback] == [("rows", 3)]
    read = client.read_project(project_name=name, include_stats=True)
    assert (read.feedback_stats["recall"]["n"], read.feedback_stats["recall"]["avg"]) == (3, 1.0)
    assert read.session_feedback_stats["rows"]["n"] == 1
    assert read.run_count == 3
    assert client.read_project(project_id=str(read.id)).feedback_stats is None
    assert not lost


def test_a_target_that_raises_leaves_runs_with_errors(client, providers):
    def broken(inputs):
        raise ValueError("no index")

    evaluated(client, broken)
    (experiment,) = providers.langsmith.experiments.values()
    assert [run["status"] for run in experiment.runs] == ["error"] * 3
    assert all("no index" in run["error"] for run in experiment.runs)
    stats = client.read_project(project_name=experiment.name, include_stats=True).feedback_stats["recall"]
    assert (stats["n"], stats["avg"]) == (3, None)


@pytest.mark.parametrize("status", [404, 422])
def test_runs_that_are_refused_are_lost_with_their_scores(client, providers, lost, status):
    providers.fault("POST /runs/multipart", status=status, times=None)
    evaluated(client)
    (experiment,) = providers.langsmith.experiments.values()
    assert not experiment.runs
    assert not experiment.feedback
    assert lost


# --- who asks ---------------------------------------------------------------------------------------------------------


def test_a_project_is_there_from_the_start(client, providers):
    assert client.has_project("default")
    list(client.list_datasets())
    assert providers.langsmith.experiments == {}
    with pytest.raises(LangSmithConflictError):
        client.create_project("default")
    assert client.create_project("default", upsert=True).name == "default"


def test_a_request_without_a_key_is_refused(providers):
    assert requests.get(f"{providers.url}/info", timeout=5).status_code == 200
    assert requests.get(f"{providers.url}/datasets", timeout=5).json() == {"detail": "no API key was sent"}
    made = Client(api_url=providers.url, api_key="", auto_batch_tracing=False, retry_config=AT_ONCE)
    with pytest.raises(LangSmithAuthError):
        made.has_dataset(dataset_name="refunds")


def test_the_environment_points_the_sdk_here_while_it_is_open(monkeypatch, tmp_path):
    (tmp_path / "config.json").write_text(
        '{"profiles": {"default": {"api_key": "of-a-person", "api_url": "http://127.0.0.1:9"}}}'
    )
    monkeypatch.setenv("LANGSMITH_CONFIG_FILE", str(tmp_path / "config.json"))
    monkeypatch.setenv("LANGSMITH_API_KEY", "before")
    assert "langsmith.utils" in sys.modules
    assert get_env_var("API_KEY") == "before"
    with LoopbackProviders() as opened:
        made = Client(auto_batch_tracing=False)
        assert (made.api_url, made.api_key) == (opened.url, "loopback-key")
        assert get_env_var("API_KEY") == "loopback-key"
        made.create_dataset("refunds")
        assert [*opened.langsmith.datasets] == ["refunds"]
    assert get_env_var("API_KEY") == os.environ["LANGSMITH_API_KEY"] == "before"


def test_faults_are_named_by_the_route_whatever_the_path_begins_with(client, providers):
    providers.fault("POST /platform/datasets/{id}/examples", status=502, times=1)
    dataset = client.create_dataset("refunds")
    client.create_examples(dataset_id=dataset.id, examples=rows(1))
    assert providers.counts()["POST /platform/datasets/{id}/examples"] == 2
    with pytest.raises(ConfigError, match="is not there; expected one of"):
        providers.fault("POST /v1/platform/datasets/{id}/examples", status=500)


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("application/json", b"{}", "expected multipart/form-data"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n{}", "cut off"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n{}\r\n--x--\r\n", "has no name"),
        ("multipart/form-data; boundary=x", b'--x\r\nA: form-data; name="7"\r\n\r\n{}\r\n--x--\r\n', "expected a UUID"),
        (
            'multipart/form-data; boundary="x"',
            f'--x\r\nA: form-data; name="{uuid.UUID(int=7)}.inputs"\r\n\r\n{{\r\n--x--\r\n'.encode(),
            "expected JSON",
        ),
        (
            "multipart/form-data; boundary=x",
            f'--x\r\nA: form-data; name="{uuid.UUID(int=7)}"\r\n\r\n{{}}\r\n--x--\r\n'.encode(),
            "inputs: missing",
        ),
    ],
)
def test_a_form_that_is_damaged_is_refused(providers, kind, body, told):
    made = Client(auto_batch_tracing=False)
    dataset = made.create_dataset("refunds")
    url = f"{providers.url}/v1/platform/datasets/{dataset.id}/examples"
    answer = requests.post(url, body, headers={"Content-Type": kind, "x-api-key": "k"}, timeout=5)
    assert answer.status_code == 422
    assert told in answer.json()["detail"]
    assert not providers.langsmith.datasets["refunds"].examples
