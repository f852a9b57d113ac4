"""A sentence model in ONNX Runtime: exported once from PyTorch, checked against it, and kept."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base import note, require
from rag_evaluation_framework.base.exits import errors_as
from rag_evaluation_framework.base.files import unfinished
from rag_evaluation_framework.base.outside import raised
from rag_evaluation_framework.base.store import Cache
from rag_evaluation_framework.embedders.sentence_model import (
    TOKENS_ON_CPU,
    ModelSettings,
    SentenceModel,
    TorchModel,
    file_hash,
    quiet,
)
from rag_evaluation_framework.errors import ConfigError

MODEL, TOKENIZER, RECORD = "model.onnx", "tokenizer.json", "export.json"
_MOST = 16 << 30  # bytes of all exports below a root


def exports(root: str | Path) -> Cache:
    """Return the exported models below a root, in `<root>/cache/onnx/`: a folder each, named by their key."""
    return Cache(root, "onnx", "ONNX exports", _MOST)


LEAST_COSINE = 0.9999
_SCHEMA = 1
_PROBES = (
    "",
    " ",
    "refund",
    "How long does a refund take?",
    "Invoices are sent on the first day of the month.\n\nRefunds of an invoice take five working days.",
    "🚀🎉 café naïve Straße 検索エンジン поиск",
    "3.14159 != 22/7; x[0] = {'a': None}  # zzzqqq",
    " ".join(f"Paragraph {number} says that the server was restarted twice." for number in range(12)),
    "refund of the invoice " * 2_000,
)


class OnnxModel(SentenceModel):
    """An exported model.

    Args:
        folder: The folder of the export.

    Raises:
        MissingDependency: onnxruntime or tokenizers is not installed.
        ConfigError: The export is incomplete or damaged.
    """

    def __init__(self, folder: Path) -> None:
        with quiet():
            runtime = require("onnxruntime", extra="onnx", needed_by="SentenceTransformerEmbedder(backend='onnx')")
            tokenizers = require("tokenizers", extra="onnx", needed_by="SentenceTransformerEmbedder(backend='onnx')")
        record = _checked_record(folder)
        # The record may have been edited, or the libraries be of other versions.
        with errors_as(lambda error: ConfigError(f"ONNX export {folder}: cannot be loaded ({raised(error)})")):
            self._load(folder, record, runtime, tokenizers)

    def _load(self, folder: Path, record: dict[str, Any], runtime: Any, tokenizers: Any) -> None:
        self.settings = ModelSettings(**record["settings"])
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        self._inputs: list[str] = record["inputs"]
        options = runtime.SessionOptions()
        options.intra_op_num_threads = _threads()
        # Threads that wait by spinning take the processor from the others: 2x slower on a busy machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session: Any = runtime.InferenceSession(str(folder / MODEL), options, providers=["CPUExecutionProvider"])

    def _run(self, ids: NDArray[np.int64], mask: NDArray[np.int64], output: str) -> NDArray[np.float32]:
        given = {"input_ids": ids, "attention_mask": mask, **{name: np.zeros_like(ids) for name in self._inputs}}
        array: NDArray[np.float32] = self._session.run([output], given)[0]
        return array


def load_onnx_model(source: Path, key: str, root: str | Path) -> OnnxModel:
    """Return a model folder as ONNX Runtime runs it, exported first unless that was done before.

    The export is kept in `<root>/cache/onnx/<key>/`, the key being the hash of the model's files, and only if it agrees
    with PyTorch.

    Raises:
        MissingDependency: There is no export yet, and a package that makes it is not installed.
        ConfigError: The export does not agree with PyTorch.
    """
    kept = exports(root)
    target = kept.folder / key
    if target.exists():
        try:
            kept.use(key)
            return OnnxModel(target)
        except ConfigError as error:
            note(f"{error}; the model is exported anew")
    try:
        with unfinished(kept.folder) as made:
            _export(source, made)
            made.chmod(0o755)
            with suppress(ConfigError):  # another process was quicker
                return OnnxModel(target)
            kept.remove([key])
            model = OnnxModel(made.rename(target))
        kept.shrink(_MOST)
        return model
    except OSError as error:
        note(f"the ONNX export cannot be kept in {kept.folder} ({error.strerror}); every run makes it anew")
    with TemporaryDirectory(ignore_cleanup_errors=True) as elsewhere:
        _export(source, Path(elsewhere))
        return OnnxModel(Path(elsewhere))


def _checked_record(folder: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads((folder / RECORD).read_bytes())
        intact = record["schema"] == _SCHEMA and all(
            file_hash(folder / name) == digest for name, digest in record["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"ONNX export {folder}: cannot be read ({error})") from error
    if not intact:
        raise ConfigError(f"ONNX export {folder}: is damaged, or of another version")
    return record


def _export(source: Path, folder: Path) -> None:
    """Write a model into an empty folder as ONNX, and check it against PyTorch; the record is written last."""
    model = TorchModel(source)
    model.transformer.to("cpu")
    _spell_out_attention(model)
    names = ["input_ids", "attention_mask", *model.inputs]
    outputs = ["sentence_embedding", "token_embeddings"]
    _write_graph(model, folder / MODEL, names, outputs)
    model.tokenizer.save(str(folder / TOKENIZER))
    record = {
        "schema": _SCHEMA,
        "files": {path.name: file_hash(path) for path in sorted(folder.iterdir())},
        "inputs": model.inputs,
        "settings": asdict(replace(model.settings, tokens_at_once=TOKENS_ON_CPU)),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
    cosine = least_cosine(model, OnnxModel(folder))
    if not cosine >= LEAST_COSINE:
        raise ConfigError(
            f"model {source}: its ONNX export does not agree with PyTorch (cosine {cosine:.6f}; expected at least "
            f"{LEAST_COSINE}); use backend='torch'"
        )


def _spell_out_attention(model: TorchModel) -> None:
    """Have attention computed step by step: ONNX Runtime recognises the steps and fuses them, a fifth faster."""
    inner = getattr(model.transformer[0], "auto_model", None)
    if hasattr(inner, "set_attn_implementation"):
        with quiet():
            cast("Any", inner).set_attn_implementation("eager")


def _write_graph(model: TorchModel, path: Path, names: Sequence[str], outputs: Sequence[str]) -> None:
    torch: Any = require("torch", extra="sentence-transformers", needed_by="the export to ONNX")
    require("onnx", extra="onnx", needed_by="the export to ONNX")

    def forward(module: Any, *tensors: Any) -> tuple[Any, ...]:
        features = module.transformer(dict(zip(names, tensors, strict=True)))
        return tuple(features[output] for output in outputs)

    whole: Any = type("Whole", (torch.nn.Module,), {"forward": forward})()
    whole.transformer = model.transformer
    ids, mask = padded([model.tokenizer.encode(text).ids for text in _PROBES[3:5]], model.settings.pad)
    tensors = model.features(ids, mask)
    with quiet(), torch.no_grad():
        # The exporter that is built on torch.export gave wrong vectors; this one is checked, and so are its results.
        torch.onnx.export(
            whole.eval(),  # a module starts in training mode, and the exporter leaves it there
            tuple(tensors[name] for name in names),
            str(path),
            input_names=list(names),
            output_names=list(outputs),
            dynamic_axes={name: {0: "texts", 1: "tokens"} for name in (*names, outputs[1])}
            | {outputs[0]: {0: "texts"}},
            opset_version=17,
            dynamo=False,
        )


def least_cosine(first: SentenceModel, second: SentenceModel, texts: Sequence[str] = _PROBES) -> float:
    """Return the lowest cosine between two models' vectors of any text, or any token of one; alone and in a batch."""
    rows = [first.tokenizer.encode(text).ids for text in texts]
    lowest = 1.0
    for batch in (*([row] for row in rows), rows):
        ids, mask = padded(batch, first.settings.pad)
        lowest = min(
            lowest,
            _least(first.vectors(ids, mask), second.vectors(ids, mask)),
            _least(first.token_vectors(ids, mask)[mask == 1], second.token_vectors(ids, mask)[mask == 1]),
        )
    return lowest


def padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of token ids as one array, filled up behind, and the mask that is 1 where there is a token."""
    width = max(1, *map(len, rows))
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return ids, mask


def _least(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    if not len(first):
        return 1.0
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    return float(((first * second).sum(axis=-1) / lengths).min())


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
