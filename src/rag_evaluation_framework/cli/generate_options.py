"""The options of `rag-eval generate`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from rag_evaluation_framework.cli import paths


class Strategy(StrEnum):
    """The strategies that need no file."""

    simple = "simple"
    multi_passage = "multi-passage"
    cross_document = "cross-document"
    no_answer = "no-answer"


Corpus = Annotated[Path, paths.PathOption(help="The folder of documents.")]
Model = Annotated[str | None, typer.Option(help="The name of the model; by default gpt-5-mini.")]
Provider = Annotated[
    Literal["openai", "anthropic"], typer.Option(help="Whose protocol: openai is that of most local servers, too.")
]
BaseUrl = Annotated[
    str | None, typer.Option(help="The address of the server; by default that of the environment, or the provider's.")
]
Name = Annotated[
    str | None, typer.Option(help="The name of the dataset; by default rag-eval-token-level-v1, or of its level.")
]
QueriesPerDoc = Annotated[int, typer.Option(min=1, help="How many questions are asked for each document.")]
Level = Annotated[
    Literal["token-level", "chunk-level"], typer.Option(help="Whether spans are labelled, or chunks of --chunker.")
]
Chunker = Annotated[str | None, typer.Option(help="At chunk level: for example recursive-character:chunk_size=200.")]
Strategies = Annotated[
    list[Strategy] | None,
    typer.Option(help="Which questions are asked; repeatable. By default simple, if no file says others."),
]
Dimensions = Annotated[Path | None, paths.PathOption(help="A YAML file of personas, difficulty, query_types, styles.")]
RealQuestions = Annotated[
    Path | None,
    paths.PathOption(
        help="Questions of users, one per line, or a column 'question' of a .csv: they and others like them are asked."
    ),
]
SectionSize = Annotated[int, typer.Option(min=1, help="The most characters that are shown in one piece.")]
Embedder = Annotated[
    str, typer.Option(help="What compares questions and quotes, such as openai; none leaves that out.")
]
RelevanceThreshold = Annotated[
    float | None,
    typer.Option(min=-1, max=1, help="The least cosine of a question and a quote; by default 0.40, calibrated."),
]
DedupThreshold = Annotated[
    float | None, typer.Option(min=-1, max=1, help="The highest cosine of two questions; by default 0.70, calibrated.")
]
CopiedShare = Annotated[
    str | None,
    typer.Option(help="From which share of its words on a question is copied; by default 0.6, none allows all."),
]
NoCheckAnswers = Annotated[
    bool, typer.Option("--no-check-answers", help="Do not judge each answer by a call of its own.")
]
MaxConcurrency = Annotated[int, typer.Option(min=1, help="How many requests are made side by side.")]
MaxRetries = Annotated[int, typer.Option(min=0, help="How often a request that fails is made again.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="The most tokens of an answer.")]
Structure = Annotated[
    Literal["json_schema", "json_object", "none"],
    typer.Option(help="How answers are asked for, where a server knows no schemas: json_object or none."),
]
PriceIn = Annotated[float | None, typer.Option(min=0, help="What a million tokens cost that are read.")]
PriceOut = Annotated[float | None, typer.Option(min=0, help="What a million tokens cost that are written.")]
LangSmith = Annotated[bool, typer.Option("--langsmith", help="Push the dataset to LangSmith, too.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Ask for nothing: print how many calls and tokens it would take.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, with all rejections.")]
