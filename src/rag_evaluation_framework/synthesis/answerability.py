"""Whether, and by which texts, a question is answered: what a second call judges, and what needs none."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from rag_evaluation_framework.contracts import Chunker, Embedder, PositionAwareChunker
from rag_evaluation_framework.data import Corpus, Retrieval
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.retrievers import BM25Retriever, VectorRAGRetriever
from rag_evaluation_framework.synthesis.asking import Asker, Numbers, Verdict, load_prompt, marked
from rag_evaluation_framework.synthesis.candidates import Candidate, Candidates, Evidence, Reason, Rejection, rejected
from rag_evaluation_framework.synthesis.estimate import VERDICT, Call, Range, tokens_of
from rag_evaluation_framework.synthesis.strategies import Headings
from rag_evaluation_framework.text.terms import words

# The second call: whether the excerpts of a question, and nothing else, answer it.

CHECK = "answerable"
REASONS = {"partly": "answered only in part", "no": "not answered"}
UNCHECKED = "could not be checked"


def unanswerable(candidates: Candidates, asker: Asker) -> Iterator[Reason | None]:
    """Yield why the excerpts of each question alone do not answer it, as the model judges in a call of its own."""
    asked = [checking(each.question, each.evidence) for each in candidates]
    for candidate, verdict in zip(candidates, asker.ask(Verdict, asked, "Checking"), strict=True):
        if isinstance(verdict, ProviderError):
            yield UNCHECKED, str(verdict)
        elif verdict.answer == "yes":
            yield None
        else:
            left_open = f"; left open: {verdict.missing}" if verdict.missing.strip() else ""
            yield REASONS[verdict.answer], f"{candidate.told}{left_open}"


def checking(question: str, evidence: Sequence[Evidence]) -> list[dict[str, str]]:
    """Return the messages of the call about a question."""
    shown = marked("excerpt", [each.text for each in evidence], question, [each.told for each in evidence])
    return load_prompt(CHECK).messages(question=question, excerpts=shown)


# Choosing by a call of its own: which of several numbered texts a model names for a question.

ALONE = "alone"
"""The prompt that asks which excerpts answer a question without the others."""

PLACES = "places"
"""The prompt that asks at which of several places the same words answer a question."""

ONE_IS_ENOUGH = "answered by one part alone"


def chosen(asked: Sequence[Any], asker: Asker, shown_as: str) -> list[list[int] | ProviderError]:
    """Return the numbers that a model names in answer to each request, from 1; or why there are none."""
    answers = asker.ask(Numbers, asked, shown_as)
    return [each if isinstance(each, ProviderError) else each.numbers for each in answers]


def choosing(prompt: str, question: str, evidence: Sequence[Evidence]) -> list[dict[str, str]]:
    """Return the messages that ask which of some texts are meant."""
    told = [{"number": str(number), **each.told} for number, each in enumerate(evidence, 1)]
    shown = marked("excerpt", [each.text for each in evidence], question, told)
    return load_prompt(prompt).messages(question=question, excerpts=shown)


def answered_by_a_part(candidates: Candidates, asker: Asker) -> Iterator[Reason | None]:
    """Yield of each question that a part of its evidence, one place or one document, is the answer by itself.

    Those that were not asked to have several parts are not asked about.

    Args:
        candidates: Questions that all of their excerpts together answer.
        asker: Asks the model.
    """
    parts = [
        [replace(part[0], text="\n\n".join(each.text for each in part)) for part in candidate.parts]
        for candidate in candidates
    ]
    asked = [number for number, own in enumerate(parts) if len(own) > 1]
    messages = [choosing(ALONE, candidates[number].question, parts[number]) for number in asked]
    answers = dict(zip(asked, chosen(messages, asker, "Checking parts"), strict=True))
    for number, own in enumerate(parts):
        answer = answers.get(number, [])
        if isinstance(answer, ProviderError):
            yield UNCHECKED, str(answer)
        else:
            enough = next((own[part - 1] for part in answer if 1 <= part <= len(own)), None)
            yield None if enough is None else (ONE_IS_ENOUGH, enough.text)


# Questions without an answer: two retrievers look for one, and the second call judges what they find.

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


def answered_after_all(candidates: Candidates, search: AnswerSearch, asker: Asker) -> list[Reason | None]:
    """Return for each question what was found that answers it, wholly or in part.

    The best passages are judged first, and those that come next only if these answer nothing.

    Args:
        candidates: Questions that have no answer, as their author says.
        search: Finds what may answer them.
        asker: Asks the model.
    """
    waiting = search.found([each.question for each in candidates])
    refuted: dict[int, Reason] = {}
    for turn in range(max(map(len, waiting), default=0)):
        open_ones = [number for number, groups in enumerate(waiting) if number not in refuted and turn < len(groups)]
        asked = [checking(candidates[number].question, waiting[number][turn]) for number in open_ones]
        verdicts = asker.ask(Verdict, asked, "Looking for answers")
        for number, verdict in zip(open_ones, verdicts, strict=True):
            if isinstance(verdict, ProviderError):
                refuted[number] = UNCHECKED, str(verdict)
            elif verdict.answer != "no":
                refuted[number] = ANSWERED[verdict.answer], " | ".join(each.text for each in waiting[number][turn])
    return [refuted.get(number) for number in range(len(candidates))]


def looking(longest: Sequence[str], size: int, mark: Range) -> Call:
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
    return Call(checking("", ()), told, VERDICT, Range(0, usual, groups))


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


# What is certainly no question, or no answer to one. Doubtful ones pass: filters and the second call judge them.

NO_QUESTION = "not a question"
OF_WHAT_WAS_SHOWN = "speaks of what was shown"
REPEATED = "quote is the question itself"
TOO_SHORT = "quote of a single character"
TOO_LONG = "quote of all that was shown"

_FEWEST_WORDS, _LONGEST = 2, 1000  # the longest public question has 173 characters
_ALL, _MUCH = 0.9, 1000  # of less than 1,000 characters all may well be the answer
_PLACES = "passage|excerpt|chunk|text|document"
_SAID = "mentioned|described|discussed|stated|given|provided|shown|said|told"
_SHOWN = re.compile(
    rf"""\b(?: this\ (?:passage|excerpt|chunk)
    | (?:does|do)\ (?:the|these|this)\ (?:passage|excerpt|chunk|text)s?\ (?:say|state|mention|describe|tell|list)
    | (?:{_SAID})\ in\ (?:the|these)\ (?:excerpt|chunk)s?(?=\ about|\s*(?:[,;:?.!]|$))
    | (?:the|this)\ (?:given|provided|above)\ context
    | (?:pa_)?chunk_[0-9a-f]{{12}}\b
    | (?:according\ to|based\ on|(?:{_SAID})\ in)
      \ (?:this|the|these)(?:\ (?:above|given|provided))?\ (?:{_PLACES})s?(?=\s*(?:[,;:?.!]|$)) )""",
    re.IGNORECASE | re.VERBOSE,
)


def flaw_of_wording(candidate: Candidate[Any]) -> Reason | None:
    """Return why the wording of a candidate cannot be that of a question: nothing more is asked about it."""
    text = candidate.question
    if candidate.request.given:  # users also search by a single word
        return None
    if len(text) > _LONGEST or len(words(text, None)) < _FEWEST_WORDS:
        return NO_QUESTION, ""
    return (OF_WHAT_WAS_SHOWN, "") if _SHOWN.search(text) else None


def without_question(candidate: Candidate[U], rejections: list[Rejection]) -> Candidate[U]:
    """Return a candidate without the quotes that repeat it, if there are others."""
    asked = wording_key(candidate.question)
    others = [number for number, text in enumerate(candidate.excerpts) if wording_key(text) != asked]
    if not others or len(others) == len(candidate.excerpts):
        return candidate
    left_out = [text for number, text in enumerate(candidate.excerpts) if number not in others]
    rejections += [rejected(candidate, "verified", REPEATED, text, questions=0) for text in left_out]
    answers, evidence = candidate.answers, candidate.evidence
    return replace(candidate, answers=tuple(answers[n] for n in others), evidence=tuple(evidence[n] for n in others))


def flaw_of_quotes(candidate: Candidate[Any]) -> Reason | None:
    """Return why the quotes of a candidate cannot be an answer, such as that they are the question, as headings are."""
    quoted = "".join(candidate.excerpts)
    if sum(map(str.isalnum, quoted)) < 2:
        return TOO_SHORT, candidate.told
    if wording_key(candidate.question) in map(wording_key, candidate.excerpts):
        return REPEATED, candidate.told
    shown = sum(len(section.text.strip()) for section in candidate.request.sections)
    return (TOO_LONG, candidate.told) if len(quoted) >= max(_ALL * shown, _MUCH) else None
