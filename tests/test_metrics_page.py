"""The page of metrics is what the code says."""

import importlib.util
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from rag_evaluation_framework.data.spans import calculate_overlap, merge_overlapping_spans, total_length
from rag_evaluation_framework.scoring.metrics import ALL_METRICS

ROOT = Path(__file__).resolve().parents[1]


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = loaded(ROOT / "docs" / "generate_metrics.py")
PAGE = generator.PAGE.read_text(encoding="utf-8")
every_metric = pytest.mark.parametrize("metric", ALL_METRICS.values(), ids=ALL_METRICS)


@pytest.fixture
def page(tmp_path, monkeypatch):
    path = tmp_path / "metrics.md"
    path.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(generator, "PAGE", path)
    return path


def rendered(text):
    """The text of a page as a reader sees it, code included, white space evened out."""
    parts = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        parts.extend(child.content if child.content else "\n" for child in token.children or ())
        parts.append("\n" if token.type.endswith("_close") else "")
    return " ".join("".join(parts).split())


def test_the_page_is_what_the_code_says_once_and_its_numbers_are_right():
    # The page is what the code says:
    assert generator.renewed(PAGE) == PAGE, f"docs/reference/metrics.md is stale; run: {generator.COMMAND}"

    # Every metric stands in one group and once on the page:
    grouped = [metric.name for group in generator.GROUPS for metric in generator.metrics_of(group)]
    assert sorted(grouped) == sorted(ALL_METRICS)
    assert re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE) == grouped

    # The examples can be told apart:
    scores = re.findall(r"^- \*\*Example:\*\* `.*` is (\d\.\d{3})\.$", PAGE, re.MULTILINE)
    assert len(scores) == len(ALL_METRICS)
    assert all(0 < float(score) <= 1 for score in scores)
    assert len(set(scores)) > len(scores) / 2

    # The introduction of the token level counts the characters of its example:
    names = {}
    exec(generator.GROUPS[0].example, names)
    retrieved, relevant = names["retrieved"], names["relevant"]
    covered = total_length(merge_overlapping_spans(retrieved))
    told = [total_length(relevant), covered, total_length(retrieved) - covered, calculate_overlap(retrieved, relevant)]
    assert list(map(int, re.findall(r"\d+", generator.GROUPS[0].intro))) == told


@every_metric
def test_every_metric_tells_its_facts_and_the_page_shows_them(metric):
    # Every metric says what it tells its formula range undefined case and source:
    description = generator.Description.of(type(metric))
    assert list(description.entries) == ["Formula", "Range", "Undefined", "Source"]
    assert all(description.entries.values())
    assert description.tells.endswith(".")
    # A range begins with an interval or a set, a source holds a year or names the tool it agrees with.
    assert re.match(r"[\[{(]", description.entries["Range"])
    assert re.search(r"\b(19|20)\d\d\b|trec_eval", description.entries["Source"])

    # The page shows all that the docstring says:
    _, _, rest = PAGE.partition(f"\n### `{metric.name}`\n")
    section = rendered(re.split(r"\n##|\n<!--", rest)[0])
    description = generator.Description.of(type(metric))
    for text in (description.tells, *description.details):
        assert text.replace("`", "") in section
    for entry, text in description.entries.items():
        assert f"{entry}: {text.replace('`', '')}" in section
    assert f"Example: {generator.call(metric)} is " in section


def test_a_stale_page_fails_the_check_with_the_command_that_mends_it_and_leaves_what_was_written_by_hand(page):
    generator.main(["--check"])
    assert page.read_text(encoding="utf-8") == PAGE
    before, after = PAGE.partition(generator.BEGIN)[0], PAGE.partition(generator.END)[2]
    for stale in (
        PAGE.replace("Reciprocal rank of the first relevant result (MRR)", "How late."),
        f"{before}By hand.\n{generator.BEGIN}\nstale\n{generator.END}{after}By hand.\n",
    ):
        page.write_text(stale, encoding="utf-8")
        with pytest.raises(SystemExit) as stopped:
            generator.main(["--check"])
        assert "stale" in stopped.value.code
        assert "python docs/generate_metrics.py" in stopped.value.code
        assert page.read_text(encoding="utf-8") == stale != PAGE
    generator.main([])
    mended = PAGE.replace(generator.BEGIN, f"By hand.\n{generator.BEGIN}") + "By hand.\n"
    assert page.read_text(encoding="utf-8") == mended


@pytest.mark.parametrize(
    "text",
    [
        "no markers",
        f"{generator.BEGIN}\n",
        f"{generator.END}\n{generator.BEGIN}\n",
        f"{generator.BEGIN}\n{generator.BEGIN}\n{generator.END}\n",
        f"{generator.BEGIN}\n{generator.END}\n{generator.END}\n",
    ],
)
def test_a_page_without_its_markers_is_refused_and_left_alone(text, page):
    page.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="once each and in this order"):
        generator.main([])
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "docstring",
    [
        None,
        "It tells something.",
        "It tells.\n\nFormula: 1\nRange: [0, 1].\nSource: Nobody 1999.",
        "It tells.\n\nFormula: 1\nRange:\nUndefined: never.\nSource: Nobody 1999.",
        "It tells.\n\nRange: [0, 1].\nFormula: 1\nUndefined: never.\nSource: Nobody 1999.",
        "It tells.\n\nFormula: 1\nRange: [0, 1].\nUndefined: never.\nSource: Nobody 1999.\nSource: Nobody 2000.",
        "It tells.\n\nMore words. \nFormula: 1\nRange: [0, 1].\nUndefined: never.\nSource: Nobody 1999.",
    ],
)
def test_a_docstring_that_lacks_an_entry_is_refused(docstring):
    metric = type("Incomplete", (), {"__doc__": docstring})
    with pytest.raises(ValueError, match=r"Incomplete.*Formula:, Range:, Undefined:, Source: in this order"):
        generator.Description.of(metric)


def test_entries_that_go_on_in_the_next_line_are_joined():
    text = "It\ntells.\n\nFormula: 1 +\n    1\nRange: [2, 2].\nUndefined: never.\nSource: Nobody 1999,\n    b."
    metric = type("Long", (), {"__doc__": text})
    description = generator.Description.of(metric)
    assert description.tells == "It tells."
    assert description.entries["Formula"] == "1 + 1"
    assert description.entries["Source"] == "Nobody 1999, b."
