"""Which dataset an evaluation has: an object, a file, or a name that is looked up here and in LangSmith."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Dataset,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
    load_result,
    save_dataset,
)
from rag_evaluation_framework.data import Query
from rag_evaluation_framework.errors import ConfigError, DatasetError, Interrupted, LevelMismatch, MissingDependency
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import PublishedExperiment, publish_experiment, push_dataset
from support.each import each
from support.published import CORPUS, is_there_once, published_dataset, quick_client, retrieve

ALL = [TokenLevelEvaluation, ChunkLevelEvaluation, DocumentLevelEvaluation]
CHUNKS = [chunk for document in CORPUS for chunk in RecursiveCharacterChunker(31).chunk_with_positions(document)]


@pytest.fixture
def dataset():
    return published_dataset()


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def here(monkeypatch, tmp_path):
    """A folder to work in, where nobody has a key, and connections are counted and refused."""
    monkeypatch.chdir(tmp_path)
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "LANGSMITH_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_CONFIG_FILE", str(tmp_path / "none"))
    attempts = []

    def refused(self, address):
        attempts.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: refused(None, args))
    return attempts


def labels(dataset):
    """Return the questions of a token-level dataset and where their labels are."""
    return [(entry.query, [(span.doc_id, span.start, span.end) for span in entry.relevant]) for entry in dataset]


def kept(dataset, name, root):
    (root / "datasets").mkdir(parents=True, exist_ok=True)
    return save_dataset(dataset, root / "datasets" / name)


def examples_of_others(providers, examples, root, where):
    """Keep examples as others make them, in LangSmith or as a file here, under the name `theirs`."""
    if where == "here":
        (root / "datasets").mkdir()
        (root / "datasets" / "theirs.json").write_text(json.dumps(examples))
        return
    with closing(quick_client()) as client:
        made = client.create_dataset("theirs")
        rows = [{"inputs": row["inputs"], "reference_outputs": row["outputs"]} for row in examples]
        client.create_examples(dataset_id=made.id, examples=rows)


# --- objects and files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_dataset_is_used_as_it_is_and_a_path_is_read(dataset, kind, as_text, here, tmp_path):
    assert kind(CORPUS, dataset).dataset is dataset
    path = save_dataset(dataset, tmp_path / "mine.json")
    evaluation = kind(CORPUS, str(path) if as_text else path)
    assert labels(evaluation.dataset) == labels(dataset)
    assert evaluation.dataset.level is TOKEN
    assert evaluation.publishes_to is None
    assert here == []


def test_a_file_of_its_own_level_is_read_at_that(tmp_path):
    chunks = Dataset([ChunkLevelGroundTruth(Query.from_text("a?"), ["chunk_1"])], CHUNK)
    documents = Dataset([DocumentLevelGroundTruth(Query.from_text("a?"), ["a.md"])], DOCUMENT)
    assert ChunkLevelEvaluation(CORPUS, save_dataset(chunks, tmp_path / "c.json")).dataset.level is CHUNK
    assert DocumentLevelEvaluation(CORPUS, save_dataset(documents, tmp_path / "d.json")).dataset.level is DOCUMENT
    for kind, path in [
        (TokenLevelEvaluation, "c.json"),
        (DocumentLevelEvaluation, "c.json"),
        (ChunkLevelEvaluation, "d.json"),
    ]:
        with pytest.raises(LevelMismatch, match=f"expected {kind.level.evaluation_type}"):
            kind(CORPUS, tmp_path / path)


# --- exactly one ------------------------------------------------------------------------------------------------------


READ_ALREADY = "= is for examples that are read; dataset= is a Dataset already"


@pytest.mark.parametrize("kind", ALL)
@each(
    ("options", "message"),
    [
        ({}, "expected either dataset= or langsmith_dataset_name=, got neither"),
        ({"dataset": published_dataset(), "langsmith_dataset_name": "mine"}, "got both"),
        ({"dataset": "mine.json", "langsmith_dataset_name": "mine"}, "got both"),
        ({"langsmith_dataset_name": ""}, "langsmith_dataset_name='': expected the name of a dataset"),
        ({"langsmith_dataset_name": "  "}, "expected the name of a dataset"),
        ({"langsmith_dataset_name": 7}, "langsmith_dataset_name=7: expected the name of a dataset"),
        ({"dataset": published_dataset(), "publish": True}, "publish=True needs langsmith_dataset_name="),
        ({"langsmith_dataset_name": "mine", "publish": "yes"}, "publish='yes'"),
        ({"langsmith_dataset_name": "mine", "publish": 1}, "publish=1"),
        ({"langsmith_dataset_name": "mine", "registry": CHUNKS[:1]}, r"^registry=\[.*: expected a ChunkRegistry$"),
        ({"langsmith_dataset_name": "mine", "query_key": 7}, "^query_key=7: expected the name of a field$"),
        (
            {"langsmith_dataset_name": "mine", "ground_truth_key": ["gold"]},
            r"^ground_truth_key=\['gold'\]: expected the",
        ),
        ({"dataset": published_dataset(), "registry": ChunkRegistry()}, READ_ALREADY),
        ({"dataset": published_dataset(), "query_key": "question"}, READ_ALREADY),
        ({"dataset": published_dataset(), "ground_truth_key": "gold"}, READ_ALREADY),
    ],
)
def test_it_is_exactly_one_of_a_dataset_and_a_name_with_how_examples_are_read(kind, options, message, here):
    with pytest.raises(ConfigError, match=message):
        kind(CORPUS, **options)
    assert here == []


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_a_name_is_looked_up_here_first_and_nothing_is_connected_to(dataset, kind, ending, here, tmp_path):
    kept(dataset, f"mine{ending}", tmp_path / ".rag-eval")
    evaluation = kind(CORPUS, langsmith_dataset_name="mine")
    assert labels(evaluation.dataset) == labels(dataset)
    assert evaluation.publishes_to is None
    assert evaluation.run(k=2).experiment_url is None
    assert here == []


def test_no_sdk_is_loaded_for_a_name_that_is_here(dataset, here, tmp_path):
    kept(dataset, "mine.json", tmp_path / "store")
    code = (
        "import sys; from rag_evaluation_framework import Corpus, Document, TokenLevelEvaluation\n"
        f"corpus = Corpus([Document(name, text) for name, text in {[(d.id, d.content) for d in CORPUS]!r}])\n"
        "TokenLevelEvaluation(corpus, langsmith_dataset_name='mine', root='store').run(k=2)\n"
        "print(sorted({'langsmith', 'openai', 'requests', 'httpx', 'httpx2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


@pytest.mark.parametrize(
    "name", ["../mine", "sub/mine", "../../mine", "{root}/datasets/mine", "..", ".", "/mine", "./mine"]
)
def test_a_name_never_leads_out_of_the_root(dataset, name, here, tmp_path):
    root = tmp_path / "a" / "root"
    for folder in (root, root.parent, tmp_path, root / "datasets", root / "datasets" / "sub"):
        folder.mkdir(parents=True, exist_ok=True)
        save_dataset(dataset, folder / "mine.json")
    with pytest.raises(ConfigError, match="LangSmith needs an API key"):
        TokenLevelEvaluation(CORPUS, langsmith_dataset_name=name.format(root=root), root=root)


@pytest.mark.parametrize("name", ["mine", "m" * 300, "a\0b", "é" * 200])
def test_a_name_that_is_not_here_or_that_no_file_can_have_is_one_of_langsmith(providers, dataset, name, tmp_path):
    push_dataset(dataset, name)
    for kind in ALL:
        evaluation = kind(CORPUS, langsmith_dataset_name=name, root=tmp_path)
        assert labels(evaluation.dataset) == labels(dataset)
        assert evaluation.publishes_to == name
    with pytest.raises(DatasetError, match="has no dataset 'other'"):
        TokenLevelEvaluation(CORPUS, langsmith_dataset_name="other", root=tmp_path)


def test_a_dataset_of_another_level_in_langsmith_is_refused(providers, tmp_path):
    push_dataset(Dataset([ChunkLevelGroundTruth(Query.from_text("a?"), ["chunk_1"])], CHUNK), "chunks")
    assert ChunkLevelEvaluation(CORPUS, langsmith_dataset_name="chunks", root=tmp_path).dataset.level is CHUNK
    for kind in (TokenLevelEvaluation, DocumentLevelEvaluation):
        with pytest.raises(LevelMismatch, match=f"expected {kind.level.evaluation_type}"):
            kind(CORPUS, langsmith_dataset_name="chunks", root=tmp_path)


@pytest.mark.parametrize("where", ["here", "LangSmith"])
def test_labels_of_text_by_the_ids_of_chunks_are_placed_by_the_registry(providers, tmp_path, where):
    chunk = CHUNKS[1]
    row = {"inputs": {"query": "When?"}, "outputs": {"relevant_chunk_ids": [chunk.id]}}
    assert chunk.id.startswith("pa_chunk_")
    examples_of_others(providers, [row], tmp_path, where)
    options = {"langsmith_dataset_name": "theirs", "root": tmp_path, "publish": False}
    spans = sorted((each.doc_id, each.start, each.end) for each in CHUNKS if each.id == chunk.id)
    for kind in (TokenLevelEvaluation, DocumentLevelEvaluation):
        evaluation = kind(CORPUS, registry=ChunkRegistry(CHUNKS), **options)
        ((_, found),) = labels(evaluation.dataset)
        assert sorted(found) == spans
        assert evaluation.run(retriever=retrieve, k=2).counts["scored"] == 1
    chunks = ChunkLevelEvaluation(CORPUS, registry=ChunkRegistry(CHUNKS), **options)
    assert chunks.dataset.level is CHUNK


def test_without_a_registry_it_is_told_that_one_is_expected_and_where_a_file_was_looked_for(providers, tmp_path):
    row = {"inputs": {"query": "When?"}, "outputs": {"relevant_chunk_ids": [CHUNKS[0].id]}}
    examples_of_others(providers, [row], tmp_path, "LangSmith")
    told = r"^no file of dataset 'theirs' in .*datasets; .* has chunk ids, expected token-level: pass registry= "
    with pytest.raises(LevelMismatch, match=told):
        TokenLevelEvaluation(CORPUS, langsmith_dataset_name="theirs", root=tmp_path)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("where", ["here", "LangSmith", "path"])
def test_fields_of_examples_may_have_other_names(providers, tmp_path, kind, where):
    spans = [{"doc_id": "a.md", "start": 3, "end": 40}]
    row = {"inputs": {"question": "When?"}, "outputs": {"gold": spans if kind is TokenLevelEvaluation else ["a.md"]}}
    examples_of_others(providers, [row], tmp_path, "here" if where == "path" else where)
    keys = {"query_key": "question", "ground_truth_key": "gold"}
    if where == "path":
        evaluation = kind(CORPUS, tmp_path / "datasets" / "theirs.json", **keys)
    else:
        evaluation = kind(CORPUS, langsmith_dataset_name="theirs", root=tmp_path, **keys)
    (entry,) = evaluation.dataset
    assert (entry.query.text, len(entry.relevant)) == ("When?", 1)


def test_a_broken_file_is_not_passed_over(providers, dataset, tmp_path):
    push_dataset(dataset, "mine")
    kept(dataset, "mine.json", tmp_path).write_text("{")
    before = len(providers.exchanges)
    with pytest.raises(DatasetError, match=r"mine\.json"):
        TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path)
    assert len(providers.exchanges) == before


def test_without_the_extra_both_places_are_told(monkeypatch, here, tmp_path):
    monkeypatch.setenv("LANGSMITH_API_KEY", "a-key")
    monkeypatch.setitem(sys.modules, "langsmith", None)
    with pytest.raises(MissingDependency, match=r"no file of dataset 'mine' in .*; .*\[langsmith\]"):
        TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine")


# --- what is published ------------------------------------------------------------------------------------------------


def test_a_dataset_that_was_read_in_langsmith_gets_the_results_and_others_do_not(providers, dataset, tmp_path):
    push_dataset(dataset, "mine")
    result = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path).run(retriever=retrieve, k=2)
    experiment = is_there_once(providers, result)
    assert result.experiment_url.endswith(experiment.id)
    assert isinstance(result.raw_results, PublishedExperiment)
    assert result.raw_results.complete
    assert result.raw_results.told not in result.notes
    kept(dataset, "mine.json", tmp_path)
    local = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path).run(retriever=retrieve, k=2)
    assert (local.experiment_url, local.raw_results) == (None, None)
    assert len(providers.langsmith.experiments) == 1


def test_publishing_can_be_asked_for_and_refused(providers, dataset, tmp_path):
    push_dataset(dataset, "mine")
    refused = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", publish=False, root=tmp_path)
    assert refused.run(retriever=retrieve, k=2).experiment_url is None
    assert providers.langsmith.experiments == {}
    kept(dataset, "mine.json", tmp_path)
    asked = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", publish=True, root=tmp_path)
    is_there_once(providers, asked.run(retriever=retrieve, k=2))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (("POST /sessions", {"status": 401}), "publishing the result: .*status 401"),
        (("POST /sessions", {"status": 422}), "publishing the result: .*status 422"),
        (("GET /datasets", {"status": 403}), "publishing the result: .*status 403"),
        (("GET /datasets", {"body": [{"id": 7}], "status": 200}), "publishing the result: "),
        (("POST /runs/multipart", {"status": 422}), "is incomplete: 0 of 8 runs and 0 of 36 scores are there"),
    ],
)
def test_a_publication_that_fails_loses_and_changes_nothing_and_is_noted(providers, dataset, fault, told, tmp_path):
    push_dataset(dataset, "mine")
    evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path)
    silent = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", publish=False, root=tmp_path)
    expected = silent.run(retriever=retrieve, k=2)
    route, options = fault
    providers.fault(route, times=None, **options)
    with pytest.warns(UserWarning, match=told):
        result = evaluation.run(retriever=retrieve, k=2)
    assert result.metrics == expected.metrics
    assert [query.hits for query in result.queries] == [query.hits for query in expected.queries]
    assert result.notes[:-1] == expected.notes
    assert "loopb" not in result.notes[-1]
    assert replace(result, experiment_url=None).save(tmp_path / "run").is_dir()


def test_a_run_that_could_not_be_published_is_refused_before_anything_is_asked(
    providers, dataset, tmp_path, monkeypatch
):
    kept(dataset, "mine.json", tmp_path)
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", publish=True, root=tmp_path)
    asked = []
    with pytest.raises(ConfigError, match="LangSmith needs an API key"):
        evaluation.run(retriever=lambda query, k: asked.append(query), k=2)
    monkeypatch.setenv("LANGSMITH_API_KEY", "loopback")
    monkeypatch.setitem(sys.modules, "langsmith", None)
    with pytest.raises(MissingDependency, match="LangSmithSink needs the package that provides `langsmith`"):
        evaluation.run(retriever=lambda query, k: asked.append(query), k=2)
    assert asked == []


def test_a_server_that_is_gone_after_the_run_does_not_lose_the_result(dataset, tmp_path):
    with LoopbackProviders() as providers:
        push_dataset(dataset, "mine")
        evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path)
        environment = dict(providers.environment)
    os.environ.update(environment)
    try:
        with pytest.warns(UserWarning, match="publishing the result: .*no answer"):
            assert evaluation.run(retriever=retrieve, k=2).metrics["span_recall@2"] > 0
    finally:
        for name in environment:
            os.environ.pop(name, None)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize(
    ("route", "fault"),
    [
        ("GET /datasets", {"delay": 3}),
        ("POST /sessions", {"delay": 3}),
        ("POST /runs/multipart", {"delay": 3}),
        ("GET /sessions/{id}", {"change": lambda read: {**read, "run_count": 0}}),
    ],
)
def test_an_interrupt_while_a_result_is_published_does_not_lose_what_is_saved(
    providers, dataset, route, fault, saved, tmp_path
):
    push_dataset(dataset, "mine")
    evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path)
    config = EvaluationConfig(save_results_path=tmp_path if saved else None)
    silent = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", publish=False, root=tmp_path)
    expected = silent.run(retriever=retrieve, k=2)
    providers.fault(route, times=None, **fault)
    came, over = providers.counts()[route], threading.Event()

    def interrupt():
        while providers.counts()[route] == came and not over.wait(0.01):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(Interrupted, match=r"the run is finished; the result is ") as caught:
            evaluation.run(retriever=retrieve, k=2, config=config)
    finally:
        over.set()
        providers.clear_faults()
    if saved:
        (folder,) = (tmp_path / "runs").iterdir()
        assert str(caught.value).endswith(
            f"saved in {folder}, and maybe not published: publish_experiment publishes it"
        )
        assert load_result(folder).metrics == expected.metrics
    else:
        assert str(caught.value).endswith("the result is not saved, and maybe not published")


def test_a_saved_result_has_the_note_of_its_publication_until_it_is_complete(providers, dataset, tmp_path):
    push_dataset(dataset, "mine")
    evaluation = TokenLevelEvaluation(CORPUS, langsmith_dataset_name="mine", root=tmp_path)
    config = EvaluationConfig(save_results_path=tmp_path)
    for route, told in [
        ("POST /sessions", "publishing the result: "),
        ("POST /runs/multipart", "incomplete: 0"),
    ]:
        providers.fault(route, status=422, times=None)
        with pytest.warns(UserWarning, match=told):
            result = evaluation.run(retriever=retrieve, k=2, config=config)
        providers.clear_faults()
        loaded = load_result(result.folder)
        assert told in loaded.notes[-1]
        assert loaded == replace(result, raw_results=None)
        assert publish_experiment(loaded, "mine").complete
        assert load_result(result.folder).notes == result.notes[:-1]
        assert load_result(result.folder).experiment_url is not None
