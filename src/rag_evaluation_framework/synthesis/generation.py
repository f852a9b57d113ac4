"""One generation: from planned requests to the questions that are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.synthesis.answerability import (
    AnswerSearch,
    answerable,
    asked_plausibly,
    needing_all_parts,
    unanswered,
)
from rag_evaluation_framework.synthesis.asking import Asker
from rag_evaluation_framework.synthesis.candidates import (
    Candidate,
    Funnel,
    Rejection,
    answered_as_asked,
    in_order,
    parsed_questions,
)
from rag_evaluation_framework.synthesis.filtering import Filter, filtered, without_contradictions
from rag_evaluation_framework.synthesis.labeller import Labeller, written
from rag_evaluation_framework.synthesis.quality_filters import QualityFilters


@dataclass
class Generation(Generic[U]):
    """Writes questions, verifies their answers, and filters them.

    Attributes:
        labeller: What is done at the level.
        filters: What rejects verified questions.
        check_answers: Whether answers are judged by a call of its own.
        asker: Asks the model.
        rejections: What was not taken, and why.
        funnel: How many questions were asked for, and where each of the others was lost.
    """

    labeller: Labeller[U]
    filters: QualityFilters
    check_answers: bool
    asker: Asker
    rejections: list[Rejection] = field(default_factory=list[Rejection], init=False)
    funnel: Funnel = field(default_factory=Funnel, init=False)

    def kept(self, planned: Sequence[tuple[str, QuestionRequest]]) -> list[Candidate[U]]:
        """Return the questions that are kept, in the order of the plan.

        Args:
            planned: The requests for questions, each with the name of its strategy.

        Raises:
            MissingDependency: Questions without an answer are asked for, and the embedder needs what is not installed.
            ProviderError: Every request for questions failed, or no other would be answered.
        """
        requests = [request for _, request in planned]
        embedder = None if all(request.has_answer for request in requests) else self.filters.vectors
        search = None if embedder is None else self._search(embedder)
        alone, among = self.filters.functions()
        answers = written(requests, self.asker, lambda asked: self.labeller.written(asked, self.asker))
        proposed, extra = parsed_questions(planned, answers, self.rejections)
        parsed = asked_plausibly(proposed, self.rejections)
        kept = self._answered([each for each in parsed if each.request.has_answer], alone)
        if search is not None:
            absent = [each for each in parsed if not each.request.has_answer]
            kept = in_order([*kept, *unanswered(absent, search, self.asker, self.rejections)])
        kept = without_contradictions(kept, self.rejections)
        # Last, so that none is lost to one that is not kept itself, and users' questions first, which give way to none.
        users_first = sorted(kept, key=lambda each: not each.request.given)
        kept = in_order(filtered(users_first, among, self.rejections))
        self.funnel = Funnel.of(sum(request.questions for request in requests), self.rejections, extra)
        return kept

    def _answered(self, candidates: Sequence[Candidate[U]], filters: Sequence[Filter]) -> list[Candidate[U]]:
        """Return the questions whose answers are in the documents, and are judged to be answers.

        Questions of users go through no filter: they are what they are.
        """
        verified = self.labeller.verified(candidates, self.asker, self.rejections)
        verified = answered_as_asked(verified, self.rejections)
        of_users = [each for each in verified if each.request.given]
        others = filtered([each for each in verified if not each.request.given], filters, self.rejections)
        kept = in_order([*of_users, *others])
        if not self.check_answers:
            return kept
        return needing_all_parts(answerable(kept, self.asker, self.rejections), self.asker, self.rejections)

    def _search(self, embedder: Embedder) -> AnswerSearch:
        labeller = self.labeller
        return AnswerSearch(labeller.corpus, labeller.headings, labeller.passages, embedder, labeller.section_size)
