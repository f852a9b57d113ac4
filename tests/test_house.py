"""The ratchet: the house grows no larger than `house.toml` says, and nothing that people use gets lost.

    python -m tests.test_house

writes the figures of today into it: do that at the end of a landing that made something smaller. A ceiling is raised
by hand, with a comment that names the user who brings the case. What is frozen may grow; a name that goes is red.
"""

import json
import re
import tomllib
from itertools import chain
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
import typer
from benchmarks.house import House, measure, read
from benchmarks.trace import trace
from typer.main import get_command

import rag_evaluation_framework as rag
from rag_evaluation_framework.cli.commands import app
from rag_evaluation_framework.components import LsaEmbedder
from rag_evaluation_framework.contracts.registry.loading import Kind, components

FILE = Path(__file__).parent.parent / "house.toml"
HELD = tomllib.loads(FILE.read_text(encoding="utf-8"))
ROOM = 1.02
"""How much larger than its ceiling a figure may be; one that is smaller by as much lets the ceiling fall."""
WALKS = {
    "evaluate": "within_evaluate",
    "evaluate_in_full": "everything_counted",
    "run_in_full": "run_everything_counted",
}
"""The names of the walks in `house.toml`, and in what `benchmarks/trace.py` returns."""
COUNTED = (
    *("code_lines", "files", "rooms", "arrows", "sentences", "files_that_spell_timeout", "broad_excepts"),
    *("check_functions", "test_functions"),
)


def commands():
    """The options of each command, by its name."""
    found, ahead = {}, [("rag-eval", get_command(app))]
    while ahead:
        name, command = ahead.pop()
        given = command.get_params(typer.Context(command))
        found[name] = sorted({option for each in given for option in each.opts if option[:2] == "--"} - {"--help"})
        ahead += [(f"{name} {inner}", below) for inner, below in getattr(command, "commands", {}).items()]
    return dict(sorted(found.items()))


def paths(value, at=""):
    """The keys of JSON, each with those it stands in; names of scores are `*`, and a list is `[]`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{'*' if '@' in key else key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    yield at


def keys_of_files(folder):
    """The keys of what a run with vectors saves, by its file, whether its report has the questions or not."""
    corpus = rag.Corpus([rag.Document(rag.DocumentId("a.md"), "Parcels leave at noon. Receipts are kept for a year.")])
    truth = rag.TokenLevelGroundTruth(rag.Query.from_text("When?"), [rag.CharacterSpan(rag.DocumentId("a.md"), 0, 22)])
    dataset = rag.Dataset([truth], rag.TOKEN, corpus=corpus)
    embedder = LsaEmbedder()
    result = rag.evaluate(rag.VectorRAGRetriever(embedder=embedder), dataset, k=1)
    saved = [result.save(folder / "small")]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rag_evaluation_framework.runs.result._MOST_IN_REPORT", 0)
        saved.append(result.save(folder / "large"))
    reports = [json.loads((run / "report.json").read_text(encoding="utf-8")) for run in saved]
    lines = (saved[1] / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        "report.json": sorted(path for path in set(chain.from_iterable(map(paths, reports))) if path),
        "questions.jsonl": sorted(
            path for path in set(chain.from_iterable(map(paths, map(json.loads, lines)))) if path
        ),
    }


def figures():
    """What has a ceiling."""
    counted = measure(House(read(".")))["figures"]
    walked = trace(".")
    ways = {
        f"{name}_{figure}": len(way[key]) if key != "stations" else way[key]
        for name, at in WALKS.items()
        for way in [walked[at]]
        for figure, key in (("files", "files"), ("stations", "stations"), ("climbs", "returns"))
    }
    options = sum(len(names) for names in commands().values())
    return {**{name: counted[name] for name in COUNTED}, **ways, "options": options, "root_names": len(rag.__all__)}


def names(folder):
    """What is frozen."""
    return {
        "root": sorted(rag.__all__),
        **{f"components: {kind}": sorted(components(kind)) for kind in get_args(Kind)},
        **{f"options of {name}": options for name, options in commands().items()},
        **{f"keys of {name}": keys for name, keys in keys_of_files(folder).items()},
    }


def written():
    """The text of `house.toml` as it would be today, with the comments that it has."""
    text = FILE.read_text(encoding="utf-8")
    for name, figure in figures().items():
        text = re.sub(rf"(?m)^{name} = \d+", f"{name} = {figure}", text)
    with TemporaryDirectory() as folder:
        frozen = names(Path(folder))
    lines = ["[frozen]"]
    for name, listed in frozen.items():
        lines += [f'"{name}" = [', *(f"    {json.dumps(item)}," for item in listed), "]"]
    return text.partition("[frozen]")[0] + "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def today():
    return figures()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return names(tmp_path_factory.mktemp("frozen"))


def test_figures_and_names_are_all_held(today, found):
    # Every figure has a ceiling:
    assert today.keys() == HELD["ceilings"].keys()

    # What people may use is frozen:
    # So that what is new cannot be lost unseen.
    assert {name: listed for name, listed in found.items() if listed != HELD["frozen"].get(name)} == {}


@pytest.mark.parametrize("name", HELD["ceilings"])
def test_a_figure_is_at_its_ceiling(today, name):
    ceiling = HELD["ceilings"][name]
    assert today[name] <= ceil(ceiling * ROOM), (
        "make it smaller; or raise the ceiling, with the user who brings the case"
    )
    assert today[name] >= floor(ceiling / ROOM), "the ceiling may fall: python -m tests.test_house"


@pytest.mark.parametrize("name", HELD["frozen"])
def test_nothing_that_people_use_is_gone(found, name):
    assert set(HELD["frozen"][name]) <= set(found.get(name, ()))


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
