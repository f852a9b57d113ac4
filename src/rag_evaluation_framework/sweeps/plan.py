"""`Sweep`: what is varied, and the cells that this makes."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation

from ..analysis.leaderboard import unique_names
from ..base.exits import outcome
from ..base.files import is_list, is_object
from ..base.notes import note
from ..base.outside import json_text, shown
from ..base.records import refuse_unknown, refused
from ..base.stages import kept_stages
from ..base.strict_yaml import written_yaml
from ..components.providers import track_usage
from ..contracts.component import Component, default_parameters
from ..contracts.registry.building import parsed, plain
from ..contracts.registry.loading import KINDS, Kind
from ..data import Cutoff
from ..data.rankings import OnError
from ..data.score_table import full_name
from ..errors import ConfigError, Interrupted
from ..runs import Evaluation, EvaluationConfig, RunSpec, parse_config, store
from ..runs.config import Measuring
from ..runs.spec import PARTS, made_of, read_config, with_parts_beside
from ..runs.store import CELLS, ROOT, check_root
from .cell import Cell, CellOutcome
from .cells import BUSY, WHOLE, Workshop, cells_progress, outcomes
from .price import SweepPlan, planned
from .result import SweepResult, axis_names
from .settings import parse_axis, set_key

ROWS = ("k", "budgets")
"""Keys of a run that are cutoffs: no cells, but rows of each."""
_MOST = 100_000  # cells; what is meant to be fewer is a slip
_OF_ONE_RUN = ("gates", "thresholds", "baseline", "sinks", "shard", "cleanup")


def _axes(given: Any) -> Any:
    if not is_object(given):
        raise ConfigError(f"over={shown(given)}: expected a mapping such as {{'chunker.chunk_size': [200, 400]}}")
    axes: dict[str, list[Any]] = {}
    for key, values in given.items():
        refuse_unknown([key.partition(".")[0]], *RunSpec.model_fields, where="over: ")
        array: Any = values
        several: Any = array.tolist() if isinstance(array, np.ndarray) else values
        listed: list[Any] = [*several] if type(several) in (list, tuple, range) else []
        listed = [value.item() if isinstance(value, np.generic) else value for value in listed]
        if not listed:
            raise ConfigError(f"over: {key} is {shown(values)}; expected a list of values, at least one")
        if _kind(key) is not None:  # YAML reads `none` as a text
            listed = [None if isinstance(value, str) and value.lower() == "none" else value for value in listed]
        told = [json.dumps(value, default=id) for value in listed]  # a value that is given twice is one
        axes[key] = [value for at, value in enumerate(listed) if told[at] not in told[:at]]
    return axes


class Sweep(BaseModel, frozen=True):
    """A sweep: a base run, its varied keys, and the wanted combinations.

    Printed, it is its YAML.

    Raises:
        ConfigError: An axis is no key of a run, or has no values; or the condition cannot be read.
    """

    model_config = ConfigDict(extra="forbid", title="rag-eval sweep", arbitrary_types_allowed=True)

    base: Annotated[RunSpec, SkipValidation]
    """The run of which something is varied: its keys are those of `rag-eval run`."""

    over: Annotated[dict[str, list[Any]], BeforeValidator(_axes)] = Field(default={})
    """The values of each key that is varied: `chunker`, or a parameter of it, as in `chunker.chunk_size`. Values of `k`
    and `budgets` are rows of every cell."""

    only_if: str | Callable[..., Any] | None = None
    """Which combinations are run: a condition such as `embedder != 'lsa' or reranker is None`, or in Python a function
    that takes the values of a cell as a mapping. By default all."""

    decide_by: str | None = None
    """The score by which cells are compared; by default the recall at the largest budget."""

    folder: Annotated[Path, Field(exclude=True)] = Path()
    """The folder to which paths are relative."""

    def __init__(self, **given: Any) -> None:
        if is_object(given.get("base")):  # as a file would have it
            given["base"] = parse_config(given["base"], "base")
        with refused(Sweep):
            super().__init__(**given)
        if isinstance(self.only_if, str):
            _parsed_condition(self.only_if)
        for key in (*self.over, *self.base.model_fields_set):
            if key in _OF_ONE_RUN:
                raise ConfigError(f"{key} is about one run, and a sweep has many; leave it out")

    def __repr__(self) -> str:
        return written_yaml(self.record())

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(repr(self))

    def record(self) -> dict[str, Any]:
        """Return the sweep as its file would hold it; parts without a description are given by a text."""
        given = {key: getattr(self.base, key) for key in RunSpec.model_fields if key in self.base.model_fields_set}
        whole = {
            "base": {key: plain(value) for key, value in given.items()},
            "over": {key: [*map(plain, values)] for key, values in self.over.items()},
            "only_if": plain(self.only_if),
            "decide_by": self.decide_by,
        }
        return {key: value for key, value in whole.items() if value not in (None, {})}

    @cached_property
    def _levels(self) -> dict[str, dict[str, Any]]:
        """The values of each axis by how they are told; the second that is told alike, as of two lambdas, is `(2)`."""
        named = ((key, unique_names([*map(told, values)]), values) for key, values in self.axes.items())
        return {key: dict(zip(names, values, strict=True)) for key, names, values in named}

    @property
    def axes(self) -> dict[str, list[Any]]:
        """Keys and values that differ between cells; without the cutoffs."""
        return {key: values for key, values in self.over.items() if key not in ROWS}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, the last axis varying fastest.

        Raises:
            ConfigError: There are none, or more than 100,000; or an axis is a parameter of a component that its cell
                does not have.
        """
        if prod(map(len, self.axes.values())) > _MOST:
            raise ConfigError(f"the sweep has more than {_MOST:,} cells; expected fewer")
        rows = {key: _distinct(self.over[key]) for key in ROWS if key in self.over}
        fixed = {key: getattr(self.base, key) for key in self.base.model_fields_set} | rows
        wanted: list[tuple[dict[str, str], dict[str, Any]]] = []
        for names in product(*self._levels.values()):
            levels = dict(zip(self._levels, names, strict=True))
            values = {key: self._levels[key][name] for key, name in levels.items()}
            if self._is_wanted(values):
                wanted.append((levels, values))
        if not wanted:
            raise ConfigError(f"only_if leaves no cell: {shown(self.only_if)}; expected a condition that some meet")
        varied = axis_names(key for key, values in self.axes.items() if len(values) > 1)
        cells: list[Cell] = []
        for number, (levels, values) in enumerate(wanted, 1):
            unused = {*PARTS} - {*made_of(values.get("retriever"))}  # all of a whole pipeline, as of `run --retriever`
            keys = {key: value for key, value in fixed.items() if key not in unused}
            name = ", ".join(f"{short}={levels[key]}" for key, short in varied.items())
            told, remedy = f"cell {number}{name and ', '}{name}", " (only_if leaves such cells out)"
            try:
                given = with_parts_beside(values, fixed.get("retriever"))
            except ConfigError as error:
                raise ConfigError(f"{told}: {error}{remedy}") from None
            for key in sorted(given, key=lambda key: key.count(".")):  # a component before its parameters
                set_key(keys, key.split("."), given[key], key, remedy)
            keys["experiment_name"] = name or keys.get("experiment_name") or WHOLE
            spec = parse_config(keys, told)
            known = {key: plain(value) for key, value in values.items()}
            cells.append(Cell(number, name or WHOLE, levels, known, spec))
        return tuple(cells)

    def plan(self, root: str | Path = ROOT, *, fresh: bool = False, imports: bool = True) -> SweepPlan:
        """Return what the sweep will do and take: documents are read and cut, and nothing is asked of a provider.

        Args:
            root: Where cells are kept.
            fresh: Whether cells are run again that are done.
            imports: Whether runs may name code of one's own.

        Raises:
            ConfigError: Cells will not have the score that decides.
        """
        workshop = Workshop(self.folder, Path(root), imports, "never" if fresh else "if-sure")
        with kept_stages(root):
            self._check_score(workshop)
            return planned(workshop, self.cells, self._rows)

    def run(
        self,
        root: str | Path = ROOT,
        *,
        plan: SweepPlan | None = None,
        fresh: bool = False,
        imports: bool = True,
        on_error: OnError = "collect",
        executor: int | str | Executor | None = None,
    ) -> SweepResult:
        """Run the cells that are not done, and conclude.

        Each cell is kept in `<root>/cells/` when it is done. So the same sweep goes on where an earlier start of it
        ended, and of one that was changed, what is new is run.

        Args:
            root: Where cells are kept.
            plan: What `plan` returned for the same root, to be compared with what the sweep took.
            fresh: Whether cells are run again that are done.
            imports: Whether runs may name code of one's own.
            on_error: `"collect"` keeps why a cell failed, and goes on; `"raise"` ends at the first.
            executor: What runs the cells: a number of processes on this machine, the address of a Dask scheduler such
                as `tcp://10.0.0.5:8786`, or an executor of `concurrent.futures`. By default this process, in which
                cells share what they have in memory.

        Raises:
            ConfigError: Cells cannot be kept there, or workers not be sent what is in them; or they will not have the
                score that decides.
            ProviderUnavailable: The executor is gone; what is done is kept.
            Interrupted: Ctrl-C came; what is done is kept.
            ConfigError: A cell failed, and `on_error` is `"raise"`.
        """
        check_root(Path(root), CELLS)
        workshop = Workshop(self.folder, Path(root), imports, "never" if fresh else "if-sure")
        done: list[CellOutcome] = []
        try:
            with kept_stages(root), track_usage() as usage:
                self._check_score(workshop)
                with closing(outcomes(workshop, self.cells, on_error, executor)) as made:
                    done.extend(cells_progress(made, len(self.cells)))  # also those before an interrupt
        except KeyboardInterrupt as interrupt:
            raise Interrupted(
                f"{len(done)} of {len(self.cells)} cells are done and kept; the same sweep goes on with the others"
            ) from interrupt
        bought = usage.models  # also by cells that failed, here or in workers
        bill = {
            "cells": sum(one.was_run for one in done),
            "requests": sum(used.requests for used in bought),
            "tokens": sum(used.input_tokens + used.output_tokens for used in bought),
            "cost": None if any(used.cost is None for used in bought) else sum(used.cost or 0 for used in bought),
        }
        done.sort(key=lambda found: found.cell.number)
        notes = (BUSY,) if any(one.facts and BUSY in one.facts.notes for one in done) else ()
        result = SweepResult(tuple(done), self.decide_by, bill=bill, notes=notes)
        return result if plan is None else replace(result, plan=plan.totals, prices=plan.prices)

    def save(self, result: SweepResult, root: str | Path = ROOT) -> Path:
        """Keep what the sweep concluded in `<root>/sweeps/<UTC time>-<dataset>/`, and return the folder.

        `sweep.yaml` is the sweep, `sweep.json` what `result.record()` returns, and `summary.md` what people read.

        Raises:
            ResultError: It cannot be written.
        """
        named: Any = self.cells[0].spec.dataset
        name = Path(named).stem if isinstance(named, str) else getattr(named, "name", "sweep")
        record = {"plan": dict(result.plan), "bill": dict(result.bill), **result.record()}
        texts = {
            "sweep.yaml": str(self),
            "sweep.json": json_text(record, indent=1),
            store.SUMMARY: result.summary().as_markdown(),
        }
        created = datetime.now(UTC).isoformat(timespec="seconds")
        return store.write_run(root, created, name, lambda made: store.write_texts(made, texts), "sweeps")

    def _check_score(self, workshop: Workshop) -> None:
        """Check that cells will have the score that decides, by the first that can be run.

        Raises:
            ConfigError: They will not.
        """
        if self.decide_by is None:
            return
        made = (outcome(partial(workshop.prepared, cell), lambda _: None) for cell in self.cells)
        prepared = next(filter(None, made), None)
        if prepared and full_name(self.decide_by, names := dict.fromkeys(prepared.config.score_names)) is None:
            raise ConfigError(f"no score {shown(self.decide_by)} in all cells; there are {', '.join(names)}")

    @property
    def _rows(self) -> int:
        """Number of rows of a cell."""
        spec = self.cells[0].spec
        return len(Cutoff.parse_k((5, 10) if spec.k is None else spec.k)) + len(spec.budgets)

    @cached_property
    def _is_wanted(self) -> Callable[[Mapping[str, Any]], Any]:
        """Predicate of wanted combinations, by their values."""
        if not isinstance(self.only_if, str):
            return self.only_if or (lambda _: True)
        holds = _condition(self.only_if, self.axes)
        return lambda values: holds({key: _name(_kind(key), value) for key, value in values.items()})


@dataclass(frozen=True)
class SweepConfig:
    """Varied parts of `Evaluation.sweep`: every combination is run and shown at every number of results.

    Attributes:
        chunkers: How documents are cut.
        embedders: How text becomes vectors; None searches by words.
        vector_stores: Where vectors are kept.
        k_values: Numbers of results.
        rerankers: What reorders results; None nothing.
        metrics: The metrics, by name or in order; by default those of the level.
        budgets: Budgets of context, such as `4000ch`, at which chunks of different sizes are compared fairly.
    """

    chunkers: Sequence[Any]
    embedders: Sequence[Any]
    vector_stores: Sequence[Any] | None = None
    k_values: Sequence[int] = (5, 10, 20)
    rerankers: Sequence[Any] | None = None
    metrics: Mapping[str, Any] | Sequence[Any] | None = None
    budgets: Sequence[str] = ()


def sweep_of(evaluation: Evaluation[Any], given: SweepConfig, config: EvaluationConfig | None) -> Sweep:
    """Return the sweep of an evaluation.

    Raises:
        ConfigError: Something in it cannot be used.
    """
    measured: Any = EvaluationConfig(budgets=given.budgets) if config is None else config
    keys = {name: getattr(measured, name) for name in (*Measuring.model_fields, "tokenizer")}
    keys |= {"corpus": evaluation.corpus, "dataset": evaluation.dataset}
    keys["evaluation_type"] = evaluation.level.evaluation_type
    keys["chunk_id"] = getattr(evaluation, "chunk_id", None)
    if given.metrics is not None:
        keys["metrics"] = [*(given.metrics.values() if isinstance(given.metrics, Mapping) else given.metrics)]
    axes = {"chunker": given.chunkers, "embedder": given.embedders, "vector_store": given.vector_stores}
    over = {**axes, "reranker": given.rerankers, "k": given.k_values}
    return Sweep(base=RunSpec(**keys), over={key: values for key, values in over.items() if values is not None})


def load_sweep(path: str | Path | None, over: Iterable[str] = (), keys: Mapping[str, Any] | None = None) -> Sweep:
    """Read the file of a sweep, or of a run of which something is to be varied.

    Args:
        path: A YAML or JSON file with `base` and `over`, or the configuration of a run; None where options tell all.
        over: Other axes, such as `chunker.chunk_size=200,400`.
        keys: Keys that replace those of the file: `decide_by`, `only_if`, and those of the run.

    Raises:
        ConfigError: The file cannot be read, or holds an unknown key or a wrong value.
    """
    content, source = (dict[str, Any](), "the options") if path is None else (read_config(path), str(path))
    if not is_object(content):
        raise ConfigError(f"{path}: expected a mapping with base and over, got {shown(content)}")
    whole = dict(content)
    if "base" not in content and "over" not in content:  # a run, of which something is to be varied
        whole = {"base": {key: value for key, value in content.items() if key not in _OF_ONE_RUN}}
        if left := [key for key in content if key in _OF_ONE_RUN]:
            note(f"of {path} is left out what is about one run: {', '.join(left)}")
    own = {key: value for key, value in (keys or {}).items() if key in Sweep.model_fields}
    others = {key: value for key, value in (keys or {}).items() if key not in own}
    given = [*map(parse_axis, over)]
    if twice := {key for key, _ in given if sum(key == other for other, _ in given) > 1}:
        raise ConfigError(f"--over {min(twice)} is given twice; expected all values in one, as in k=5,10")
    try:
        if not all(is_object(whole.get(key) or {}) for key in ("base", "over")):
            raise ConfigError("expected mappings below base and over, such as chunker.chunk_size: [200, 400]")
        run: dict[str, Any] = {**(whole.get("base") or {}), **others}
        axes: dict[str, Any] = {**(whole.get("over") or {}), **dict(given)}
        folder = Path(path or "").parent
        return Sweep(**{**whole, **own, "base": parse_config(run, source), "over": axes, "folder": folder})
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values of an axis of cutoffs, which may be lists themselves."""
    flat = [one for value in values for one in (value if is_list(value) else [value])]
    return [*dict.fromkeys(flat)]


def _kind(key: str) -> Kind | None:
    """Return the kind of component that an axis varies, also one inside of another; None if it is something else."""
    last = key.rpartition(".")[2]
    return next((kind for kind in KINDS if kind == last), None)


def _name(kind: Kind | None, value: Any) -> Any:
    """Return what a condition compares of a value: the name of a component, else the value."""
    if kind is not None and isinstance(value, str):
        with suppress(ConfigError):  # as of an engine, which is named by its URL; what is wrong, its cell tells
            return parsed(kind, value)[0]
    return known.get("type", known) if is_object(known := plain(value)) else known


def told(value: Any) -> str:
    """Return a value of a cell as people read it; of a component, the parameters that are not the usual ones."""
    usual = default_parameters(type(value)) if isinstance(value, Component) else {}
    known = plain(value)
    if is_object(known) and "type" in known:
        others = ((key, inner) for key, inner in known.items() if key != "type" and inner != plain(usual.get(key)))
        given = ", ".join(f"{key}={told(inner)}" for key, inner in others)
        return f"{known['type']}({given})" if given else str(known["type"])
    return "none" if known is None else str(known)


# Conditions: comparisons of axes with values, joined by `and`, `or` and `not`.

_IN_CONDITIONS = (
    *(ast.Expression, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.cmpop),
    *(ast.Constant, ast.List, ast.Tuple, ast.Name, ast.Load),
)
"""What an expression may consist of: nothing that is called, indexed or computed."""


class _AxesAsNames(ast.NodeTransformer):
    """Makes a name of `chunker.chunk_size`, and `==` of `is`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Name(ast.unparse(node), ast.Load())

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        equal: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}
        node.ops = [equal.get(type(op), type(op))() for op in node.ops]
        return self.generic_visit(node)


def _parsed_condition(text: str) -> ast.AST:
    try:
        return _AxesAsNames().generic_visit(ast.parse(text.strip(), mode="eval"))
    except SyntaxError as error:
        raise ConfigError(f"only_if={text!r}: {error.msg}; expected a condition such as embedder != 'lsa'") from error


def _condition(text: str, axes: Iterable[str]) -> Callable[[Mapping[str, Any]], Any]:
    """Return a predicate for a condition on the values of all axes.

    Raises:
        ConfigError: It names what is no axis, is more than comparisons or, when it is called, compares what cannot be
            compared.
    """
    tree: Any = _parsed_condition(text)
    for node in ast.walk(tree):
        if not isinstance(node, _IN_CONDITIONS) or (isinstance(node, ast.Name) and node.id not in axes):
            raise ConfigError(
                f"only_if: {ast.unparse(node)} is no axis, value or comparison; the axes are {', '.join(axes)}"
            )
    code = compile(ast.fix_missing_locations(tree), "only_if", "eval")

    def holds(values: Mapping[str, Any]) -> Any:
        try:
            return eval(code, {"__builtins__": {}}, dict(values))  # noqa: S307  nothing but comparisons is in it
        except TypeError as error:
            raise ConfigError(f"only_if: {text}: {error}") from error

    return holds
