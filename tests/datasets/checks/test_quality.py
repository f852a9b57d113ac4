"""How good a dataset is as a test, in numbers that were worked out by hand."""

import json
import runpy
from pathlib import Path

import pytest
from pydantic import TypeAdapter

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
)
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.datasets.checks import (
    DatasetQuality,
    LexicalSearch,
    Spread,
    dataset_quality,
    public_questions,
    word_likeness,
)
from rag_evaluation_framework.datasets.checks.lint import near_duplicates
from rag_evaluation_framework.errors import CorpusError, DatasetError

FILLER = "Nothing of it is here. " * 30  # 690 characters, so that a chunk of 800 holds one paragraph
REFUNDS, INVOICES = "Refunds take five working days.", "Invoices are sent monthly."
CORPUS = Corpus(
    [
        Document(DocumentId("a.md"), f"{REFUNDS}\n\n{FILLER}\n\n{FILLER}\n\n{INVOICES}"),
        Document(DocumentId("b.md"), f"{FILLER}\n\n{FILLER}"),
    ]
)
PAGE = CORPUS[DocumentId("a.md")].content


def span(quote, doc_id="a.md"):
    start = CORPUS[DocumentId(doc_id)].content.index(quote)
    return CharacterSpan(DocumentId(doc_id), start, start + len(quote), quote)


def question(wording, *answers, query_id=None):
    return TokenLevelGroundTruth(Query(query_id or wording, wording), answers)


QUESTIONS = (
    question("How many working days do refunds take?", span(REFUNDS)),
    question("When do bills come?", span(INVOICES), span("Refunds")),
    question("Which working days do refunds take?", span(REFUNDS)),
    question("Who?"),
)


def test_words_places_coverage_repetition_and_difficulty():
    found = dataset_quality(Dataset(QUESTIONS, TOKEN, name="bills"), CORPUS)
    assert (found.name, found.evaluation_type, found.questions, found.answerable) == ("bills", "token-level", 4, 3)
    assert found.mismatched == 0
    assert found.answers == Spread(1, 1.8, 2)
    # {mani, work, day, refund, take}: 4 of 5; {bill}: 0 of 1 ("when", "do" and "come" are stop words or not there);
    # {work, day, refund, take}: 4 of 4
    assert found.shared_words == pytest.approx((4 / 5 + 0 + 1) / 3)
    assert found.no_shared_words == pytest.approx(1 / 3)
    assert found.copied == 0
    assert found.near_duplicates == 1 / 4  # {work, day, refund, take} of five words
    assert found.documents == 1 / 2
    assert found.text == pytest.approx((len(REFUNDS) + len(INVOICES)) / sum(len(one.content) for one in CORPUS))
    # the refunds are in the first tenth, three times, the invoices in the last
    assert found.positions == (0.75, 0, 0, 0, 0, 0, 0, 0, 0, 0.25)
    assert found.bm25.questions == 3
    assert repr(found) == "DatasetQuality('bills', token-level, 4 questions)"


def test_difficulty_is_that_of_the_first_ten_chunks_of_bm25():
    # Chunks of 800 characters: the first page is cut into 2 with the answer in the first and the last. Of the words of
    # the first question only the first chunk has any; of those of the second, none has any.
    found = dataset_quality(Dataset(QUESTIONS[:2], TOKEN), CORPUS).bm25
    assert found == LexicalSearch(2, found.chunks, 0.5, 0.5, 0.5, 0.5)
    assert found.chunks >= 4
    documents = [Document(DocumentId(f"{number}.md"), "Cats like fish.") for number in range(10)]
    own = Document(DocumentId("own.md"), "Cats like fish and much else that is not asked here.")
    corpus = Corpus([*documents[:2], own, *documents[2:]])
    asked = TokenLevelGroundTruth(Query("q", "Do cats like fish?"), (CharacterSpan(own.id, 0, 14),))
    last = dataset_quality(Dataset([asked], TOKEN), corpus).bm25  # the ten short ones come first
    assert last == LexicalSearch(1, 11, 0, 0, 0, 0)
    second = TokenLevelGroundTruth(Query("q", "Do cats like fish?"), (CharacterSpan(DocumentId("1.md"), 0, 14),))
    assert dataset_quality(Dataset([second], TOKEN), corpus).bm25 == LexicalSearch(1, 11, 0, 1, 1, 0.5)


def test_the_middle_of_the_first_place_of_an_answer_tells_its_tenth_and_any_place_is_found():
    corpus = Corpus([Document(DocumentId("a"), "0123456789" * 10)])
    spans = [CharacterSpan(DocumentId("a"), start, end) for start, end in ((0, 19), (0, 20), (10, 10), (98, 100))]
    entries = [question(f"What is {number}?", one) for number, one in enumerate(spans)]
    found = dataset_quality(Dataset(entries, TOKEN), corpus)
    # middles at 9.5, 10 and 99; what is empty is nowhere
    assert found.positions == pytest.approx((1 / 3, 1 / 3, 0, 0, 0, 0, 0, 0, 0, 1 / 3), abs=1e-4)
    copies = Answer.any_of(span(INVOICES), span(REFUNDS))
    found = dataset_quality(Dataset([question("How long do refunds take?", copies)], TOKEN), CORPUS)
    assert found.positions == (0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    assert (found.bm25.found_at_1, found.bm25.recall_at_10) == (1, 1)


def test_labels_that_do_not_match_are_counted_and_their_questions_not_searched_for():
    moved = CharacterSpan(DocumentId("a.md"), 1, 1 + len(REFUNDS), REFUNDS)
    found = dataset_quality(Dataset([question("Refunds?", moved), QUESTIONS[0]], TOKEN), CORPUS)
    assert (found.mismatched, found.answerable, found.bm25.questions) == (1, 2, 1)


def test_what_is_undefined_is_none_and_not_zero():
    found = dataset_quality(Dataset([question("Who?")], TOKEN), CORPUS)
    undefined = (found.answers, found.shared_words, found.copied, found.documents, found.positions, found.bm25)
    assert undefined == (None,) * 6
    assert found.near_duplicates == 0
    nothing = dataset_quality(Dataset([], TOKEN), CORPUS)
    assert (nothing.near_duplicates, nothing.question_characters) == (None, None)
    assert TypeAdapter(DatasetQuality).validate_json(json.dumps(nothing.record())) == nothing


def test_documents_and_chunks_have_what_can_be_told_of_them():
    entry = DocumentLevelGroundTruth(Query("q", "How long do refunds take?"), ["a.md"])
    prefixed = DocumentLevelGroundTruth(Query("p", "What is here?"), [], ["b"])
    found = dataset_quality(Dataset([entry, prefixed], DOCUMENT), CORPUS)
    assert (found.shared_words, found.positions, found.documents) == (None, None, 1)
    assert (found.bm25.questions, found.bm25.found_at_1) == (2, 1)
    chunk = PositionAwareChunk.of(CORPUS[DocumentId("a.md")], 0, len(REFUNDS))
    labelled = Dataset([ChunkLevelGroundTruth(Query("q", "How long do refunds take?"), [chunk.id])], CHUNK)
    with_chunks = dataset_quality(labelled, CORPUS, ChunkRegistry([chunk]))
    assert with_chunks.positions == (1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    assert with_chunks.bm25.found_at_1 == 1
    without = dataset_quality(labelled, CORPUS)
    assert (without.positions, without.bm25, without.shared_words) == (None, None, None)


def test_documents_are_needed():
    with pytest.raises(CorpusError, match="dataset 'dataset' has no documents"):
        dataset_quality(Dataset(QUESTIONS, TOKEN))
    assert dataset_quality(Dataset(QUESTIONS, TOKEN, corpus=CORPUS)).documents == 1 / 2
    with pytest.raises(DatasetError, match="expected a Dataset"):
        dataset_quality("questions.json", CORPUS)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("How long do refunds take?", "how long do refunds take", 1.0),
        ("Refund days?", "Refunds: working day", 2 / 3),
        ("Refunds?", "Invoices?", 0.0),
        ("???", "!!!", 0.0),
        ("???", "???", 1.0),
    ],
)
def test_likeness_is_the_share_of_common_content_words(one, other, likeness):
    assert word_likeness(one, other) == word_likeness(other, one) == pytest.approx(likeness)


def test_near_duplicates_are_those_that_are_like_any_earlier_one():
    asked = ["Refund days?", "Invoice month?", "Refunds: working day", "???", "???", "Refund", "Months and years?"]
    found = near_duplicates(asked)
    brute = [
        number
        for number, one in enumerate(asked)
        if any(word_likeness(one, earlier) >= 0.5 for earlier in asked[:number])
    ]
    assert found == brute == [2, 4, 5]


def test_public_questions_say_who_wrote_them_as_the_benchmark_does():
    model, people = public_questions()
    assert "GPT-4 wrote them" in model.authors
    assert "no user asked" in people.authors
    assert (model.quality.questions, people.quality.questions) == (276, 1380)
    assert model.quality.bm25.mrr_at_10 > people.quality.bm25.mrr_at_10
    assert json.loads(json.dumps(model.record()))["quality"]["bm25"]["questions"] == 276
    benchmark = Path(__file__).parents[3] / "benchmarks" / "public_questions.py"
    told = runpy.run_path(str(benchmark))["TOLD"].values()
    assert [{**one.record(), "quality": None} for one in (model, people)] == [{**one, "quality": None} for one in told]


def test_the_figures_of_public_questions_are_measured(shared):
    folder = shared / "data" / "chunking_questions"
    dataset = load_dataset(folder / "questions_df.csv", corpus=Corpus.from_folder(folder / "corpora"))
    assert dataset_quality(dataset) == public_questions()[0].quality
