"""The documentation runs.

README.md, CONTRIBUTING.md and every page below docs/ is a story: its fenced blocks run from top to bottom in a
temporary folder of the page's own. The first word after the fence says what happens to a block.

- `python` is executed. All such blocks of a page share one namespace; files that the page wrote can be imported.
- `console` holds lines that start with `$ `. Each is run by a shell in the folder, with this project's `rag-eval` on
  the PATH (a lone `rag-eval` by a process that has loaded it already), and must exit with 0, or with the code that a
  comment at its end names: `# exit 2`. A line that ends in a backslash goes on in the next one. Lines that would change
  the machine are not run but checked: `make` (the target exists), `pip install` (the extras exist), `pipx` and `uvx`
  (so does the command), `git clone` and `cd`.
- `csv`, `json`, `jsonl`, `markdown`, `python`, `text`, `toml` and `yaml` with `title=path/to/file` behind them are
  written to that file. A `python` block with a title is written only, not executed.
- `csv`, `json`, `jsonl`, `toml` and `yaml` without a title must parse.
- `text` and `markdown` are not executed. `text output` is what the `python` or `console` block before it prints, to
  the letter but for white space at the ends of lines. Keep these rare: they break with every change of wording.

Any other word, a fence without one, and code that is indented instead of fenced fail. A warning does not fail a page.
A page that names `PGHOST` runs beside a PostgreSQL server with pgvector, whose place these variables say; one that
names `OPENAI_API_KEY` runs beside providers on this machine, at which the environment points.

Beside that, every command and option of `rag-eval` must be documented in docs/reference/cli.md, and no other; every
relative link must lead somewhere, its anchor included; every page of docs/ is in one group, listed in docs/README.md
and reachable; no page promises a later version, or names a place on one machine.
"""

import contextlib
import csv
import importlib
import inspect
import io
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from markdown_it import MarkdownIt
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from typer.main import get_command
from typer.testing import CliRunner

from rag_evaluation_framework import contracts
from rag_evaluation_framework.cli.commands import app
from support.warm import warm_process

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GROUPS = {"tutorials": "Tutorials", "how-to": "How-to guides", "reference": "Reference", "explanation": "Explanation"}
DECISIONS = DOCS / "adr"
COMMAND_LINE = DOCS / "reference" / "cli.md"
PAGES = [
    *(page for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if page.exists()),
    *sorted(DOCS.rglob("*.md")),
]
SCRIPTS = Path(sysconfig.get_path("scripts"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLI = get_command(app)
SECONDS = 300

RELEASED = re.search(r"^## \d", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE) is not None
PARSERS = {
    "csv": lambda text: list(csv.reader(io.StringIO(text), strict=True)),
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines() if line.strip()],
    "toml": tomllib.loads,
    "yaml": lambda text: YAML(typ="safe", pure=True).load(text),
}
WRITABLE = {*PARSERS, "markdown", "python", "text"}
LANGUAGES = {*WRITABLE, "console"}
SHELL = re.compile(r"[|&;<>$*?`]|(?<!\S)~")
"""What a shell makes something else of, outside of quotes."""
QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"")
NOT_RUN = {"make", "pip", "pipx", "uvx", "git", "cd"}


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    where: str
    line: int
    language: str
    title: str | None
    is_output: bool
    text: str


def tokens(page):
    return MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))


def name_of(page):
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def blocks(page) -> Iterator[Block]:
    for token in tokens(page):
        if token.type not in ("fence", "code_block"):
            continue
        line = token.map[0] + 1
        where = f"{name_of(page)}:{line}"
        if token.type == "code_block":
            pytest.fail(f"{where}: indented code; put it between fences")
        yield block_of(where, line, token.info, token.content)


def block_of(where, line, info, text) -> Block:
    language, *options = shlex.split(info) or [""]
    titles = [option.removeprefix("title=") for option in options if option.startswith("title=")]
    is_output = language == "text" and options == ["output"]
    if language not in LANGUAGES or (options and not is_output and len(titles) < len(options)) or len(titles) > 1:
        pytest.fail(f"{where}: a fence says {info!r}; wanted one of {', '.join(sorted(LANGUAGES))}, or with title=FILE")
    if titles and language not in WRITABLE:
        pytest.fail(f"{where}: {language} cannot be written to a file")
    return Block(where, line, language, titles[0] if titles else None, is_output, text)


class Story:
    """Runs the blocks of one page, in its folder."""

    def __init__(self, page, folder, rag_eval):
        self.page, self.folder, self.rag_eval = page, folder, rag_eval
        self.namespace = {"__name__": "__main__"}
        self.printed = None  # by the block before, if it was executed

    def tell(self):
        for block in blocks(self.page):
            printed, self.printed = self.printed, None
            if block.title is not None:
                self.write(block)
            elif block.is_output:
                assert printed is not None, f"{block.where}: no block whose output this could be stands before it"
                assert lines_of(printed) == lines_of(block.text), f"{block.where}: the block before prints\n{printed}"
            elif block.language == "python":
                self.printed = self.execute(block)
            elif block.language == "console":
                self.printed = "".join(self.command(block, command) for command in commands(block))
            elif block.language in PARSERS:
                self.parse(block)

    def parse(self, block):
        try:
            PARSERS[block.language](block.text)
        except (ValueError, YAMLError, csv.Error) as error:
            pytest.fail(f"{block.where}: no valid {block.language}: {error}")

    def write(self, block):
        target = self.folder / block.title
        assert target.resolve().is_relative_to(self.folder.resolve()), f"{block.where}: {block.title} is elsewhere"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8", newline="")
        importlib.invalidate_caches()

    def execute(self, block):
        # Empty lines in front let a traceback name the line of the page.
        code = compile("\n" * block.line + block.text, str(self.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
            warnings.simplefilter("default")
            exec(code, self.namespace)
        return printed.getvalue()

    def command(self, block, command):
        steps = [shlex.split(step, comments=True) for step in command.split(" && ")]
        checked = [bool(NOT_RUN.intersection(step[:1])) for step in map(without_python, steps)]
        if any(checked):
            assert all(checked), f"{block.where}: {command!r} mixes what is run with what is only checked"
            for step in steps:
                problem = problem_with(without_python(step))
                assert problem is None, f"{block.where}: {command!r}: {problem}"
            return ""
        wanted = re.search(r"\s# exit (\d+)$", command)
        if steps[0][:1] == ["rag-eval"] and not SHELL.search(QUOTED.sub("", command.partition(" #")[0])):
            code, out, err = self.rag_eval(steps[0], self.folder, environment())
        else:
            code, out, err = in_shell(command, self.folder)
        assert code == (int(wanted[1]) if wanted else 0), f"{block.where}: {command!r} exits with {code}\n{out}{err}"
        return out


def in_shell(command, folder):
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def lines_of(text):
    return [line.rstrip() for line in text.rstrip().splitlines()]


def commands(block) -> Iterator[str]:
    lines = iter(block.text.splitlines())
    for line in lines:
        if not line.strip():
            continue
        assert line.startswith("$ "), f"{block.where}: {line!r} does not start with '$ '; output goes into a text block"
        command = line.removeprefix("$ ").rstrip()
        while command.endswith("\\"):
            command = command.removesuffix("\\") + next(lines, "").strip()
        yield command


def environment():
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_", "RAG_EVAL_"))}
    return {**kept, "PATH": f"{SCRIPTS}{os.pathsep}{kept.get('PATH', '')}"}


def without_python(words):
    return words[2:] if len(words) > 2 and re.fullmatch(r"python3?", words[0]) and words[1] == "-m" else words


def problem_with(words):
    """Return what is wrong with a command that is not run, or None."""
    match words:
        case ["make", *targets]:
            named = [target for target in targets if "=" not in target]
            done = subprocess.run(["make", "-n", *named], cwd=ROOT, capture_output=True, text=True, check=False)
            return done.stderr.strip() or "make refuses it" if done.returncode else None
        case ["git", "clone", _, *_] | ["cd", _]:
            return None
        case ["pip", "install", *requirements]:
            return problem_with_requirements(requirements)
        case ["pipx", "run" | "install" | "inject", *rest] | ["uvx", *rest]:
            return problem_with_requirements(rest) or problem_with_runner(rest)
    return "expected make, git clone, cd, pip install, pipx run or uvx, with arguments"


def problem_with_requirements(words):
    if not RELEASED and any(re.split(r"[\[=<>~!;@ ]", word)[0] == PROJECT["name"] for word in words):
        return f"{PROJECT['name']} is not on the package index yet"
    for word in words:
        named = re.fullmatch(rf"(?:\.|{re.escape(PROJECT['name'])})\[(?P<extras>[^\]]+)\].*", word)
        extras = re.split(r"\s*,\s*", named["extras"]) if named else []
        unknown = sorted(set(extras) - set(PROJECT["optional-dependencies"]))
        if unknown:
            return f"there is no extra {', '.join(unknown)}"
    files = [after for before, after in itertools.pairwise(words) if before in ("-r", "-c")]
    missing = [file for file in files if not (ROOT / file).exists()]
    return f"there is no file {', '.join(missing)}" if missing else None


def problem_with_runner(words):
    if not any(word.startswith((PROJECT["name"], ".")) for word in words):
        return f"it does not name {PROJECT['name']}"
    for program, after in itertools.pairwise(words):
        if program in PROJECT["scripts"] and after not in {*CLI.commands, *PROJECT["scripts"]} and after[0] != "-":
            return f"{program} has no command {after!r}"
    return None


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that is the working directory, and from which modules can be imported while the test runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.fixture(scope="module")
def rag_eval():
    with warm_process() as run:
        yield run


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_the_page_runs(page, folder, rag_eval, request):
    if "PGHOST" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("pgvector_environment")
    if "OPENAI_API_KEY" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("providers")
    Story(page, folder, rag_eval).tell()


def test_a_story_writes_runs_and_compares(folder, rag_eval):
    page = folder / "page.md"
    page.write_text(
        '```python title=words.py\nWORD = "hello"\n```\n\n```python\nfrom words import WORD\nprint(WORD)\n```\n\n'
        "```text output\nhello\n```\n\n```console\n$ cat \\\n  words.py\n$ rag-eval bogus  # exit 2\n$ make test\n"
        "$ pip install -e '.[all]' && pipx run --spec . rag-eval demo\n```\n\n```json\n{}\n```\n",
        encoding="utf-8",
    )
    Story(page, folder, rag_eval).tell()
    assert (SCRIPTS / "rag-eval").exists() or (SCRIPTS / "rag-eval.exe").exists()  # what a shell of a story runs


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```\ncode without a language\n```", "a fence says ''"),
        ("```ruby\nputs 1\n```", "a fence says 'ruby'"),
        ("```python linenos\n1\n```", "a fence says 'python linenos'"),
        ("    indented code", "indented code"),
        ("```console title=file\n$ true\n```", "cannot be written"),
        ("```text title=../outside\nno\n```", "is elsewhere"),
        ("```python\nraise ValueError('raised')\n```", "raised"),
        ("```python\nprint(1)\n```\n\n```text output\n2\n```", "the block before prints"),
        ("```text output\nnothing prints this\n```", "no block whose output"),
        ("```console\n$ false\n```", "'false' exits with 1"),
        ("```console\n$ true  # exit 2\n```", "exits with 0"),
        ("```console\noutput without a command\n```", "does not start with"),
        ("```console\n$ make nothing-of-this-name\n```", "No rule to make target"),
        ("```console\n$ cd folder && true\n```", "mixes what is run"),
        ("```console\n$ git push\n```", "expected make, git clone"),
        ("```console\n$ pip install '.[nothing]'\n```", "no extra nothing"),
        ("```console\n$ pip install rag-evaluation-framework\n```", "not on the package index yet"),
        ("```console\n$ python -m pip install -r nothing.txt\n```", "no file nothing.txt"),
        ("```console\n$ pipx run --spec . rag-eval bogus\n```", "no command 'bogus'"),
        ("```console\n$ uvx something-else\n```", "does not name rag-evaluation-framework"),
        ("```json\n{,}\n```", "no valid json"),
        ("```jsonl\n{}\n{\n```", "no valid jsonl"),
        ("```yaml\na: 1\na: 2\n```", "no valid yaml"),
        ("```toml\na = \n```", "no valid toml"),
        ('```csv\na,"b\n```', "no valid csv"),
    ],
)
def test_a_page_that_breaks_a_rule_fails(text, problem, folder, rag_eval):
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, pytest.fail.Exception, ValueError), match=re.escape(problem)):
        Story(page, folder, rag_eval).tell()


# The command line


def section(page, title):
    """Return the text below a heading of level 2, up to the next one."""
    _, _, rest = page.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    return rest.partition("\n## ")[0]


def parameters(command):
    return [each for each in command.get_params(typer.Context(command)) if each.name != "help"]


def options(command):
    return {
        name
        for parameter in parameters(command)
        if parameter.param_type_name == "option"
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


def leaves(group, names=()):
    """Yield the commands of a group and of the groups in it, each with its name."""
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from leaves(command, (*names, name))
        else:
            yield " ".join((*names, name)), command


@pytest.mark.parametrize(("name", "command"), list(leaves(CLI)), ids=[name for name, _ in leaves(CLI)])
def test_every_option_of_a_command_is_documented_and_no_other(name, command):
    text = section(COMMAND_LINE, f"`rag-eval {name}`")
    assert text, f"{name_of(COMMAND_LINE)} has no section '## `rag-eval {name}`'"
    written = {*re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text), *re.findall(r"`(-[a-z])`", text)}
    assert options(command) <= written
    assert written <= options(command) | {"--help"}
    for parameter in parameters(command):
        if parameter.param_type_name == "argument":
            assert f"`{parameter.name.upper()}`" in text


def test_the_json_object_of_run_has_the_documented_fields(folder):
    text = section(COMMAND_LINE, "`rag-eval run`")
    (folder / "docs").mkdir()
    (folder / "docs" / "billing.md").write_text("Invoices are sent on the first day of the month.", encoding="utf-8")
    (folder / "questions.csv").write_text("question,quote\nWhen?,on the first day\n", encoding="utf-8")
    arguments = ["run", "--corpus", "docs", "--dataset", "questions.csv", "--json"]
    found = json.loads(CliRunner().invoke(app, arguments, catch_exceptions=False).stdout)
    (shown,) = (json.loads(token.content) for token in MarkdownIt().parse(text) if token.info == "json")
    assert list(found) == list(shown) == re.findall(r"(?m)^\| `(\w+)` \|", text.partition('"worst"')[2])
    assert list(found["counts"]) == list(shown["counts"])


def test_every_general_option_is_documented_and_every_option_that_a_text_of_ours_names_exists():
    general = {"--help", *options(CLI)}
    assert [name for name in general if f"`{name}`" not in COMMAND_LINE.read_text(encoding="utf-8")] == []
    known = general.union(*(options(command) for _, command in leaves(CLI)))
    for path in sorted((ROOT / "src").rglob("*.*")):
        if path.suffix in (".css", ".pyc"):
            continue
        for named in re.findall(r"(?<![\w-])--(?=[a-z{])(?:[a-z0-9-]|\{[^{}]*\})+", path.read_text(encoding="utf-8")):
            form = re.compile("[a-z0-9-]+".join(map(re.escape, re.split(r"\{[^{}]*\}", named))))
            assert any(map(form.fullmatch, known)), f"{path}: {named}"


# Contracts


def test_the_table_of_contracts_writes_every_method_as_it_is_called():
    text = (DOCS / "how-to" / "own-components.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| [\w -]+ \| `(\w+)`[^|]*\| (.+) \|$", text)
    written = {name: dict(re.findall(r"`(\w+)\((.*?)\)`", row)) for name, row in rows if hasattr(contracts, name)}
    assert {"Chunker", "Embedder", "VectorStore", "Reranker", "Retriever", "TokenLevelMetric"} <= set(written)
    for name, methods in written.items():
        contract = getattr(contracts, name)
        assert contract.__abstractmethods__ - {"dimension"} == set(methods), name
        for method, arguments in methods.items():
            _, *parameters = inspect.signature(getattr(contract, method)).parameters.values()
            assert arguments == ", ".join(
                str(parameter.replace(annotation=parameter.empty)).replace(" = ", "=") for parameter in parameters
            )


# Links


def links(page) -> Iterator[str]:
    for token in tokens(page):
        for child in token.children or ():
            target = child.attrs.get("href") or child.attrs.get("src")
            if target:
                yield str(target)


def relative_links(page) -> Iterator[tuple[Path, str]]:
    for link in links(page):
        if not re.match(r"[a-z][a-z0-9+.-]*:", link):
            path, _, anchor = link.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(page):
    """Return the anchors of a page's headings, as code hosts make them."""
    found: list[str] = []
    flat = tokens(page)
    for opening, inline in itertools.pairwise(flat):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_the_page_lead_somewhere_and_it_promises_nothing_and_names_no_place_on_one_machine(page):
    for target, anchor in relative_links(page):
        assert target.is_relative_to(ROOT), f"{target} is no part of the project"
        assert target.exists(), f"{target.relative_to(ROOT)} does not exist"
        if anchor:
            assert anchor in anchors(target), f"{name_of(target)} has no heading with the anchor #{anchor}"
    text = page.read_text(encoding="utf-8")
    assert page.is_relative_to(DECISIONS) or PROMISE.findall(" ".join(text.split())) == []
    assert re.findall(r"(?<![\w.])/(?:work|home|root|tmp|Users)/\S*", text) == []


def test_every_page_can_be_reached_and_is_in_one_group_whose_contents_list_it():
    # Every page can be reached:
    found = {ROOT / "README.md", DOCS / "README.md"}
    waiting = list(found)
    while waiting:
        new = {target for target, _ in relative_links(waiting.pop()) if target in PAGES} - found
        found |= new
        waiting += new
    assert [name_of(page) for page in PAGES if page.is_relative_to(DOCS) and page not in found] == []

    # Every page is in exactly one group:
    folders = {path.name for path in DOCS.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders == {*GROUPS, DECISIONS.name}
    pages = [page for page in DOCS.rglob("*.md") if not page.is_relative_to(DECISIONS) and page != DOCS / "README.md"]
    assert [name_of(page) for page in pages if page.parent.parent != DOCS] == []
    assert len({page.name for page in pages}) == len(pages)

    # The contents list every page of a group once, in a line of its own:
    for group, title in GROUPS.items():
        rows = re.findall(r"(?m)^\| \[[^\]]+\]\((\S+)\) \| .+ \|$", section(DOCS / "README.md", title))
        assert sorted(rows) == sorted(page.relative_to(DOCS).as_posix() for page in (DOCS / group).glob("*.md"))


def test_files_that_name_a_page_name_one_that_exists():
    code = [*(ROOT / "src").rglob("*.py*"), *(ROOT / "benchmarks").glob("*.py"), *DOCS.glob("*.py"), ROOT / "Makefile"]
    named = {
        name
        for path in code
        if path.suffix != ".pyc"
        for name in re.findall(r"\bdocs/[\w./-]+\.(?:md|py)\b", path.read_text(encoding="utf-8"))
    }
    assert {"docs/generate_metrics.py", "docs/reference/metrics.md"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


# What a page may not say

PROMISE = re.compile(
    r"\b(?:(?:next|later|future|coming|upcoming) (?:version|release)s?|coming soon|comes? (?:next|later)|to come"
    r"|not (?:yet )?implemented|does not yet|will be (?:added|available|implemented|supported)"
    r"|(?:once|when|until|as soon as) (?:it|they) exists?)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "text",
    [
        "This comes next.",
        "Coming soon: gates",
        "in the next version",
        "It does not yet compare.",
        "yours when it exists",
    ],
)
def test_a_promise_is_found(text):
    assert PROMISE.search(text)
