import json

import pytest
from langsmith import Client

from rag_eval_loopback.langsmith import TENANT
from rag_evaluation_framework import CHUNK, DOCUMENT, TOKEN, Corpus, load_dataset
from rag_evaluation_framework.testing import LoopbackProviders


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def labelled(rag_eval, folder):
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv").code == 0
    return folder / ".rag-eval/datasets/questions.json"


def examples(folder, number, key="relevant_chunk_ids"):
    path = folder / "set.json"
    rows = [{"inputs": {"query": f"Q{n}?"}, "outputs": {key: [f"u{n}"]}, "id": f"q{n}"} for n in range(number)]
    path.write_text(json.dumps(rows))
    return path


def url(dataset):
    return f"http://localhost/o/{TENANT}/datasets/{dataset.id}"  # as the SDK makes it of an address on this machine


def shown(out):
    return {line[:21].rstrip(): line[21:] for line in out.splitlines()}


def test_push_shows_what_was_created_and_a_second_one_that_nothing_was_sent(rag_eval, labelled, providers):
    outcome = rag_eval("dataset", "push", labelled, "--name", "questions")
    dataset = load_dataset(labelled)
    ids = ", ".join(query.id for query in dataset.queries)
    assert (outcome.code, outcome.err) == (0, "")
    found = providers.langsmith.datasets["questions"]
    title, _, table = outcome.out.partition("\n")
    assert title == f"questions (new): {url(found)}"
    assert shown(table) == {
        "created": f"3: {ids}",
        "updated": "0",
        "unchanged": "0",
        "not kept": "2 skipped questions: in the file only",
    }
    title, _, table = rag_eval("dataset", "push", labelled, "--name", "questions").out.partition("\n")
    assert title == f"questions: {url(found)}"
    assert (shown(table)["created"], shown(table)["unchanged"]) == ("0", f"3: {ids}")
    assert len(providers.langsmith.datasets["questions"].examples) == len(found.examples) == 3


def test_push_shows_what_is_only_in_langsmith_and_deletes_it_if_asked_to(rag_eval, folder, providers):
    found = json.loads(rag_eval("dataset", "push", examples(folder, 14), "--json").out)
    assert found["dataset"].endswith("set.json")
    assert (found["created"], found["is_new"]) == ([f"q{n}" for n in range(14)], True)
    fields = ["dataset", "name", "url", "is_new", "created", "updated", "unchanged", "deleted", "missing"]
    assert list(found) == [*fields, "left_out"]
    rows = shown(rag_eval("dataset", "push", examples(folder, 2)).out)
    assert rows["only in LangSmith"].startswith("12: ")
    assert rows["only in LangSmith"].endswith(" and 2 more")
    rows = shown(rag_eval("dataset", "push", examples(folder, 2), "--delete-missing").out)
    assert rows["deleted"].startswith("12: ")
    assert "only in LangSmith" not in rows
    (dataset,) = providers.langsmith.datasets.values()
    assert (dataset.name, len(dataset.examples)) == ("rag-eval-chunk-level-v1", 2)


def test_push_of_a_table_needs_its_documents_and_sends_the_quotes(rag_eval, folder, providers):
    outcome = rag_eval("dataset", "push", "questions.csv", "--corpus", "docs")
    assert outcome.code == 0
    found = providers.langsmith.datasets["rag-eval-token-level-v1"]
    quotes = {span["text"] for example in found.examples for span in example["outputs"]["relevant_spans"]}
    assert quotes == {"Invoices are sent on the first day.", "Install the agent first."}
    assert rag_eval("dataset", "push", "questions.csv").code == 2


@pytest.mark.parametrize("name", ["pulled.json", "pulled.jsonl"])
def test_what_was_pushed_is_pulled_as_it_was(rag_eval, folder, labelled, providers, name):
    rag_eval("dataset", "push", labelled, "--corpus", "docs")
    outcome = rag_eval("dataset", "pull", "rag-eval-token-level-v1", "-o", name)
    assert (outcome.code, outcome.out) == (0, f"Wrote {name}: 3 questions, token-level\n")
    pulled, pushed = load_dataset(folder / name), load_dataset(labelled)
    assert (pulled.content_hash, pulled.corpus_hash) == (pushed.content_hash, pushed.corpus_hash)


@pytest.mark.parametrize(
    ("key", "level"),
    [("relevant_chunk_ids", CHUNK), ("relevant_document_ids", DOCUMENT)],
    ids=["chunk-level", "document-level"],
)
def test_the_level_is_told_by_the_labels_or_asked_for(rag_eval, folder, providers, key, level):
    rag_eval("dataset", "push", examples(folder, 3, key), "--name", "questions")
    before = providers.counts()["GET /examples"]
    assert rag_eval("dataset", "pull", "questions", "-o", "a.json").out.endswith(f"{level.evaluation_type}\n")
    assert providers.counts()["GET /examples"] == before + 1
    assert rag_eval("dataset", "pull", "questions", "-o", "b.json", "--level", level.evaluation_type).code == 0
    assert load_dataset(folder / "a.json", level) == load_dataset(folder / "b.json", level)
    outcome = rag_eval("dataset", "pull", "questions", "-o", "c.json", "--level", "token-level")
    assert outcome.code == 2
    assert "expected token-level" in outcome.err
    assert not (folder / "c.json").exists()


def test_quotes_are_located_and_fields_may_have_other_names(rag_eval, folder, providers):
    path = folder / "theirs.json"
    row = {"inputs": {"wording": "What?"}, "outputs": {"gold": ["Install the agent first."]}, "id": "q"}
    path.write_text(json.dumps([row]))
    loaded = load_dataset(
        path, TOKEN, corpus=Corpus.from_folder(folder / "docs"), query_key="wording", ground_truth_key="gold"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made_by_others(row)
    options = ["--corpus", "docs", "--query-key", "wording", "--ground-truth-key", "gold"]
    assert rag_eval("dataset", "pull", "theirs", "-o", "pulled.json", *options).code == 0
    assert [entry.relevant for entry in load_dataset(folder / "pulled.json")] == [entry.relevant for entry in loaded]


def made_by_others(row):
    client = Client(auto_batch_tracing=False)
    dataset = client.create_dataset("theirs")
    client.create_examples(
        dataset_id=dataset.id, examples=[{"inputs": row["inputs"], "reference_outputs": row["outputs"]}]
    )
    client.close(timeout=0)


@pytest.mark.parametrize(
    ("output", "told"), [("set.json", "already exists and is not overwritten"), ("a.csv", "ending in .json or .jsonl")]
)
def test_a_file_that_cannot_be_written_is_refused_before_it_asks(rag_eval, folder, providers, output, told):
    examples(folder, 1)
    outcome = rag_eval("dataset", "pull", "questions", "-o", output)
    assert outcome.code == 2
    assert told in outcome.err
    assert providers.exchanges == []
