"""`rag-eval init`: create a dataset and a configuration from a folder and questions with quotes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

import rag_evaluation_framework as rag

from .. import data, datasets, labels, report, runs
from ..base.files import checked_path, read_text, remove_abandoned, write_new, write_over
from ..base.outside import harmless, one_line, shown
from ..errors import ConfigError, DatasetError, InputError
from ..runs import store
from . import run_options as options
from .output import command_lines, option, print_text, stdout, write_page

_ROOT = Path(".rag-eval")
_TEMPLATES = Path(__file__).with_name("templates")
_FILES = {
    "config.yaml": "{config}",
    "gitignore": "{root}/.gitignore",
    "sample.json": "{root}/datasets/sample.json",
    "rag_eval_engine.py": "rag_eval_engine.py",
    "rag-eval.yml": ".github/workflows/rag-eval.yml",
}
"""Target of each template for CI, below the working directory."""

_OF_QUESTIONS, _OF_DOCUMENTS = ("question", "quote", "document", "id"), ("text", "name")
"""Columns that `--column` names, of a table of questions and of one of documents."""

_DIGITS = 16  # of a SHA-256
_MARK = (  # with the digests of the dataset, of the text before the mark, and of the path of the questions
    "\n# As `rag-eval init` wrote it ({} {} {}). Until this file or its dataset is changed, `init` may write both "
    "again.\n"
)
_MARKED = re.compile(re.escape(_MARK.format("@", "@", "@")).replace("@", "([0-9a-f]*)") + r"\Z")
_AGAIN = "The dataset and the configuration are written again: nobody had changed them.\n"
_ENDINGS = ("yaml", "yml", "json")  # of the configuration that `rag-eval run` finds
_PLAIN = re.compile(r"(?!-)[A-Za-z0-9._-]+(?:/(?!-)[A-Za-z0-9._-]+)*")  # what needs no quotes in a shell and in YAML


def save_suggestions(check: labels.QuoteCheck, command: Sequence[str]) -> str:
    """Write the suggestions beside the questions; return what to tell about them, "" if there are none.

    Args:
        check: The check; of a pipe, nothing is written.
        command: The command that reads them when they have been looked through, with its documents.
    """
    if not Path(check.source).is_file():
        return ""
    try:
        path = check.save_suggestions()
    except InputError as error:
        return f"\nThe suggestions could not be written beside the questions: {error}"
    return report.suggestions_text(check, path, command_lines([*command, "--questions", str(path)]))


def init_ci(root: Path) -> None:
    """Write the files that are not there yet, and tell which are; nothing is overwritten.

    Raises:
        ConfigError: The root is not below the working directory, or has another name, or a file cannot be written.
    """
    if ".." in root.parts or not _PLAIN.fullmatch(root.as_posix()):
        raise ConfigError(
            f"--root {shown(str(root))}: the workflow names it in a shell, in the repository; expected a folder below "
            "the current one, of ASCII letters, digits, '.', '_' and '-', such as .rag-eval"
        )
    configs = [path for ending in _ENDINGS if (path := root / f"config.{ending}").exists()]
    filled = {
        "{root}": root.as_posix(),
        "{config}": (configs[0] if configs else root / "config.yaml").as_posix(),
        "{option}": "" if root == store.ROOT else f" --root {root.as_posix()}",
    }
    targets = {name: Path(_filled(place, filled)) for name, place in _FILES.items()}
    for target in targets.values():
        for folder in target.parents:
            if checked_path(folder, ConfigError).exists() and not folder.is_dir():
                raise ConfigError(f"{folder} is a file; expected a folder, for {target}. Nothing was written")
    written: list[str] = []
    kept: list[str] = []
    for name, target in targets.items():
        if checked_path(target, ConfigError).exists():
            kept.append(str(target))
            continue
        text = _template(name)
        write_new(target, text if name == "sample.json" else _filled(text, filled))
        written.append(str(target))
    print_text(report.templates_text(written, kept))
    print_text(_filled(_template("next.txt"), filled).rstrip())


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _filled(text: str, filled: Mapping[str, str]) -> str:
    for name, value in filled.items():
        text = text.replace(name, value)
    return text


def init(
    *,
    corpus: Path | None = None,
    questions: Path | None = None,
    ci: bool = False,
    glob: list[str] | None = None,
    exclude: list[str] | None = None,
    converter: str | None = None,
    column: Annotated[list[str] | None, typer.Option(metavar="WHAT=NAME")] = None,
    name: str | None = None,
    root: Path = _ROOT,
    repeated: Literal["ambiguous", "any"] = "ambiguous",
    no_texts: bool = False,
    html: Path | None = None,
) -> None:
    """Create a dataset and a configuration from a folder and questions with quotes.

    With other options it writes them again, unless one was changed since; nothing that a person wrote is overwritten.
    Suggestions for quotes that were not found are written beside the questions, as NAME.suggested.csv.

    Args:
        corpus: The documents: a folder, a file, a .zip, or a table or JSONL with one per row.
        questions: A table (CSV, XLSX), JSON or JSONL of question, quote[, document].
        converter: Your own function from the path of a file to its text, module:function; it reads what is not plain
            text.
        ci: Instead, what CI needs: a configuration, a sample dataset, an engine file and a workflow.
        column: The name of a column: of the questions question, quote, document or id, without a name if there is
            none; of documents that are rows text and name. Repeatable.
        name: Name of the dataset; by default that of the questions file.
        root: Where datasets, configurations and runs are saved.
        no_texts: Keep no texts of the documents beside the dataset, only their hashes.
    """
    if ci:
        if corpus is not None or questions is not None or name is not None:
            raise ConfigError("--ci writes a dataset of its own: leave --corpus, --questions and --name out")
        init_ci(root)
        return
    if corpus is None or questions is None:
        missing = [name for name, path in (("--corpus", corpus), ("--questions", questions)) if path is None]
        raise ConfigError(f"{' and '.join(missing)} missing; expected both, or --ci")
    if datasets.beir_files(checked_path(questions)) is not None:
        ran = command_lines(["run", "--no-config", "--corpus", corpus, "--dataset", questions])
        raise ConfigError(f"--questions {questions}: BEIR's labels are documents, which need no init: {ran.strip()}")
    called = _checked_name(name or questions.stem)
    config, target = root / f"{called}.yaml", root / "datasets" / f"{called}.json"
    asked = _digest(Path(os.path.relpath(questions, root)).as_posix())
    written = _written_before(config, None if name else asked)
    checked_path(target, ConfigError)
    runs.check_root(root)
    options.check_new("--html", html, *options.PAGE)
    columns = _columns(column or ())
    how: dict[str, Any] = {"glob": options.one_or_all(glob), "exclude": exclude, "converter": converter}
    how |= {f"{what}_column": columns.pop(what, None) for what in _OF_DOCUMENTS}
    how = {key: value for key, value in how.items() if value}
    spec = runs.RunSpec(corpus=f"./{corpus}" if str(corpus).startswith("~") else str(corpus), **how)
    documents = cast("rag.Corpus", spec.documents(Path()))  # None only where no corpus is named
    check = labels.check_quotes(questions, documents, repeated=repeated, columns=columns)
    page = "" if html is None else f"{write_page(html, report.quotes_page(check, whole=True))}\n"
    kept = option("--root", None if root == _ROOT else root)
    try:
        dataset: rag.Dataset[rag.CharacterSpan] | None = check.dataset(called)
    except DatasetError:
        dataset = None
    if dataset is None or not any(entry.relevant for entry in dataset):  # nothing could be scored
        report.show(stdout(), report.quotes_page(check))
        again = ["init", *kept, "--name", called, "--corpus", str(corpus), *option("--glob", *(glob or ()))]
        again += option("--exclude", *(exclude or ())) + option("--converter", converter)
        again += option("--column", *(column or ()))
        print_text(f"\n{page}{save_suggestions(check, again) or report.NO_SUGGESTION}")
        located = any(row.status == "located" for row in check.rows)
        raise ConfigError(
            f"{check.source}: no {'question has all of its quotes' if located else 'quote was'} located in {corpus}, "
            "so no question could be scored, and no dataset was written; expected at least one question with a quote "
            "from the documents"
        )
    if no_texts:
        dataset = datasets.without_texts(dataset)
    try:
        _save(dataset, target, written)
        settings = {
            "config": one_line(shlex.quote(config.as_posix())),
            "corpus": _yaml_path(corpus, config.parent),
            "how": "".join(f"{key}: {_yaml_text(value)}\n" for key, value in how.items()),
            "dataset": _yaml_path(target, config.parent),
        }
        text = _template("pipeline.yaml").format(**settings)
        text += _MARK.format(datasets.file_state(target)[:_DIGITS], _digest(text), asked)
        (write_new if written is None else write_over)(config, text)
    except InputError:
        report.show(stdout(), report.quotes_page(check))
        raise
    skipped = data.count_skipped(dataset.skipped)
    suggested = save_suggestions(check, ["dataset", "update", str(target), "--corpus", str(config if how else corpus)])
    report.show(stdout(), report.quotes_page(check))
    ran = command_lines(["run", config, *kept])
    kept_texts = report.kept_texts_text(datasets.KeptTexts.of(dataset, target))
    print_text(f"\n{page}{_AGAIN if written else ''}{kept_texts}")
    print_text(report.dataset_text(target, config, ran, skipped, suggested))


def _written_before(config: Path, asked: str | None) -> str | None:
    """Return how the dataset was that `init` wrote with a configuration, if nobody has changed that; None without one.

    Args:
        config: The configuration.
        asked: The digest of the path of the questions, if nothing else says that it is their dataset.

    Raises:
        ConfigError: It was changed, or is not one that `init` wrote, or is that of other questions.
    """
    if not checked_path(config, ConfigError).exists():
        return None
    text = read_text(config, ConfigError)
    mark = _MARKED.search(text)
    if mark is None or mark[2] != _digest(text[: mark.start()]):
        raise ConfigError(
            f"{config} already exists and is not overwritten, as it is not as `rag-eval init` wrote it; choose another "
            "--name, or move the file"
        )
    if asked not in (None, mark[3]):
        raise ConfigError(
            f"{config} already exists and is not overwritten, as it is that of other questions of this name; choose a "
            f"--name, or say --name {shlex.quote(config.stem)} to write it again with these"
        )
    return mark[1]


def _columns(given: Sequence[str]) -> dict[str, str]:
    """Return the names of columns by what is in them.

    Raises:
        ConfigError: It is not known what is in one.
    """
    pairs = [text.partition("=") for text in given]
    for what, equals, name in pairs:
        if what not in (*_OF_QUESTIONS, *_OF_DOCUMENTS) or not equals:
            listed = ", ".join((*_OF_QUESTIONS, *_OF_DOCUMENTS))
            raise ConfigError(f"--column {what}{equals}{name}: expected one of {listed}, = and its name")
    return {what: name for what, _, name in pairs}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _checked_name(called: str) -> str:
    """Return the name of a dataset.

    Raises:
        ConfigError: No file can have it.
    """
    if not called or called != Path(called).name or called != harmless(called) or "\n" in called:
        no_text = any("\ud800" <= sign <= "\udfff" for sign in called)
        raise ConfigError(
            f"--name {shown(called)}: expected a name without folders, line breaks and control codes"
            f"{'; give an ASCII one, or set LC_ALL=C.UTF-8: here its bytes are no text' * no_text}"
        )
    return called


def _save(dataset: rag.Dataset[rag.CharacterSpan], target: Path, written: str | None) -> None:
    """Save a dataset, also in place of one that is as `init` wrote it, or that an interrupted `init` has left.

    Raises:
        ConfigError: Another one is there.
        DatasetError: It cannot be saved.
    """
    state = datasets.file_state(target)
    if not state or (written and state.startswith(written)):
        datasets.replace_dataset(dataset, target, state)
        return
    try:
        there = rag.load_dataset(target)
        same = (there.content_hash, there.skipped) == (dataset.content_hash, dataset.skipped)
    except InputError:
        same = False
    remove_abandoned(target.parent)
    if same:
        datasets.keep_texts(dataset, target)
        return
    update = f"rag-eval dataset update {shlex.quote(str(target))} --corpus FOLDER --questions FILE"
    why = f", as it was changed since `rag-eval init` wrote it ({update} adds questions to it)" if written else ""
    raise ConfigError(f"{target} already exists and is not overwritten{why}; choose another --name, or move the file")


def _yaml_path(path: Path, start: Path) -> str:
    """Return a path relative to a folder, as a YAML string."""
    relative = Path(os.path.relpath(path, start)).as_posix()
    return _yaml_text(f"./{relative}" if relative.startswith("~") else relative)  # it would be a home folder


def _yaml_text(given: str | list[str]) -> str:
    """Return a text, or several, in YAML: in JSON, in which everything that is no sign of its own is an escape."""
    written = json.dumps(given, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in written)
