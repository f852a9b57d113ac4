"""`rag-eval generate`: a language model writes a dataset about a folder of documents."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import rag_evaluation_framework as rag

from .. import report
from ..authoring import models
from ..base.notes import collected, note
from ..components import llms, providers
from ..contracts import registry
from ..errors import ConfigError, Interrupted
from ..runs import store
from . import paths, run_options
from .endings import Found
from .output import arriving, command_lines, components_print_to_stderr, print_json, print_result, print_text, stdout
from .paths import options_of

if TYPE_CHECKING:
    from ..contracts import QuestionStrategy


class Strategy(StrEnum):
    """The strategies that need no file."""

    simple = "simple"
    cross_document = "cross-document"
    no_answer = "no-answer"


def generate(
    *,
    corpus: Path,
    glob: paths.Glob = None,
    exclude: paths.Exclude = None,
    model: str | None = None,
    provider: Literal["openai", "anthropic"] = "openai",
    name: str | None = None,
    queries_per_doc: Annotated[int, typer.Option(min=1)] = 5,
    chunker: str | None = None,
    strategy: list[Strategy] | None = None,
    dimensions: Path | None = None,
    real_questions: Path | None = None,
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
        provider: Whose protocol: openai is that of most local servers, too, whose address is OPENAI_BASE_URL.
        name: The name of the dataset; by default rag-eval-token-level-v1, or of its level.
        queries_per_doc: How many questions are asked for each document.
        chunker: Label the chunks of this chunker and not spans: for example recursive-character:chunk_size=200.
        strategy: Which questions are asked; repeatable. By default simple, if no file says others.
        dimensions: A YAML file of personas, difficulty, query_types, styles.
        real_questions: Questions of users, one per line, or a column 'question' of a .csv: they and others like them
            are asked.
        langsmith: Push the dataset to LangSmith, too.
        dry_run: Ask for nothing: print how many calls and tokens it would take.
        as_json: Print one JSON object, with all rejections.
    """
    documents = paths.documents(corpus, glob, exclude, imports=not no_import)
    with components_print_to_stderr(), collected() as notes:
        model_asked = _language_model("none" if dry_run else provider, model)
        cut_by = [] if chunker is None else [registry.build("chunker", chunker, imports=not no_import)]
        kind: Any = rag.ChunkLevelDataGenerator if cut_by else rag.TokenLevelDataGenerator
        generator: models.SyntheticDataGenerator[Any] = kind(
            model_asked,
            documents,
            *cut_by,
            strategies=_strategies(strategy or [], dimensions, real_questions),
            root=root or store.ROOT,
        )
        done: models.Estimate | providers.Usage
        if dry_run:
            done = generator.estimate(queries_per_doc)
        else:
            done = _run(lambda: generator.generate(queries_per_doc, langsmith, name), generator)
    for text in notes:
        if text != generator.funnel.told:
            note(text)
    if isinstance(done, models.Estimate):
        print_result(asdict(done), partial(report.estimate_page, done), as_json=as_json)
        return
    with arriving(f"the dataset is in {generator.path}"):
        if as_json:
            print_json(_record(generator, done))
        else:
            _show(generator, done, options_of(corpus, glob, exclude), chunker)
    if generator.path is None or generator.failed:
        raise Found


def _run(work: Callable[[], object], generator: models.SyntheticDataGenerator[Any]) -> providers.Usage:
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


def _record(generator: models.SyntheticDataGenerator[Any], usage: providers.Usage) -> dict[str, Any]:
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
    generator: models.SyntheticDataGenerator[Any], usage: providers.Usage, documents: list[str], chunker: str | None
) -> None:
    kept = 0 if generator.llm.kept is None else generator.llm.kept.used
    saved = [str(place) for place in (generator.path, generator.langsmith_url) if place]
    page = report.generation_page(generator.funnel, generator.rejections, generator.failed, usage.models, kept, saved)
    report.show(stdout(), page)
    if generator.path is not None and not generator.failed:
        path = str(generator.path)
        command = ["dataset", "review", path, *documents[:2]]  # it takes no patterns
        if chunker is not None:  # a review would show ids
            command = ["run", "--dataset", path, *documents, "--chunker", chunker]
        print_text(f"\nNext:{command_lines(command)}")


# Generators as the options describe them.

_SECONDS = 300.0  # until a request has failed: models that think take their time


def _language_model(provider: str, model: str | None) -> llms.LanguageModel:
    """Return the model of a provider, after checking that there is a key; of none, one that cannot be asked.

    Raises:
        ConfigError: There is no key, or no name of one of Anthropic's models.
        MissingDependency: The SDK is not installed.
    """
    if provider == "none":
        client: Any = SimpleNamespace(chat=None)
    elif provider == "openai":
        client = providers.sdk_client(providers.OPENAI, None, None, None, _SECONDS, "rag-eval generate")
    elif model is None:
        raise ConfigError("--provider anthropic needs --model: the name of one of Anthropic's models")
    else:
        sdk = providers.sdk_client(providers.ANTHROPIC, None, None, None, _SECONDS, "rag-eval generate")
        client = llms.AnthropicClient(client=sdk)
    return llms.LanguageModel(client, model or models.DEFAULT_MODEL)


def _strategies(
    named: Sequence[Strategy], dimensions: Path | None, real_questions: Path | None
) -> list[QuestionStrategy]:
    """Return the strategies that are named, and those of files."""
    kinds: dict[Strategy, Callable[[], QuestionStrategy]] = {
        Strategy.simple: models.SimpleQuestions,
        Strategy.cross_document: models.CrossDocumentQuestions,
        Strategy.no_answer: models.NoAnswerQuestions,
    }
    found: list[QuestionStrategy] = [kinds[each]() for each in dict.fromkeys(named)]
    if dimensions is not None:
        found.append(models.DimensionQuestions.from_file(dimensions))
    if real_questions is not None:
        found.append(models.RealQuestions.from_file(real_questions))
    return found or [models.SimpleQuestions()]
