"""Questions without an answer: two retrievers look for one, and the second call judges what they find."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Retrieval
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.retrievers.bm25 import BM25Retriever
from rag_evaluation_framework.retrievers.vector_rag import VectorRAGRetriever
from rag_evaluation_framework.synthesis import answerability
from rag_evaluation_framework.synthesis.asking import Asker
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.estimate import VERDICT, FollowUp
from rag_evaluation_framework.synthesis.evidence import Evidence
from rag_evaluation_framework.synthesis.headings import Headings
from rag_evaluation_framework.synthesis.ranges import Range, tokens_of

DEPTH = 20
"""How many passages of each retriever are judged."""

ANSWERED = {"yes": "answered after all", "partly": "answered in part after all"}


class AnswerSearch:
    """Looks for what may answer a question, with two retrievers: BM25, and a vector search.

    Args:
        corpus: The documents.
        headings: Their headings.
        chunker: How they are cut into passages.
        embedder: What makes vectors.
        size: The most characters of passages that are judged in one call; a longer passage is judged by itself.

    Raises:
        MissingDependency: The embedder needs a package that is not installed.
    """

    def __init__(
        self,
        corpus: Corpus,
        headings: Headings,
        chunker: Chunker | PositionAwareChunker,
        embedder: Embedder,
        size: int,
    ) -> None:
        self.headings, self.size = headings, size
        self._retrievers = (BM25Retriever(chunker), VectorRAGRetriever(chunker, embedder))
        for retriever in self._retrievers:
            retriever.index(corpus)

    def found(self, questions: Sequence[str]) -> list[list[list[Evidence]]]:
        """Return for each question the passages that are found, in the groups that are judged in one call each.

        The best of each retriever come in turn, each passage once.
        """
        rankings: list[list[Retrieval]] = []
        for retriever in self._retrievers:
            retriever.prepare(questions)
            rankings.append([retriever.retrieve(question, DEPTH) for question in questions])
        return [[*_grouped(self._in_turn(found), self.size)] for found in zip(*rankings, strict=True)]

    def _in_turn(self, rankings: Iterable[Retrieval]) -> list[Evidence]:
        found: dict[Evidence, None] = {}
        for hit in chain.from_iterable(zip_longest(*(ranking.hits for ranking in rankings))):
            if hit is not None and hit.doc_id is not None and hit.text is not None:
                heading = self.headings.at(hit.doc_id, hit.start)
                found[Evidence(hit.text, hit.doc_id, hit.start, hit.end, heading=heading)] = None
        return [*found]


def unanswered(
    candidates: Sequence[Candidate[U]], search: AnswerSearch, asker: Asker, rejections: list[Rejection]
) -> list[Candidate[U]]:
    """Return the candidates for which nothing is found that answers them, wholly or in part.

    The best passages are judged first, and those that come next only if these answer nothing.

    Args:
        candidates: Questions that have no answer, as their author says.
        search: Finds what may answer them.
        asker: Asks the model.
        rejections: Where rejections are put.
    """
    waiting = search.found([each.question for each in candidates])
    refuted: dict[int, Rejection] = {}
    for turn in range(max(map(len, waiting), default=0)):
        open_ones = [number for number, groups in enumerate(waiting) if number not in refuted and turn < len(groups)]
        asked = [answerability.checking(candidates[number].question, waiting[number][turn]) for number in open_ones]
        verdicts = answerability.judged(asked, asker, "Looking for answers")
        for number, verdict in zip(open_ones, verdicts, strict=True):
            candidate = candidates[number]
            if isinstance(verdict, ProviderError):
                refuted[number] = rejected(candidate, "kept", answerability.UNCHECKED, str(verdict))
            elif verdict.answer != "no":
                found = " | ".join(each.text for each in waiting[number][turn])
                refuted[number] = rejected(candidate, "kept", ANSWERED[verdict.answer], found)
    rejections += [refuted[number] for number in sorted(refuted)]
    return [candidate for number, candidate in enumerate(candidates) if number not in refuted]


def looking(longest: Sequence[str], size: int, mark: Range) -> FollowUp:
    """Return what is asked at most for a question without an answer.

    Args:
        longest: The longest passages, as many as are judged.
        size: The most characters of passages that are judged in one call.
        mark: Tokens of the marks around a passage.
    """
    told = tokens_of(longest) + mark * len(longest)
    told = Range(0, told.usual / 2, told.most)
    groups = min(len(longest), 2 * sum(map(len, longest)) // size + 1)  # of two after each other one is half full
    usual = min(groups, sum(map(len, longest)) / 2 / size + 1)  # about half of what is found is found by both
    return FollowUp(answerability.checking("", ()), told, VERDICT, Range(0, usual, groups))


def _grouped(passages: Sequence[Evidence], size: int) -> Iterator[list[Evidence]]:
    """Yield passages in their order, as many together as have at most `size` characters."""
    together: list[Evidence] = []
    for each in passages:
        if together and sum(len(other.text) for other in together) + len(each.text) > size:
            yield together
            together = []
        together.append(each)
    if together:
        yield together
