"""Generators of questions with ground truth: their base, from arguments to a saved dataset, and one for each level."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypedDict, Unpack

from ...adapt.adapt import OwnChunker
from ...base.coroutines import as_coroutine
from ...base.files import is_object
from ...base.notes import collect_notes, note
from ...base.outside import shown
from ...components.embedders.cached import CachedEmbedder
from ...components.embedders.remote import RemoteEmbedder
from ...components.llms import AnthropicClient, KeptAnswers, LanguageModel
from ...components.providers.calls import Consumed, Prices
from ...components.retrievers.vector_rag import DEFAULT_CHUNKER, chunk_corpus
from ...contracts import Chunker, Embedder, LLMClient, PositionAwareChunker, QuestionRequest, QuestionStrategy, Section
from ...contracts.component import check_components, check_count, check_number, check_truth, component_name
from ...contracts.registry.building import as_component, describe
from ...contracts.registry.loading import load_installed
from ...contracts.roles import as_fitted
from ...data import AnyChunk, CharacterSpan, ChunkRegistry, Dataset, PositionAwareChunk, Query
from ...data.documents import Corpus, DocumentResolver, checked_corpus
from ...data.ground_truth import Answer, ChunkLevelGroundTruth, GroundTruth, TokenLevelGroundTruth
from ...data.ids import ChunkId, QueryIds, QueryText, canonical_chunk_id
from ...data.levels import CHUNK, TOKEN, Level, U
from ...data.values import gives_items
from ...datasets.load import load_dataset
from ...datasets.native import file_state, replace_dataset
from ...errors import ConfigError, MissingDependency, ProviderError, RagEvalError
from ...labels.quote_locator import QuoteLocator
from ...labels.quote_table import MOST_OCCURRENCES, locate_quote
from ...runs.evaluation import DATASETS, LANGSMITH_NAME
from ...runs.store import ROOT, check_root
from ...text.markups.markup import struck_out
from ...text.text_locator import is_long
from ..people.passages import copies_of, merged
from . import asking, filters
from .asking import AskedQuestions, Asker, CitedQuestions, FailedRequests, load_prompt, marked
from .filters import Candidate, Evidence, Funnel, Reason, Rejection, in_order, rejected, sifted
from .strategies import Headings, SimpleQuestions, sections_of, sections_of_chunks

# Where a generated dataset goes: the local store by its name, and LangSmith.

_PUSH = "rag_evaluation_framework.trackers.langsmith_datasets:push_dataset"  # a door upwards
FAILED_REQUESTS = "failed_requests"
"""What `metadata.generation` calls the number of requests that failed: with any, there is more to come."""

_ENDINGS = (".json", ".jsonl")
_LONGEST = 200  # of the 255 that most file systems have, beside endings, numbers and what is put before


def check_place(name: Any, root: str | Path) -> None:
    """Check that a dataset can be saved by a name, here and in LangSmith: better before it is paid for than after.

    Raises:
        ConfigError: It cannot.
    """
    is_name = isinstance(name, str) and name.strip(". ") and name.isprintable() and Path(name).name == name
    if not is_name or name.endswith(_ENDINGS) or len(name.encode()) > _LONGEST:
        raise ConfigError(
            f"dataset_name={shown(name)}; expected a name without '/' and without an ending, of at most {_LONGEST} "
            "bytes that can be printed, such as 'my-questions'"
        )
    check_root(Path(root), DATASETS)


def saved(dataset: Dataset[Any], root: str | Path) -> tuple[Dataset[Any], Path]:
    """Save a dataset in the local store by its name, and return it and its file.

    A file that holds the same questions with the same labels is left as it is. One in which questions are missing since
    requests failed is replaced if all that it has are among the new ones. What holds anything else stays, and the
    dataset gets a name of its own, which is noted.

    Raises:
        DatasetError: It cannot be saved.
    """
    folder = Path(root) / DATASETS
    named, numbers = dataset, count(2)
    while not _is_saved(named, path := _place(folder, named.name)):
        named = replace(dataset, name=f"{dataset.name}-{next(numbers)}")
    if named is not dataset:
        note(f"{folder / dataset.name}.json holds other questions and stays; the new ones are in {path}")
    return named, path


def _place(folder: Path, name: str) -> Path:
    """Return the file of a dataset: one that is there, or the one to be made."""
    places = [folder / f"{name}{ending}" for ending in _ENDINGS]
    return next((path for path in places if path.exists()), places[0])


def _is_saved(dataset: Dataset[Any], path: Path) -> bool:
    """Save a dataset, unless its file holds anything else; return whether it holds the dataset now."""
    if not path.exists():
        replace_dataset(dataset, path, "")
        return True
    state = file_state(path) if path.is_file() else ""
    with collect_notes():  # what is noted about a file that is not used concerns nobody
        try:
            there = load_dataset(path, dataset.level, corpus=dataset.corpus)
        except RagEvalError:
            return False
    if _is_completed(there, dataset):
        replace_dataset(dataset, path, state)
        return True
    return there.content_hash == dataset.content_hash


def _is_completed(there: Dataset[Any], dataset: Dataset[Any]) -> bool:
    """Return whether a dataset has all that a generation left in which requests failed, and nobody has edited."""
    left: Any = there.metadata.get("generation")
    funnel: Any = left.get("funnel") if is_object(left) and left.get(FAILED_REQUESTS) else None
    if not is_object(funnel) or funnel.get("kept") != len(there):
        return False
    return all(entry in dataset.ground_truth for entry in there)


def pushed(dataset: Dataset[Any], path: Path) -> str | None:
    """Push a dataset to LangSmith, and note in its file that it is there; return the address.

    Without LangSmith's SDK or a key nothing is connected to; that, and what goes wrong, is noted.

    Args:
        dataset: The dataset.
        path: Its file: evaluations by its name then publish their results there.
    """
    try:
        report: Any = load_installed(_PUSH)(dataset, dataset.name)
    except (ConfigError, MissingDependency, ProviderError) as error:
        note(f"the dataset is in {path}, and not in LangSmith: {error}")
        return None
    if report.missing:
        note(f"{report.counted()}; the latter stay, so the dataset in LangSmith is another one than {path}")
    state = file_state(path)
    there: Dataset[Any] = load_dataset(path, dataset.level, corpus=dataset.corpus)
    if there.metadata.get(LANGSMITH_NAME) != dataset.name:
        replace_dataset(replace(there, metadata={**there.metadata, LANGSMITH_NAME: dataset.name}), path, state)
    return str(report.url)


# What generators are given.

DEFAULT_MODEL = "gpt-5-mini"
SECTION_SIZE = 6000
"""Characters, about 1,500 tokens of English."""


class GeneratorOptions(TypedDict, total=False):
    """The parameters that all generators share, as `SyntheticDataGenerator` describes them."""

    model: str | None
    strategies: Sequence[QuestionStrategy]
    section_size: int
    embedder: Embedder | None
    relevance_threshold: float
    dedup_threshold: float
    check_answers: bool
    max_concurrency: int
    root: str | Path


def language_model(owner: str, given: Any, model: str | None, root: str | Path) -> LanguageModel:
    """Return the model that is asked, which keeps its answers.

    Raises:
        ConfigError: The client is none, or the name of the model is missing or given twice.
    """
    if isinstance(given, LanguageModel):
        if model not in (None, given.model):
            raise ConfigError(f"{owner}: model={shown(model)}, and the language model is {given.model!r}; give one")
        return given if given.kept is not None else replace(given, kept=KeptAnswers(root))
    if model is None and isinstance(given, AnthropicClient):
        raise ConfigError(f"{owner}: model=None; expected the name of one of Anthropic's models")
    return LanguageModel(given, DEFAULT_MODEL if model is None else model, kept=KeptAnswers(root))


# Before anything is asked: calls, tokens and costs.

Messages: TypeAlias = list[dict[str, str]]
Call: TypeAlias = tuple[str, Messages]
"""How something is asked: the name of the prompt, and the messages."""

_CHARACTERS = 4  # of a token, in English
_QUESTION, _QUOTES, _VERDICT = 25, 60, 20  # tokens of what a model usually writes
_PASSAGE = 200  # tokens of one that is found for a question without an answer


@dataclass(frozen=True)
class Estimate:
    """Upper bound of the requests of a generation: every question is written, found and checked, nothing is cached.

    A token is taken for four characters, and a question for 25 tokens, its quotes for 60, a verdict for 20.

    Attributes:
        questions: How many questions are asked for.
        calls: How many calls of the model are made.
        input_tokens: How many tokens it reads.
        output_tokens: How many it writes, without what it thinks before it answers.
        cost: What that costs; None without prices.
    """

    questions: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None = None


# `SyntheticDataGenerator`: what both generators share, from the plan to the saved dataset.

WITHOUT_ANSWER = "unanswered_questions"
"""The prompt for questions that the documents do not answer."""


def passages(sections: Sequence[Section], beside: str) -> str:
    """Return sections as prompts show them, each with its document and heading.

    Args:
        sections: The sections.
        beside: What else is shown.
    """
    told = [{"document": each.doc_id, "heading": each.heading} for each in sections]
    return marked("passage", [each.text for each in sections], beside, told)


class SyntheticDataGenerator(ABC, Generic[U]):
    """Base class of generators: questions with ground truth of one evaluation type, written by a language model.

    The model asks, and says what answers; code verifies it in the documents. What cannot be verified is rejected, with
    its reason. Whatever was answered is kept below `<root>/cache/answers`, and vectors of a provider's embedder in
    `<root>/cache/embeddings`: a generation that was interrupted is simply run again, and pays for nothing twice.

    Args:
        llm_client: `OpenAI()`, `AsyncOpenAI()`, `AnthropicClient()` or any client of the OpenAI SDK's shape; or a
            `LanguageModel`, which also says how often is tried again, and what tokens cost.
        corpus: The documents.
        model: The name of the model; by default `gpt-5-mini`.
        strategies: Which questions are asked; each asks for `queries_per_doc`.
        section_size: The most characters of a document that are shown in one piece. Longer documents are shown in
            several, to their end.
        embedder: What tells if a question belongs to its excerpts, and if it is asked twice; by default neither is
            checked by vectors.
        relevance_threshold: The least cosine of a question and the excerpt that is least like it. The default is
            published for OpenAI's text-embedding-3; with another embedder give its own.
        dedup_threshold: The highest cosine of two questions; likewise.
        check_answers: Whether a second call judges if what was verified answers the question in full.
        max_concurrency: How many requests are made side by side.
        root: The folder of runs and datasets.

    Attributes:
        llm: The model.
        corpus: The documents.
        headings: Their headings.
        chunk_registry: What answers the questions, as position-aware chunks, or the chunks that are shown.
        chunker: How the documents are cut: into the chunks that are labelled, or where answers are looked for.
        funnel: How many questions the last generation asked for, and where each of the others was lost.
        rejections: What the last generation did not take, and why.
        failed: The requests of the last generation that failed; each lost its questions.
        path: The file of the dataset that it saved; None if there was no question.
        langsmith_url: Where its dataset is in LangSmith; None if it is not there.

    Raises:
        ConfigError: An argument cannot be used.
        CorpusError: The corpus is not a `Corpus`, or is empty.
    """

    level: ClassVar[Level[Any]]
    prompts: ClassVar[tuple[str, str]]
    """The names of the prompts with which it asks for questions, and for what answers one."""
    form: ClassVar[type[AskedQuestions] | type[CitedQuestions]]
    """What questions are asked for as."""
    chunker: Chunker | PositionAwareChunker = DEFAULT_CHUNKER
    chunking: str | None = None
    """The fingerprint of the chunks that are labelled; None where none are."""

    def __init__(
        self,
        llm_client: LLMClient | LanguageModel,
        corpus: Corpus,
        *,
        model: str | None = None,
        strategies: Sequence[QuestionStrategy] = (SimpleQuestions(),),
        section_size: int = SECTION_SIZE,
        embedder: Embedder | None = None,
        relevance_threshold: float = filters.RELEVANCE_THRESHOLD,
        dedup_threshold: float = filters.DEDUP_THRESHOLD,
        check_answers: bool = True,
        max_concurrency: int = 4,
        root: str | Path = ROOT,
    ) -> None:
        owner = type(self).__name__
        check_count(owner, "section_size", section_size)
        check_count(owner, "max_concurrency", max_concurrency)
        check_truth(owner, "check_answers", check_answers)
        if embedder is not None:
            check_components(owner, embedder=(embedder, Embedder))
        check_number(owner, "relevance_threshold", relevance_threshold, most=1)
        check_number(owner, "dedup_threshold", dedup_threshold, most=1)
        self.strategies: tuple[QuestionStrategy, ...] = tuple(strategies) if gives_items(strategies, str) else ()
        if not self.strategies:
            raise ConfigError(f"{owner}: strategies={shown(strategies)}; expected a list, such as [SimpleQuestions()]")
        for strategy in self.strategies:
            check_components(owner, strategies=(strategy, QuestionStrategy))
        self.corpus, self.headings = checked_corpus(corpus), Headings(corpus)
        self.llm = language_model(owner, llm_client, model, root)
        self.section_size, self.check_answers, self.max_concurrency = section_size, check_answers, max_concurrency
        self.embedder, self.root = embedder, root
        self.relevance_threshold, self.dedup_threshold = relevance_threshold, dedup_threshold
        self.chunk_registry = ChunkRegistry()
        self.funnel = Funnel()
        self.rejections: tuple[Rejection, ...] = ()
        self.failed: tuple[FailedRequests, ...] = ()
        self.path: Path | None = None
        self.langsmith_url: str | None = None

    # What differs from level to level.

    @abstractmethod
    def sections(self) -> list[Section]:
        """Return all sections of all documents."""

    @staticmethod
    @abstractmethod
    def shown(sections: Sequence[Section], beside: str) -> str:
        """Return sections as prompts show them; `beside` is what else is shown, which has none of their marks."""

    @abstractmethod
    def verified(
        self, candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]
    ) -> list[Candidate[U]]:
        """Return the questions whose answers are in the documents; put the others among the rejections."""

    @abstractmethod
    def truth(self, query: Query, candidate: Candidate[U]) -> GroundTruth[U]:
        """Return the ground truth of a question."""

    # What is the same at all levels.

    def generate(
        self, queries_per_doc: int = 5, upload_to_langsmith: bool = True, dataset_name: str | None = None
    ) -> Dataset[U]:
        """Generate questions with ground truth, and return them as a dataset, which is saved.

        It is saved as `<root>/datasets/<dataset_name>.json`, where evaluations find it by its name. A file of that name
        with other questions stays, and the dataset gets another name, which is noted. What requests that failed would
        have brought is missing, and comes when it is generated again: in the same file, unless somebody has edited it.

        Args:
            queries_per_doc: How many questions each strategy asks for each document.
            upload_to_langsmith: Whether the dataset is pushed to LangSmith, too. Without its SDK or a key that is
                noted, and nothing is connected to.
            dataset_name: The name; by default `rag-eval-token-level-v1`, or that of the level.

        Raises:
            ConfigError: An argument cannot be used, the dataset cannot be saved there, or answers cannot be kept.
            DatasetError: The dataset cannot be saved after all; what was answered is kept.
            MissingDependency: The embedder needs what is not installed.
            ProviderError: Every request for questions failed, or no other would be answered: the key is refused, the
                quota is used up, or the provider fails again and again. What was answered is kept, to go on with.
        """
        owner = type(self).__name__
        check_count(owner, "queries_per_doc", queries_per_doc)
        check_truth(owner, "upload_to_langsmith", upload_to_langsmith)
        name = f"rag-eval-{self.level.evaluation_type}-v1" if dataset_name is None else dataset_name
        check_place(name, self.root)
        self.path = self.langsmith_url = None
        dataset = self._generated(name, queries_per_doc)
        if self.funnel.kept < self.funnel.asked or self.funnel.quotes:
            note(self.funnel.told)
        if len(dataset):
            dataset, self.path = saved(dataset, self.root)
            if upload_to_langsmith:
                self.langsmith_url = pushed(dataset, self.path)
        return dataset

    agenerate = as_coroutine(generate)
    """Does what `generate` does in a thread, for code that runs in an event loop: notebooks and services.

    If the task is cancelled, nothing else is asked; what was answered is kept.
    """

    def plan(self, queries_per_doc: int = 5) -> list[tuple[str, QuestionRequest]]:
        """Return the requests for questions, each with the name of its strategy; nothing is asked.

        Raises:
            ConfigError: The number is below 1, a strategy plans something else, or it asks for questions without an
                answer and nothing is judged.
        """
        check_count(type(self).__name__, "queries_per_doc", queries_per_doc)
        sections = self.sections()
        planned: list[tuple[str, QuestionRequest]] = []
        for strategy in self.strategies:
            given: Any = strategy.plan(sections, queries_per_doc)
            for request in given if gives_items(given, str) else (given,):
                if not isinstance(request, QuestionRequest):
                    name = component_name(strategy)
                    raise ConfigError(f"{name}: its plan has {shown(request)}; expected a list of QuestionRequest")
                if not (request.has_answer or self.check_answers):
                    raise ConfigError(
                        f"{type(self).__name__}: check_answers=False; questions without an answer need it: what may "
                        "answer them is judged"
                    )
                planned.append((type(strategy).__name__, request))
        return planned

    def estimate(self, queries_per_doc: int = 5) -> Estimate:
        """Return how many calls and tokens a generation needs, and what it costs; nothing is asked."""
        requests = [request for _, request in self.plan(queries_per_doc)]
        calls = [call for request in requests for call in self._calls(request)]
        made = sum(times for _, times, _, _ in calls)
        read = sum(times * tokens for _, times, tokens, _ in calls)
        written = sum(times * tokens for _, times, _, tokens in calls)
        cost = Prices(self.llm.price_in, self.llm.price_out).cost(Consumed(read, written))
        return Estimate(sum(request.questions for request in requests), made, read, written, cost)

    def _calls(self, request: QuestionRequest) -> Iterator[tuple[str, int, int, int]]:
        """Yield the calls for a request: the prompt, how often it is used, what tokens are read and written."""

        def tokens(messages: Messages) -> int:
            return sum(len(message["content"]) for message in messages) // _CHARACTERS

        if not request.given:
            prompt, messages = self._asking(request)
            yield prompt, 1, tokens(messages), _QUESTION * request.questions
        for prompt, messages in self.verifying(request, "") if request.has_answer else ():
            yield prompt, request.questions, _QUESTION + tokens(messages), _QUOTES
        if self.check_answers:
            check = _QUESTION + tokens(load_prompt(filters.CHECK).messages(question="", excerpts=""))
            parts = request.least_documents if request.has_answer and request.least_documents > 1 else 0
            given = _QUOTES if request.has_answer else filters.DEPTH * _PASSAGE
            yield filters.CHECK, request.questions * (1 + parts), check + given, _VERDICT

    def _asking(self, request: QuestionRequest) -> Call:
        """Return how it asks for questions."""
        prompt, show = (self.prompts[0], self.shown) if request.has_answer else (WITHOUT_ANSWER, passages)
        given = show(request.sections, request.wish)
        asked = {"wish": request.wish, "passages": given, "chunks": given, "count": request.questions}
        return prompt, load_prompt(prompt).messages(**asked)

    def verifying(self, request: QuestionRequest, question: str) -> list[Call]:
        """Return how it asks what answers a question; nothing if the model wrote the question with that."""
        if self.form is CitedQuestions and not request.given:
            return []
        prompt, given = self.prompts[1], self.shown(request.sections, question)
        return [(prompt, load_prompt(prompt).messages(question=question, passages=given, chunks=given))]

    def _generated(self, name: str, queries_per_doc: int) -> Dataset[U]:
        """Generate, and return the dataset; tell what was lost."""
        self.rejections, self.failed, self.funnel = (), (), Funnel()
        planned, asker = self.plan(queries_per_doc), Asker(self.llm, self.max_concurrency)
        if self.llm.kept is not None:
            self.llm.kept.problem = None  # the disk may have room again
        rejections: list[Rejection] = []
        proposed = filters.parsed_questions(planned, self._written([each for _, each in planned], asker), rejections)
        kept = self._kept(proposed, asker, rejections)
        self.rejections = tuple(rejections)
        self.funnel = Funnel.of(sum(request.questions for _, request in planned), rejections)
        self.failed = asking.failed_requests(asker.failures)
        ids, entries = QueryIds(), list[GroundTruth[U]]()
        for each in kept:
            told = filters.question_metadata(each, self.llm.model, self._prompts(each.request))
            entries.append(self.truth(Query(ids.of(each.question), QueryText(each.question), told), each))
        record = {
            "model": self.llm.model,
            "queries_per_doc": queries_per_doc,
            "strategies": [describe(strategy) for strategy in self.strategies],
            "section_size": self.section_size,
            "check_answers": self.check_answers,
            "prompt_versions": list(dict.fromkeys(text for _, each in planned for text in self._prompts(each))),
            "filters": {"embedder": None},
            "funnel": self.funnel.record(),
            FAILED_REQUESTS: sum(len(each.messages) for each in self.failed),
        }
        if self.embedder is not None:
            thresholds = {"relevance_threshold": self.relevance_threshold, "dedup_threshold": self.dedup_threshold}
            record["filters"] = {"embedder": describe(self.embedder), **thresholds}
        if self.chunking is not None:
            record["chunker"] = describe(self.chunker)
        about = {"generation": record}
        return Dataset(entries, self.level, name=name, corpus=self.corpus, chunking=self.chunking, metadata=about)

    def _prompts(self, request: QuestionRequest) -> list[str]:
        """Return the versions of all prompts that make a question of a request, in the order in which they are used."""
        used = (load_prompt(name).version for name, *_ in self._calls(request))
        return [*filter(None, [request.prompt_version]), *used]

    def _written(self, requests: Sequence[QuestionRequest], asker: Asker) -> list[list[Candidate[U]] | ProviderError]:
        """Return the questions of each request, in their order, or why there are none."""
        found: list[list[Candidate[U]] | ProviderError] = [
            [Candidate(question, request) for question in request.given] for request in requests
        ]
        for has_answer, form in ((True, self.form), (False, AskedQuestions)):
            read: Any = asking.read_cited_questions if form is CitedQuestions else None
            numbers = [n for n, each in enumerate(requests) if not each.given and each.has_answer is has_answer]
            asked = [self._asking(requests[number])[1] for number in numbers]
            answers = asker.ask(form, asked, "Asking for questions", read)
            for number, answer in zip(numbers, answers, strict=True):
                written = [] if isinstance(answer, ProviderError) else answer.questions
                cited = ((each.question, tuple(getattr(each, "chunk_ids", ()))) for each in written)
                proposed = [Candidate[U](question, requests[number], cited=ids) for question, ids in cited]
                found[number] = answer if isinstance(answer, ProviderError) else proposed
        return found

    def _kept(self, proposed: list[Candidate[U]], asker: Asker, rejections: list[Rejection]) -> list[Candidate[U]]:
        """Return the questions that are kept, in the order of the plan; put the others among the rejections."""

        def passing(candidates: list[Candidate[U]], reasons: Iterable[Reason | None]) -> list[Candidate[U]]:
            return sifted(candidates, "kept", reasons, rejections)

        parsed = sifted(proposed, "parsed", map(filters.flaw_of_wording, proposed), rejections)
        kept = self.verified([each for each in parsed if each.request.has_answer], asker, rejections)
        kept = sifted(kept, "verified", map(filters.answered_in_too_few, kept), rejections)
        of_users = [each for each in kept if each.request.given]  # they go through no filter: they are what they are
        kept = [each for each in kept if not each.request.given]
        fitted = None if self.embedder is None else self._fitted(self.embedder)
        if fitted is not None:
            excerpts = [each.excerpts for each in kept]
            asked = [each.question for each in kept]
            kept = passing(kept, filters.reject_irrelevant(asked, excerpts, fitted, self.relevance_threshold))
        kept = in_order([*of_users, *kept])
        if self.check_answers:
            kept = passing(kept, filters.unanswerable(kept, asker))
            kept = passing(kept, filters.answered_by_a_part(kept, asker))
        open_ones = [each for each in parsed if not each.request.has_answer]
        found = filters.answered_after_all(open_ones, self.corpus, self.headings, self.chunker, asker)
        kept = in_order([*kept, *passing(open_ones, found)])
        # Last, so that none is lost to one that is not kept itself, and users' questions first, which give way to none.
        kept = sorted(passing(kept, filters.contradicted(kept)), key=lambda each: not each.request.given)
        kept = passing(kept, filters.same_wording(kept))
        if fitted is not None:
            asked = [each.question for each in kept]
            kept = passing(kept, filters.reject_near_duplicates(asked, fitted, self.dedup_threshold))
        return in_order(kept)

    def _fitted(self, given: Embedder) -> Embedder:
        """Return what makes vectors; a provider's embedder with a cache, so that no text is paid for twice."""
        embedder: Any = CachedEmbedder(given, self.root) if isinstance(given, RemoteEmbedder) else given
        return as_fitted(embedder.fit([document.content for document in self.corpus]), embedder)


# Token level: the quotes that answer a question, found in the documents.


_Place = tuple[CharacterSpan, ...]
_Quoted = Candidate[CharacterSpan]


class TokenLevelDataGenerator(SyntheticDataGenerator[CharacterSpan]):
    """Generator of questions with the spans that answer them, independent of any chunker.

    One call writes questions, one more for each question copies out what answers it, verbatim. Code finds these quotes
    in what was shown, as it finds people's: up to white space, typography and markup. What is not found, such as a
    paraphrase, is left out, and so is a short text that stands there several times; a question without any quote is
    rejected.

    The parameters are those of `SyntheticDataGenerator`; its `chunk_registry` has the quotes as position-aware chunks.
    """

    level: ClassVar[Level[Any]] = TOKEN
    prompts = "questions", "quotes"
    form = AskedQuestions
    shown = staticmethod(passages)

    @cached_property
    def _locator(self) -> QuoteLocator:
        return QuoteLocator.of(self.corpus)

    def sections(self) -> list[Section]:
        """Return all documents in parts of whole paragraphs."""
        return sections_of(self.corpus, self.section_size, self.headings)

    def verified(self, candidates: Sequence[_Quoted], asker: Asker, rejections: list[Rejection]) -> list[_Quoted]:
        """Return the questions with the places of their quotes; those of which no quote is found are rejected."""
        asked = [messages for each in candidates for _, messages in self.verifying(each.request, each.question)]
        found: list[_Quoted] = []
        for candidate, answer in zip(candidates, asker.ask(asking.Quotes, asked, "Asking for quotes"), strict=True):
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", "request for quotes failed", str(answer)))
                continue
            quotes = dict.fromkeys(filter(str.strip, answer.quotes))
            placed = [self._located(quote, candidate.request.sections) for quote in quotes]
            answers = distinct((each for each in placed if isinstance(each, Answer)), self.corpus)
            failed = [each for each in placed if not isinstance(each, Answer)]
            if not answers:
                rejections.append(rejected(candidate, "verified", *(failed[0] if failed else ("no quote", ""))))
                continue
            rejections += [rejected(candidate, "verified", *reason, questions=0) for reason in failed]
            verified = replace(candidate, answers=tuple(answers), evidence=tuple(map(self._evidence, answers)))
            found.append(filters.without_question(verified, rejections))
        return sifted(found, "verified", map(filters.flaw_of_quotes, found), rejections)

    def truth(self, query: Query, candidate: _Quoted) -> TokenLevelGroundTruth:
        """Return the ground truth of a question, and keep its spans in the registry."""
        truth = TokenLevelGroundTruth(query, candidate.answers)
        for span in truth.labels:
            self.chunk_registry.register_pa_chunk(PositionAwareChunk.of(self.corpus[span.doc_id], span.start, span.end))
        return truth

    def _located(self, quote: str, sections: Sequence[Section]) -> Answer[CharacterSpan] | Reason:
        """Return where a quote stands in the sections, as ground truth takes it; or why it is not taken.

        If it stands there several times, or elsewhere too, and is long enough to be the same wherever it stands, each
        place answers: they are alternatives.
        """
        locator = self._locator
        docs = tuple(dict.fromkeys(section.doc_id for section in sections))
        found = [place for doc_id in docs for place in locator.locate(quote, doc_id, MOST_OCCURRENCES + 1).places]
        inside = [place for place in found if _is_shown(place, sections)]
        if not inside:
            if found or locator.locate(quote, None, 1).places:
                return "quote not in what was shown", quote
            advice = locate_quote(quote, docs[0], locator, DocumentResolver(self.corpus)).advice
            return "quote not in the documents", f"{quote}; {advice}" if advice else quote
        valid = [place for place in inside if not self._flaw(place)]
        if not valid:
            return self._flaw(inside[-1]), quote
        if len(valid) > 1 and not (is_long(quote) and len({self._text_shown(place) for place in valid}) == 1):
            return "ambiguous quote", f"{len(valid)} places in what was shown: {quote}"
        if any(len(place) > 1 for place in valid):  # "A … B": of the two together nothing is a copy
            return Answer(tuple(valid))
        spans = [place[0] for place in valid]
        others = (copy for copy in copies_of(spans[0], locator.verbatim) if not any(map(copy.overlaps, spans)))
        copies = [copy for copy in others if not self._flaw((copy,))]
        return Answer(tuple((place,) for place in (*spans, *copies)))

    def _flaw(self, place: _Place) -> str:
        """Return why a place answers nothing: a part of it is not shown, or is struck out; "" if it is all right."""
        markups = [(self._locator.markup(span), span.start, span.end) for span in place]
        if not all(markup.shows(start, end) for markup, start, end in markups):
            return "quote of text that readers do not see"
        return "quote of text that is struck out" if any(struck_out(*each) == "all" for each in markups) else ""

    def _text_shown(self, place: _Place) -> str:
        """Return the text of a place as readers see it, up to white space."""
        parts = [self._locator.markup(span).shown(span.start, span.end) for span in place]
        return " ".join(" ".join(parts).split())

    def _evidence(self, answer: Answer[CharacterSpan]) -> Evidence:
        """Return the text of the first place of an answer, and all of its places."""
        first, documents = answer.reference[0], frozenset(span.doc_id for span in answer.units)
        text = " … ".join(span.text for span in answer.reference)
        return Evidence(text, first.doc_id, documents, self.headings.at(first.doc_id, first.start), answer.units)


def _is_shown(place: _Place, sections: Iterable[Section]) -> bool:
    """Return whether all of a place is in one of the sections."""
    chunks = (chunk for section in sections for chunk in section.chunks)
    return any(isinstance(chunk, PositionAwareChunk) and _covers((chunk,), place) for chunk in chunks)


def distinct(answers: Iterable[Answer[CharacterSpan]], corpus: Corpus) -> list[Answer[CharacterSpan]]:
    """Return answers of which none is a part of another; spans that overlap or touch are one.

    Args:
        answers: The answers to a question, in their order.
        corpus: The documents.
    """
    listed = list(answers)
    whole = merged([each.units for each in listed if len(each.units) == 1], corpus)
    kept = dict.fromkeys(
        each if len(each.units) > 1 else Answer((next(place for place in whole if _covers(place, each.units)),))
        for each in listed
    )
    return [
        each for each in kept if not any(other != each and _covers(other.reference, each.reference) for other in kept)
    ]


def _covers(outer: Sequence[CharacterSpan | PositionAwareChunk], inner: _Place) -> bool:
    return all(
        any(one.doc_id == span.doc_id and one.start <= span.start and span.end <= one.end for one in outer)
        for span in inner
    )


# Chunk level: the chunks that answer a question, as the model names them.


_Cited = Candidate[ChunkId]
_BACKSLASH = r"\\["
_LIKE_AN_ID = re.compile(r"\[(?=\s*(?:pa_)?chunk_)", re.IGNORECASE)


class ChunkLevelDataGenerator(SyntheticDataGenerator[ChunkId]):
    """Generator of questions with the chunks that answer them, bound to one chunker.

    One call writes questions and names the chunks that answer each. An id that does not exist, or was not shown, is
    left out; a question without any chunk is rejected.

    Args:
        llm_client: As of `SyntheticDataGenerator`, whose other parameters it has, too.
        corpus: The documents.
        chunker: The chunker that the evaluation uses.

    Attributes:
        chunk_registry: All chunks of the documents.
    """

    level: ClassVar[Level[Any]] = CHUNK
    prompts = "chunk_questions", "chunks"
    form = CitedQuestions

    def __init__(
        self,
        llm_client: LLMClient | LanguageModel,
        corpus: Corpus,
        chunker: Chunker | PositionAwareChunker | OwnChunker,
        **options: Unpack[GeneratorOptions],
    ) -> None:
        super().__init__(llm_client, corpus, **options)
        self.chunker = as_component(Chunker, chunker, "ChunkLevelDataGenerator")
        self._chunks = [chunk for chunk in chunk_corpus(corpus, self.chunker) if chunk.content.strip()]
        self.chunk_registry = ChunkRegistry(self._chunks)
        self.chunking = self.chunk_registry.fingerprint

    def sections(self) -> list[Section]:
        """Return chunks put together to sections, in their order."""
        return sections_of_chunks(self._chunks, self.section_size, self.headings)

    @staticmethod
    def shown(sections: Sequence[Section], beside: str) -> str:
        """Return chunks as prompts show them, each behind its id; a backslash marks what only looks like one."""
        chunks = (_by_id([section]).items() for section in sections)
        texts = [
            "\n\n".join(f"[{key}]: '{_LIKE_AN_ID.sub(_BACKSLASH, one.content)}'" for key, one in each)
            for each in chunks
        ]
        told = [{"document": each.doc_id, "heading": each.heading} for each in sections]
        return marked("chunks", texts, beside, told)

    def verified(self, candidates: Sequence[_Cited], asker: Asker, rejections: list[Rejection]) -> list[_Cited]:
        """Return the questions with the chunks that were shown; those that name none are rejected."""
        asked = [messages for each in candidates for _, messages in self.verifying(each.request, each.question)]
        answers = iter(asker.ask(asking.CitedChunks, asked, "Asking for chunks"))
        found: list[_Cited] = []
        for candidate in candidates:
            answer = next(answers) if candidate.request.given else None
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", "request for chunks failed", str(answer)))
            else:
                cited = candidate.cited if answer is None else tuple(answer.chunk_ids)
                found += self._checked(candidate, cited, rejections)
        return found

    def _checked(self, candidate: _Cited, cited: Sequence[ChunkId], rejections: list[Rejection]) -> list[_Cited]:
        """Return a question with the chunks of these that were shown; nothing, and a rejection, if there are none."""
        shown = _by_id(candidate.request.sections)
        known = [chunk_id for chunk_id in cited if chunk_id in shown]
        failed = [chunk_id for chunk_id in cited if chunk_id not in shown]
        reasons = ["chunk that was not shown" if one in self.chunk_registry else "unknown chunk id" for one in failed]
        if not known:
            reason = reasons[0] if reasons else "no chunk cited"
            rejections.append(rejected(candidate, "verified", reason, ", ".join(failed)))
            return []
        for reason, chunk_id in zip(reasons, failed, strict=True):
            rejections.append(rejected(candidate, "verified", reason, chunk_id, questions=0))
        evidence = tuple(self._evidence(shown[chunk_id]) for chunk_id in known)
        return [replace(candidate, answers=tuple(known), evidence=evidence)]

    def _evidence(self, chunk: AnyChunk) -> Evidence:
        documents = frozenset(each.doc_id for each in self.chunk_registry.occurrences(chunk.id))
        if not isinstance(chunk, PositionAwareChunk):
            return Evidence(chunk.content, chunk.doc_id, documents)
        heading = self.headings.at(chunk.doc_id, chunk.start)
        return Evidence(chunk.content, chunk.doc_id, documents, heading, self.chunk_registry.get_spans(chunk.id))

    def truth(self, query: Query, candidate: _Cited) -> ChunkLevelGroundTruth:
        """Return the ground truth of a question."""
        return ChunkLevelGroundTruth(query, candidate.answers)


def _by_id(sections: Sequence[Section]) -> dict[ChunkId, AnyChunk]:
    found: dict[ChunkId, AnyChunk] = {}
    for section in sections:
        for chunk in section.chunks:
            found.setdefault(canonical_chunk_id(chunk.id), chunk)
    return found
