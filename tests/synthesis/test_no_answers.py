"""Questions without an answer: kept only if two retrievers and the second call find none."""

import sys

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    CohereEmbedder,
    Corpus,
    Document,
    DocumentId,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    TokenLevelEvaluation,
    demo,
)
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.data import Hit, Retrieval
from rag_evaluation_framework.embedders import LsaEmbedder
from rag_evaluation_framework.errors import ConfigError, MissingDependency
from rag_evaluation_framework.synthesis import NoAnswerQuestions, SimpleQuestions
from rag_evaluation_framework.synthesis.answerability import DEPTH, AnswerSearch
from rag_evaluation_framework.synthesis.filters import dedup_threshold
from rag_evaluation_framework.synthesis.strategies import Headings
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


def generated(client, corpus, kind=TokenLevelDataGenerator, **options):
    generator = kind(client, corpus, **{"strategies": [NoAnswerQuestions()], **options})
    with collected():
        return generator, generator.generate(3, upload_to_langsmith=False)


def test_what_is_answered_after_all_is_rejected(served, pages):
    model = Unanswered(TOLD, FREE, HALF)
    _, client = served(model)
    generator, dataset = generated(client, pages)
    assert [(entry.query.text, entry.answers) for entry in dataset] == [(FREE, ())]
    told = dataset.queries[0].metadata
    assert (told["query_type"], told["source_docs"], told["strategy"]) == (
        "no-answer",
        ["billing.md"],
        "NoAnswerQuestions",
    )
    assert [each.split("@")[0] for each in told["prompt_versions"]] == [
        "no_answer",
        "unanswered_questions",
        "answerable",
    ]
    assert generator.funnel.rejected["kept"] == {"answered after all": 1, "answered in part after all": 1}
    assert (generator.funnel.asked, generator.funnel.verified, generator.funnel.kept) == (9, 3, 1)
    assert any("Invoices are sent" in each.detail for each in generator.rejections)


def test_what_could_not_be_judged_is_not_kept(served, pages):
    _, client = served(Unanswered(FREE, wrong=[FREE]))
    generator, dataset = generated(client, pages)
    assert len(dataset) == 0
    assert generator.funnel.rejected["kept"] == {"could not be checked": 1}


def test_an_answer_far_down_is_found_and_the_best_are_judged_first(served):
    texts = [f"Invoices of customer {number} go to the office in town {number}." for number in range(60)]
    texts[41] = "All bills: invoices are sent by the office on Fridays. Invoices are sent once."
    corpus = Corpus([Document(DocumentId("billing.md"), "# Billing\n\n" + "\n\n".join(texts))])
    model = Unanswered(TOLD, FREE)
    _, client = served(model)
    generator, dataset = generated(
        client, corpus, ChunkLevelDataGenerator, chunker=RecursiveCharacterChunker(chunk_size=80), section_size=300
    )
    assert [entry.query.text for entry in dataset] == []
    assert generator.funnel.rejected["kept"] == {"answered after all": 1}
    judged = [text for question, text in model.judged if question == TOLD]
    assert "Invoices are sent once." in judged[-1]
    assert all(len(text) < 300 + 400 for text in judged)


def test_both_retrievers_give_twenty_and_each_text_is_judged_once():
    corpus = Corpus(
        Document(DocumentId(f"{number}.md"), f"Refund rule {number} is for country {number} alone.")
        for number in range(90)
    )
    search = AnswerSearch(corpus, Headings(corpus), RecursiveCharacterChunker(chunk_size=100), LsaEmbedder(), 400)
    with collected():  # LSA knows no word of "zzz"
        groups, none = search.found(["Which refund rule is for country 7?", "zzz"])
    texts = [each.text for group in groups for each in group]
    assert DEPTH < len(texts) <= 2 * DEPTH
    assert len(set(texts)) == len(texts)
    assert "country 7 " in texts[0]
    assert all(sum(len(each.text) for each in group) <= 400 for group in groups)
    assert sum(map(len, none)) == DEPTH  # of the vector search alone


def test_the_best_of_each_retriever_come_in_turn():
    found = [
        Retrieval(tuple(Hit(DocumentId("a.md"), text=text) for text in texts))
        for texts in (["a", "b", "c"], ["x", "a"])
    ]
    search = AnswerSearch(demo.load_handbook().corpus, Headings(Corpus([])), lambda text: [text], LsaEmbedder(), 400)
    assert [each.text for each in search._in_turn(found)] == ["a", "x", "b", "c"]


def test_an_embedder_that_is_not_installed_is_told_before_anything_is_asked(served, pages, monkeypatch):
    providers, client = served(Unanswered(FREE))
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingDependency, match=r"is not installed: pip install .*local.*need it: two retrievers"):
        generated(client, pages)
    assert providers.exchanges == []


def test_so_is_the_sdk_of_a_provider(served, pages, monkeypatch):
    providers, client = served(Unanswered(FREE))
    embedder = CohereEmbedder("embed-v4.0", api_key="k")
    monkeypatch.setitem(sys.modules, "cohere", None)
    with pytest.raises(MissingDependency, match=r"CohereEmbedder.*is not installed: pip install .*cohere"):
        generated(client, pages, embedder=embedder)
    with pytest.raises(MissingDependency, match=r"CohereEmbedder.*is not installed"):
        TokenLevelDataGenerator(client, pages, strategies=[NoAnswerQuestions()], embedder=embedder).estimate()
    assert providers.exchanges == []


def test_questions_without_excerpts_move_no_threshold():
    embedder = LsaEmbedder().fit([document.content for document in demo.load_handbook().corpus])
    words = [word for document in demo.load_handbook().corpus for word in document.content.split() if word.isalpha()]
    asked = [f"What about {' '.join(words[n * 40 : n * 40 + 5])}?" for n in range(40)]
    quotes = [[" ".join(words[n * 40 : n * 40 + 20])] for n in range(40)]
    alike = [question.replace("What about", "Tell me about") for question in asked]
    alone = dedup_threshold(asked, quotes, embedder)
    assert dedup_threshold([*asked, *alike], [*quotes, *[[]] * 40], embedder) == alone
    assert dedup_threshold(alike, [[]] * 40, embedder).origin == "design"


def test_without_a_second_retriever_or_a_judge_it_is_refused_before_anything_is_asked(served, pages):
    providers, client = served(Unanswered(FREE))
    for options in ({"embedder": None}, {"check_answers": False}):
        with pytest.raises(ConfigError, match="without an answer need it: two retrievers"):
            generated(client, pages, **options)
        with pytest.raises(ConfigError, match="without an answer need it: two retrievers"):
            TokenLevelDataGenerator(client, pages, strategies=[NoAnswerQuestions()], **options).estimate()
    assert providers.exchanges == []


def test_an_evaluation_tells_what_was_returned_for_them(served, pages):
    class Both(Unanswered):
        def __call__(self, request):
            return ScriptedModel.__call__(self, request) if self.is_answered(request) else super().__call__(request)

        def is_answered(self, request):
            text = request.messages[-1][1]
            return "should return nothing" not in request.prompt and FREE not in text

    _, client = served(Both(FREE))
    generator, dataset = generated(
        client, pages, strategies=[NoAnswerQuestions(), SimpleQuestions()], copied_share=None, relevance_threshold=-1
    )
    assert dataset.queries[0].text == FREE
    assert len(dataset) > 3
    with collected():
        result = TokenLevelEvaluation(corpus=pages, langsmith_dataset_name=dataset.name).run(
            chunker=RecursiveCharacterChunker(chunk_size=60)
        )
    assert result.counts["no_answer"] == 1
    assert result.unanswerable is not None
    assert generator.path is not None
