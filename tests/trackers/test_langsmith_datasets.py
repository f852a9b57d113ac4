"""Datasets to and from LangSmith: its real SDK, over real sockets, against the server of `LoopbackProviders`."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import uuid
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langsmith import Client
from langsmith.utils import LangSmithRetry

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText
from rag_evaluation_framework.errors import (
    ConfigError,
    DatasetError,
    InvalidAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import pull_dataset, push_dataset
from support.examples import examples

EXAMPLES = "/platform/datasets/{id}/examples"
CREATE, UPDATE, DELETE, LIST = f"POST {EXAMPLES}", f"PATCH {EXAMPLES}", "DELETE /examples", "GET /examples"
REFUNDS = "Refunds take five working days."


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def client(providers):
    """A client that does not wait before it asks again."""
    retry = LangSmithRetry(total=1, backoff_factor=0, status_forcelist=[429, 500, 502, 503], allowed_methods=None)
    made = Client(auto_batch_tracing=False, retry_config=retry, timeout_ms=5_000)
    yield made
    made.close(timeout=0)


def question(number, **metadata):
    return Query(QueryId(f"q{number}"), QueryText(f"Question {number}?"), metadata)


def chunks(number, **options):
    truth = [ChunkLevelGroundTruth(question(n, n=n), [f"chunk_{n}"]) for n in range(number)]
    return Dataset(truth, CHUNK, name="mine", **options)


def with_entry(dataset, number, entry):
    truth = list(dataset.ground_truth)
    truth[number] = entry
    return replace(dataset, ground_truth=tuple(truth))


def sent(providers):
    """How often examples were created, updated and deleted."""
    counts = providers.counts()
    return [counts[name] for name in (CREATE, UPDATE, DELETE)]


def stored(providers, name="refunds"):
    return providers.langsmith.datasets[name].examples


# --- what arrives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "name", "description"),
    [
        (
            ChunkLevelGroundTruth(question(1), ["chunk_1"]),
            "rag-eval-chunk-level-v1",
            "Ground truth for chunk-level RAG evaluation",
        ),
        (
            TokenLevelGroundTruth(question(1), []),
            "rag-eval-token-level-v1",
            "Ground truth for token-level RAG evaluation (character spans)",
        ),
        (
            DocumentLevelGroundTruth(question(1), ["a.md"]),
            "rag-eval-document-level-v1",
            "Ground truth for document-level RAG evaluation",
        ),
    ],
)
def test_a_dataset_has_the_name_and_description_of_its_level(providers, entry, name, description):
    report = push_dataset(Dataset([entry], entry.level))
    found = providers.langsmith.datasets[name]
    assert (report.name, report.is_new, found.description) == (name, True, description)
    assert report.url.endswith(f"/datasets/{found.id}")
    assert pull_dataset(name, entry.level).ground_truth == (entry,)


def test_examples_have_the_shape_of_the_schemas_and_what_is_not_kept_is_named(providers):
    dataset = chunks(1, chunking="f" * 12, metadata={"defaults": {"topK": 3}})
    report = push_dataset(dataset, "refunds", description="of June")
    (example,) = stored(providers)
    assert (example["inputs"], example["outputs"]) == ({"query": "Question 0?"}, {"relevant_chunk_ids": ["chunk_0"]})
    noted = example["metadata"].pop("rag_eval")
    assert noted == {"position": 0, "evaluation_type": "chunk-level", "chunking": "f" * 12}
    assert example["metadata"] == {"query_id": "q0", "n": 0, "dataset_split": ["base"]}
    assert providers.langsmith.datasets["refunds"].description == "of June"
    assert [*report.left_out] == report.record()["left_out"] == ["metadata 'defaults' of the dataset"]


def test_spans_are_pushed_with_their_texts(providers, corpus):
    start = corpus["billing.md"].content.index(REFUNDS)
    span = CharacterSpan(DocumentId("billing.md"), start, start + len(REFUNDS))
    dataset = Dataset([TokenLevelGroundTruth(question(1), [span])], TOKEN, corpus=corpus)
    push_dataset(dataset, "refunds")
    (example,) = stored(providers)
    assert example["outputs"]["relevant_spans"][0]["text"] == REFUNDS
    pulled = pull_dataset("refunds", TOKEN)
    assert (pulled.content_hash, pulled.corpus_hash) == (dataset.content_hash, corpus.content_hash)
    assert pull_dataset("refunds", TOKEN, corpus=Corpus(list(corpus)[:2])).corpus_hash == corpus.content_hash


def test_a_pull_knows_which_texts_were_labelled_and_has_none_of_them(providers, tmp_path):
    text = "Cancel at any time. Refunds take five days. Ask for help."
    labelled = Corpus([Document(DocumentId("a.md"), text)])
    edited = Corpus([Document(DocumentId("a.md"), f"Refunds take five days. {text}")])
    entry = TokenLevelGroundTruth(question(1), [CharacterSpan(DocumentId("a.md"), 20, 43)])
    path = save_dataset(Dataset([entry], TOKEN, corpus=labelled), tmp_path / "d.json")

    push_dataset(load_dataset(path, TOKEN), "refunds")
    pulled, again = pull_dataset("refunds", TOKEN), pull_dataset("refunds", TOKEN, corpus=edited)
    assert pulled.texts == again.texts == labelled.text_hashes
    assert (pulled.labelled_corpus, again.labelled_corpus) == (None, None)
    assert again.corpus_hash == labelled.content_hash
    kept = json.loads(save_dataset(pulled, tmp_path / "pulled.json").read_text("utf-8"))
    assert kept == {**json.loads(path.read_text("utf-8")), "name": "refunds"}
    assert push_dataset(load_dataset(path, TOKEN, corpus=labelled), "refunds").unchanged == ("q1",)


def test_a_second_push_sends_nothing_and_a_pull_has_the_order_of_the_dataset_whatever_is_listed_first(providers):
    truth = list(chunks(250).ground_truth)
    random.Random(1).shuffle(truth)
    dataset = Dataset(truth, CHUNK, name="mine")
    assert push_dataset(dataset, "refunds").counted() == (
        "refunds: 250 created, 0 updated, 0 unchanged, 0 only in LangSmith"
    )
    assert pull_dataset("refunds", CHUNK).queries == dataset.queries
    before = sent(providers)
    report = push_dataset(dataset, "refunds")
    assert sent(providers) == before == [3, 0, 0]
    assert (len(report.unchanged), report.created, report.updated, report.is_new) == (250, (), (), False)


def test_only_differences_are_sent(providers):
    push_dataset(chunks(5), "refunds")
    ids = {example["metadata"]["query_id"]: example["id"] for example in stored(providers)}
    changed = with_entry(chunks(6), 3, ChunkLevelGroundTruth(question(3, n=3), ["chunk_other"]))
    report = push_dataset(changed, "refunds")
    assert (report.created, report.updated) == (("q5",), ("q3",))
    assert report.unchanged == ("q0", "q1", "q2", "q4")
    update = next(exchange for exchange in providers.exchanges if exchange.route == UPDATE)
    assert update.request.body.count(b'"chunk_') == 1
    assert {e["metadata"]["query_id"]: e["id"] for e in stored(providers)}.items() >= ids.items()
    assert pull_dataset("refunds", CHUNK).content_hash == changed.content_hash


def test_what_is_not_in_the_dataset_is_named_and_deleted_only_if_asked_for(providers):
    push_dataset(chunks(5), "refunds")
    report = push_dataset(chunks(3), "refunds")
    assert (sorted(report.missing), report.deleted, len(stored(providers))) == (["q3", "q4"], (), 5)
    report = push_dataset(chunks(3), "refunds", delete_missing=True)
    assert (sorted(report.deleted), report.missing, len(stored(providers))) == (["q3", "q4"], (), 3)
    assert report.counted() == "refunds: 0 created, 0 updated, 3 unchanged, 2 deleted"


def test_what_was_edited_in_langsmith_is_replaced_and_a_copy_is_not_filled_a_second_time(providers, client):
    push_dataset(chunks(3), "refunds")
    edited = stored(providers)[1]
    client.update_examples(
        dataset_id=edited["dataset_id"],
        updates=[{"id": edited["id"], "outputs": {"relevant_chunk_ids": ["chunk_by_hand"]}}],
    )
    report = push_dataset(chunks(3), "refunds")
    assert report.updated == ("q1",)
    assert stored(providers)[1]["outputs"] == {"relevant_chunk_ids": ["chunk_1"]}
    copies = [
        {"inputs": e["inputs"], "reference_outputs": e["outputs"], "metadata": e["metadata"]} for e in stored(providers)
    ]
    made_by_others(client, "copy", *copies)
    assert len(push_dataset(chunks(3), "copy").unchanged) == 3


def test_splits_are_those_of_langsmith_unless_the_dataset_has_them(providers, client):
    split = ChunkLevelGroundTruth(question(0, dataset_split=["test", "small"]), ["chunk_0"])
    dataset = with_entry(chunks(2), 0, split)
    push_dataset(dataset, "refunds")
    first, second = stored(providers)
    assert first["metadata"]["dataset_split"] == ["test", "small"]
    client.update_examples(dataset_id=second["dataset_id"], updates=[{"id": second["id"], "split": "train"}])
    client.update_examples(dataset_id=first["dataset_id"], updates=[{"id": first["id"], "split": "train"}])
    assert push_dataset(dataset, "refunds").updated == ("q0",)
    assert [example["metadata"]["dataset_split"] for example in stored(providers)] == [["test", "small"], ["train"]]
    assert [query.metadata["dataset_split"] for query in pull_dataset("refunds", CHUNK).queries] == [
        ["test", "small"],
        ["train"],
    ]


# --- existing datasets ------------------------------------------------------------------------------------------------


def made_by_others(client, name, *rows):
    dataset = client.create_dataset(name)
    client.create_examples(dataset_id=dataset.id, examples=list(rows))
    return dataset


def row(outputs, text="How long?", **fields):
    return {"id": uuid.uuid4(), "inputs": {"query": text}, "reference_outputs": outputs, **fields}


def test_the_schemas_of_the_design_are_read(client, corpus):
    content = corpus["billing.md"].content
    start = content.index(REFUNDS)
    chunk = PositionAwareChunk.of(corpus["billing.md"], start, start + len(REFUNDS))
    metadata = {"source_docs": ["billing.md"], "generation_model": "gpt-4"}
    combined = {"chunk_ids": ["chunk_1"], "excerpts": [REFUNDS], "metadata": {"doc_id": "billing"}}
    made_by_others(client, "chunk", row({"relevant_chunk_ids": ["chunk_1"], "metadata": metadata}))
    made_by_others(client, "camel", row({"relevantChunkIds": ["chunk_1"]}, metadata={"queryId": "q7"}))
    made_by_others(client, "token", row({"relevant_chunk_ids": [chunk.id], "metadata": {"generation_model": "gpt-4"}}))
    made_by_others(client, "combined", row(combined))
    assert pull_dataset("chunk", CHUNK).queries[0].metadata == metadata
    assert [entry.relevant for entry in pull_dataset("chunk", CHUNK)] == [("chunk_1",)]
    assert pull_dataset("camel", CHUNK).queries[0].id == "q7"
    (entry,) = pull_dataset("token", TOKEN, registry=ChunkRegistry([chunk]))
    assert entry.relevant == (chunk.to_span(),)
    (entry,) = pull_dataset("combined", TOKEN, corpus=corpus)
    assert entry.relevant == (chunk.to_span(),)
    assert [entry.relevant for entry in pull_dataset("combined", CHUNK)] == [("chunk_1",)]


def test_a_dataset_of_others_that_was_pulled_and_changed_is_updated_where_it_is_also_where_labels_are_taken_away(
    client, providers
):
    rows = [row({"relevant_chunk_ids": [f"chunk_{n}"]}, f"Question {n}?") for n in range(3)]
    made_by_others(client, "theirs", *rows)
    pulled = pull_dataset("theirs", CHUNK)
    changed = with_entry(pulled, 1, ChunkLevelGroundTruth(pulled.queries[1], ["chunk_new"]))
    report = push_dataset(changed, "theirs")
    assert (report.created, len(report.updated), report.missing) == ((), 3, ())
    assert {example["id"] for example in stored(providers, "theirs")} == {str(example["id"]) for example in rows}
    assert pull_dataset("theirs", CHUNK).content_hash == changed.content_hash
    assert push_dataset(changed, "theirs").unchanged == tuple(query.id for query in changed.queries)
    span = {"doc_id": "a.md", "start": 0, "end": 7, "text": "Refunds"}
    made_by_others(client, "spans", row({"relevant_spans": [span]}))
    (entry,) = pull_dataset("spans")
    push_dataset(Dataset([TokenLevelGroundTruth(entry.query, [])], TOKEN), "spans")
    assert not any(entry.relevant for entry in pull_dataset("spans", TOKEN))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"chunk_ids": [7]}], r"dataset 'theirs' in LangSmith: example [0-9a-f-]+: \$\.outputs\.chunk_ids\[0\]"),
        ([], "the dataset 'theirs' in LangSmith has no examples"),
    ],
)
def test_examples_that_cannot_be_used_are_named(client, rows, message):
    dataset = client.create_dataset("theirs")
    if rows:
        client.create_examples(dataset_id=dataset.id, examples=[row(outputs) for outputs in rows])
    with pytest.raises(DatasetError, match=message):
        pull_dataset("theirs", CHUNK)


# --- the same dataset again -------------------------------------------------------------------------------------------

IDS = st.sampled_from(["a.md", "b.md", "c/1", "c/2", "d – é", "pa_chunk_9", "chunk_9", "x" * 300])
SPANS = st.builds(
    lambda doc_id, start, text, known: CharacterSpan(doc_id, start, start + len(text), text if known else ""),
    IDS,
    st.integers(0, 10**9),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=20),
    st.booleans(),
)
METADATA = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=8).filter(
        lambda key: key not in ("rag_eval", "query_id", "queryId")
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


def places(units):
    single = st.lists(units, min_size=1, max_size=1)
    return st.lists(single, min_size=1, max_size=3, unique_by=repr).map(lambda found: Answer(tuple(map(tuple, found))))


@st.composite
def truths(draw, level):
    entries = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip))
        identity = draw(st.sampled_from([f"q{number}", f"é {number}", f"{'long' * 90}{number}"]))
        query = Query(QueryId(identity), QueryText(text), draw(METADATA))
        units = SPANS if level is TOKEN else IDS
        labels = draw(st.lists(units | places(units), max_size=4))
        if level is TOKEN:
            entries.append(TokenLevelGroundTruth(query, labels))
            continue
        prefixes = draw(st.lists(st.sampled_from(["c/", "e"]), unique=True)) if level is DOCUMENT else []
        options = {"relevant_prefixes": prefixes} if prefixes else {}
        kind = DocumentLevelGroundTruth if level is DOCUMENT else ChunkLevelGroundTruth
        plain = kind(query, labels, **options)
        gains = {unit: draw(st.sampled_from([0.5, 1, 3.0])) for unit in plain.relevant if draw(st.booleans())}
        entries.append(kind(query, labels, gains=gains, **options))
    return Dataset(entries, level)


@examples(60)
@given(st.sampled_from([TOKEN, CHUNK, DOCUMENT]).flatmap(truths))
def test_any_dataset_that_is_pushed_is_pulled_as_it_was(dataset):
    with LoopbackProviders() as providers:
        push_dataset(dataset, "any")
        pulled = pull_dataset("any", dataset.level)
        assert pulled.content_hash == dataset.content_hash
        assert [entry.answers for entry in pulled] == [entry.answers for entry in dataset]
        assert [query.metadata for query in pulled.queries] == [query.metadata for query in dataset.queries]
        before = sent(providers)
        assert len(push_dataset(pulled, "any").unchanged) == len(dataset)
        assert sent(providers) == before


# --- what is refused before anything is sent --------------------------------------------------------------------------


def entry_of(**metadata):
    return ChunkLevelGroundTruth(question(1, **metadata), ["chunk_1"])


def one(entry, **options):
    return Dataset([entry], entry.level, **options)


def labelled(*span, **options):
    return one(TokenLevelGroundTruth(question(1), [CharacterSpan(DocumentId("a"), *span)]), **options)


OTHER = Corpus([Document(DocumentId("a"), "other text")])


NOT_HELD = [
    (one(entry_of(rag_eval=1)), "question 'q1': metadata 'rag_eval': examples keep something else under this name"),
    (one(entry_of(query_id="x")), "question 'q1': metadata 'query_id': examples keep something else"),
    (one(entry_of(score=float("nan"))), "question 'q1': cannot be sent as JSON: Out of range float values"),
    (one(entry_of(tags={"a"})), "question 'q1': cannot be sent as JSON: Object of type set"),
    (one(entry_of(text="\ud800")), "question 'q1': cannot be sent as JSON: .* surrogates not allowed"),
    (one(ChunkLevelGroundTruth(Query(QueryId(""), QueryText("a?")), [])), "an example cannot hold its id"),
    (one(ChunkLevelGroundTruth(Query(QueryId("q1"), QueryText(" ")), [])), r"question 'q1'\.query: is blank"),
    (labelled(2, 2), r"question 'q1'\.outputs\.relevant_spans\[0\]: a\[2:2\] is empty"),
    (labelled(0, 3, "xyz", corpus=OTHER), "question 'q1'"),
    (Dataset([], CHUNK, name="none"), "dataset 'none' is empty"),
    ("refunds.json", "dataset='refunds.json': expected a Dataset"),
]


@pytest.mark.parametrize(
    ("dataset", "name", "kind", "message"),
    [
        *((dataset, "refunds", DatasetError, message) for dataset, message in NOT_HELD),
        *(
            (chunks(1), name, ConfigError, f"name={name!r}: expected the name of a dataset in LangSmith")
            for name in (" ", 7)
        ),
    ],
)
def test_what_examples_cannot_hold_and_what_is_no_name_is_refused(providers, dataset, name, kind, message):
    with pytest.raises(kind, match=message):
        push_dataset(dataset, name)
    assert providers.exchanges == []


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", [CREATE, LIST, "GET /datasets", "POST /datasets"])
@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        ({"status": 401}, ProviderRefused, "status 401: .*; check LANGSMITH_API_KEY"),
        ({"status": 403}, ProviderRefused, "status 403: .*LANGSMITH_WORKSPACE_ID"),
        ({"status": 422}, ProviderRefused, "status 422: "),
        ({"status": 429, "headers": {"Retry-After": "0"}}, ProviderUnavailable, "status 429: "),
        ({"status": 503}, ProviderUnavailable, "status 503: "),
        ({"drop": True}, ProviderUnavailable, r"no answer \(ConnectionError\)"),
        ({"body": "<html>", "status": 200}, InvalidAnswer, "an answer that cannot be used"),
        ({"body": {"id": 7}, "status": 200}, InvalidAnswer, ""),
    ],
)
def test_every_failure_is_one_error_that_says_what_was_asked_for(providers, client, route, fault, kind, told):
    providers.fault(route, times=None, **fault)
    with pytest.raises(kind, match=rf"LangSmith at {providers.url}[: ].*{told}") as caught:
        push_dataset(chunks(3), "refunds", client=client)
    assert caught.value.provider == "LangSmith"
    assert caught.value.status in (None, fault.get("status"))
    assert "loopback-key" not in str(caught.value)
    assert "loopb" not in str(caught.value)
    providers.clear_faults()
    push_dataset(chunks(3), "refunds", client=client)
    assert pull_dataset("refunds", CHUNK, client=client).content_hash == chunks(3).content_hash
    assert len(stored(providers)) == 3


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_is_busy_is_asked_again_and_its_status_is_told(providers, status):
    providers.fault(CREATE, status=status, headers={"Retry-After": "0"}, times=3)
    assert len(push_dataset(chunks(3), "refunds").created) == 3
    assert providers.counts()[CREATE] == 4
    providers.fault("GET /datasets", status=status, headers={"Retry-After": "0"}, times=None)
    with pytest.raises(ProviderUnavailable, match=f"status {status}: ") as caught:
        push_dataset(chunks(3), "refunds")
    assert caught.value.status == status


@pytest.mark.parametrize("fault", [{"drop": True}, {"status": 500}, {"status": 502}, {"body": "<html>", "status": 200}])
@pytest.mark.parametrize("route", [CREATE, UPDATE, DELETE, "POST /datasets"])
def test_an_answer_that_was_lost_doubles_nothing_and_is_no_error(providers, client, route, fault):
    if route != "POST /datasets":
        push_dataset(chunks(4), "refunds", client=client)
    # One is changed, one is gone, one is new.
    new = ChunkLevelGroundTruth(question(0), ["chunk_new"])
    changed = Dataset([new, *chunks(5).ground_truth[2:]], CHUNK)
    # Twice, as the SDK asks a second time by itself, and is told that it is there.
    providers.fault(route, lost=True, times=2, **fault)
    push_dataset(changed, "refunds", client=client, delete_missing=True)
    assert pull_dataset("refunds", CHUNK, client=client).content_hash == changed.content_hash
    assert len(stored(providers)) == 4


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"drop": True},
        {"body": {"detail": "no list"}, "status": 200},
        {"body": [7], "status": 200},
        {"body": [{"id": "x", "inputs": "text"}], "status": 200},
    ],
)
def test_examples_that_cannot_be_listed_are_one_error(providers, client, fault):
    push_dataset(chunks(3), "refunds", client=client)
    providers.fault(LIST, times=None, **fault)
    with pytest.raises(ProviderError, match=f"LangSmith at {providers.url}: listing the examples failed: "):
        pull_dataset("refunds", CHUNK, client=client)


def test_examples_that_another_process_created_in_between_are_no_error(providers, client):
    push_dataset(chunks(150), "refunds", client=client)
    again = push_dataset(chunks(1), "other", client=client)
    assert again.is_new

    def without(answer):
        return []

    providers.fault("GET /datasets", change=without)  # somebody creates it after it was looked for
    providers.fault(LIST, change=without)  # and its examples
    report = push_dataset(chunks(150), "refunds", client=client)
    assert len(report.created) == 150
    assert len(stored(providers)) == 150


def test_examples_that_do_not_arrive_although_they_were_accepted_are_an_error(providers, client):
    providers.fault(CREATE, body={"example_ids": [], "count": 0}, status=200, times=None)
    with pytest.raises(ProviderError, match="took everything, and 3 of 3 examples of 'refunds' are not there"):
        push_dataset(chunks(3), "refunds", client=client)


def test_a_service_that_writes_numbers_in_another_way_is_believed(providers, client):
    dataset = Dataset([ChunkLevelGroundTruth(question(1), ["chunk_1"], {"chunk_1": 2.0})], CHUNK)

    def rewritten(examples):
        return [{**example, "outputs": {**example["outputs"], "note": 1}} for example in examples]

    providers.fault(LIST, change=rewritten, times=None)
    push_dataset(dataset, "refunds", client=client)
    assert push_dataset(dataset, "refunds", client=client).updated == ("q1",)


PUSHING = """
import sys
from rag_evaluation_framework import CHUNK, load_dataset
from rag_evaluation_framework.trackers import push_dataset
print("ready", flush=True)
push_dataset(load_dataset(sys.argv[1], CHUNK), "refunds")
"""


def test_a_push_that_was_killed_is_completed_by_the_next(providers, tmp_path):
    dataset = chunks(900)
    path = save_dataset(dataset, tmp_path / "set.json")
    for number in range(3):
        has_come, is_over, wanted = threading.Event(), threading.Event(), 200 * (number + 1)

        def held(answer, has_come=has_come, is_over=is_over, wanted=wanted):  # the process waits here for its end
            if len(stored(providers)) >= wanted:
                has_come.set()
                is_over.wait()
            return answer

        providers.fault(CREATE, change=held, times=None)
        process = subprocess.Popen(
            [sys.executable, "-c", PUSHING, str(path)], env={**os.environ}, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        assert has_come.wait(60)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        providers.clear_faults()
        is_over.set()
    assert 600 <= len(stored(providers)) < 900
    report = push_dataset(dataset, "refunds")
    assert len(report.created) + len(report.unchanged) == 900
    assert len(stored(providers)) == len({e["metadata"]["query_id"] for e in stored(providers)}) == 900
    assert pull_dataset("refunds", CHUNK).content_hash == dataset.content_hash


# --- who asks ---------------------------------------------------------------------------------------------------------


def test_the_key_may_be_that_of_a_login(providers, monkeypatch, tmp_path):
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANGSMITH_CONFIG_FILE", str(tmp_path / "login.json"))
    (tmp_path / "login.json").write_text('{"profiles": {"default": {"api_key": "of-a-person"}}}')
    push_dataset(chunks(1), "refunds")
    assert {exchange.request.key for exchange in providers.exchanges} <= {"of-a-person", ""}


def test_our_own_client_leaves_no_thread(providers):
    push_dataset(chunks(1), "refunds")
    code = (
        "import threading; from rag_evaluation_framework import CHUNK\n"
        "from rag_evaluation_framework.trackers import pull_dataset\n"
        "print(len(pull_dataset('refunds', CHUNK)), threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1 1\n", "")


def test_kept_texts_are_not_sent_and_keys_as_headers_only(providers, tmp_path):
    others = Corpus(
        [Document(DocumentId("a.md"), "Refunds take five days. Ask."), Document(DocumentId("b.md"), "Secret.")]
    )
    entry = TokenLevelGroundTruth(question(1), [CharacterSpan(DocumentId("a.md"), 0, 23)])
    path = save_dataset(Dataset([entry], TOKEN, corpus=others), tmp_path / "d.json")
    for dataset in (load_dataset(path, TOKEN), load_dataset(path, TOKEN, corpus=others)):
        push_dataset(dataset, "refunds")
    assert "Refunds take five days." in json.dumps(stored(providers))
    for exchange in providers.exchanges:
        assert "Secret." not in str(exchange)
        assert b"loopback-key" not in exchange.request.body
        assert "loopback-key" not in f"{exchange.request.path}{exchange.request.query}"
