"""Results are published beside the labels that they were scored with: compared example by example, at every level."""

from contextlib import closing
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    NDCG,
    TOKEN,
    Answer,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    Query,
    RecursiveCharacterChunker,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.integrations import publish_experiment, push_dataset
from rag_evaluation_framework.results import load_result
from rag_evaluation_framework.testing import LoopbackProviders
from support.published import CORPUS, NAME, TEXT, published_dataset, published_result, quick_client, retrieve

CHUNKER = RecursiveCharacterChunker(31)
CHUNKS = [chunk for document in CORPUS for chunk in CHUNKER.chunk_with_positions(document)]
WHOLE = len(TEXT)  # a.md has this text three times
REFUNDS = "Refunds take five working days."


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def client(providers):
    with closing(quick_client()) as made:
        yield made


def span(start, end, doc_id="a.md"):
    return CharacterSpan(DocumentId(doc_id), start, end)


def query(name):
    return Query(QueryId(name), QueryText(f"What of {name}?"))


def edit(client, name, query_id, change):
    """Edit the outputs of an example in LangSmith, as people do on its pages."""
    examples = client.list_examples(dataset_name=name)
    example = next(each for each in examples if each.metadata.get("query_id") == query_id)
    updates = [{"id": example.id, "outputs": change(example.outputs), "metadata": example.metadata}]
    client.update_examples(dataset_id=example.dataset_id, updates=updates)


def moved(**places):
    return lambda outputs: {**outputs, "relevant_spans": [outputs["relevant_spans"][0] | places]}


def theirs(client, *rows):
    made = client.create_dataset("theirs")
    examples = [
        {"inputs": {"query": f"What of q{number}?"}, "reference_outputs": row, "metadata": {"query_id": f"q{number}"}}
        for number, row in enumerate(rows)
    ]
    client.create_examples(dataset_id=made.id, examples=examples)


def told(result, name, client):
    """Return what became of the questions of a result: not published, not compared, and whether all is there."""
    experiment = publish_experiment(result, name, client=client)
    return experiment.unmatched, experiment.uncompared, experiment.complete


# --- example by example -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [{"excerpts": ["Refunds take"]}, {"relevant_chunk_ids": ["pa_chunk_a3f2b1c8d9e0"]}, {"answer": "five days"}, {}],
)
def test_an_example_that_cannot_be_read_hides_no_other_that_was_edited(client, other):
    push_dataset(published_dataset(), NAME)
    dataset_id = client.read_dataset(dataset_name=NAME).id
    client.create_examples(dataset_id=dataset_id, examples=[{"inputs": {"query": "New?"}, "reference_outputs": other}])
    assert told(published_result(), NAME, client) == ((), (), True)
    edit(client, NAME, "q3", moved(doc_id="b.md"))
    assert told(published_result(), NAME, client) == (("q3",), (), False)


def test_gains_count(client):
    pushed = [DocumentLevelGroundTruth(query(name), ["a.md", "b.md"], gains={"a.md": 3}) for name in ("one", "two")]
    push_dataset(Dataset(pushed, DOCUMENT), NAME)
    found = [{"doc_id": "b.md"}, {"doc_id": "a.md"}]
    result = evaluate(lambda text, k: found, Dataset(pushed, DOCUMENT), 2, (), documents=CORPUS, metrics=[NDCG()])
    assert told(result, NAME, client) == ((), (), True)
    edit(client, NAME, "two", lambda outputs: {**outputs, "gains": {"b.md": 3}})
    assert told(result, NAME, client) == (("two",), (), False)


@pytest.mark.parametrize("text", [True, False])
def test_whether_all_of_the_places_or_any_of_them_are_wanted_counts(client, text):
    both, one = [span(0, 9), span(40, 60)], Answer.any_of(span(0, 9), span(40, 60))
    corpus = CORPUS if text else None
    pushed = Dataset([TokenLevelGroundTruth(query(name), both) for name in ("one", "two")], TOKEN, corpus=corpus)
    push_dataset(pushed, NAME)
    result = evaluate(lambda text, k: ["nothing"], pushed, 1, budgets=(), documents=CORPUS, metrics=[SpanRecall()])
    assert told(result, NAME, client) == ((), (), True)
    edited = replace(pushed, ground_truth=(pushed.ground_truth[0], TokenLevelGroundTruth(query("two"), [one])))
    push_dataset(edited, NAME)
    assert told(result, NAME, client) == (("two",), (), False)
    result = evaluate(lambda text, k: ["nothing"], edited, 1, budgets=(), documents=CORPUS, metrics=[SpanRecall()])
    assert told(result, NAME, client) == ((), (), True)


# --- what spans quote, and where they are -----------------------------------------------------------------------------


@pytest.fixture
def quoted(client):
    dataset = replace(published_dataset(), corpus=CORPUS, corpus_hash=CORPUS.content_hash)
    push_dataset(dataset, NAME)
    outputs = [example.outputs for example in client.list_examples(dataset_name=NAME)]
    assert all("text" in record for each in outputs for record in each["relevant_spans"])
    return evaluate(retrieve, dataset, (1, 2), (), documents=CORPUS)


def test_labels_that_were_moved_to_where_the_same_text_is_are_the_same(client, quoted):
    edit(client, NAME, "q3", moved(start=3 + WHOLE, end=3 + WHOLE + 34))
    assert told(quoted, NAME, client) == ((), (), True)


def test_labels_of_another_text_at_the_same_place_and_of_the_same_text_elsewhere_are_others(client, quoted):
    edit(client, NAME, "q3", moved(text="x" * 34))
    edit(client, NAME, "q4", moved(doc_id="b.md"))
    assert told(quoted, NAME, client) == (("q3", "q4"), (), False)


def test_labels_whose_text_one_side_does_not_know_are_told_by_their_places(client, quoted):
    edit(client, NAME, "q3", lambda outputs: {"relevant_spans": [{"doc_id": "a.md", "start": 3, "end": 37}]})
    assert told(quoted, NAME, client) == ((), (), True)
    edit(client, NAME, "q3", lambda outputs: {"relevant_spans": [{"doc_id": "a.md", "start": 92, "end": 126}]})
    assert told(quoted, NAME, client) == (("q3",), (), False)


# --- read at another level --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("saved", [True, False])
@pytest.mark.parametrize("with_text", [True, False])
@pytest.mark.parametrize("kind", [ChunkLevelEvaluation, DocumentLevelEvaluation])
def test_results_of_chunks_and_documents_are_compared_by_the_spans(client, tmp_path, kind, with_text, saved):
    dataset = published_dataset()
    if with_text:
        dataset = replace(dataset, corpus=CORPUS, corpus_hash=CORPUS.content_hash)
    push_dataset(dataset, NAME)
    result = kind(CORPUS, langsmith_dataset_name=NAME, publish=False, root=tmp_path).run(CHUNKER, k=2)
    if saved:
        result = load_result(result.save(tmp_path / "run"))
    assert told(result, NAME, client) == ((), (), True)
    edit(client, NAME, "q3", lambda outputs: {"relevant_spans": [{"doc_id": "b.md", "start": 0, "end": 5}]})
    assert told(result, NAME, client) == (("q3",), (), False)


def test_results_that_do_not_have_what_their_labels_are_known_by_are_not_compared(client, tmp_path):
    push_dataset(published_dataset(2), NAME)
    options = {"langsmith_dataset_name": NAME, "publish": False, "root": tmp_path}
    for kind in (ChunkLevelEvaluation, DocumentLevelEvaluation):
        result = kind(CORPUS, **options).run(CHUNKER, k=2)
        unknown = replace(result, queries=replace(result.queries, labelled={}))
        assert told(unknown, NAME, client) == ((), ("q0", "q1", "none", "fails"), True)


def test_documents_and_chunks_that_a_dataset_names_in_another_way_are_the_same(client, tmp_path):
    corpus = Corpus([Document(DocumentId("guides/a.md"), TEXT), Document(DocumentId("guides/b.md"), TEXT[:40])])
    documents = Dataset([DocumentLevelGroundTruth(query(name), ["a"]) for name in ("one", "two")], DOCUMENT)
    push_dataset(documents, "documents")
    result = DocumentLevelEvaluation(corpus, documents).run(CHUNKER, k=2)
    assert result.queries[0].relevant == ("guides/a.md",)
    assert told(result, "documents", client) == ((), (), True)
    edit(client, "documents", "two", lambda outputs: {"relevant_document_ids": ["b"]})
    assert told(result, "documents", client) == (("two",), (), False)
    short = CHUNKS[0].id.removeprefix("pa_")[: len("chunk_") + 8]
    chunks = Dataset([ChunkLevelGroundTruth(query(name), [CHUNKS[0].id, short]) for name in ("one", "two")], CHUNK)
    push_dataset(chunks, "chunks")
    result = ChunkLevelEvaluation(CORPUS, chunks).run(CHUNKER, k=2)
    assert len(result.queries[0].relevant) == 1
    assert told(result, "chunks", client) == ((), (), True)


# --- examples that cannot be read without more ------------------------------------------------------------------------


ONCE = Corpus([Document(DocumentId("a.md"), TEXT)])
UNREADABLE = {
    "quotes": (ONCE, {"excerpts": ["Refunds take five working days."]}, {}),
    "ids of chunks": (CORPUS, {"relevant_chunk_ids": [CHUNKS[0].id]}, {"registry": ChunkRegistry(CHUNKS)}),
    "a key of one's own": (ONCE, {"gold": [{"doc_id": "a.md", "start": 3, "end": 40}]}, {"ground_truth_key": "gold"}),
}


@pytest.mark.parametrize(("corpus", "outputs", "options"), UNREADABLE.values(), ids=UNREADABLE)
def test_questions_whose_labels_cannot_be_compared_are_published_and_named(client, tmp_path, corpus, outputs, options):
    theirs(client, *[outputs] * 7)
    evaluation = TokenLevelEvaluation(corpus, langsmith_dataset_name="theirs", root=tmp_path, **options)
    result = evaluation.run(retriever=retrieve, k=2)
    experiment = result.raw_results
    assert (experiment.runs, len(experiment.uncompared), experiment.complete) == (7, 7, True)
    assert experiment.told == (
        f"experiment {experiment.name} in LangSmith: 7 of 7 runs and {experiment.scores} of {experiment.scores} scores "
        "are there; of 7 of the run's questions it is not known whether their labels there are those that they were "
        f"scored with: {', '.join(experiment.uncompared[:5])} …"
    )
    edit(client, "theirs", "q1", lambda outputs: {"relevant_spans": [{"doc_id": "a.md", "start": 7, "end": 9}]})
    assert told(result, "theirs", client)[0] == ("q1",)
