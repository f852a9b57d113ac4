"""Absurd questions and answers are rejected with their reason, and doubtful ones are not."""

import csv

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, TokenLevelDataGenerator
from rag_evaluation_framework.authoring.models import RealQuestions
from rag_evaluation_framework.authoring.models.filters import Candidate, flaw_of_wording, sifted
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.contracts import QuestionRequest, Section

SENTENCE = "Refunds take five working days."
LONG = " ".join(f"The value of setting number {number} is {number * 7}." for number in range(40))


def rejected(served, question, *quotes, **options):
    """Return why a question with its quotes is not kept, with the stage, and how often the model was asked."""
    told, requests, labels = outcome(served, question, *quotes, **options)
    assert bool(labels) is not bool(told)
    return told, requests


def outcome(served, question, *quotes, text=f"{SENTENCE} Agents restart nightly? Q. 7", **options):
    """Return what is rejected of a question and its quotes, how often the model was asked, and what is labelled."""

    def model(request):
        last = request.messages[-1][1]
        if "Number of questions" in last:
            return {"questions": [{"question": question}]}
        return {"answer": "yes"} if "<excerpt" in last else {"quotes": [*quotes]}

    providers, client = served(model)
    corpus = Corpus([Document(DocumentId("a.txt"), text)])
    generator = TokenLevelDataGenerator(client, corpus, **{"embedder": None, **options})
    with collect_notes():
        dataset = generator.generate(1, upload_to_langsmith=False)
    told = [(each.stage, each.reason) for each in generator.rejections]
    return told, len(providers.exchanges), [label.text for entry in dataset for label in entry.labels]


NO_QUESTIONS = ["?", "...", "\u200b", "🎉 🎉", "Refunds?", "question", "<question>", "refund " * 150 + "?"]
OF_WHAT_WAS_SHOWN = [
    "According to the passage, how long do refunds take?",
    "How long do refunds take, as described in the text?",
    "Which numbers are given in these excerpts?",
    "Based on the above document: how long do refunds take?",
    "Based on the provided context, how long do refunds take?",
    "What does the passage say?",
    "What is mentioned in the excerpt about refunds?",
    "In chunk_0123456789ab, what is said of refunds?",
    "I cannot write questions about this passage.",
]


DOUBTFUL = [
    "refunds duration",
    "返金は何日",
    "How long?",
    "What does the document retention policy say?",
    "What is written according to the text encoding?",
    "Where do I sign this document?",
    "How long does the passage of the Suez Canal take?",
    "What is told in context menus?",
    "What is the effect of chunk_overlap on recall?",
    "What is the default of chunk_size in the splitter?",
    "Which value is given in the chunk header of a PNG file?",
    "Which variables are provided in the context?",
    "What is said in the passage of Genesis about light?",
    "Which text does the chunk size count?",
    "refund " * 120 + "?",
]
HOW_LONG, OF_ITSELF = "How long do refunds take?", ("verified", "quote is the question itself")


@pytest.mark.parametrize(
    ("question", "quotes", "told", "requests"),
    [
        # before anything else is paid for
        *((question, [SENTENCE], [("parsed", "not a question")], 1) for question in NO_QUESTIONS),
        *((question, [SENTENCE], [("parsed", "speaks of what was shown")], 1) for question in OF_WHAT_WAS_SHOWN),
        *((HOW_LONG, [quote], [("verified", "quote of a single character")], 2) for quote in ("Q", "7", "Q.")),
        ("Agents restart nightly?", ["Agents restart nightly?"], [OF_ITSELF], 2),
        ("agents restart nightly", ["Agents restart nightly?"], [OF_ITSELF], 2),
        (HOW_LONG, ["Q", SENTENCE], [], 3),
        (HOW_LONG, ["five"], [], 3),
        *((question, [SENTENCE], [], 3) for question in DOUBTFUL),
    ],
)
def test_an_absurd_question_or_quote_is_rejected_with_its_reason_and_a_doubtful_one_is_not(
    served, question, quotes, told, requests
):
    assert rejected(served, question, *quotes) == (told, requests)


def test_beside_another_quote_only_the_one_that_is_the_question_is_left_out(served):
    question = "Agents restart nightly?"
    reason = [("verified", "quote is the question itself")]
    for quotes in ((SENTENCE, question), (question, SENTENCE)):
        told, requests, labels = outcome(served, question, *quotes)
        assert (told, requests, labels) == (reason, 3, [SENTENCE])


@pytest.mark.parametrize(
    ("quote", "reason"),
    [("Agents restart nightly?", "quote is the question itself"), ("Q", "quote of a single character")],
)
def test_labels_of_users_questions_are_verified_as_all_are(served, quote, reason):
    strategies = [RealQuestions(("agents restart nightly",))]
    assert rejected(served, "", quote, strategies=strategies) == ([("verified", reason)], 1)


def test_a_quote_of_all_that_was_shown_is_rejected_unless_it_is_short(served):
    question, reason = "What are the values of it all?", [("verified", "quote of all that was shown")]
    halves = LONG[: len(LONG) // 2].rpartition(". ")[0], LONG[len(LONG) // 2 :].partition(". ")[2]
    assert rejected(served, question, LONG, text=LONG) == (reason, 2)
    assert rejected(served, question, *halves, text=LONG) == (reason, 2)
    assert rejected(served, question, LONG, text=f"{LONG} {'And so on. ' * 20}") == ([], 3)
    assert rejected(served, question, LONG[:900], text=LONG[:900]) == ([], 3)


def test_of_the_public_questions_only_those_about_the_text_are_rejected(shared):
    with (shared / "data" / "chunking_questions" / "questions_df.csv").open(encoding="utf-8") as file:
        questions = [row["question"] for row in csv.DictReader(file)]
    request = QuestionRequest("", (Section(DocumentId("a"), ()),), 1)
    rejections = []
    candidates = [Candidate(question, request) for question in questions]
    kept = sifted(candidates, "parsed", map(flaw_of_wording, candidates), rejections)
    assert len(kept) + len(rejections) == len(questions) == 276
    assert all("in the text" in each.question for each in rejections)
    assert len(rejections) == 4
