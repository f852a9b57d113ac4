"""The first step: questions are written for each request, or taken as they are given."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, Section
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.synthesis.asking import Asker, Form
from rag_evaluation_framework.synthesis.candidates import Candidate
from rag_evaluation_framework.synthesis.forms import AskedQuestions, read_questions
from rag_evaluation_framework.synthesis.marks import marked
from rag_evaluation_framework.synthesis.prompt_files import load_prompt

Written: TypeAlias = list[Candidate[U]] | ProviderError
"""The questions of a request, or why there are none."""

WITHOUT_ANSWER = "unanswered_questions"
"""The prompt for questions that the documents do not answer."""


def written(
    requests: Sequence[QuestionRequest],
    asker: Asker,
    with_answers: Callable[[Sequence[QuestionRequest]], Sequence[Written[U]]],
) -> list[Written[U]]:
    """Return the questions of each request, in their order, or why there are none.

    Args:
        requests: The requests.
        asker: Asks the model for questions that have no answer.
        with_answers: Asks for those that have one.
    """
    found: dict[int, Written[U]] = {
        number: [Candidate(question, request) for question in request.given]
        for number, request in enumerate(requests)
        if request.given
    }
    for has_answer in (True, False):
        numbers = [n for n, each in enumerate(requests) if not each.given and each.has_answer is has_answer]
        asked = [requests[number] for number in numbers]
        answers: Sequence[Written[U]] = with_answers(asked) if has_answer else questions(WITHOUT_ANSWER, asked, asker)
        found.update(zip(numbers, answers, strict=True))
    return [found[number] for number in range(len(requests))]


def questions(prompt: str, requests: Sequence[QuestionRequest], asker: Asker) -> list[Written[U]]:
    """Return the questions that a model writes about the passages of each request, or why there are none."""
    asked = [asking(prompt, request) for request in requests]
    answers = asker.ask(Form(AskedQuestions, read_questions), asked, "Asking for questions")
    return [
        answer
        if isinstance(answer, ProviderError)
        else [Candidate(each.question, request) for each in answer.questions]
        for request, answer in zip(requests, answers, strict=True)
    ]


def asking(prompt: str, request: QuestionRequest) -> list[dict[str, str]]:
    """Return the messages that ask for questions about the passages of a request."""
    shown = passages(request.sections, request.wish)
    return load_prompt(prompt).messages(wish=request.wish, passages=shown, count=request.questions)


def passages(sections: Sequence[Section], beside: str) -> str:
    """Return sections as prompts show them, each with its document and heading.

    Args:
        sections: The sections.
        beside: What else is shown.
    """
    told = [{"document": each.doc_id, "heading": each.heading} for each in sections]
    return marked("passage", [each.text for each in sections], beside, told)
