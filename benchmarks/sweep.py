"""What a sweep of six chunkers costs: beside six runs, beside embedding alone, and beside the reference tool.

    python benchmarks/sweep.py [--data FOLDER] [--reference CHECKOUT] [--rounds 3] [--json]
    python benchmarks/sweep.py --cells 5000

Recursive chunks of 200, 400, 400 with 200 overlap, and 800 tokens with 400 overlap, and fixed ones of 200, and 400 with
200 overlap, all embedded by MiniLM, at 3, 5 and 10 results and at 4,000 characters: 24 rows. The questions are those of
public corpora (a folder with corpora/*.md and questions_df.csv; `--corpora wikitexts` leaves all but one out), or else
of the built-in handbook. Every side is a fresh process with one thread, the model loaded before its clock starts. Sides
take turns, the order turned round each time; ratios are of CPU seconds within one round, and their medians are shown.

- `speedup_independent`: six runs, each indexed and saved by itself, over one sweep.
- `sharing_bound`: what sharing allows. The same six runs, in which all texts are embedded each time, over what they
  would take if each distinct text were embedded once: (embedding all + rest) / (embedding the distinct + rest).
- `over_embedding_floor`: the sweep over embedding the distinct chunks and questions, and nothing else. That is done in
  the same process, call by call: two processes one after the other differ by more than what is measured.
- `speedup_reference`: the reference tool (github.com/brandonstarxel/chunking_evaluation, of which `--reference` is a
  checkout) over the sweep. It gets the same questions, chunkers and model, keeps the vectors of its chunks from one
  cutoff to the next (`db_to_save_chunks`), and does three of the four cutoffs: it has no budgets.
  `speedup_reference_once` is the same with one cutoff of the reference only, k=5, and all four of the sweep.
- `second_run_seconds`: the same sweep again in the same root, by the clock, in a fresh process, `…_process_seconds`
  with starting Python and importing; `second_run_embedded` texts were embedded, in `second_run_requests` calls.

With `--cells`, a sweep of that many cells that cost little: BM25 on the handbook, by chunk size, k1 and b; CPU time of
a cell. `overhead_ms` is what its run and saving it leave (`run_ms`, `save_ms`), `plan_ms` the part of planning in that,
`kept_ms` a cell that is kept, when the sweep is run again. `peak_mb_at_1000` and `peak_mb_at_end` are the most memory
that the process took until then, in 10^6 bytes. `conclusion_s` is what the page of the result takes, in seconds, and
`conclusion_peak_mb` the most memory until then.
"""

import os

# Read when NumPy and PyTorch are loaded; threads that wait for each other would count as CPU time.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import csv
import json
import resource
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    EvaluationResult,
    FixedTokenChunker,
    PositionAwareChunker,
    RecursiveCharacterChunker,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.components import SentenceTransformerEmbedder
from rag_evaluation_framework.components.embedders.sentence_transformer import find_model
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.runs import RunSpec, run
from rag_evaluation_framework.sweeps import Sweep
from rag_evaluation_framework.text.tokenizers import load_encoding

K, BUDGETS = [3, 5, 10], ["4000ch"]
RECURSIVE = ((200, 0), (400, 0), (400, 200), (800, 400))
FIXED = ((200, 0), (400, 200))
TOKENS = "cl100k_base"
CHUNKERS: list[PositionAwareChunker] = [
    # As the reference cuts: the separator is the beginning of the next piece.
    *(RecursiveCharacterChunker(size, overlap, length=TOKENS, separator_at="start") for size, overlap in RECURSIVE),
    *(FixedTokenChunker(size, overlap, TOKENS) for size, overlap in FIXED),
]
DRIVER = "import sys, sweep; sweep.print_side(*sys.argv[1:])"

Figures = dict[str, float]


BARE = SentenceTransformerEmbedder()


@dataclass
class Meter:
    """What MiniLM was asked for in this process.

    Attributes:
        has_floor: Whether the distinct texts are embedded once more, for comparison.
        texts: How many texts it embedded.
        requests: In how many calls.
        cpu_s: In how many CPU seconds.
        floor_cpu_s: In how many CPU seconds the same model embedded those texts that were new, and nothing else.
        distinct: The distinct texts.
    """

    has_floor: bool = False
    texts: int = 0
    requests: int = 0
    cpu_s: float = 0.0
    floor_cpu_s: float = 0.0
    distinct: set[str] = field(default_factory=set)

    def measure(self, embed: Callable[[Sequence[str]], NDArray[np.float32]], texts: Sequence[str]) -> Any:
        """Return the vectors; before or after, in turns, embed what of these texts is new with the bare model.

        Both are minutes of work; side by side, text by text, what else the machine does meets both alike.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self.distinct]
        self.distinct.update(new)
        self.texts += len(texts)
        self.requests += 1
        if self.has_floor and self.requests % 2:
            self.embed_bare(new)
        start = process_time()
        vectors = embed(texts)
        self.cpu_s += process_time() - start
        if self.has_floor and not self.requests % 2:
            self.embed_bare(new)
        return vectors

    def embed_bare(self, texts: Sequence[str]) -> None:
        """Embed texts with the bare model."""
        start = process_time()
        BARE.embed(texts)
        self.floor_cpu_s += process_time() - start


METER = Meter()


@dataclass(frozen=True)
class MeteredEmbedder(SentenceTransformerEmbedder):
    """MiniLM with a meter."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32, shape (len(texts), dimension), row i for text i."""
        vectors: NDArray[np.float32] = METER.measure(super().embed, texts)
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension)."""
        vectors: NDArray[np.float32] = METER.measure(super().embed_queries, texts)
        return vectors


def loaded() -> MeteredEmbedder:
    """Return an embedder whose model is in memory."""
    embedder = MeteredEmbedder()
    for each in (embedder, BARE):
        _ = each.dimension
    return embedder


def read(data: str) -> Dataset[CharacterSpan]:
    """Return the questions of a folder, or of the handbook if there is none."""
    if not data:
        return load_handbook()
    folder = Path(data)
    return load_dataset(folder / "questions_df.csv", corpus=Corpus.from_folder(folder / "corpora"))


# The sides; each returns its CPU seconds, and what belongs to them.


def independent(data: str, root: str) -> Figures:
    """Run each configuration by itself and save it, which embeds all of its texts and all questions."""
    dataset, embedder = read(data), loaded()
    start = process_time()
    for chunker in CHUNKERS:
        retriever = VectorRAGRetriever(chunker=chunker, embedder=embedder)
        evaluate(retriever, dataset, k=K, budgets=BUDGETS).save(root=root)
    return {
        "independent_cpu_s": process_time() - start,
        "independent_embedding_cpu_s": METER.cpu_s,
        "independent_texts": METER.texts,
    }


def sweep(data: str, root: str) -> Figures:
    """Run the same configurations as one sweep, and embed the distinct texts once more beside it."""
    dataset, embedder = read(data), loaded()
    METER.has_floor = True
    start = process_time()
    rows = run_sweep(dataset, embedder, root)
    return {
        "sweep_cpu_s": process_time() - start - METER.floor_cpu_s,
        "sweep_embedding_cpu_s": METER.cpu_s,
        "sweep_texts": METER.texts,
        "floor_cpu_s": METER.floor_cpu_s,
        "distinct_texts": len(METER.distinct),
        "rows": rows,
    }


def second_run(data: str, root: str) -> Figures:
    """Run the sweep once more where it was run before; the model is not loaded unless it is needed."""
    start = perf_counter()
    run_sweep(read(data), MeteredEmbedder(), root)
    return {
        "second_run_seconds": perf_counter() - start,
        "second_run_embedded": METER.texts,
        "second_run_requests": METER.requests,
    }


def spec(dataset: Dataset[CharacterSpan], **parts: Any) -> RunSpec:
    """Return the run of which something is varied."""
    keys: dict[str, Any] = {"dataset": dataset, "k": K, "budgets": BUDGETS, **parts}
    return RunSpec(**keys)


def run_sweep(dataset: Dataset[CharacterSpan], embedder: MeteredEmbedder, root: str) -> int:
    """Run the sweep, and return how many rows it has."""
    result = Sweep(base=spec(dataset, embedder=embedder), over={"chunker": CHUNKERS}).run(root=root)
    return len(result.rows)


def reference(data: str, root: str, checkout: str) -> Figures:
    """Run the reference tool on the same questions, one cutoff after the other; it has no budgets."""
    for module in ("backoff", "fuzzywuzzy"):  # for models that cut, and for chunks that are not in their text
        if find_spec(module) is None:
            sys.modules[module] = MagicMock()
    sys.path.insert(0, checkout)
    import tiktoken.registry  # noqa: PLC0415
    from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction  # noqa: PLC0415
    from chunking_evaluation import utils  # type: ignore[import-not-found]  # noqa: PLC0415
    from chunking_evaluation.chunking import (  # type: ignore[import-not-found]  # noqa: PLC0415
        FixedTokenChunker as Fixed,
    )
    from chunking_evaluation.chunking import (  # noqa: PLC0415
        RecursiveTokenChunker as Recursive,
    )
    from chunking_evaluation.evaluation_framework.base_evaluation import (  # type: ignore[import-not-found]  # noqa: PLC0415
        BaseEvaluation,
    )

    tiktoken.registry.ENCODINGS[TOKENS] = load_encoding(TOKENS)  # it would be downloaded
    chunkers = [
        *(Recursive(size, overlap, length_function=utils.openai_token_count) for size, overlap in RECURSIVE),
        *(Fixed(chunk_size=size, chunk_overlap=overlap) for size, overlap in FIXED),
    ]
    folder = Path(data)
    embed = SentenceTransformerEmbeddingFunction(model_name=str(find_model("all-MiniLM-L6-v2")))
    embed(["loads the model"])
    corpora = {path.stem: str(path) for path in (folder / "corpora").glob("*.md")}
    evaluation = BaseEvaluation(str(folder / "questions_df.csv"), corpora_id_paths=corpora)
    for collection in ("auto_chunk", "auto_questions"):  # it deletes them first, which chromadb no longer forgives
        evaluation.chroma_client.create_collection(collection)
    seconds: dict[int, float] = dict.fromkeys((5, *K), 0.0)
    for chunker in chunkers:
        for k in seconds:
            start = process_time()
            evaluation.run(chunker, embed, retrieve=k, db_to_save_chunks=root)
            seconds[k] += process_time() - start
    return {"reference_cpu_s": sum(seconds.values()), "reference_once_cpu_s": seconds[5]}


def peak_mb() -> float:
    """Return the most memory that this process took so far, in 10^6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


@dataclass
class Work:
    """CPU seconds in calls of a function, and the peak of this process's memory after each."""

    cpu_s: float = 0.0
    peak_mb: list[float] = field(default_factory=list)

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock around it."""

        def measured(*given: Any, **fields: Any) -> Any:
            start = process_time()
            done = function(*given, **fields)
            self.cpu_s += process_time() - start
            self.peak_mb.append(peak_mb())
            return done

        return measured


def cells(root: str, count: str) -> Figures:
    """Run a sweep of many cheap cells, and once more where it was run before."""
    dataset = load_handbook()
    steps = ceil(int(count) / 250)
    sizes = [200 + 100 * number for number in range(10)]
    k1 = [round(0.5 + 0.1 * number, 1) for number in range(25)]
    b = [round(number / steps, 4) for number in range(steps)]
    over = {"retriever.chunker.chunk_size": sizes, "retriever.k1": k1, "retriever.b": b}
    start = process_time()
    made = Sweep(base=spec(dataset, retriever="bm25"), over=over)
    number = len(made.cells)
    figures: Figures = {"cells": number, "plan_ms": (process_time() - start) / number * 1000}
    runs, saving = Work(), Work()
    with (
        patch("rag_evaluation_framework.sweeps.cells.run", runs.timed(run)),
        patch.object(EvaluationResult, "save", saving.timed(EvaluationResult.save)),
    ):
        result = made.run(root=root)
    whole = process_time() - start
    figures |= {
        "run_ms": runs.cpu_s / number * 1000,
        "save_ms": saving.cpu_s / number * 1000,
        "overhead_ms": (whole - runs.cpu_s - saving.cpu_s) / number * 1000,
        "peak_mb_at_1000": runs.peak_mb[min(999, number - 1)],
        "peak_mb_at_end": runs.peak_mb[-1],
        "failed": sum(cell.failure is not None for cell in result.cells),
    }
    start = process_time()
    result.summary().as_markdown()
    figures["conclusion_s"] = process_time() - start
    figures["conclusion_peak_mb"] = peak_mb()
    start = process_time()
    again = made.run(root=root)
    figures["kept_ms"] = (process_time() - start) / number * 1000
    figures["kept"] = sum(cell.is_kept for cell in again.cells)
    return figures


SIDES: dict[str, Callable[..., Figures]] = {
    side.__name__: side for side in (sweep, second_run, independent, reference, cells)
}


def print_side(name: str, *arguments: str) -> None:
    """Print the figures of a side as JSON: what a process of it does."""
    warnings.simplefilter("ignore", UserWarning)
    print(json.dumps(SIDES[name](*arguments)))


def figures_of(name: str, *arguments: str) -> Figures:
    """Return the figures of a side, run in a fresh process."""
    here = Path(__file__).resolve().parent
    command = [sys.executable, "-c", DRIVER, name, *arguments]
    start = perf_counter()
    done = subprocess.run(  # noqa: S603
        command, cwd=here, capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    print(f"{name}: {seconds:.1f} s", file=sys.stderr)
    return {**figures, f"{name}_process_seconds": seconds}


def one_round(data: str, checkout: str, names: Sequence[str]) -> Figures:
    """Return the figures of one round; the second run follows the sweep, in its root."""
    figures: Figures = {}
    for name in names:
        with TemporaryDirectory() as root:
            figures |= figures_of(name, data, root, *([checkout] if name == "reference" else []))
            if name == "sweep":
                figures |= figures_of("second_run", data, root)
    whole = figures["independent_cpu_s"]
    rest = whole - figures["independent_embedding_cpu_s"]
    figures |= {
        "speedup_independent": whole / figures["sweep_cpu_s"],
        "sharing_bound": whole / (figures["floor_cpu_s"] + rest),
        "over_embedding_floor": figures["sweep_cpu_s"] / figures["floor_cpu_s"],
    }
    if checkout:
        figures["speedup_reference"] = figures["reference_cpu_s"] / figures["sweep_cpu_s"]
        figures["speedup_reference_once"] = figures["reference_once_cpu_s"] / figures["sweep_cpu_s"]
    return figures


def copy_corpora(source: Path, target: Path, names: Sequence[str]) -> None:
    """Copy some of the corpora with their questions."""
    (target / "corpora").mkdir()
    for name in names:
        shutil.copy(source / "corpora" / f"{name}.md", target / "corpora")
    with (source / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (target / "questions_df.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row for row in rows if row["corpus_id"] in names)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md and questions_df.csv")
    parser.add_argument("--corpora", nargs="+", help="only these of its corpora")
    parser.add_argument("--reference", type=Path, help="checkout of the reference tool; needs --data and chromadb")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cells", type=int, help="measure a sweep of so many cheap cells, and nothing else")
    arguments = parser.parse_args()
    if arguments.data is None and (arguments.reference or arguments.corpora):
        parser.error("--reference and --corpora need --data")
    with TemporaryDirectory() as folder:
        if arguments.cells:
            rounds = [figures_of("cells", folder, str(arguments.cells))]
        else:
            data = str(arguments.data.resolve()) if arguments.data else ""
            if arguments.corpora:
                copy_corpora(arguments.data, Path(folder), arguments.corpora)
                data = folder
            checkout = str(arguments.reference.resolve()) if arguments.reference else ""
            names = ["sweep", "independent", *(["reference"] if checkout else [])]
            rounds = [one_round(data, checkout, names[:: -1 if turn % 2 else 1]) for turn in range(arguments.rounds)]
    figures = {name: round(median(each[name] for each in rounds), 3) for name in rounds[0]}
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:32} {value:12}")


if __name__ == "__main__":
    main()
