"""What the projects of this folder do, command by command: facts apart from the wording of the screens.

    PYTHONPATH=SOURCES python -P tests/golden/recording.py SOURCES [PROJECT ...]

prints one JSON object of the package that SOURCES hold: by project the list of its commands, each with `argv`, `facts`
and `screen`. The commands are the lines of `projects/NAME/steps.txt`, `rag-eval …` or `python SCRIPT …`, run one after
the other in a copy of the project's folder, each in a process of its own. A project whose first line is `# in FOLDER`
has the files of this folder, too. `# before: COMMAND` is how a version before this one spells the command below it.

Facts are:

- `exit`, and the files that were `written` (made or changed) and `removed`
- `screen`: what standard output and standard error say but words: numbers, scores, ids, places, files, commands
- by its name, what a JSON or XML file says that was written, and standard output if it is JSON; of texts that hold
  white space, again what they say but words
- of other files the first digits of their SHA-256, of rankings that of all but scores; of a copy of an earlier file, of
  which

Nothing depends on the moment and the machine: durations and what is made of them are left out, runs are numbered in
the order of their making (`RUN1`), and the folder is `FOLDER`; its path is equally long everywhere, as lines wrap.
"""

import gc
import gzip
import hashlib
import json
import os
import re
import runpy
import shlex
import shutil
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any
from xml.etree import ElementTree as ET

PACKAGE = "rag_evaluation_framework"
PROJECTS = Path(__file__).resolve().parent / "projects"
TIMED = {"best_score", "created", "latency", "sha256", "stages", "time", "timestamp", "timings", "total", "warm_up"}
"""Keys of JSON and attributes of XML whose values are of the moment or the machine: durations, hashes of files with
some of these, and scores of retrievers."""
WHOLE = {"gate", "kind", "name", "verdict"}
"""Keys whose values are no wording, though they hold white space."""
PAGES = (".md", ".yaml", ".yml", ".py")
"""Files that are wording, and hold what other files hold, too: that they were written is a fact, their text is none."""
DURATION = re.compile(r"[\d.,]+ ?(?:ms|µs|s|min)\b|\d{4}-\d\d-\d\d[T ][\d:.]+(?:\+00:00|Z| UTC)|\d{8}T\d{6}-[\da-f]{8}")
HASH = re.compile(r"\b[\da-f]{32,}\b")
RUN = re.compile(r"\d{8}T\d{6}Z-[\w-]+")
COMMAND = re.compile(r"rag-eval\s+(?:dataset\s+)?[a-z]+|(?<![\w-])--[a-z][a-z-]+")
NUMBER = re.compile(r"[-+−]?\d*\.?\d+(?:e-?\d+)?%?")

BEFORE = "# before: "
LENGTH = 60
"""Of the path of the folder of a project."""

Facts = dict[str, Any]


class Recorder:
    """Runs the commands of one project in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: dict[str, str] = {}
        self.seen = self._files()
        self.first: dict[bytes, str] = {}

    def step(self, argv: str) -> dict[str, Any]:
        """Run a command, and return what became of it."""
        command, _, given = argv.partition(" < ")
        with (self.folder / given.strip() if given else Path(os.devnull)).open("rb") as reader:
            code, out, err = run_forked(shlex.split(command), self.folder, reader.fileno())
        before, self.seen = self.seen, self._files()
        for path in sorted(self.seen.keys() - before.keys()):
            if found := RUN.search(path):
                self.runs.setdefault(found[0], f"RUN{len(self.runs) + 1}")
        facts: Facts = {"exit": code, "removed": [self.told(path) for path in sorted(before.keys() - self.seen.keys())]}
        new = [path for path, content in sorted(self.seen.items()) if before.get(path) != content]
        facts["written"] = [self.told(path) for path in new]
        if out.startswith("{"):
            facts["output"] = self.facts_of(json.loads(out))
            out = ""
        screen = self.told(f"{out}{err}")
        facts["screen"] = self.words_apart(screen)
        for path in new:
            if not path.endswith((*PAGES, "questions.jsonl")):
                name = self.told(path)
                first = self.first.setdefault(self.seen[path], name)
                facts[name] = f"as {first}" if first != name else self.content(self.folder / path)
        return {"argv": argv, "facts": facts, "screen": steady(screen)}

    def _files(self) -> dict[str, bytes]:
        """Return what is in the folder, but caches."""
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        names = [(path.relative_to(self.folder).as_posix(), path) for path in paths]
        return {name: path.read_bytes() for name, path in names if "cache" not in name and not name.endswith(".lock")}

    def told(self, text: str) -> str:
        """Return a text without what is of the moment and the machine."""
        text = text.replace(str(self.folder), "FOLDER")
        text = HASH.sub(lambda found: found[0][:12], text)
        text = RUN.sub(lambda found: self.runs.get(found[0], "RUN0"), text)
        return DURATION.sub("TIME", text)

    def content(self, path: Path) -> Any:
        """Return the facts of a file."""
        if path.suffix == ".json":
            content = json.loads(path.read_text(encoding="utf-8"))
            rows = path.with_name("questions.jsonl")
            if path.name == "report.json" and rows.exists():  # where questions were saved, until 38 also in part
                lines = map(json.loads, rows.read_text(encoding="utf-8").splitlines())
                content["queries"] = [known | row for known, row in zip(content["queries"], lines, strict=True)]
            return self.facts_of(content)
        if path.name.startswith("journal-"):  # answers with their times
            return len(path.read_bytes().splitlines())
        if path.suffix == ".xml":
            return self.facts_of(as_dict(ET.parse(path).getroot()))
        if path.suffixes == [".jsonl", ".gz"]:
            rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
            text = repr(
                [{key: row[key] for key in sorted(row) if key not in ("score", "stages", "text")} for row in rows]
            )
        else:
            text = self.told(path.read_text(encoding="utf-8"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def facts_of(self, value: Any) -> Any:
        """Return a value without durations, and of texts only what is no wording."""
        if isinstance(value, dict):
            timed = {*TIMED, "measured"} if DURATION.search(str(value.get("gate"))) else TIMED
            timed = {*timed, "hash"} if "retriever" in value else timed  # that of settings, of which the folder is one
            return {
                self.told(key): self.told(inner) if key in WHOLE and isinstance(inner, str) else self.facts_of(inner)
                for key, inner in value.items()
                if key not in timed
            }
        if isinstance(value, list):
            return [self.facts_of(inner) for inner in value]
        if isinstance(value, str):
            text = self.told(value)
            return self.words_apart(text) if re.search(r"\s", text) else text
        return value

    def words_apart(self, text: str) -> str:
        """Return the numbers, names and commands of a text, each once, in order."""
        text = text.translate({ord(sign): " " for sign in "│─╭╮╰╯┃━"})
        found = {shown.replace("−", "-") for shown in self._facts_of_words(text)}
        return " ".join(sorted(found))

    def _facts_of_words(self, text: str) -> Iterator[str]:
        yield from ("_".join(found.split()) for found in COMMAND.findall(text))
        for word in re.split(r"[\s–…“”‘’(){}\[\]<>\"'`,;=]+", re.sub(r"(?<=\d),(?=\d{3}\b)| (?=%)", "", text)):
            word = word if NUMBER.fullmatch(word) else word.lstrip("*|").rstrip(".:!?*|")
            if NUMBER.fullmatch(word):
                yield word if word.endswith("%") or "." not in word else repr(float(word.replace("−", "-")))
            elif re.search(r"\d|\w/\w|\w\.(?:md|html|rst|txt|jsonl?|csv|ya?ml|xml|py)\b", word):
                yield word


def steady(screen: str) -> str:
    """Return a screen without the white space that durations make wider or narrower."""
    parts = re.split(r"\n\s*\n", re.sub(r"[ \t]+$", "", screen, flags=re.MULTILINE))
    return "\n\n".join(re.sub(r"(?<=\S)(  |──)[ ─]*", r"\1", part) if "TIME" in part else part for part in parts)


def as_dict(element: ET.Element) -> dict[str, Any]:
    """Return an element of XML: its attributes, its text, and the elements in it by tag and name."""
    found: dict[str, Any] = dict(element.attrib)
    if text := (element.text or "").strip():
        found["text"] = text
    for number, inner in enumerate(element):
        found[f"{inner.tag} {inner.attrib.get('name', number)}"] = as_dict(inner)
    return found


def loaded() -> Any:
    """Return the package with all that its commands load, so that none has to do it in its fork."""
    package, commands = import_module(PACKAGE), import_module(f"{PACKAGE}.cli")
    for name in package.__all__:
        getattr(package, name)
    for module in iter_modules(commands.__path__, f"{commands.__name__}."):
        import_module(module.name)
    gc.freeze()  # a fork that looks at what is loaded copies it
    return package


def run_forked(words: list[str], folder: Path, stdin: int) -> tuple[int, str, str]:
    """Run a command in a copy of this process, which has loaded the package, and return its code, output and errors."""
    with TemporaryFile() as out, TemporaryFile() as err:
        if not (child := os.fork()):
            code = 70
            try:
                os.chdir(folder)
                for number, stream in enumerate((stdin, out.fileno(), err.fileno())):
                    os.dup2(stream, number)
                code = run_here(words)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for stream in (out, err):
            stream.seek(0)
        return code, out.read().decode(), err.read().decode()


def run_here(words: list[str]) -> int:
    """Run `rag-eval …` or `python SCRIPT …` in this process, and return its exit code."""
    sys.argv = words if words[0] == "rag-eval" else words[1:]
    sys.path.insert(0, "")
    try:
        if words[0] == "rag-eval":
            runpy.run_module(PACKAGE, run_name="__main__")
        else:
            runpy.run_path(words[1], run_name="__main__")
    except SystemExit as leaving:
        return int(leaving.code or 0)
    except Exception:  # noqa: BLE001
        traceback.print_exc()
        return 1
    return 0


def record(project: str) -> list[dict[str, Any]]:
    """Return what the commands of a project do."""
    with TemporaryDirectory(prefix="golden-") as temporary:
        folder = Path(temporary).resolve()
        folder /= "_" * (LENGTH - 1 - len(str(folder)))
        shutil.copytree(PROJECTS / project, folder, dirs_exist_ok=True)
        steps = (folder / "steps.txt").read_text(encoding="utf-8").splitlines()
        if steps[0].startswith("# in "):
            shutil.copytree(PROJECTS.parent / steps[0].removeprefix("# in "), folder, dirs_exist_ok=True)
        recorder, is_before = Recorder(folder), Path(sys.argv[1]) != PROJECTS.parents[2] / "src"
        found: list[dict[str, Any]] = []
        before = ""
        for line in steps:
            if line.startswith(BEFORE):
                before = line.removeprefix(BEFORE)
            elif line and not line.startswith("#"):
                found.append(recorder.step(before if before and is_before else line))
                before = ""
        return found


def main() -> None:
    """Record and print."""
    for name in [name for name in os.environ if name.startswith(("RAG_EVAL_", "GITHUB_", "OPENAI_"))]:
        del os.environ[name]
    os.environ |= {"COLUMNS": "120", "NO_COLOR": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    package = loaded()
    if not Path(str(package.__file__)).is_relative_to(sys.argv[1]):
        raise SystemExit(f"not the package of {sys.argv[1]} was loaded, but {package.__file__}")
    projects = sys.argv[2:] or sorted(path.name for path in PROJECTS.iterdir())
    print(json.dumps({project: record(project) for project in projects}, ensure_ascii=False))


if __name__ == "__main__":
    main()
