"""Inputs that are files: a valid sample of every format, changed, then loaded and used."""

import contextlib
import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz import mutation, samples, uses

Case = Callable[[Random, Path], None]
Use = Callable[[Path], None]
_STRUCTURED = 0.7  # of the inputs; the others are changed byte by byte

USES: dict[str, tuple[str, Use]] = {
    "native-json": ("x.json", uses.dataset_of("token")),
    "native-json-nocorpus": ("x.json", uses.dataset_of("token", documents=False)),
    "native-chunks": ("x.json", uses.dataset_of("chunk")),
    "native-documents": ("x.json", uses.dataset_of("document")),
    "native-jsonl": ("x.jsonl", uses.dataset_of("token")),
    "native-chunks-jsonl": ("x.jsonl", uses.dataset_of("chunk", documents=False)),
    "native-yaml": ("x.yaml", uses.dataset_of("token")),
    "quotes-csv": ("x.csv", uses.quotes),
    "quotes-csv-load": ("x.csv", uses.dataset_of("token")),
    "quotes-tsv": ("x.tsv", uses.quotes),
    "quotes-jsonl": ("x.jsonl", uses.quotes),
    "quotes-list": ("x.json", uses.quotes),
    "quotes-several": ("x.csv", uses.quotes),
    "squad": ("x.json", uses.dataset_of("token")),
    "retrieval-pairs": ("x.json", uses.quotes),
    "chunking-eval": ("x.csv", uses.dataset_of("token")),
    "examples": ("x.json", uses.dataset_of("token")),
    "examples-reg": ("x.json", uses.dataset_of("token", keys=True)),
    "examples-chunks": ("x.json", uses.dataset_of("chunk")),
    "examples-doc": ("x.json", uses.dataset_of("document")),
    "examples-jsonl": ("x.jsonl", uses.dataset_of("token")),
    "harness": ("x.json", uses.dataset_of("document")),
    "harness-c": ("x.json", uses.dataset_of("document", documents=False)),
    "harness-yaml": ("x.yaml", uses.dataset_of("document")),
    "registry": ("x.jsonl", uses.chunk_registry),
    "qrels-trec": ("x.qrels", uses.qrels),
    "qrels-beir": ("x.tsv", uses.qrels),
    "qrels-json": ("x.json", uses.qrels),
    "run-trec": ("x.run", uses.ranking_file),
    "run-table": ("x.tsv", uses.ranking_file),
    "run-json": ("x.json", uses.ranking_file),
    "run-gz": ("x.run.gz", uses.ranking_file),
    "config-json": ("x.json", uses.config),
    "config-pipeline": ("x.json", uses.config),
    "config-yaml": ("x.yaml", uses.config),
    "config-yaml2": ("x.yaml", uses.config),
    "tokenizer": ("tokenizer.json", uses.tokenizer),
    "tiktoken": ("cl100k_base.tiktoken", uses.tokenizer),
    "report": ("report.json", uses.report_alone("token")),
    "report-chunk": ("report.json", uses.report_alone("chunk")),
    "report-doc": ("report.json", uses.report_alone("document")),
}
"""Under which name a file is stored, and what is done with it."""


def _trees() -> dict[str, Any]:
    return {
        "native-json": samples.native("token"),
        "native-json-nocorpus": samples.native("token"),
        "native-chunks": samples.native("chunk"),
        "native-documents": samples.native("document"),
        "native-yaml": samples.native("token"),
        "examples": samples.examples("token"),
        "examples-reg": [samples.examples("token")[number] for number in (0, 2)],
        "examples-chunks": samples.examples("chunk"),
        "examples-doc": samples.examples("document"),
        "harness": samples.HARNESS,
        "harness-c": samples.HARNESS,
        "harness-yaml": samples.HARNESS,
        "qrels-json": samples.QRELS,
        "run-json": samples.RANKINGS,
        "config-json": samples.CONFIG,
        "config-pipeline": samples.PIPELINE,
        "config-yaml2": samples.CONFIG,
        "tokenizer": samples.TOKENIZER,
        "report": json.loads(samples.report("token")["report.json"]),
        "quotes-list": [
            {"question": question, "quote": [quote], "retrieved": [document]}
            for question, document, quote in samples.QUOTES
        ],
        "squad": samples.squad(),
        "retrieval-pairs": samples.retrieval_pairs(),
        "report-chunk": json.loads(samples.report("chunk")["report.json"]),
        "report-doc": json.loads(samples.report("document")["report.json"]),
    }


def _rows() -> dict[str, list[Any]]:
    header = {key: value for key, value in samples.native("token").items() if key != "questions"}
    chunks = {key: value for key, value in samples.native("chunk").items() if key != "questions"}
    return {
        "native-jsonl": [header, *samples.native("token")["questions"]],
        "native-chunks-jsonl": [chunks, *samples.native("chunk")["questions"]],
        "quotes-jsonl": [
            {"question": question, "quote": quote, "document": document, "topic": 1}
            for question, document, quote in samples.QUOTES
        ],
        "examples-jsonl": samples.examples("token"),
        "registry": samples.registry_lines(),
    }


_TABLES = {
    "quotes-csv": (samples.QUOTES_CSV, ","),
    "quotes-csv-load": (samples.QUOTES_CSV, ","),
    "quotes-tsv": (samples.QUOTES_CSV.replace(",", "\t"), "\t"),
    "quotes-several": (samples.QUOTES_SEVERAL, ";"),
    "chunking-eval": (samples.CHUNKING_EVALUATION, ","),
    "qrels-trec": (samples.QRELS_TREC, " "),
    "qrels-beir": (samples.QRELS_BEIR, "\t"),
    "run-trec": (samples.RANKINGS_TREC, " "),
    "run-table": (samples.RANKINGS_TABLE, "\t"),
    "run-gz": (samples.RANKINGS_TREC, " "),
    "config-yaml": (samples.YAML, ": "),
}


def contents() -> dict[str, bytes]:
    """Return the valid content of each file of `USES`."""
    return {
        **{name: mutation.text(tree).encode() for name, tree in _trees().items()},
        **{name: samples.lines(lines).encode() for name, lines in _rows().items()},
        **{name: table.encode() for name, (table, _) in _TABLES.items()},
        "tiktoken": samples.TIKTOKEN,
    }


def used(name: str, data: bytes, folder: Path) -> None:
    """Write a file of `USES`, with whatever has to lie beside it, and use it."""
    file, use = USES[name]
    if use is uses.config:
        _beside(folder)
    (folder / file).write_bytes(data)
    use(folder / file)


def cases() -> dict[str, Case]:
    """Return the cases of files by name."""
    trees, rows, valid = _trees(), _rows(), contents()
    donors = [*trees.values(), *(row for lines in rows.values() for row in lines)]

    def structured(rng: Random, name: str) -> bytes:
        if name in trees:
            return _text(mutation.mutated_tree(rng, trees[name], donors))
        if name in rows:
            changed = mutation.mutated_tree(rng, rows[name], donors)
            return b"".join(_text(row) + b"\n" for row in (changed if isinstance(changed, list) else [changed]))
        if name in _TABLES:
            return _utf8(mutation.mutated_table(rng, *_TABLES[name]))
        return mutation.mutated_bytes(rng, valid[name], [*valid.values()])

    def case(name: str) -> Case:
        def run(rng: Random, folder: Path) -> None:
            if rng.random() < _STRUCTURED:
                data = structured(rng, name)
            else:
                data = mutation.mutated_bytes(rng, valid[name], [*valid.values()])
            used(name, _compressed(rng, data) if name == "run-gz" else data, folder)

        return run

    return {
        **{name: case(name) for name in USES},
        **{f"run-folder-{level}": _saved(level, donors) for level in samples.LEVELS},
        "cache": _cache,
        "corpus": _corpus,
    }


def _text(tree: Any) -> bytes:
    return _utf8(mutation.text(tree))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _compressed(rng: Random, data: bytes) -> bytes:
    kind = rng.random()
    if kind < 0.02:  # a bomb: less than 1 MB that becomes 300 MB, quickly made of parts
        return gzip.compress(rng.choice([b"x" * 17, b"q1 Q0 d1 1 1 run\n"]) * 170_000, mtime=0) * 100
    packed = gzip.compress(data, mtime=0)
    return packed if kind < 0.6 else mutation.mutated_bytes(rng, packed)


def _beside(folder: Path) -> None:
    """Write what configurations name: the documents and a dataset."""
    for name, content in samples.DOCUMENTS.items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(content, encoding="utf-8")
    (folder / "dataset.json").write_text(json.dumps(samples.native("token")), encoding="utf-8")


def _saved(level: str, donors: Sequence[Any]) -> Case:
    """Return the case of the folder of a run, of which one or two files are changed, mostly with their hashes."""

    def run(rng: Random, folder: Path) -> None:
        saved = samples.report(level, rng.choice((0, 5_000)))
        files = {name: content for name, content in saved.items() if name != "summary.md"}
        for name in rng.sample([*files], rng.choice((1, 1, 2))):
            files[name] = _changed(rng, name, files[name], donors)
        if rng.random() < 0.9:
            for name in files.keys() - {"report.json"}:
                before = hashlib.sha256(saved[name]).hexdigest().encode()
                files["report.json"] = files["report.json"].replace(
                    before, hashlib.sha256(files[name]).hexdigest().encode()
                )
        if rng.random() < 0.15:
            del files[rng.choice([*files])]
        (folder / "run").mkdir()
        for name, data in files.items():
            (folder / "run" / name).write_bytes(data)
        uses.report(level)(folder / "run" / rng.choice(["", "", "", "report.json"]))

    return run


def _changed(rng: Random, name: str, data: bytes, donors: Sequence[Any]) -> bytes:
    if rng.random() > _STRUCTURED:
        return mutation.mutated_bytes(rng, data)
    if name == "report.json":
        return _text(mutation.mutated_tree(rng, json.loads(data), donors))
    packed = name.endswith(".gz")
    rows = [json.loads(line) for line in (gzip.decompress(data) if packed else data).splitlines()]
    changed = mutation.mutated_tree(rng, rows, donors)
    text = b"".join(_text(row) + b"\n" for row in (changed if isinstance(changed, list) else [changed]))
    return _compressed(rng, text) if packed else text


def _cache(rng: Random, folder: Path) -> None:
    files = samples.cache_files()
    changed = rng.choice(sorted(files))
    write_cache(folder, {**files, changed: mutation.mutated_bytes(rng, files[changed])})
    uses.embedding_cache(folder)


def write_cache(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


_NAMES = [
    "a.md",
    "b.MD",
    "c.txt",
    ".hidden.md",
    "x\ny.md",
    "\x1b[2J.md",
    "\u202e.md",
    " .md",
    "-.md",
    "a" * 250 + ".md",
]
_CONTENTS = [b"", b"text\n", b"\xff\xfe\x00", b"\xef\xbb\xbfmark", b"a\x00b", b"\xed\xa0\x80", b"x" * 1_000_000, b"\r"]
_GLOBS = ["**/*.md", "*", "**", "", ".", "[", "../*", "/etc/*", "**/*.md\x00", "***", "*.md/..", "{a,b}", "x" * 5000]
_GLOBS += ["**/" * 200 + "*", "~/*", "link/*.md", "../outside/*.md", "**/../**/*.md", "\ud800*", "docs//*.md"]


def _corpus(rng: Random, folder: Path) -> None:
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.md").write_text("secret\n", encoding="utf-8")
    docs = folder / "docs"
    (docs / "inner").mkdir(parents=True)
    for make in rng.choices([*_things(rng, folder)], k=rng.randrange(1, 6)):
        with contextlib.suppress(FileExistsError):
            make(rng.choice([docs, docs / "inner"]))
    uses.folder_of_documents(docs, rng.choice(_GLOBS) if rng.random() < 0.5 else "**/*.md")


def _things(rng: Random, folder: Path) -> Iterator[Callable[[Path], object]]:
    """Yield what makes something in a folder of documents."""
    for _ in range(4):
        name, content = rng.choice(_NAMES), rng.choice(_CONTENTS)
        yield lambda place, name=name, content=content: (place / name).write_bytes(content)
    yield lambda place: os.close(os.open(os.fsencode(place) + b"/\xff\xfe.md", os.O_CREAT | os.O_WRONLY))
    yield lambda place: (place / "folder.md").mkdir()
    yield lambda place: (place / "dangling.md").symlink_to(folder / "nowhere")
    yield lambda place: (place / "link.md").symlink_to(folder / "outside" / "secret.md")
    yield lambda place: (place / "link").symlink_to(folder / "outside")
    yield lambda place: (place / "round").symlink_to(place)
    yield lambda place: (place / "self.md").symlink_to(place / "self.md")
    yield lambda place: (place / "null.md").symlink_to("/dev/null")
    yield lambda place: os.mkfifo(place / "pipe.md")
    yield lambda place: (place / "/".join(["deep" * 20] * 20)).mkdir(parents=True)
