"""Strategies: which questions to ask, and in which sections of the documents."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby, islice, product
from math import gcd, prod
from pathlib import Path
from typing import Any, TypeVar, cast

from ...base.files import checked_path, is_list, read_text
from ...base.notes import note
from ...base.outside import shown
from ...base.strict_yaml import parse_yaml
from ...components.chunkers import MarkdownHeaderChunker, RecursiveCharacterChunker
from ...components.retrievers.bm25 import BM25Retriever
from ...contracts.component import check_count
from ...contracts.roles import QuestionRequest, QuestionStrategy, Section
from ...data import AnyChunk, Corpus, Document, DocumentId, PositionAwareChunk
from ...data.values import gives_items
from ...datasets.checks.lint import wording_key
from ...errors import ConfigError, DatasetError
from ...text.markups.formats import is_markdown
from ..people.sessions import read_wordings
from .asking import load_prompt, marked

# Headings: under which a part of a document stands, so that it is known what it speaks of.


class Headings:
    """The headings of the Markdown documents of a corpus.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._known: dict[DocumentId, tuple[list[int], list[str]]] = {}

    def at(self, doc_id: DocumentId, offset: int | None) -> str:
        """Return the headings of a place, from the outermost: `Billing > Refunds`; "" without any."""
        if offset is None or doc_id not in self._corpus:
            return ""
        if doc_id not in self._known:
            document, sections = self._corpus[doc_id], list[PositionAwareChunk]()
            if is_markdown(doc_id):
                chunker = MarkdownHeaderChunker(chunk_size=max(len(document.content), 1))
                sections = chunker.chunk_with_positions(document)
            titles = ["", *(str(each.metadata["section"]) for each in sections)]
            self._known[doc_id] = [each.start for each in sections], titles
        starts, titles = self._known[doc_id]
        return titles[bisect_right(starts, offset)]


# Sections: parts of documents that are shown to a model, so that long documents are covered to their end.

T = TypeVar("T")


def sections_of(corpus: Corpus, size: int, headings: Headings) -> list[Section]:
    """Return all documents in parts of whole paragraphs; where one is too long, of whole sentences.

    Args:
        corpus: The documents.
        size: The most characters of a section.
        headings: The headings of the documents.
    """
    chunker = RecursiveCharacterChunker(chunk_size=size)
    chunks = (chunk for document in corpus for chunk in chunker.chunk_with_positions(document))
    return [Section(chunk.doc_id, (chunk,), headings.at(chunk.doc_id, chunk.start)) for chunk in chunks]


def sections_of_chunks(chunks: Iterable[AnyChunk], size: int, headings: Headings) -> list[Section]:
    """Return chunks put together to sections, in their order.

    Args:
        chunks: The chunks, those of a document one after the other.
        size: The most characters of a section that has more than one chunk.
        headings: The headings of the documents.
    """

    def section(doc_id: DocumentId, together: Sequence[AnyChunk]) -> Section:
        return Section(doc_id, tuple(together), headings.at(doc_id, getattr(together[0], "start", None)))

    found: list[Section] = []
    for doc_id, own in groupby(chunks, key=lambda chunk: chunk.doc_id):
        together: list[AnyChunk] = []
        for chunk in own:
            if together and sum(len(other.content) for other in together) + len(chunk.content) > size:
                found.append(section(doc_id, together))
                together = []
            together.append(chunk)
        found.append(section(doc_id, together))
    return found


def by_document(sections: Iterable[Section]) -> Iterator[list[Section]]:
    """Yield the sections of each document."""
    for _, own in groupby(sections, key=lambda section: section.doc_id):
        yield list(own)


def dealt_out(items: Sequence[T], questions: int) -> Iterator[tuple[T, int]]:
    """Yield items, and how many questions each gets: in turn from the first, which gets no fewer than those after it.

    Items that get none are left out.
    """
    for number, item in enumerate(items[:questions]):
        yield item, -(-(questions - number) // len(items))


def shared_out(sections: Sequence[T], questions: int) -> Iterator[tuple[T, int]]:
    """Yield sections of a document, and how many questions each gets: spread evenly from its begin to its end.

    Sections that get none, of a document with more sections than questions, are left out.
    """
    count = len(sections)
    shares = Counter((2 * number + 1) * count // (2 * questions) for number in range(questions))
    for number in sorted(shares):
        yield sections[number], shares[number]


class Nearest:
    """Finds the texts that share the most rare words with another one, by BM25.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._retriever = BM25Retriever(lambda text: [text])
        self._retriever.index(Corpus(Document(DocumentId(str(n)), text) for n, text in enumerate(texts)))

    def to(self, text: str, most: int) -> list[tuple[int, float]]:
        """Return the numbers of the texts that share words with this one, and how alike they are, nearest first."""
        hits = self._retriever.retrieve(text, most).hits
        return [(int(hit.doc_id), hit.score or 0.0) for hit in hits if hit.doc_id is not None]


_Shown = tuple[Section, ...]
_MOST_NEAR = 100  # sections among which one of another document is looked for


@dataclass(frozen=True)
class SimpleQuestions(QuestionStrategy):
    """Questions about one section each, spread over each document from its begin to its end."""

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions."""
        return _requests("simple", _section_by_section(sections, queries_per_doc), {})


@dataclass(frozen=True)
class NoAnswerQuestions(QuestionStrategy):
    """Questions on the subjects of the documents that no document answers.

    A question is kept only if none of the 20 passages that BM25 finds for it answers it, as the second call judges. It
    has no labels, so no metric counts it: a run tells what was returned for it, and at which scores.
    """

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section that gets questions."""
        shares = _section_by_section(sections, queries_per_doc)
        return _requests("no_answer", shares, {"metadata": {"query_type": "no-answer"}, "has_answer": False})


@dataclass(frozen=True)
class CrossDocumentQuestions(QuestionStrategy):
    """Questions that need two documents: those sections of each are shown that share the most rare words.

    A question that is not answered in both is rejected. No pair of sections is asked about twice; a document that has
    nothing in common with others gets no questions.

    Attributes:
        pairs: How many pairs of sections are asked about for each document, at most.

    Raises:
        ConfigError: `pairs` is below 1.
    """

    pairs: int = 2

    def __post_init__(self) -> None:
        check_count("CrossDocumentQuestions", "pairs", self.pairs)

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each pair of sections that gets questions."""
        shares = (share for pairs in self._pairs(sections) for share in dealt_out(pairs, queries_per_doc))
        promised = {"metadata": {"query_type": "cross-document"}, "least_documents": 2}
        return _requests("cross_document", shares, promised)

    def _pairs(self, sections: Sequence[Section]) -> Iterator[list[_Shown]]:
        """Yield the pairs of each document, nearest first."""
        nearest = Nearest([section.text for section in sections])
        taken: set[tuple[int, int]] = set()
        for doc_id, own in groupby(range(len(sections)), key=lambda number: sections[number].doc_id):
            near = [
                (-score, one, other)
                for one in own
                for other, score in nearest.to(sections[one].text, _MOST_NEAR)
                if sections[other].doc_id != doc_id
            ]
            pairs = dict.fromkeys((min(one, other), max(one, other)) for _, one, other in sorted(near))
            chosen = list(islice((pair for pair in pairs if pair not in taken), self.pairs))
            taken.update(chosen)
            yield [(sections[one], sections[other]) for one, other in chosen]


def _section_by_section(sections: Sequence[Section], queries_per_doc: int) -> Iterator[tuple[_Shown, int]]:
    """Yield the sections of each document that get questions, and how many."""
    for document in by_document(sections):
        for section, questions in shared_out(document, queries_per_doc):
            yield (section,), questions


def _requests(
    name: str, shares: Iterable[tuple[_Shown, int]], promised: Mapping[str, Any], **filled: str
) -> list[QuestionRequest]:
    """Return a request for each share of the questions.

    Args:
        name: The name of the prompt with the wish.
        shares: What is shown, and how many questions are asked for.
        promised: What else a request says of its questions.
        filled: What stands in the places of the wish.
    """
    prompt = load_prompt(name)
    wish = prompt.filled("wish", **filled)
    return [QuestionRequest(wish, *share, prompt_version=prompt.version, **promised) for share in shares]


_SINGULAR = {"personas": "persona", "difficulties": "difficulty", "query_types": "query_type", "styles": "style"}
_RESERVED = ("query_source", "source_docs", "generation_model", "generation_type", "strategy", "prompt_versions")
_MOST = 10_000
_GOLDEN = 0.618  # steps of about this part of all combinations leave the smallest gaps


@dataclass(frozen=True)
class DimensionQuestions(QuestionStrategy):
    """Questions of all combinations of dimensions, in turn: `{"persona": ["a new user"], "difficulty": ["easy"]}`.

    Each question has the values of its combination in its metadata.

    Attributes:
        dimensions: The values of each dimension, as a list, or with a description of each:
            `{"persona": {"admin": "runs the servers"}}`. `personas`, `difficulties`, `query_types` and `styles` are
            called by their singular.

    Raises:
        ConfigError: There is no dimension, one has no values, or they have more than 10,000 combinations.
    """

    dimensions: Mapping[str, Mapping[str, str]] = field(hash=False)

    def __post_init__(self) -> None:
        given = _items(self.dimensions)
        if not given:
            raise ConfigError(
                f"dimensions={shown(self.dimensions)}; expected the values of each, {{'persona': ['a new user']}}"
            )
        known = {_SINGULAR.get(str(name), str(name)): _described(name, values) for name, values in given.items()}
        if (combinations := prod(map(len, known.values()))) > _MOST:
            raise ConfigError(f"dimensions: {combinations:,} combinations; expected at most {_MOST:,}")
        object.__setattr__(self, "dimensions", known)

    @classmethod
    def from_file(cls, path: str | Path) -> "DimensionQuestions":
        """Return the strategy of a YAML file, which has a list of values, or of values with descriptions, by dimension.

        Raises:
            ConfigError: It cannot be read, or has something else.
        """
        path = checked_path(path, ConfigError)
        text = read_text(path, ConfigError)
        try:
            return cls(cast("Any", parse_yaml(text)))
        except ValueError as error:
            raise ConfigError(f"{path}: {error}") from error

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section and combination that get questions."""
        numbers = count()
        combinations = [dict(zip(self.dimensions, each, strict=True)) for each in product(*self.dimensions.values())]
        steps = count(max(round(len(combinations) * _GOLDEN), 1))
        step = next(size for size in steps if gcd(size, len(combinations)) == 1)
        requests: list[QuestionRequest] = []
        for together, questions in _section_by_section(sections, queries_per_doc):
            chosen = Counter(next(numbers) * step % len(combinations) for _ in range(questions))
            for number, share in chosen.items():
                told = self._told(combinations[number])
                promised = {"metadata": combinations[number]}
                requests += _requests("dimensions", [(together, share)], promised, dimensions=told)
        return requests

    def _told(self, combination: Mapping[str, str]) -> str:
        told = ((name.replace("_", " "), value, self.dimensions[name][value]) for name, value in combination.items())
        return "\n".join(f"- {name}: {value}{f' ({meaning})' if meaning else ''}" for name, value, meaning in told)


def _items(given: Any) -> dict[Any, Any]:
    return {**given} if isinstance(given, Mapping) else {}


def _described(name: object, given: Any) -> dict[str, str]:
    """Return the values of a dimension with their descriptions, "" where there is none.

    Raises:
        ConfigError: There are none, or something else.
    """
    listed: Any = dict.fromkeys(given, "") if is_list(given) and all(isinstance(each, str) for each in given) else given
    values = _items(listed)
    texts = [*values, *values.values()]
    if not values or not all(isinstance(text, str) for text in texts) or not all(map(str.strip, values)):
        raise ConfigError(f"dimension {shown(name)}: got {shown(given)}; expected a list of texts, ['easy', 'hard']")
    if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
        raise ConfigError(
            f"dimension {shown(name)}: expected a name such as persona, and none of {', '.join(_RESERVED)}"
        )
    return values


_SECTIONS = 3  # in which the answer to a user's question is looked for
_EXAMPLES = 5  # questions of users that are shown with each request for others like them, the nearest first


@dataclass(frozen=True)
class RealQuestions(QuestionStrategy):
    """Questions of users, as they asked them, and others like them.

    A user's question is asked about the three sections that BM25 finds for it, and belongs to the document of the
    first. What is still wanted for a document is written like the questions that are nearest to it. Questions of
    users go through no filter but near-duplicates: they are what users ask. What answers them is verified as of all.
    `query_source` is `user` in their metadata.

    Attributes:
        questions: What users have asked, from a log for instance, the ones that matter most first; of those that are
            the same up to capitals and punctuation the first. The model sees them.

    Raises:
        ConfigError: There is no question.
    """

    questions: tuple[str, ...] = field(repr=False)

    def __post_init__(self) -> None:
        given: Any = self.questions
        listed: list[Any] = [*given] if gives_items(given, str) else []
        if not listed or not all(isinstance(each, str) for each in listed) or not any(map(str.strip, listed)):
            raise ConfigError(f"RealQuestions: questions={shown(given)}; expected a list of questions")
        first: dict[str, str] = {}
        for text in filter(None, (" ".join(each.split()) for each in listed)):
            first.setdefault(wording_key(text) or text, text)
        object.__setattr__(self, "questions", tuple(first.values()))

    @classmethod
    def from_file(cls, path: str | Path) -> "RealQuestions":
        """Return the strategy of a file: a question on each line or, in a `.csv` or `.tsv`, in a column `question`.

        Raises:
            ConfigError: It cannot be read, or has no questions.
        """
        try:
            questions = read_wordings(checked_path(path, ConfigError))
        except DatasetError as error:
            raise ConfigError(str(error)) from error
        return cls(tuple(questions))

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return for each document the requests for questions of users, and those for others like them."""
        nearest, asked = Nearest(self.questions), self._asked(sections)
        beyond = sum(max(len(own) - queries_per_doc, 0) for own in asked.values())
        told = f"of {len(self.questions)} questions of users are not asked"
        if beyond:
            note(f"{beyond} {told}, as queries_per_doc={queries_per_doc}; raise it to ask more")
        if unknown := len(self.questions) - sum(map(len, asked.values())):
            note(f"{unknown} {told}: BM25 finds none of their words in a document")
        requests: list[QuestionRequest] = []
        for document in by_document(sections):
            own = asked.get(document[0].doc_id, [])[:queries_per_doc]
            requests += own
            for section, questions in shared_out(document, queries_per_doc - len(own)):
                near = [self.questions[number] for number, _ in nearest.to(section.text, _EXAMPLES)]
                examples = marked("user-question", list(dict.fromkeys([*near, *self.questions]))[:_EXAMPLES])
                requests += _requests("real_questions", [((section,), questions)], {}, examples=examples)
        return requests

    def _asked(self, sections: Sequence[Section]) -> dict[DocumentId, list[QuestionRequest]]:
        """Return the requests that ask users' questions, by the document in which an answer is looked for first."""
        found: dict[DocumentId, list[QuestionRequest]] = {}
        nearest = Nearest([section.text for section in sections])
        for question in self.questions:
            if shown := tuple(sections[number] for number, _ in nearest.to(question, _SECTIONS)):
                request = QuestionRequest("", shown, 1, {"query_source": "user"}, given=(question,))
                found.setdefault(shown[0].doc_id, []).append(request)
        return found
