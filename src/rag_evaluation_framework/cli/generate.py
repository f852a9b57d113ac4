"""`rag-eval generate`: a language model writes a dataset about a folder of documents."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import rag_evaluation_framework as rag
from rag_evaluation_framework import llms, providers, registry, report, synthesis
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.cli import paths, run_options
from rag_evaluation_framework.cli.endings import Found
from rag_evaluation_framework.cli.output import (
    arriving,
    command_lines,
    components_print_to_stderr,
    print_json,
    print_result,
    print_text,
    stdout,
)
from rag_evaluation_framework.cli.paths import options_of
from rag_evaluation_framework.errors import ConfigError, Interrupted, ProviderError, RagEvalError
from rag_evaluation_framework.results import store

if TYPE_CHECKING:
    from rag_evaluation_framework.contracts import QuestionStrategy

# Advice of the library in the words of the command line: parameters are named as the options that set them.

_FLAGS = {"check_answers=False": "--no-check-answers", "embedder=None": "--embedder none"}
_PARAMETERS = (
    *("copied_share", "dataset_name", "dedup_threshold", "embedder", "max_retries", "max_tokens"),
    *("queries_per_doc", "relevance_threshold", "structure"),
)
_NAMED = re.compile(rf"(\()?\b({'|'.join(_PARAMETERS)})(?(1)\)|=(?=(\S?)))")


def as_options(text: str) -> str:
    """Return a text of ours in which `max_tokens=9` is `--max-tokens 9`, and `(max_tokens)` is `(--max-tokens)`."""
    for parameter, option in _FLAGS.items():
        text = text.replace(parameter, option)

    def option_of(found: re.Match[str]) -> str:
        option = f"--{found[2].replace('_', '-')}".replace("--dataset-name", "--name")
        return f"({option})" if found[1] else f"{option}{' ' if found[3] else ''}"

    return _NAMED.sub(option_of, text)


@contextmanager
def advising_on_options() -> Generator[None]:
    """Name options in the errors about parameters and providers that are raised inside.

    Raises:
        RagEvalError: In place of such an error.
    """
    try:
        yield
    except (ConfigError, ProviderError) as error:
        raise RagEvalError(as_options(str(error))) from error


class Strategy(StrEnum):
    """The strategies that need no file."""

    simple = "simple"
    multi_passage = "multi-passage"
    cross_document = "cross-document"
    no_answer = "no-answer"


def generate(
    *,
    corpus: Path,
    glob: paths.Glob = None,
    exclude: paths.Exclude = None,
    model: str | None = None,
    provider: Literal["openai", "anthropic"] = "openai",
    base_url: str | None = None,
    name: str | None = None,
    queries_per_doc: Annotated[int, typer.Option(min=1)] = 5,
    level: Literal["token-level", "chunk-level"] = "token-level",
    chunker: str | None = None,
    strategy: list[Strategy] | None = None,
    dimensions: Path | None = None,
    real_questions: Path | None = None,
    section_size: Annotated[int, typer.Option(min=1)] = 6000,
    embedder: str = "lsa",
    relevance_threshold: Annotated[float | None, typer.Option(min=-1, max=1)] = None,
    dedup_threshold: Annotated[float | None, typer.Option(min=-1, max=1)] = None,
    copied_share: str | None = None,
    no_check_answers: bool = False,
    max_concurrency: Annotated[int, typer.Option(min=1)] = 4,
    max_retries: Annotated[int, typer.Option(min=0)] = 5,
    max_tokens: Annotated[int | None, typer.Option(min=1)] = None,
    structure: Literal["json_schema", "json_object", "none"] = "json_schema",
    price_in: Annotated[float | None, typer.Option(min=0)] = None,
    price_out: Annotated[float | None, typer.Option(min=0)] = None,
    langsmith: bool = False,
    root: run_options.Root = None,
    no_import: run_options.NoImport = False,
    dry_run: bool = False,
    as_json: run_options.AsJson = False,
) -> None:
    """Let a language model write questions about documents; code finds what it quotes, or rejects it.

    Needs OPENAI_API_KEY or ANTHROPIC_API_KEY. Answers are kept: an interrupted command goes on when it is run again.
    Exit codes: 0 done, 1 no question was kept, or the dataset is incomplete, as requests failed; 2 it was not made.

    Args:
        corpus: The folder of documents.
        model: The name of the model; by default gpt-5-mini.
        provider: Whose protocol: openai is that of most local servers, too.
        base_url: The address of the server; by default that of the environment, or the provider's.
        name: The name of the dataset; by default rag-eval-token-level-v1, or of its level.
        queries_per_doc: How many questions are asked for each document.
        level: Whether spans are labelled, or chunks of --chunker.
        chunker: At chunk level: for example recursive-character:chunk_size=200.
        strategy: Which questions are asked; repeatable. By default simple, if no file says others.
        dimensions: A YAML file of personas, difficulty, query_types, styles.
        real_questions: Questions of users, one per line, or a column 'question' of a .csv: they and others like them
            are asked.
        section_size: The most characters that are shown in one piece.
        embedder: What compares questions and quotes, such as openai; none leaves that out.
        relevance_threshold: The least cosine of a question and a quote; by default 0.40, calibrated.
        dedup_threshold: The highest cosine of two questions; by default 0.70, calibrated.
        copied_share: From which share of its words on a question is copied; by default 0.6, none allows all.
        no_check_answers: Do not judge each answer by a call of its own.
        max_concurrency: How many requests are made side by side.
        max_retries: How often a request that fails is made again.
        max_tokens: The most tokens of an answer.
        structure: How answers are asked for, where a server knows no schemas: json_object or none.
        price_in: What a million tokens cost that are read.
        price_out: What a million tokens cost that are written.
        langsmith: Push the dataset to LangSmith, too.
        dry_run: Ask for nothing: print how many calls and tokens it would take.
        as_json: Print one JSON object, with all rejections.
    """
    documents = paths.documents(corpus, glob, exclude, imports=not no_import)
    settings: dict[str, Any] = {
        "max_retries": max_retries,
        "max_tokens": max_tokens,
        "structure": structure,
        "price_in": price_in,
        "price_out": price_out,
    }
    given: dict[str, Any] = {
        "strategies": _strategies(strategy or [], dimensions, real_questions),
        "section_size": section_size,
        "embedder": None if embedder == "none" else registry.build("embedder", embedder, imports=not no_import),
        **_filters(relevance_threshold, dedup_threshold, copied_share),
        "check_answers": not no_check_answers,
        "max_concurrency": max_concurrency,
        "root": root or store.ROOT,
    }
    with components_print_to_stderr(), advising_on_options(), collected() as notes:
        language_model = _language_model("none" if dry_run else provider, base_url, model, settings)
        if (level == "chunk-level") != (chunker is not None):
            raise ConfigError("--level chunk-level and --chunker go together: its labels are the chunks of one chunker")
        cut_by = [] if chunker is None else [registry.build("chunker", chunker, imports=not no_import)]
        kind: Any = rag.ChunkLevelDataGenerator if cut_by else rag.TokenLevelDataGenerator
        generator: synthesis.SyntheticDataGenerator[Any] = kind(language_model, documents, *cut_by, **given)
        done: synthesis.Estimate | providers.Usage
        if dry_run:
            done = generator.estimate(queries_per_doc)
        else:
            done = _run(lambda: generator.generate(queries_per_doc, langsmith, name), generator)
    for text in notes:
        if text != generator.funnel.told:
            note(as_options(text))
    if isinstance(done, synthesis.Estimate):
        print_result(asdict(done), partial(report.estimate_page, done), as_json=as_json)
        return
    with arriving(f"the dataset is in {generator.path}"):
        if as_json:
            print_json(_record(generator, done))
        else:
            _show(generator, done, options_of(corpus, glob, exclude), chunker)
    if generator.path is None or generator.failed:
        raise Found


def _run(work: Callable[[], object], generator: synthesis.SyntheticDataGenerator[Any]) -> providers.Usage:
    """Generate, and return what was asked of the model; of an interrupt, say what is kept.

    Raises:
        Interrupted: It was interrupted.
    """
    try:
        with providers.track_usage() as usage:
            work()
    except KeyboardInterrupt as error:
        kept = generator.llm.kept
        raise Interrupted(
            f"{'' if kept is None else f'what was answered is in {kept.folder}: '}the same command goes on from there"
        ) from error
    return usage


def _record(generator: synthesis.SyntheticDataGenerator[Any], usage: providers.Usage) -> dict[str, Any]:
    return {
        "dataset": None if generator.path is None else str(generator.path),
        "langsmith_url": generator.langsmith_url,
        "funnel": generator.funnel.record(),
        "rejections": [asdict(rejection) for rejection in generator.rejections],
        "failed_requests": [asdict(each) for each in generator.failed],
        "usage": [asdict(each) for each in usage.models],
        "answers_kept_before": 0 if generator.llm.kept is None else generator.llm.kept.used,
    }


def _show(
    generator: synthesis.SyntheticDataGenerator[Any], usage: providers.Usage, documents: list[str], chunker: str | None
) -> None:
    failed = [replace(each, messages=tuple(map(as_options, each.messages))) for each in generator.failed]
    kept = 0 if generator.llm.kept is None else generator.llm.kept.used
    saved = [str(place) for place in (generator.path, generator.langsmith_url) if place]
    page = report.generation_page(generator.funnel, generator.rejections, failed, usage.models, kept, saved)
    report.show(stdout(), page)
    if generator.path is not None and not failed:
        path = str(generator.path)
        command = ["dataset", "review", path, *documents]
        if chunker is not None:  # a review would show ids
            command = ["run", "--dataset", path, *documents, "--chunker", chunker]
        print_text(f"\nNext:{command_lines(command)}")


# Generators as the options describe them.

_SECONDS = 300.0  # until a request has failed: models that think take their time


def _language_model(
    provider: str, base_url: str | None, model: str | None, given: dict[str, Any]
) -> llms.LanguageModel:
    """Return the model of a provider, after checking that there is a key; of none, one that cannot be asked.

    Raises:
        ConfigError: There is no key, or no name of one of Anthropic's models.
        MissingDependency: The SDK is not installed.
    """
    if provider == "none":
        unasked: Any = SimpleNamespace(chat=None)
        return llms.LanguageModel(unasked, model or synthesis.DEFAULT_MODEL, **given)
    asked = providers.OPENAI if provider == "openai" else providers.ANTHROPIC
    if asked is providers.ANTHROPIC and model is None:
        raise ConfigError("--provider anthropic needs --model: the name of one of Anthropic's models")
    sdk = providers.sdk_client(asked, None, None, base_url, _SECONDS, "rag-eval generate")
    client = llms.AnthropicClient(client=sdk) if asked is providers.ANTHROPIC else sdk
    return llms.LanguageModel(client, model or synthesis.DEFAULT_MODEL, **given)


def _strategies(
    named: Sequence[Strategy], dimensions: Path | None, real_questions: Path | None
) -> list[QuestionStrategy]:
    """Return the strategies that are named, and those of files."""
    kinds: dict[Strategy, Callable[[], QuestionStrategy]] = {
        Strategy.simple: synthesis.SimpleQuestions,
        Strategy.multi_passage: synthesis.MultiPassageQuestions,
        Strategy.cross_document: synthesis.CrossDocumentQuestions,
        Strategy.no_answer: synthesis.NoAnswerQuestions,
    }
    found: list[QuestionStrategy] = [kinds[each]() for each in dict.fromkeys(named)]
    if dimensions is not None:
        found.append(synthesis.DimensionQuestions.from_file(dimensions))
    if real_questions is not None:
        found.append(synthesis.RealQuestions.from_file(real_questions))
    return found or [synthesis.SimpleQuestions()]


def _filters(relevance: float | None, dedup: float | None, copied: str | None) -> dict[str, float | None]:
    """Return the parameters of filters that were given.

    Raises:
        ConfigError: The share of what is copied is no share.
    """
    given = {"relevance_threshold": relevance, "dedup_threshold": dedup}
    found: dict[str, float | None] = {name: figure for name, figure in given.items() if figure is not None}
    if copied is None:
        return found
    try:
        share = None if copied == "none" else float(copied)
    except ValueError:
        raise ConfigError(f"--copied-share {copied}: expected a number from 0 to 1, or none") from None
    return {**found, "copied_share": share}
