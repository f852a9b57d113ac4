"""`SyntheticDataGenerator`: what both generators share, from what they are given to the saved dataset."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypedDict

from rag_evaluation_framework.base.coroutines import awaited
from rag_evaluation_framework.base.files import is_object
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.optional import install_command
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts import Embedder, LLMClient, QuestionRequest, QuestionStrategy
from rag_evaluation_framework.contracts.component import (
    check_components,
    check_count,
    check_number,
    check_truth,
    component_name,
)
from rag_evaluation_framework.data import ChunkRegistry, Dataset, GroundTruth, Query
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.ids import QueryIds, QueryText, content_digest
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.values import gives_items
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.datasets.native import file_state, replace_dataset, save_dataset
from rag_evaluation_framework.embedders.lsa import LsaEmbedder
from rag_evaluation_framework.errors import ConfigError, MissingDependency, ProviderError, RagEvalError
from rag_evaluation_framework.experiments.evaluation import DATASETS, LANGSMITH_NAME
from rag_evaluation_framework.llms import AnthropicClient, KeptAnswers, LanguageModel
from rag_evaluation_framework.providers.usage import Prices
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.results.store import ROOT, check_root
from rag_evaluation_framework.synthesis.asking import Asker, FailedRequests, failed_requests
from rag_evaluation_framework.synthesis.candidates import Funnel, Rejection, question_metadata
from rag_evaluation_framework.synthesis.estimate import Estimate, calls_of, estimated
from rag_evaluation_framework.synthesis.filtering import QualityFilters
from rag_evaluation_framework.synthesis.filters import COPIED_SHARE, DEDUP_THRESHOLD, RELEVANCE_THRESHOLD, Threshold
from rag_evaluation_framework.synthesis.generation import Generation, Labeller, Steps
from rag_evaluation_framework.synthesis.strategies import SimpleQuestions

_PUSH = "rag_evaluation_framework.integrations.langsmith_datasets:push_dataset"  # a door upwards
FAILED_REQUESTS = "failed_requests"
"""What `metadata.generation` calls the number of requests that failed: with any, there is more to come."""

_FINGERPRINT = "fingerprint"
_GENERATION = "generation"
_OUTCOMES = ("funnel", "filters", FAILED_REQUESTS, _FINGERPRINT)  # of a generation, beside what was asked for
_ENDINGS = (".json", ".jsonl")
_MOST = 1000
_LONGEST = 200  # of the 255 that most file systems have, beside endings, numbers and what is put before


def digest_of(planned: Sequence[tuple[str, QuestionRequest]]) -> str:
    """Return a digest of what is asked for, and of what is shown: the questions of users are in no other record."""
    told = [
        [strategy, request.wish, request.given, request.questions, [section.text for section in request.sections]]
        for strategy, request in planned
    ]
    return content_digest(json.dumps(told))


def check_place(name: Any, root: str | Path) -> None:
    """Check that a dataset can be saved by a name, here and in LangSmith: better before it is paid for than after.

    Raises:
        ConfigError: It cannot.
    """
    if not isinstance(name, str) or not name.strip() or Path(name).name != name or not name.strip("."):
        raise ConfigError(f"dataset_name={shown(name)}; expected a name without '/', such as 'my-questions'")
    if not name.isprintable():
        raise ConfigError(f"dataset_name={shown(name)}; expected characters that can be printed")
    if len(name.encode()) > _LONGEST:
        raise ConfigError(f"dataset_name={shown(name)}; expected at most {_LONGEST} bytes, as files are called so")
    if name.endswith(_ENDINGS):
        raise ConfigError(f"dataset_name={shown(name)}; expected a name without an ending: {Path(name).stem!r}")
    check_root(Path(root), DATASETS)
    taken = next((path for ending in _ENDINGS if (path := Path(root) / DATASETS / f"{name}{ending}").is_dir()), None)
    if taken is not None:
        raise ConfigError(f"{taken} is a folder, so no dataset of this name can be saved; choose another dataset_name=")


def saved(dataset: Dataset[Any], root: str | Path) -> tuple[Dataset[Any], Path]:
    """Save a dataset in the local store by its name, and return it and its file.

    A file that holds the same questions with the same labels is left as it is. If it is what the same generation left
    when requests failed, and nobody has edited it, it is replaced. What holds anything else stays, and the dataset gets
    a name of its own, which is noted.

    Raises:
        DatasetError: It cannot be saved.
    """
    folder = Path(root) / DATASETS
    for number in range(1, _MOST):
        named = _marked(replace(dataset, name=dataset.name if number == 1 else f"{dataset.name}-{number}"))
        files = [path for ending in _ENDINGS if (path := folder / f"{named.name}{ending}").exists()]
        path = files[0] if files else folder / f"{named.name}.json"
        state = file_state(path)
        there = _read(path, dataset) if files else None
        if not files:
            folder.mkdir(parents=True, exist_ok=True)
            save_dataset(named, path)
        elif there is None:
            continue
        elif _is_left_incomplete(there, named):
            replace_dataset(named, path, state)
        elif there.content_hash != named.content_hash:
            continue
        if number > 1:
            note(f"{folder / dataset.name}.json holds other questions and stays; the new ones are in {path}")
        return named, path
    raise ConfigError(f"{folder}: has {_MOST:,} datasets called {dataset.name!r}; choose another dataset_name=")


def _read(path: Path, like: Dataset[Any]) -> Dataset[Any] | None:
    """Return the dataset of a file, None if it is none of this level."""
    with collected():  # what is noted about a file that is not used concerns nobody
        try:
            return load_dataset(path, like.level, corpus=like.corpus)
        except RagEvalError:
            return None


def _marked(dataset: Dataset[Any]) -> Dataset[Any]:
    """Return a dataset; one that is incomplete with what tells whether its file is edited later."""
    generation = dataset.metadata[_GENERATION]
    if not generation[FAILED_REQUESTS]:
        return dataset
    marked = {**generation, _FINGERPRINT: _fingerprint(dataset)}
    return replace(dataset, metadata={**dataset.metadata, _GENERATION: marked})


def _is_left_incomplete(there: Dataset[Any], dataset: Dataset[Any]) -> bool:
    """Return whether a dataset is what the generation of another one left incomplete, and nobody has edited it."""
    left: Any = there.metadata.get(_GENERATION)
    is_ours = is_object(left) and _FINGERPRINT in left and left[_FINGERPRINT] == _fingerprint(there)
    return is_ours and _asked_for(there) == _asked_for(dataset)


def _fingerprint(dataset: Dataset[Any]) -> str:
    """Return what is another one after any edit of a dataset, a mark of a review among them."""
    metadata = {key: value for key, value in dataset.metadata.items() if key != LANGSMITH_NAME}
    metadata[_GENERATION] = {key: value for key, value in metadata[_GENERATION].items() if key != _FINGERPRINT}
    told = [[dict(entry.query.metadata), [*map(str, entry.labels)]] for entry in dataset]
    return content_digest(json.dumps([dataset.content_hash, told, metadata], sort_keys=True))


def _asked_for(dataset: Dataset[Any]) -> str:
    """Return what a generation is about: documents, model, prompts and filters, but for what came out of it."""
    generation = dataset.metadata[_GENERATION]
    asked = {key: value for key, value in generation.items() if key not in _OUTCOMES}
    filters = [generation["filters"][key] for key in ("embedder", "copied_share")]  # thresholds may be calibrated
    return json.dumps([dataset.corpus_hash, dataset.chunking, asked, filters], sort_keys=True)


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


class GeneratorOptions(TypedDict, total=False):
    """The parameters that all generators share, as `SyntheticDataGenerator` describes them."""

    model: str | None
    strategies: Sequence[QuestionStrategy]
    section_size: int
    embedder: Embedder | None
    relevance_threshold: float
    dedup_threshold: float
    copied_share: float | None
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


# `SyntheticDataGenerator`: what both generators share, from the plan to the saved dataset.

SECTION_SIZE = 6000
"""Characters, about 1,500 tokens of English."""


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
        embedder: What tells if a question belongs to its excerpts, and if it is asked twice; None to check neither. The
            default needs the extra `local`; without it that is noted, and neither is checked.
        relevance_threshold: The least cosine of a question and the excerpt that is least like it. The default, which is
            published for OpenAI's text-embedding-3, is calibrated for other embedders. What is given counts as it is,
            also 0.40.
        dedup_threshold: The highest cosine of two questions; likewise.
        copied_share: The share of a question's words, in one run, from which on it is copied from its excerpt; None
            to allow that.
        check_answers: Whether a second call judges if what was verified answers the question in full.
        max_concurrency: How many requests are made side by side.
        root: The folder of runs and datasets.

    Attributes:
        llm: The model.
        corpus: The documents.
        funnel: How many questions the last generation asked for, and where each of the others was lost.
        rejections: What the last generation did not take, and why.
        failed: The requests of the last generation that failed; each lost its questions.
        path: The file of the dataset that it saved; None if there was no question.
        langsmith_url: Where its dataset is in LangSmith; None if it is not there.

    Raises:
        ConfigError: An argument cannot be used.
        CorpusError: The corpus is not a `Corpus`, or is empty.
    """

    def __init__(
        self,
        llm_client: LLMClient | LanguageModel,
        corpus: Corpus,
        *,
        model: str | None = None,
        strategies: Sequence[QuestionStrategy] = (SimpleQuestions(),),
        section_size: int = SECTION_SIZE,
        embedder: Embedder | None = LsaEmbedder(),  # noqa: B008  a value, which is not changed
        relevance_threshold: float = RELEVANCE_THRESHOLD,
        dedup_threshold: float = DEDUP_THRESHOLD,
        copied_share: float | None = COPIED_SHARE,
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
        for name, threshold in (("relevance_threshold", relevance_threshold), ("dedup_threshold", dedup_threshold)):
            Threshold.given(threshold, f"{owner}: {name}")
        if copied_share is not None:
            check_number(owner, "copied_share", copied_share, most=1)
        self.strategies: tuple[QuestionStrategy, ...] = tuple(strategies) if gives_items(strategies, str) else ()
        if not self.strategies:
            raise ConfigError(f"{owner}: strategies={shown(strategies)}; expected a list, such as [SimpleQuestions()]")
        for strategy in self.strategies:
            check_components(owner, strategies=(strategy, QuestionStrategy))
        self.corpus = checked_corpus(corpus)
        self.llm = language_model(owner, llm_client, model, root)
        self.section_size, self.check_answers, self.max_concurrency = section_size, check_answers, max_concurrency
        self.root = root
        self._filters = QualityFilters(self.corpus, embedder, relevance_threshold, dedup_threshold, copied_share, root)
        self._labeller = self.labeller()
        self.funnel = Funnel()
        self.rejections: tuple[Rejection, ...] = ()
        self.failed: tuple[FailedRequests, ...] = ()
        self.path: Path | None = None
        self.langsmith_url: str | None = None

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
            MissingDependency: Questions without an answer are asked for, and the embedder is not installed.
            ProviderError: Every request for questions failed, or no other would be answered: the key is refused, the
                quota is used up, or the provider fails again and again. What was answered is kept, to go on with.
        """
        owner = type(self).__name__
        check_count(owner, "queries_per_doc", queries_per_doc)
        check_truth(owner, "upload_to_langsmith", upload_to_langsmith)
        name = f"rag-eval-{self._labeller.level.evaluation_type}-v1" if dataset_name is None else dataset_name
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

    agenerate = awaited(generate)
    """Does what `generate` does in a thread, for code that runs in an event loop: notebooks and services.

    If the task is cancelled, nothing else is asked; what was answered is kept.
    """

    def plan(self, queries_per_doc: int = 5) -> list[tuple[str, QuestionRequest]]:
        """Return the requests for questions, each with the name of its strategy; nothing is asked.

        Raises:
            ConfigError: The number is below 1, a strategy plans something else, or it asks for questions without an
                answer and there is no embedder, or nothing is judged.
            MissingDependency: It asks for questions without an answer, and the embedder is not installed.
        """
        check_count(type(self).__name__, "queries_per_doc", queries_per_doc)
        sections = self._labeller.sections()
        planned: list[tuple[str, QuestionRequest]] = []
        for strategy in self.strategies:
            given: Any = strategy.plan(sections, queries_per_doc)
            for request in given if gives_items(given, str) else (given,):
                if not isinstance(request, QuestionRequest):
                    name = component_name(strategy)
                    raise ConfigError(f"{name}: its plan has {shown(request)}; expected a list of QuestionRequest")
                planned.append((type(strategy).__name__, request))
        self._check_searchable([request for _, request in planned])
        return planned

    def estimate(self, queries_per_doc: int = 5) -> Estimate:
        """Return how many calls and tokens a generation needs, and what it costs; nothing is asked."""
        requests = [request for _, request in self.plan(queries_per_doc)]
        labeller, steps = self._labeller, Steps(self._labeller, self.check_answers)
        searched = () if all(request.has_answer for request in requests) else steps.searched
        calls = (
            call
            for request in requests
            for call in calls_of(request, labeller.asking, labeller.names(request), steps.follow_ups(request))
        )
        embedded = self._filters.embedded([(request, labeller.names(request)) for request in requests], searched)
        prices = Prices(self.llm.price_in, self.llm.price_out)
        questions = sum(request.questions for request in requests)
        return estimated(questions, calls, self.llm.max_tokens, prices, embedded, self._filters.embedding_price)

    @abstractmethod
    def labeller(self) -> Labeller[U]:
        """Return what is done at the level; asked once, when everything else is set."""

    @property
    def chunk_registry(self) -> ChunkRegistry:
        """What answers the questions, as position-aware chunks, or the chunks that were shown."""
        return self._labeller.chunk_registry

    def _check_searchable(self, requests: Sequence[QuestionRequest]) -> None:
        """Check that answers of questions that have none can be looked for, and be judged; raise ConfigError if not."""
        if all(request.has_answer for request in requests):
            return
        why = "questions without an answer need it: two retrievers look for one, and what they find is judged"
        if self._filters.embedder is None:
            raise ConfigError(f"{type(self).__name__}: embedder=None; {why}")
        if not self.check_answers:
            raise ConfigError(f"{type(self).__name__}: check_answers=False; {why}")
        if missing := self._filters.missing:
            told = f"{self._filters.embedder.name} is not installed: {install_command(*missing)}; {why}"
            raise MissingDependency(f"{type(self).__name__}: {told}")

    def _generated(self, name: str, queries_per_doc: int) -> Dataset[U]:
        """Generate, and return the dataset; tell what was lost."""
        self.rejections, self.failed, self.funnel = (), (), Funnel()
        planned, asker = self.plan(queries_per_doc), Asker(self.llm, self.max_concurrency)
        if self.llm.kept is not None:
            self.llm.kept.problem = None  # the disk may have room again
        generation = Generation(self._labeller, self._filters, self.check_answers, asker)
        kept = generation.kept(planned)
        self.rejections, self.funnel = tuple(generation.rejections), generation.funnel
        self.failed = failed_requests(asker.failures)
        steps, ids = Steps(self._labeller, self.check_answers), QueryIds()
        entries: list[GroundTruth[U]] = []
        for each in kept:
            told = question_metadata(each, self.llm.model, steps.prompts(each.request))
            entries.append(self._labeller.truth(Query(ids.of(each.question), QueryText(each.question), told), each))
        prompts = [version for _, request in planned for version in steps.prompts(request)]
        record = {
            "model": self.llm.model,
            "queries_per_doc": queries_per_doc,
            "strategies": [describe(strategy) for strategy in self.strategies],
            "section_size": self.section_size,
            "check_answers": self.check_answers,
            "plan": digest_of(planned),
            "prompt_versions": list(dict.fromkeys(prompts)),
            "filters": self._filters.used,
            "funnel": self.funnel.record(),
            FAILED_REQUESTS: sum(len(each.messages) for each in self.failed),
        }
        if self._labeller.chunking is not None:
            record["chunker"] = describe(self._labeller.passages)
        level, chunking = self._labeller.level, self._labeller.chunking
        about = {"generation": record}
        return Dataset(entries, level, name=name, corpus=self.corpus, chunking=chunking, metadata=about)
