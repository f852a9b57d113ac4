"""Inputs that are runs of the harness: odd datasets, configurations, options, and answers of an engine."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz import command_cases, mutation, odd, samples, uses, value_cases

import rag_evaluation_framework as rag
from rag_evaluation_framework.errors import InputError, RagEvalError

Case = Callable[[Random, Path], None]

SCOPE = "eval:sample:"
NEIGHBOURS = ("eval:sampled:1", "eval:other:1", "docs:1", "EVAL:SAMPLE:1")
_MADE: list["OddEngine"] = []
_CONFIG: dict[str, Any] = {
    "dataset": "dataset.json",
    "engine": "tests.fuzz.harness_cases:make",
    "cleanup": "always",
    "gates": ["recall@5 >= 0.5", "mrr@5 >= 0 where tags=a", "p95 <= 60s"],
    "thresholds": {"min": {"hitAtK": 0.1}},
    "ingest": True,
    "mode": "retrieve",
    "k": 5,
    "budgets": ["60ch"],
}
_OPTIONS = [
    ["--gate", "recall@5 >= 0.5"],
    ["--gate", "population(hit@5) >= 0.2", "--on-inconclusive", "fail"],
    ["--threshold", "min.mrrAtK=0.2"],
    ["--set", f"scope_prefix={SCOPE}"],
    ["--no-ingest"],
    ["--set", "cleanup=on-success"],
    ["--set", "mode=retrieve+rerank", "--set", "rerank_top_k=3"],
    ["--allow-failures", "9"],
    ["--set", "timeout=5"],
    ["--junit", "gates.xml"],
    ["--json"],
    ["--k", "2"],
]
_REFUSED = [
    ["--gate", "lost <= 0 questions"],
    ["--set", "scope_prefix=eval:"],
    ["--set", "scope_prefix=docs:", "--allow-custom-prefix"],
    ["--set", "scope_prefix=eval:sample:{runId}:"],
]
_MEAN = re.compile(r"(\w+@\w+) >= ([0-9.]+)")
_WORDS = [">= 2", "recall", "@", "recall@5 >= nan", "where", "min.x=1", "always", "-1", "p95 <= 5", "eval:{runId}:"]


class OddEngine:
    """Keeps documents, and answers oddly to some questions; it keeps a log of what is written."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.log, self.broke = rng, list[tuple[str, str]](), False
        self.oddness = rng.choice((0.0, 0.2, 1.0))
        self.documents = {name: f"neighbour {name}" for name in NEIGHBOURS}

    def ingest(self, document: rag.Document) -> None:
        self.log.append(("ingest", document.id))
        self._may_break()
        self.documents[document.id] = document.content

    def delete(self, scope_prefix: str) -> None:
        self.log.append(("delete", scope_prefix))
        self._may_break()
        self.documents = {name: text for name, text in self.documents.items() if not name.startswith(scope_prefix)}

    def _may_break(self) -> None:
        if self.rng.random() < 0.02 * self.oddness:
            self.broke = True
            raise self.rng.choice([InputError("the disk is full"), SystemExit(3)])

    def retrieve(self, query: str, top_k: int, scope: str) -> Any:
        if self.rng.random() < 0.15 * self.oddness:
            shape = value_cases.result_shape(self.rng)
            return {"hits": shape, "seconds": odd.value(self.rng)} if self.rng.random() < 0.3 else shape
        if self.rng.random() < 0.05 * self.oddness:
            raise self.rng.choice([OSError("gone"), SystemExit(0), KeyError(1), RecursionError])
        return [{"doc_id": name, "text": text} for name, text in self.documents.items() if name.startswith(scope)]

    def rerank(self, query: str, texts: list[str]) -> Any:
        return odd.value(self.rng) if self.rng.random() < 0.3 else [len(text) for text in texts]

    def close(self) -> None:
        self.log.append(("close", ""))


def make() -> OddEngine:
    """Return the engine of the input that is tried."""
    return _MADE[-1]


def _dataset() -> dict[str, Any]:
    documents = [{"sourceId": f"{SCOPE}{name}", "content": text} for name, text in samples.DOCUMENTS.items()]
    queries = [
        {
            "id": "q1",
            "query": "When do invoices come?",
            "relevant": {"sourceIds": [f"{SCOPE}billing.md"], "anyOfSourceIdPrefixes": [f"{SCOPE}guides/"]},
            "tags": ["a"],
        },
        {
            "id": "q2",
            "query": "What first?",
            "relevant": {"sourceIds": [f"{SCOPE}guides/start.md"]},
            "scopePrefix": SCOPE,
        },
        {"id": "q3", "query": "Who is it?", "relevant": {"sourceIds": []}},
    ]
    defaults = {
        "topK": 5,
        "scopePrefix": SCOPE,
        "thresholds": {"min": {"recallAtK": 0.1}, "max": {"p95TotalMs": 60_000}},
    }
    return {"version": "1", "id": "sample", "defaults": defaults, "documents": documents, "queries": queries}


def _changed(rng: Random, value: Any, chance: float) -> str:
    if rng.random() > chance:
        return json.dumps(value)
    return mutation.text(mutation.mutated_tree(rng, value))


def runs(rng: Random, folder: Path) -> None:
    """Run the command line, and check what became of the documents of others.

    Raises:
        uses.Broken: Something was written outside of the scope, or before a dataset that cannot be read was refused; or
            the exit code is wrong.
    """
    (folder / "dataset.json").write_text(_changed(rng, _dataset(), 0.35), "utf-8", "surrogatepass")
    (folder / "config.json").write_text(_changed(rng, _CONFIG, 0.15), "utf-8", "surrogatepass")
    arguments = ["run", "config.json", "--root", "kept"]
    for option in rng.sample(_OPTIONS, rng.choice((0, 1, 2, 3))):
        arguments += option
    if rng.random() < 0.1:
        arguments += rng.choice(_REFUSED)
    if rng.random() < 0.1:
        arguments[rng.randrange(2, len(arguments))] = rng.choice([*_WORDS, *(w for w in odd.TEXTS if "\x00" not in w)])
    engine = OddEngine(rng)
    _MADE.append(engine)
    code = command_cases.run(arguments, (0, 1, 2))
    expected = 2 if engine.broke else _expected(folder, arguments)
    if expected is not None and code != expected:
        raise uses.Broken(f"the exit code is {code}; expected {expected} of {' '.join(arguments)}")
    written = [step for step in engine.log if step[0] != "close"]
    for kind, name in written:
        if not (name.startswith("eval:") and len(name) > len("eval:") and (kind == "ingest" or name.endswith(":"))):
            raise uses.Broken(f"{kind} of {name!r}, which is no scope that may be written")
    scopes = [name for kind, name in written if kind == "delete"]
    if any(kind == "ingest" and not any(map(name.startswith, scopes)) for kind, name in written):
        raise uses.Broken("a document was written outside of the scope")
    if any(name not in engine.documents and not any(map(name.startswith, scopes)) for name in NEIGHBOURS):
        raise uses.Broken("a document of others is gone")
    if written and written[0][0] != "delete":
        raise uses.Broken("documents were written before the scope was emptied")
    try:
        rag.load_dataset(folder / "dataset.json", rag.DOCUMENT, allow_assets=True)
    except RagEvalError as refused:
        if written and "config.json" in arguments and "no questions" not in str(refused):
            given = json.loads((folder / "config.json").read_text("utf-8", "surrogatepass")).get("dataset")
            if given == "dataset.json":
                raise uses.Broken("something was written for a dataset that cannot be read") from refused


def _expected(folder: Path, arguments: list[str]) -> int | None:
    """Return the exit code that follows from what was saved; gates on the mean of a score are checked again.

    None if it is not known where the run was saved.

    Raises:
        uses.Broken: A verdict is not what the scores say.
    """
    if arguments[2:4] != ["--root", "kept"]:
        return None
    given = arguments[arguments.index("--allow-failures") + 1] if "--allow-failures" in arguments else "0"
    allowed = int(given) if given.isdecimal() else 0
    saved = [*folder.rglob("runs/*/report.json")]
    if len(saved) != 1:
        return 2
    result = rag.load_result(saved[0].parent)
    for verdict in result.gates:
        bound = _MEAN.fullmatch(verdict.gate)
        if bound is not None and verdict.verdict != "off":
            mean = result.metrics[bound[1]]
            holds = "error" if mean is None else "pass" if mean >= float(bound[2]) - 1e-9 else "fail"
            if verdict.counts_as != holds:
                raise uses.Broken(f"{verdict.gate} of a mean of {mean} counts as {verdict.counts_as}")
    counts = result.counts
    unreliable = counts["failed"] + counts["metric_failed"] > allowed or counts["skipped"] > 0
    unscored = all(mean is None for mean in result.metrics.values())
    verdicts = {verdict.counts_as for verdict in result.gates}
    return 2 if unreliable or unscored or "error" in verdicts else 1 if "fail" in verdicts else 0


CASES: dict[str, Case] = {"harness-runs": runs}
