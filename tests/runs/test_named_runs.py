"""Which saved run a name means, and what is said if it means none."""

import json
import os
import re
import shutil
from contextlib import nullcontext

import pytest

from rag_evaluation_framework import DOCUMENT, Dataset, DocumentLevelGroundTruth, Query, evaluate, load_result
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.runs import find_run, store


def save(root, folder, name="bm25", created="2026-01-01T00:00:00+00:00"):
    """Write the report of a run, as results are saved."""
    made = root / "runs" / folder
    made.mkdir(parents=True)
    head = {"name": name, "config": {"name": "nested", "created": "never"}, "created": created, "metrics": {}}
    store.write_lines(made / "report.json", [store.report_text(head, ["{}"])])
    return made


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "kept"
    save(root, "20260101T000000Z-faq", "bm25")
    save(root, "20260102T000000Z-faq", "bm25", "2026-01-02T00:00:00+00:00")
    save(root, "20260103T000000Z-faq", "vectors", "2026-01-03T00:00:00+00:00")
    return root


def refusal(name, root):
    with pytest.raises(ResultError) as caught:
        find_run(name, root)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("20260102T000000Z-faq", "20260102T000000Z-faq"),
        ("20260102", "20260102T000000Z-faq"),
        ("vectors", "20260103T000000Z-faq"),
        ("bm25", "20260102T000000Z-faq"),
        ("last", "20260103T000000Z-faq"),
        ("last~0", "20260103T000000Z-faq"),
        ("last~1", "20260102T000000Z-faq"),
        ("last~2", "20260101T000000Z-faq"),
    ],
)
def test_a_name_means_one_run(root, name, folder):
    assert find_run(name, root) == root / "runs" / folder


def test_a_path_is_taken_as_it_is_given_and_wins_over_names(root, tmp_path):
    for name in ("last", "bm25", "20260102T000000Z-faq"):
        (tmp_path / name).mkdir()
        assert str(find_run(name, root)) == name
    report = root / "runs" / "20260101T000000Z-faq" / "report.json"
    assert find_run(str(report), root) == report
    assert str(find_run("kept/runs/20260101T000000Z-faq", root)) == "kept/runs/20260101T000000Z-faq"


def test_an_exact_name_wins_over_the_beginning_of_another(root):
    save(root, "baseline", "x")
    save(root, "baseline-2", "y")
    save(root, "main-is-a-beginning", "z")
    save(root, "other", "main")
    assert find_run("baseline", root).name == "baseline"
    assert find_run("main", root).name == "other"
    assert find_run("main-", root).name == "main-is-a-beginning"


def test_a_beginning_of_several_names_is_refused_with_these_alone(root):
    save(root, "20260102T235959Z-faq", "later", "2026-01-02T23:59:59+00:00")
    told = refusal("20260102", root).splitlines()
    assert told[0].startswith("'20260102' is the beginning of 2 names of runs; write more of it; the runs in ")
    assert [line.split()[0] for line in told[1:3]] == ["20260102T235959Z-faq", "20260102T000000Z-faq"]
    assert "20260103" not in "".join(told)


def test_runs_of_one_second_are_in_the_order_of_their_numbers(tmp_path):
    folders = store.run_folders(tmp_path, "2026-01-01T00:00:00+00:00", "faq")
    names = [save(tmp_path, next(folders).name).name for _ in range(11)]
    assert [find_run(f"last~{number}", tmp_path).name for number in range(11)] == names[::-1]


def test_runs_of_one_second_are_in_the_order_in_which_they_started_wherever_they_are_copied(tmp_path):
    for number, name in enumerate(["faq", "zebra", "ant", "faq-2", "bee"]):
        save(tmp_path, f"20260101T000000Z-{name}", created=f"2026-01-01T00:00:00.{number}00+00:00")
    copies = [
        shutil.copytree(tmp_path / "runs", tmp_path / "copy" / "runs", copy_function=shutil.copy).parent,
        tmp_path,
    ]
    for root in copies:
        found = [find_run(f"last~{number}", root).name.partition("-")[2] for number in range(5)]
        assert found == ["bee", "faq-2", "ant", "zebra", "faq"]


def test_a_report_tells_when_its_run_started_to_the_millisecond(tmp_path):
    asked = Dataset([DocumentLevelGroundTruth(Query.from_text("Who?"), ["a"])], DOCUMENT)
    result = evaluate(lambda query, k: ["a"], asked, k=1, save_results_path=tmp_path)
    assert load_result(result.folder).created == result.created
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", result.created)
    assert f"made {result.created[:19]}+00:00 with version" in result.summary().as_markdown()


def test_a_run_in_a_folder_of_any_name_is_sorted_by_the_time_in_its_report(root):
    save(root, "mine", "own", "2026-01-02T12:00:00+00:00")
    assert [find_run(f"last~{number}", root).name for number in range(3)] == [
        "20260103T000000Z-faq",
        "mine",
        "20260102T000000Z-faq",
    ]


def test_reports_that_others_have_rewritten_have_names(root):
    for folder, layout in (("20260104T000000Z-faq", None), ("20260105T000000Z-faq", 4)):
        file = save(root, folder, f"written with {layout}") / "report.json"
        file.write_text(json.dumps(dict(reversed(json.loads(file.read_text()).items())), indent=layout))
        assert find_run(f"written with {layout}", root).name == folder
        assert find_run("last", root).name == folder


def damage(kind, folder):
    file = folder / "report.json"
    written = file.read_text()
    match kind:
        case "no report":
            file.unlink()
        case "cut off":
            file.write_text(written[:-3])
        case "cut off early":
            file.write_text(written[:40])
        case "no JSON":
            file.write_text(written.replace('"bm25"', "bm25"))
        case "no UTF-8":
            file.write_bytes(written.encode().replace(b"bm25", b"\xff"))
        case "another schema":
            file.write_text(written.replace('"schema_version": 4', '"schema_version": 99'))
        case "no name":
            file.write_text(written.replace('\n "name": "bm25"', '\n "called": "bm25"'))
        case "no text for a name":
            file.write_text(written.replace('\n "name": "bm25"', '\n "name": 7'))
        case "no time":
            file.write_text(written.replace("2026-01-01T00:00:00+00:00", "yesterday"))
        case "a list":
            file.write_text("[]")
        case "a folder for a report":
            file.unlink()
            file.mkdir()
        case "a pipe":
            file.unlink()
            os.mkfifo(file)


DAMAGES = (
    *("no report", "cut off", "cut off early", "no JSON", "no UTF-8", "another schema", "no name"),
    *("no text for a name", "no time", "a list", "a folder for a report", "a pipe"),
)


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("folder", ["20260109T000000Z-faq", "foreign"])
def test_what_is_no_whole_run_is_never_the_last_and_is_named_if_nothing_is_found(root, kind, folder):
    made = save(root, folder)
    assert find_run(folder, root) == made
    assert f"  {folder}  " in refusal("nothing", root)
    damage(kind, made)
    told = rf"^last passes over a run that cannot be read: {made}/report.json: [^\n]+$"
    with pytest.warns(UserWarning, match=told) if folder[0] == "2" else nullcontext():
        assert find_run("last", root).name == "20260103T000000Z-faq"
    assert find_run("bm25", root).name == "20260102T000000Z-faq"
    told = refusal("nothing", root)
    assert f"\nnot readable as runs: {folder}\n" in told
    assert f"  {folder}  " not in told
    assert find_run(folder, root) == made  # who reads it is told what is wrong with it


def test_what_is_not_finished_and_files_beside_runs_are_no_runs(root):
    save(root, ".rag-eval-unfinished-1", created="2027-01-01T00:00:00+00:00")
    (root / "runs" / "unfinished" / "1a2b3c").mkdir(parents=True)  # the answers of an interrupted run
    (root / "runs" / "20270101T000000Z-notes").write_text("a file")
    assert find_run("last", root).name == "20260103T000000Z-faq"
    assert "unfinished" not in refusal("nothing", root)
    assert refusal("unf", root).startswith("no path, run or experiment is called 'unf'")
    assert "notes" not in refusal("nothing", root)


def test_a_name_that_nothing_has_is_refused_with_the_runs_there_are_and_how_to_name_one(root):
    assert refusal("bm2", root).splitlines() == [
        f"no path, run or experiment is called 'bm2'; the runs in {root / 'runs'}:",
        "  20260103T000000Z-faq  2026-01-03T00:00:00+00:00  vectors",
        "  20260102T000000Z-faq  2026-01-02T00:00:00+00:00  bm25",
        "  20260101T000000Z-faq  2026-01-01T00:00:00+00:00  bm25",
        "name a run by its path, its folder or the beginning of that, its experiment, or as last, last~1 and so on",
    ]


def test_the_newest_ten_of_many_runs_are_listed(root):
    for day in range(10, 20):
        save(root, f"202601{day}T000000Z-faq", created=f"2026-01-{day}T00:00:00+00:00")
    told = refusal("nothing", root)
    assert "the newest 10 of 13 runs in " in told
    assert [line.split()[0] for line in told.splitlines() if line.startswith("  ")] == [
        f"202601{day}T000000Z-faq" for day in range(19, 9, -1)
    ]


NO_NAMES = {
    "there is no path {!r}; the runs in ": [
        *("kept/runs/no", "./last", "runs/20260101T000000Z-faq", "20260101T000000Z-faq/", ""),
        "runs/x-baseline/report.json",  # the place of a baseline is another one
    ],
    "no baseline is kept as {!r}": ["other/baseline/report.json"],
    "no path, run or experiment is called 'last~": [
        f"last~{count}" for count in ("3", "999999999", "-1", "", "1x", "9" * 5000)
    ],
    "no path, run or experiment is called 'a": ["a" * 5000, "a\0b", "a\ud800b"],
}


@pytest.mark.parametrize(
    ("name", "told"), [(name, told) for told, names in NO_NAMES.items() for name in names], ids=lambda text: text[:40]
)
def test_what_no_run_can_be_called_is_refused(root, name, told):
    assert refusal(name, root).startswith(told.format(name))
    assert "; the runs in " in refusal(name, root)


def test_without_runs_the_refusal_says_how_to_make_one(tmp_path):
    assert refusal("last", tmp_path / "none") == (
        f"no path, run or experiment is called 'last'; there are no runs in {tmp_path}/none/runs; "
        "`rag-eval run` saves one, --root names others"
    )
    (tmp_path / "some" / "runs" / "empty").mkdir(parents=True)
    assert f"no runs in {tmp_path}/some/runs, not readable as runs: empty; " in refusal("last", tmp_path / "some")


@pytest.mark.parametrize("root", ["file", "a" * 5000, "a\0b", "a\ud800b"])
def test_a_root_that_cannot_be_read_is_refused(tmp_path, monkeypatch, root):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    told = refusal("last", root)
    assert "choose another --root" in told
    assert len(told) < 500


def test_only_the_reports_that_matter_are_read(root, monkeypatch):
    opened = []
    real = store.read_text
    monkeypatch.setattr(
        store, "read_text", lambda file, *how, **more: opened.append(file.parent.name) or real(file, *how, **more)
    )
    find_run("last~1", root)
    assert opened == ["20260103T000000Z-faq", "20260102T000000Z-faq"]
    opened.clear()
    find_run("20260101T000000Z-faq", root)
    assert opened == []


def test_control_codes_in_names_of_runs_act_on_no_terminal(root):
    save(root, "20260104T000000Z-\x1b[31m", "\x1b[2J" + "long " * 500)
    told = refusal("nothing", root)
    assert "\x1b" not in told
    assert "20260104T000000Z-" in told
    assert max(map(len, told.splitlines())) < 400
