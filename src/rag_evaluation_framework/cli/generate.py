"""`rag-eval generate`: a language model writes a dataset about a folder of documents."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import rag_evaluation_framework as rag

from .. import report
from ..authoring import models
from ..base.notes import collect_notes, note
from ..components import llms, providers
from ..contracts import registry
from ..errors import ConfigError, Interrupted
from ..runs import store
from . import run_options as options
from .output import Found, command_lines, components_print_to_stderr, print_result, print_text

if TYPE_CHECKING:
    from ..contracts import QuestionStrategy


_SECONDS = 300.0  # until a request has failed: models that think take their time
_STRATEGIES = {
    "simple": "SimpleQuestions",
    "cross-document": "CrossDocumentQuestions",
    "no-answer": "NoAnswerQuestions",
}
"""The strategies that need no file."""


def generate(
    *,
    corpus: Path,
    model: str | None = None,
    provider: Literal["openai", "anthropic"] = "openai",
    name: str | None = None,
    queries_per_doc: Annotated[int, typer.Option(min=1)] = 5,
    chunker: str | None = None,
    strategy: Annotated[list[str] | None, typer.Option(metavar="simple|cross-document|no-answer")] = None,
    dimensions: Path | None = None,
    real_questions: Path | None = None,
    root: Path | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> None:
    """Let a language model write questions about documents; code finds what it quotes, or rejects it.

    Needs OPENAI_API_KEY or ANTHROPIC_API_KEY. Answers are kept: an interrupted command goes on when it is run again.
    Exit codes: 0 done, 1 no question was kept, or the dataset is incomplete, as requests failed; 2 it was not made.

    Args:
        model: The name of the model; by default gpt-5-mini.
        provider: Whose protocol: openai is that of most local servers, too, whose address is OPENAI_BASE_URL.
        name: The name of the dataset; by default rag-eval-token-level-v1, or of its level.
        queries_per_doc: How many questions are asked for each document.
        chunker: Label the chunks of this chunker and not spans: for example recursive-character:chunk_size=200.
        strategy: Which questions are asked; repeatable. By default simple, if no file says others.
        dimensions: A YAML file of personas, difficulty, query_types, styles.
        real_questions: Questions of users, one per line, or a column 'question' of a .csv: they and others like them
            are asked.
        dry_run: Ask for nothing: print how many calls and tokens it would take.
        as_json: Print one JSON object, with all rejections.
    """
    documents = options.documents(corpus)
    for each in strategy or ():
        if each not in _STRATEGIES:
            raise ConfigError(f"--strategy {each}: expected {', '.join(_STRATEGIES)}")
    strategies: list[QuestionStrategy] = [
        getattr(models, _STRATEGIES[each])() for each in dict.fromkeys(strategy or ())
    ]
    strategies += [] if dimensions is None else [models.DimensionQuestions.from_file(dimensions)]
    strategies += [] if real_questions is None else [models.RealQuestions.from_file(real_questions)]
    with components_print_to_stderr(), collect_notes() as notes:
        cut_by = [] if chunker is None else [registry.build("chunker", chunker)]
        kind: Any = rag.ChunkLevelDataGenerator if cut_by else rag.TokenLevelDataGenerator
        generator: models.SyntheticDataGenerator[Any] = kind(
            _language_model("none" if dry_run else provider, model),
            documents,
            *cut_by,
            strategies=strategies or [models.SimpleQuestions()],
            root=root or store.ROOT,
        )
        done: models.Estimate | providers.Usage
        if dry_run:
            done = generator.estimate(queries_per_doc)
        else:
            try:
                with providers.track_usage() as done:
                    generator.generate(queries_per_doc, False, name)
            except KeyboardInterrupt as error:
                folder = generator.llm.kept and generator.llm.kept.folder
                kept = f"what was answered is in {folder}: " if folder else ""
                raise Interrupted(f"{kept}the same command goes on from there") from error
    for text in notes:
        if text != generator.funnel.told:
            note(text)
    if isinstance(done, models.Estimate):
        print_result(asdict(done), partial(report.estimate_page, done), as_json=as_json)
        return
    known = 0 if generator.llm.kept is None else generator.llm.kept.used
    record = {
        "dataset": None if generator.path is None else str(generator.path),
        "funnel": generator.funnel.record(),
        "rejections": [asdict(rejection) for rejection in generator.rejections],
        "failed_requests": [asdict(each) for each in generator.failed],
        "usage": [asdict(each) for each in done.models],
        "answers_kept_before": known,
    }
    saved = [] if generator.path is None else [str(generator.path)]
    told = generator.funnel, generator.rejections, generator.failed, done.models, known, saved
    print_result(record, lambda: report.generation_page(*told), as_json=as_json)
    if saved and not generator.failed and not as_json:
        command = ["dataset", "review", *saved, "--corpus", str(corpus)]
        if chunker is not None:  # a review would show ids
            command = ["run", "--dataset", *saved, "--corpus", str(corpus), "--chunker", chunker]
        print_text(f"\nNext:{command_lines(command)}")
    if not saved or generator.failed:
        raise Found


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
