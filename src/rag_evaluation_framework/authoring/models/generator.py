"""`SyntheticDataGenerator`: what both generators share, from what they are given to the saved dataset."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypedDict

from ...base.coroutines import as_coroutine
from ...base.files import is_object
from ...base.notes import collect_notes, note
from ...base.outside import shown
from ...components.embedders.cached import CachedEmbedder
from ...components.embedders.remote import RemoteEmbedder
from ...components.llms import AnthropicClient, KeptAnswers, LanguageModel
from ...components.providers.calls import Consumed, Prices
from ...components.retrievers.indexing import DEFAULT_CHUNKER
from ...contracts import Chunker, Embedder, LLMClient, PositionAwareChunker, QuestionRequest, QuestionStrategy, Section
from ...contracts.component import check_components, check_count, check_number, check_truth, component_name
from ...contracts.registry.building import describe
from ...contracts.registry.loading import load_installed
from ...contracts.roles import as_fitted
from ...data import ChunkRegistry, Dataset, GroundTruth, Query
from ...data.documents import Corpus, checked_corpus
from ...data.ids import QueryIds, QueryText
from ...data.levels import Level, U
from ...data.values import gives_items
from ...datasets.load import load_dataset
from ...datasets.native import file_state, replace_dataset, save_dataset
from ...errors import ConfigError, MissingDependency, ProviderError, RagEvalError
from ...runs.evaluation import DATASETS, LANGSMITH_NAME
from ...runs.store import ROOT, check_root
from . import filters
from .asking import AskedQuestions, Asker, CitedQuestions, FailedRequests, failed_requests, load_prompt, marked
from .candidates import (
    Candidate,
    Candidates,
    Funnel,
    Rejection,
    answered_in_too_few,
    in_order,
    parsed_questions,
    question_metadata,
    sifted,
)
from .strategies import Headings, SimpleQuestions

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
        path.parent.mkdir(parents=True, exist_ok=True)
        save_dataset(dataset, path)
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
    name: Any = model
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ConfigError(f"{owner}: model={shown(name)}; expected the name of a model, such as {DEFAULT_MODEL!r}")
    if isinstance(given, LanguageModel):
        if name is not None and name != given.model:
            raise ConfigError(f"{owner}: model={shown(name)}, and the language model is {given.model!r}; give one")
        return given if given.kept is not None else replace(given, kept=KeptAnswers(root))
    if name is None and isinstance(given, AnthropicClient):
        raise ConfigError(f"{owner}: model=None; expected the name of one of Anthropic's models")
    return LanguageModel(given, name or DEFAULT_MODEL, kept=KeptAnswers(root))


# Before anything is asked: calls, tokens and costs.

Messages: TypeAlias = list[dict[str, str]]

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

ASKING = "Asking for questions"
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
    prompt: ClassVar[str]
    """The name of the prompt with which it asks for questions."""
    form: ClassVar[type[AskedQuestions] | type[CitedQuestions]]
    """What questions are asked for as."""
    read: ClassVar[Any] = None
    """Reads the text of an answer, as of `LanguageModel.form`."""
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

    @abstractmethod
    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages of a request for questions."""

    @abstractmethod
    def verified(
        self, candidates: Sequence[Candidate[U]], asker: Asker, rejections: list[Rejection]
    ) -> list[Candidate[U]]:
        """Return the questions whose answers are in the documents; put the others among the rejections."""

    @abstractmethod
    def verifying(self, request: QuestionRequest, question: str) -> tuple[str, Messages] | None:
        """Return how it asks what answers a question: the name of the prompt, and the messages; None if it does not."""

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
            prompt = self.prompt if request.has_answer else WITHOUT_ANSWER
            yield prompt, 1, tokens(self._asking(request)), _QUESTION * request.questions
        if request.has_answer and (asked := self.verifying(request, "")):
            yield asked[0], request.questions, _QUESTION + tokens(asked[1]), _QUOTES
        if self.check_answers:
            check = _QUESTION + tokens(load_prompt(filters.CHECK).messages(question="", excerpts=""))
            parts = request.least_documents if request.has_answer and request.least_documents > 1 else 0
            given = _QUOTES if request.has_answer else filters.DEPTH * _PASSAGE
            yield filters.CHECK, request.questions * (1 + parts), check + given, _VERDICT

    def _asking(self, request: QuestionRequest) -> Messages:
        if request.has_answer:
            return self.asking(request)
        given = passages(request.sections, request.wish)
        return load_prompt(WITHOUT_ANSWER).messages(wish=request.wish, passages=given, count=request.questions)

    def _generated(self, name: str, queries_per_doc: int) -> Dataset[U]:
        """Generate, and return the dataset; tell what was lost."""
        self.rejections, self.failed, self.funnel = (), (), Funnel()
        planned, asker = self.plan(queries_per_doc), Asker(self.llm, self.max_concurrency)
        if self.llm.kept is not None:
            self.llm.kept.problem = None  # the disk may have room again
        rejections: list[Rejection] = []
        proposed = parsed_questions(planned, self._written([each for _, each in planned], asker), rejections)
        kept = self._kept(proposed, asker, rejections)
        self.rejections = tuple(rejections)
        self.funnel = Funnel.of(sum(request.questions for _, request in planned), rejections)
        self.failed = failed_requests(asker.failures)
        ids, entries = QueryIds(), list[GroundTruth[U]]()
        for each in kept:
            told = question_metadata(each, self.llm.model, self._prompts(each.request))
            entries.append(self.truth(Query(ids.of(each.question), QueryText(each.question), told), each))
        record = {
            "model": self.llm.model,
            "queries_per_doc": queries_per_doc,
            "strategies": [describe(strategy) for strategy in self.strategies],
            "section_size": self.section_size,
            "check_answers": self.check_answers,
            "prompt_versions": list(dict.fromkeys(text for _, each in planned for text in self._prompts(each))),
            "filters": {"embedder": None}
            if self.embedder is None
            else {
                "embedder": describe(self.embedder),
                "relevance_threshold": self.relevance_threshold,
                "dedup_threshold": self.dedup_threshold,
            },
            "funnel": self.funnel.record(),
            FAILED_REQUESTS: sum(len(each.messages) for each in self.failed),
        }
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
        found: dict[int, list[Candidate[U]] | ProviderError] = {
            number: [Candidate(question, request) for question in request.given]
            for number, request in enumerate(requests)
        }
        for has_answer, form, read in ((True, self.form, self.read), (False, AskedQuestions, None)):
            numbers = [n for n, each in enumerate(requests) if not each.given and each.has_answer is has_answer]
            answers = asker.ask(form, [self._asking(requests[number]) for number in numbers], ASKING, read)
            for number, answer in zip(numbers, answers, strict=True):
                asked = () if isinstance(answer, ProviderError) else answer.questions
                cited = ((each.question, tuple(getattr(each, "chunk_ids", ()))) for each in asked)
                written = [Candidate[U](question, requests[number], cited=ids) for question, ids in cited]
                found[number] = answer if isinstance(answer, ProviderError) else written
        return [found[number] for number in range(len(requests))]

    def _kept(self, proposed: list[Candidate[U]], asker: Asker, rejections: list[Rejection]) -> list[Candidate[U]]:
        """Return the questions that are kept, in the order of the plan; put the others among the rejections."""

        def passing(candidates: list[Candidate[U]], reasons_of: Callable[[Candidates], Any]) -> list[Candidate[U]]:
            return sifted(candidates, "kept", reasons_of(candidates), rejections)

        parsed = sifted(proposed, "parsed", map(filters.flaw_of_wording, proposed), rejections)
        kept = self.verified([each for each in parsed if each.request.has_answer], asker, rejections)
        kept = sifted(kept, "verified", map(answered_in_too_few, kept), rejections)
        of_users = [each for each in kept if each.request.given]  # they go through no filter: they are what they are
        kept = [each for each in kept if not each.request.given]
        fitted = None if self.embedder is None else self._fitted(self.embedder)
        if fitted is not None:
            kept = passing(
                kept,
                lambda found: filters.reject_irrelevant(
                    _wordings(found), [each.excerpts for each in found], fitted, self.relevance_threshold
                ),
            )
        kept = in_order([*of_users, *kept])
        if self.check_answers:
            kept = passing(kept, partial(filters.unanswerable, asker=asker))
            kept = passing(kept, partial(filters.answered_by_a_part, asker=asker))
        searched = partial(
            filters.answered_after_all, corpus=self.corpus, headings=self.headings, chunker=self.chunker, asker=asker
        )
        kept = in_order([*kept, *passing([each for each in parsed if not each.request.has_answer], searched)])
        # Last, so that none is lost to one that is not kept itself, and users' questions first, which give way to none.
        kept = sorted(passing(kept, filters.contradicted), key=lambda each: not each.request.given)
        kept = passing(kept, filters.same_wording)
        if fitted is not None:
            told = self.dedup_threshold
            kept = passing(kept, lambda found: filters.reject_near_duplicates(_wordings(found), fitted, told))
        return in_order(kept)

    def _fitted(self, given: Embedder) -> Embedder:
        """Return what makes vectors; a provider's embedder with a cache, so that no text is paid for twice."""
        embedder: Any = CachedEmbedder(given, self.root) if isinstance(given, RemoteEmbedder) else given
        return as_fitted(embedder.fit([document.content for document in self.corpus]), embedder)


def _wordings(candidates: Candidates) -> list[str]:
    return [each.question for each in candidates]
