"""Of the folder of exports only what is ours is removed, finished or not."""

import json

import pytest

from rag_evaluation_framework.embedders.onnx_model import exported, remove_exports

NAME = "0123456789ab" * 6
EXPORT, UNFINISHED = NAME[:64], f".{NAME[:12]}-ab_1cdef"


def made(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return [folder / name for name in names]


def test_exports_are_removed_whole_with_the_files_that_their_record_names(tmp_path):
    made(tmp_path / "onnx", f"{EXPORT}/model.onnx", f"{EXPORT}/weight.1", f"{UNFINISHED}/weight.2")
    (tmp_path / "onnx" / EXPORT / "export.json").write_text(json.dumps({"files": {"weight.1": "", "../mine": ""}}))
    (tmp_path / "onnx" / UNFINISHED.replace("ab_1", "ab_2")).mkdir()
    mine = made(tmp_path / "onnx", "mine")
    remove_exports(tmp_path / "onnx")
    assert [*(tmp_path / "onnx").iterdir()] == mine
    mine[0].unlink()
    remove_exports(tmp_path / "onnx")
    remove_exports(tmp_path / "onnx")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("record", ["", "[]", "[" * 5_000, '{"files": []}'])
def test_a_damaged_record_names_nothing(tmp_path, record):
    ours = made(tmp_path, f"{EXPORT}/export.json", f"{EXPORT}/model.onnx")
    theirs = made(tmp_path, f"{EXPORT}/readme.md", "theirs/model.onnx", ".hidden/model.onnx")
    ours[0].write_text(record)
    others = [theirs[2].parent, theirs[0], theirs[1].parent]
    assert exported(tmp_path) == (ours, others)
