"""What counts as a fact, and as a difference of facts."""

import json

import pytest

from golden.kept import ABSENT, PROJECTS, differences, facts_file, facts_of, folded, keep, once, screens_file
from golden.recording import Recorder


@pytest.fixture
def recorder(tmp_path):
    return Recorder(tmp_path)


def found(before, after, digits=0.0):
    return list(differences({"facts": before}, {"facts": after}, digits))


def test_differences_of_numbers_and_names_are_seen():
    # A last digit is a difference:
    (one,) = found({"a.json": {"mean": 0.1}}, {"a.json": {"mean": 0.1 + 2e-17}})
    assert one == ("a.json mean", 0.1, 0.1 + 2e-17)
    assert found({"mean": 0.1}, {"mean": 0.1 + 2e-17}, digits=1e-12) == []
    assert found({"mean": 0.1}, {"mean": 0.1 + 1e-11}, digits=1e-12) != []
    assert found({"n": 1}, {"n": 2}, digits=1e-12) != []

    # What is gone is another thing than null:
    assert found({"exit": 0, "high": None}, {"exit": 0}) == [("high", None, ABSENT)]
    assert found({"notes": []}, {"notes": ["5"]}) == [("notes", [], ABSENT), ("notes 5", ABSENT, True)]
    assert found({"screen": "0.5 4"}, {"screen": "0.5"}) == [("screen 4", True, ABSENT)]

    # Questions and gates are compared by their names:
    old = {"queries": [{"query_id": "a", "score": 1.0}, {"query_id": "b", "score": 0.5}]}
    new = {"queries": [{"query_id": "b", "score": 0.5}, {"query_id": "a", "score": 0.75}]}
    assert found(old, new) == [("queries a score", 1.0, 0.75)]


def test_numbers_names_and_commands_are_facts_of_a_screen_and_words_are_none(recorder):
    shown = (
        "recall@2   0.750 .194–.994  -.5 +.25  95 %\n! see docs/faq.txt:22:1; run `rag-eval dataset update` (--accept)"
    )
    facts = "--accept -0.5 0.25 0.194 0.75 0.994 95% docs/faq.txt:22:1 rag-eval_dataset_update recall@2"
    assert recorder.words_apart(shown) == " ".join(sorted(facts.split()))
    assert recorder.words_apart("The words of a sentence, 4,049 questions.") == "4049"


def test_nothing_is_of_the_moment_or_the_machine(recorder, tmp_path):
    told = recorder.told(f"{tmp_path}/docs took 0.12 ms at 2026-11-27T03:22:07+00:00, 7f0e9ed2deea9b742cdc3916cdc5b392")
    assert told == "FOLDER/docs took TIME at TIME, 7f0e9ed2deea"
    gate = {"gate": "p95 <= 300ms", "measured": 0.001, "verdict": "not measured"}
    assert recorder.facts_of({"latency": {"p50": 0.1}, "gates": [gate]}) == {
        "gates": [{"gate": "p95 <= TIME", "verdict": "not measured"}]
    }


def test_what_is_kept_is_of_the_projects():
    assert [name for name in PROJECTS if not (facts_file(name).exists() and screens_file(name).exists())] == []
    assert sorted(path.stem for path in facts_file("").parent.iterdir()) == PROJECTS


def test_facts_are_kept_once_and_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("golden.kept.HERE", tmp_path)
    (tmp_path / "facts").mkdir()
    (tmp_path / "screens").mkdir()
    long = {"scores": [0.1 * number for number in range(99)], "name": "long"}
    steps = [{"argv": f"{name}", "facts": {"a.json": long, "exit": 0}, "screen": "shown\n"} for name in "xyz"]
    keep("p", steps)
    assert facts_file("p").read_text().count("0.30000000000000004") == 1
    assert facts_of("p") == [{"argv": step["argv"], "facts": step["facts"]} for step in steps]
    assert json.loads(folded(once(steps))) == once(steps) != steps
