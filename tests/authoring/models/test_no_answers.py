"""Questions without an answer: kept only if BM25 and the second call find none."""

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    Corpus,
    Document,
    DocumentId,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    TokenLevelEvaluation,
)
from rag_evaluation_framework.authoring.models import NoAnswerQuestions, SimpleQuestions
from rag_evaluation_framework.authoring.models.filters import DEPTH
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.errors import ConfigError
from support.scripted_llm import QUESTION, ScriptedModel

FREE = "Is there a plan for schools?"
TOLD = "When are invoices sent?"
HALF = "Who restarts the server, and when?"


class Unanswered(ScriptedModel):
    """Asks these questions once, about a document on billing, and judges each by what is shown with it."""

    def __init__(self, *questions, wrong=()):
        super().__init__()
        self.asked, self.judged, self.wrong = [{"question": each} for each in questions], [], wrong

    def __call__(self, request):
        text = request.messages[-1][1]
        if "Number of questions" in text:
            asked = self.asked if "Invoices" in text and "should return nothing" in request.prompt else []
            self.asked = [] if asked else self.asked
            return {"questions": asked}
        question = QUESTION.search(text)[1]
        self.judged.append((question, text))
        if question in self.wrong:
            return "whatever"
        told = (question == TOLD and "Invoices are sent" in text) or (question == HALF and "Restart the server" in text)
        return {"answer": ("partly" if question == HALF else "yes") if told else "no"}


def generated(client, corpus, kind=TokenLevelDataGenerator, queries_per_doc=3, **options):
    generator = kind(client, corpus, **{"strategies": [NoAnswerQuestions()], **options})
    with collect_notes():
        return generator, generator.generate(queries_per_doc, upload_to_langsmith=False)


def test_what_is_answered_after_all_or_could_not_be_judged_is_rejected(served, pages):
    odd = "Is there a plan for hospitals?"
    _, client = served(Unanswered(TOLD, FREE, HALF, odd, wrong=[odd]))
    generator, dataset = generated(client, pages, queries_per_doc=4)
    assert [(entry.query.text, entry.answers) for entry in dataset] == [(FREE, ())]
    told = dataset.queries[0].metadata
    assert (told["query_type"], told["source_docs"], told["strategy"]) == (
        "no-answer",
        ["billing.md"],
        "NoAnswerQuestions",
    )
    versions = [each.split("@")[0] for each in told["prompt_versions"]]
    assert versions == ["no_answer", "unanswered_questions", "answerable"]
    assert generator.funnel.rejected["kept"] == {
        "answered after all": 1,
        "answered in part after all": 1,
        "could not be checked": 1,
    }
    assert (generator.funnel.asked, generator.funnel.verified, generator.funnel.kept) == (12, 4, 1)
    assert any("Invoices are sent" in each.detail for each in generator.rejections)


def test_the_twenty_best_passages_are_judged_and_an_answer_among_them_is_found(served):
    texts = [f"Invoices of customer {number} go to the office in town {number}." for number in range(60)]
    texts[41] = "All bills: invoices are sent by the office on Fridays. Invoices are sent once."
    corpus = Corpus([Document(DocumentId("billing.md"), "# Billing\n\n" + "\n\n".join(texts))])
    model = Unanswered(TOLD)
    _, client = served(model)
    generator, dataset = generated(
        client, corpus, ChunkLevelDataGenerator, chunker=RecursiveCharacterChunker(chunk_size=80)
    )
    assert len(dataset) == 0
    assert generator.funnel.rejected["kept"] == {"answered after all": 1}
    ((_, judged),) = model.judged
    assert judged.count("<excerpt ") == DEPTH
    assert 'heading="Billing"' in judged


def test_without_a_judge_it_is_refused_before_anything_is_asked(served, pages):
    providers, client = served(Unanswered(FREE))
    with pytest.raises(ConfigError, match="check_answers=False; questions without an answer need it"):
        generated(client, pages, check_answers=False)
    with pytest.raises(ConfigError, match="check_answers=False; questions without an answer need it"):
        TokenLevelDataGenerator(client, pages, strategies=[NoAnswerQuestions()], check_answers=False).estimate()
    assert providers.exchanges == []


def test_an_evaluation_tells_what_was_returned_for_them(served, pages):
    class Both(Unanswered):
        def __call__(self, request):
            return ScriptedModel.__call__(self, request) if self.is_answered(request) else super().__call__(request)

        def is_answered(self, request):
            text = request.messages[-1][1]
            return "should return nothing" not in request.prompt and FREE not in text

    _, client = served(Both(FREE))
    generator, dataset = generated(client, pages, strategies=[NoAnswerQuestions(), SimpleQuestions()])
    assert dataset.queries[0].text == FREE
    assert len(dataset) > 3
    with collect_notes():
        result = TokenLevelEvaluation(corpus=pages, langsmith_dataset_name=dataset.name).run(
            chunker=RecursiveCharacterChunker(chunk_size=60)
        )
    assert result.counts["no_answer"] == 1
    assert result.unanswerable is not None
    assert generator.path is not None
