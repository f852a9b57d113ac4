"""Small promises of generators that a careless change would break without anybody noticing."""

import asyncio
import inspect

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    Corpus,
    Document,
    DocumentId,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
)
from rag_evaluation_framework.authoring.models import Funnel, Rejection
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.contracts import QuestionRequest, QuestionStrategy
from rag_evaluation_framework.errors import ConfigError
from support.scripted_llm import CHUNK

LINE = "Every request needs a token of the new kind."
TWO = "Refunds take five working days. The middle part says nothing. Invoices are sent monthly."


class Model:
    """Writes the same questions about everything, and quotes the same texts."""

    def __init__(self, *quotes, questions=("How does one get money back?",)):
        self.quotes, self.questions = quotes, questions

    def __call__(self, request):
        last = request.messages[-1][1]
        if "Number of questions" not in last:
            return {"answer": "yes"} if "<excerpt" in last else {"quotes": [*self.quotes]}
        asked = self.questions(last) if callable(self.questions) else self.questions
        return {"questions": [each if isinstance(each, dict) else {"question": each} for each in asked]}


class Together(QuestionStrategy):
    """Shows all sections at once, and says of each question where it is from."""

    def plan(self, sections, queries_per_doc):
        told = {"source_docs": ["nowhere.md"], "persona": "a clerk"}
        return [QuestionRequest("Ask.", tuple(sections), queries_per_doc, told)]


def generated(served, model, documents, queries_per_doc=1, kind=TokenLevelDataGenerator, **options):
    """Return a generator after it has generated, its dataset, and what the model was shown for each request."""
    providers, client = served(model)
    corpus = Corpus(Document(DocumentId(name), text) for name, text in documents.items())
    with collect_notes():
        generator = kind(client, corpus, **{"embedder": None, **options})
        dataset = generator.generate(queries_per_doc, upload_to_langsmith=False)
    return generator, dataset, [exchange.request.json["messages"][1]["content"] for exchange in providers.exchanges]


def places_of(entry):
    return [(span.doc_id, span.text) for span in entry.labels]


def test_a_generator_of_ones_own_has_a_chunker_of_its_class_and_tells_its_options(served):
    class Lines(TokenLevelDataGenerator):
        chunker = RecursiveCharacterChunker(chunk_size=40)

    generator, _, _ = generated(served, Model(LINE), {"a.md": LINE}, kind=Lines)
    assert generator.chunker is Lines.chunker
    assert not hasattr(generator, "model")
    assert "InitVar" not in str(inspect.signature(Lines))


# --- quotes -----------------------------------------------------------------------------------------------------------


def test_a_quote_that_goes_on_behind_what_was_shown_is_not_taken(served):
    text = "The first part stands here.\n\nThe second part stands here."
    quote = "The first part stands here. The second part stands here."
    assert len(generated(served, Model(quote), {"a.txt": text})[1]) == 1
    generator, dataset, shown = generated(served, Model(quote), {"a.txt": text}, 2, section_size=30)
    assert len(dataset) == 0
    assert ["first" in each for each in shown[:2]] == ["second" not in each for each in shown[:2]]
    assert {each.reason for each in generator.rejections} == {"quote not in what was shown"}


def test_of_a_quote_that_leaves_out_both_parts_are_the_answer_and_are_checked(served):
    quote = "Refunds take five working days. … Invoices are sent monthly."
    _, dataset, shown = generated(served, Model(quote), {"a.txt": TWO})
    assert [places_of(entry) for entry in dataset] == [
        [("a.txt", "Refunds take five working days."), ("a.txt", "Invoices are sent monthly.")]
    ]
    assert f"\n{quote}\n</excerpt>" in shown[-1]


def test_a_place_that_is_quoted_twice_is_one_answer_and_a_quote_that_is_left_out_twice_one_reason(served):
    refunds, invoices = "Refunds take five working days.", "Invoices are sent monthly."
    quotes = ("Not there.", refunds, refunds.replace("Refunds", "REFUNDS"), invoices, refunds, "Not there.")
    generator, dataset, _ = generated(served, Model(*quotes), {"a.txt": TWO})
    assert [places_of(entry) for entry in dataset] == [[("a.txt", refunds), ("a.txt", invoices)]]
    assert {chunk.content for chunk in generator.chunk_registry} == {refunds, invoices}
    assert generator.funnel.quotes == {"quote not in the documents": 1}


def test_the_reason_is_that_of_the_first_quote_or_chunk(served):
    documents = {"a.txt": TWO, "b.txt": "Nothing is here.", "c.txt": "But this stands here."}
    generator, _, _ = generated(served, Model("But this stands here.", "Not there."), documents)
    reasons = {each.doc_ids[0]: each.reason for each in generator.rejections if each.questions}
    assert reasons == {"a.txt": "quote not in what was shown", "b.txt": "quote not in what was shown"}
    other = "Nothing else is told here."
    hidden = ChunkLevelDataGenerator(
        served()[1], Corpus([Document(DocumentId("b.txt"), other)]), lambda text: [text]
    ).chunk_registry
    cited = cite(*(chunk.id for chunk in hidden), "chunk_x")
    generator, _, _ = chunked(served, cited, {"a.txt": TWO, "b.txt": other}, lambda text: [text])
    reasons = {each.doc_ids[0]: each.reason for each in generator.rejections if each.questions}
    assert reasons == {"a.txt": "chunk that was not shown"}


# --- what is told -----------------------------------------------------------------------------------------------------


def test_the_documents_of_a_question_are_those_of_its_quotes_or_chunks_whatever_its_strategy_says(served):
    documents = {"a.txt": TWO, "b.txt": "Nothing else is told here."}
    _, dataset, _ = generated(served, Model("Invoices are sent monthly."), documents, strategies=[Together()])
    (query,) = dataset.queries
    assert (query.metadata["source_docs"], query.metadata["persona"]) == (["a.txt"], "a clerk")
    documents = {"a.txt": LINE, "b.txt": LINE}  # a text that two share is that of the first
    _, dataset, shown = chunked(served, cite(0), documents, lambda text: [text], strategies=[Together()])
    assert len({*CHUNK.findall(shown[0])}) == 1
    assert dataset.queries[0].metadata["source_docs"] == ["a.txt"]


def test_what_one_request_brings_too_few_is_not_set_off_against_what_another_brings_too_many(served):
    def questions(shown):
        return ["What about it?", "And what else?", "Is there more?"] if "Refunds" in shown else []

    documents = {"a.txt": TWO, "b.txt": "Nothing else is told here."}
    generator, _, _ = generated(served, Model("Invoices are sent monthly.", questions=questions), documents, 2)
    assert generator.funnel.rejected["parsed"] == {"fewer written than asked for": 2}


def test_reasons_are_told_by_how_often_they_occur_also_in_all_stages_together():
    rejections = [
        Rejection("parsed", "rare"),
        Rejection("parsed", "usual", questions=3),
        Rejection("verified", "rarer", questions=0),
        *[Rejection("verified", "common", questions=0)] * 2,
    ]
    funnel = Funnel.of(9, rejections)
    assert [*funnel.rejected["parsed"]] == ["usual", "rare"]
    assert [*funnel.record()["quotes_left_out"]] == ["common", "rarer"]
    assert funnel.record()["rejected"] == {"parsed": {"usual": 3, "rare": 1}}
    told = "asked 9, parsed 5, verified 5, kept 5 (not kept: 3 usual, 1 rare)"
    assert funnel.told == f"{told}; left out of questions: 2 common, 1 rarer"
    funnel = Funnel.of(9, [Rejection("parsed", "early"), Rejection("kept", "late", questions=4)])
    assert funnel.told.endswith("(not kept: 4 late, 1 early)")


def test_without_a_question_there_is_no_dataset_of_an_earlier_generation(served):
    questions = ["How does one get money back?"]
    _, client = served(Model("Refunds take five working days.", questions=lambda shown: questions))
    corpus = Corpus([Document(DocumentId("a.txt"), TWO)])
    generator = TokenLevelDataGenerator(client, corpus, embedder=None)
    with collect_notes():
        generator.generate(1, upload_to_langsmith=False)
        assert generator.path is not None
        questions.clear()
        assert len(generator.generate(2, upload_to_langsmith=False)) == 0
    assert generator.path is None
    assert generator.funnel.asked == 2


def test_a_generation_that_is_cancelled_asks_for_nothing_else(served, pages):
    providers, client = served()
    providers.fault("POST /v1/chat/completions", delay=0.1, times=None)
    generator = TokenLevelDataGenerator(client, pages, embedder=None, max_concurrency=1)

    async def cancelled():
        task = asyncio.create_task(generator.agenerate(2, upload_to_langsmith=False))
        while not providers.exchanges:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())  # which waits for the thread
    assert len(providers.exchanges) <= 3  # of 15


@pytest.mark.parametrize("queries_per_doc", [0, -1, True, "5"])
def test_how_many_questions_are_asked_is_checked_for_plans_and_estimates_too(served, pages, queries_per_doc):
    _, client = served()
    generator = TokenLevelDataGenerator(client, pages)
    for method in (generator.plan, generator.estimate, generator.generate):
        with pytest.raises(ConfigError, match="queries_per_doc"):
            method(queries_per_doc)


# --- chunks -----------------------------------------------------------------------------------------------------------


def cite(*order):
    """Questions that cite chunks by their number among those that are shown; what is no number is cited as it is."""

    def questions(shown):
        ids = [chunk_id for chunk_id, _ in CHUNK.findall(shown)]
        cited = [ids[each] if isinstance(each, int) else each for each in order]
        return [{"question": "What is told of it all?", "chunk_ids": cited}]

    return Model(questions=questions)


def chunked(served, model, documents, chunker, **options):
    return generated(served, model, documents, 1, ChunkLevelDataGenerator, chunker=chunker, **options)


def test_chunks_without_text_are_not_shown_and_the_others_in_sections_of_the_size_that_was_asked_for(served):
    _, dataset, shown = chunked(served, cite(0), {"a.txt": TWO}, lambda text: ["  ", text[:20], "\n", text[20:]])
    assert len(CHUNK.findall(shown[0])) == 2
    assert len(dataset.ground_truth[0].relevant) == 1
    providers, client = served()
    corpus = Corpus([Document(DocumentId("a.txt"), TWO)])
    generator = ChunkLevelDataGenerator(client, corpus, RecursiveCharacterChunker(chunk_size=32), section_size=40)
    assert len(generator.plan(9)) > 1
    assert providers.exchanges == []


def test_a_chunk_that_is_cited_twice_counts_once_or_is_left_out_once(served):
    chunker = RecursiveCharacterChunker(chunk_size=32)
    generator, dataset, _ = chunked(served, cite(0, 1, "chunk_x", 0, "chunk_x"), {"a.txt": TWO}, chunker)
    assert len(dataset.ground_truth[0].relevant) == 2
    assert dataset.queries[0].metadata["source_docs"] == ["a.txt"]
    assert [(each.reason, each.detail) for each in generator.rejections] == [("unknown chunk id", "chunk_x")]
    assert generator.funnel.quotes == {"unknown chunk id": 1}
