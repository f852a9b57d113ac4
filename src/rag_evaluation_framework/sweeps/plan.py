"""`Sweep`: what is varied, and the cells that this makes."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections import Counter
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

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation

from rag_evaluation_framework import base
from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import json_text, shown
from rag_evaluation_framework.base.records import refused
from rag_evaluation_framework.base.stages import kept_stages
from rag_evaluation_framework.base.strict_yaml import written_yaml
from rag_evaluation_framework.contracts.component import Component, default_parameters
from rag_evaluation_framework.data import Cutoff
from rag_evaluation_framework.data.rankings import OnError
from rag_evaluation_framework.data.score_table import full_name
from rag_evaluation_framework.errors import ConfigError, Interrupted
from rag_evaluation_framework.experiments import Evaluation, EvaluationConfig, RunSpec, parse_config
from rag_evaluation_framework.experiments.config import Measuring
from rag_evaluation_framework.experiments.spec import read_config
from rag_evaluation_framework.providers import track_usage
from rag_evaluation_framework.registry import describe
from rag_evaluation_framework.registry.building import parsed
from rag_evaluation_framework.registry.loading import KINDS, Kind
from rag_evaluation_framework.registry.records import plain
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.store import CELLS, ROOT, check_root
from rag_evaluation_framework.retrievers.indexing import DEFAULT_CHUNKER
from rag_evaluation_framework.sweeps.cell import Cell, CellOutcome
from rag_evaluation_framework.sweeps.cells import Workshop, cells_progress, outcomes
from rag_evaluation_framework.sweeps.price import SweepPlan, planned
from rag_evaluation_framework.sweeps.result import SweepResult, axis_names

ROWS = ("k", "budgets")
"""Keys of a run that are cutoffs: no cells, but rows of each."""
_BUSY = "cells ran side by side: their times are those of a busy machine"
_MOST = 100_000  # cells; what is meant to be fewer is a slip
_OF_ONE_RUN = ("gates", "thresholds", "baseline", "sinks", "shard", "cleanup")
_ITEM = re.compile(r"""\s*('[^']*'|"[^"]*"|\[[^\]]*\]|\{[^}]*\}|[^,]*)\s*(?:,|$)""")


def _axes(given: Any) -> Any:
    if not is_object(given):
        raise ConfigError(f"over={shown(given)}: expected a mapping such as {{'chunker.chunk_size': [200, 400]}}")
    axes: dict[str, list[Any]] = {}
    for key, values in given.items():
        if key.partition(".")[0] not in RunSpec.model_fields:
            raise ConfigError(f"over: {shown(key)} is no key of a run; there are {', '.join(RunSpec.model_fields)}")
        listed: Any = [*values] if type(values) in (list, tuple, range) else []
        if not listed:
            raise ConfigError(f"over: {key} is {shown(values)}; expected a list of values, at least one")
        if _kind(key) is not None:  # YAML reads `none` as a text
            listed = [None if isinstance(value, str) and value.lower() == "none" else value for value in listed]
        told = [json.dumps(value, default=id) for value in listed]  # a value that is given twice is one
        axes[key] = [value for at, value in enumerate(listed) if told[at] not in told[:at]]
    return axes


def _condition(given: Any) -> Any:
    if isinstance(given, str):
        _parsed_condition(given)
    return given


class Sweep(BaseModel, frozen=True):
    """A sweep: a run, what is varied of it, and which of the combinations are wanted.

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

    only_if: Annotated[str | Callable[..., Any] | None, AfterValidator(_condition)] = None
    """Which combinations are run: a condition such as `embedder != 'lsa' or reranker is None`, or in Python a function
    that takes the values of a cell as a mapping. By default all."""

    decide_by: str | None = None
    """The score by which cells are compared; by default the recall at the largest budget."""

    folder: Annotated[Path, Field(exclude=True)] = Path()
    """The folder to which paths are relative."""

    def __init__(self, **given: Any) -> None:
        with refused(Sweep):
            super().__init__(**given)
        for key in (*self.over, *self.base.model_fields_set):
            if key in _OF_ONE_RUN:
                raise ConfigError(f"{key} is about one run, and a sweep has many; leave it out")

    def __repr__(self) -> str:
        return written_yaml(self.record())

    __str__ = __repr__

    def __hash__(self) -> int:
        return hash(repr(self))

    def record(self) -> dict[str, Any]:
        """Return it as its file would hold it; what has no description is told by a text."""
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
        levels: dict[str, dict[str, Any]] = {}
        for key, values in self.axes.items():
            seen: Counter[str] = Counter()
            levels[key] = {}
            for value in values:
                seen[name := told(value)] += 1
                levels[key][name if seen[name] == 1 else f"{name} ({seen[name]})"] = value
        return levels

    @property
    def axes(self) -> dict[str, list[Any]]:
        """What differs between cells, by key; without the cutoffs."""
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
            keys = dict(fixed)
            for key in sorted(values, key=lambda key: key.count(".")):  # a component before its parameters
                _set(keys, key.split("."), values[key], key)
            name = ", ".join(f"{short}={levels[key]}" for key, short in varied.items())
            keys["experiment_name"] = name or keys.get("experiment_name") or "the run"
            spec = parse_config(keys, f"cell {number}{name and ', '}{name}")
            known = {key: plain(value) for key, value in values.items()}
            cells.append(Cell(number, name or "the run", levels, known, spec))
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
        workshop = Workshop(self.folder, Path(root), imports, fresh)
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
        workshop = Workshop(self.folder, Path(root), imports, fresh)
        done: list[CellOutcome] = []
        try:
            with kept_stages(root), track_usage() as usage:
                self._check_score(workshop)
                with closing(outcomes(workshop, self.cells, on_error, executor)) as made:
                    done.extend(cells_progress(made, len(self.cells)))  # also those before an interrupt
        except KeyboardInterrupt as interrupt:
            told = f"{len(done)} of {len(self.cells)} cells are done and kept; the same sweep goes on with the others"
            raise Interrupted(told) from interrupt
        bought = usage.models  # also by cells that failed, here or in workers
        bill = {
            "cells": sum(not one.is_kept for one in done),
            "requests": sum(used.requests for used in bought),
            "tokens": sum(used.input_tokens + used.output_tokens for used in bought),
            "cost": None if any(used.cost is None for used in bought) else sum(used.cost or 0 for used in bought),
        }
        done.sort(key=lambda found: found.cell.number)
        notes = () if executor is None else (_BUSY,)
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
        """How many rows a cell has."""
        spec = self.cells[0].spec
        return len(Cutoff.parse_k((5, 10) if spec.k is None else spec.k)) + len(spec.budgets)

    def _is_wanted(self, values: Mapping[str, Any]) -> bool:
        if self.only_if is None:
            return True
        if isinstance(self.only_if, str):
            named = {key: _name(_kind(key), value) for key, value in values.items()}
            return bool(_value(_parsed_condition(self.only_if), named))
        return bool(self.only_if(values))


@dataclass(frozen=True)
class SweepConfig:
    """What `Evaluation.sweep` varies: every combination is run, and shown at every number of results.

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


def load_sweep(path: str | Path, over: Iterable[str] = (), keys: Mapping[str, Any] | None = None) -> Sweep:
    """Read the file of a sweep, or of a run of which something is to be varied.

    Args:
        path: A YAML or JSON file with `base` and `over`, or the configuration of a run.
        over: Other axes, such as `chunker.chunk_size=200,400`.
        keys: Keys that replace those of the file: `decide_by`, `only_if`, and those of the run.

    Raises:
        ConfigError: The file cannot be read, or holds an unknown key or a wrong value.
    """
    content = read_config(path)
    if not is_object(content):
        raise ConfigError(f"{path}: expected a mapping with base and over, got {shown(content)}")
    whole = dict(content)
    if "base" not in content and "over" not in content:  # a run, of which something is to be varied
        whole = {"base": {key: value for key, value in content.items() if key not in _OF_ONE_RUN}}
        if left := [key for key in content if key in _OF_ONE_RUN]:
            note(f"of {path} is left out what is about one run: {', '.join(left)}")
    return make_sweep(whole, str(path), Path(path).parent, over, keys or {})


def make_sweep(
    content: Mapping[str, Any], source: str, folder: Path, over: Iterable[str], keys: Mapping[str, Any]
) -> Sweep:
    """Return the sweep that a file and options describe; arguments and errors as in `load_sweep`."""
    own = {key: value for key, value in keys.items() if key in Sweep.model_fields}
    others = {key: value for key, value in keys.items() if key not in own}
    given = [*map(parse_axis, over)]
    if twice := {key for key, _ in given if sum(key == other for other, _ in given) > 1}:
        raise ConfigError(f"--over {min(twice)} is given twice; expected all values in one, as in k=5,10")
    try:
        if not all(is_object(content.get(key) or {}) for key in ("base", "over")):
            raise ConfigError("expected mappings below base and over, such as chunker.chunk_size: [200, 400]")
        run: dict[str, Any] = {**(content.get("base") or {}), **others}
        axes: dict[str, Any] = {**(content.get("over") or {}), **dict(given)}
        return Sweep(**{**content, **own, "base": parse_config(run, source), "over": axes, "folder": folder})
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error


def parse_axis(text: str) -> tuple[str, list[Any]]:
    """Return the key and the values of an axis, such as `chunker.chunk_size=200,400`; `none` is no component.

    Values with commas are quoted: `chunker='recursive-character:chunk_size=200,overlap=20',sentence`.

    Raises:
        ConfigError: There is no `=`, or no value.
    """
    key, equals, rest = text.partition("=")
    listed = [match[1].strip() for match in _ITEM.finditer(rest) if match[0]]
    quoted = (one for one in listed if one[:1] in ("'", '"'))
    if not key.strip() or not equals or not listed or not all(listed) or any(one[-1] != one[0] for one in quoted):
        raise ConfigError(f"--over {text}: expected a key and its values, such as chunker.chunk_size=200,400")
    return key.strip(), [*map(_scalar, listed)]


def _scalar(text: str) -> Any:
    if text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1]
    if text.lower() in ("none", "null"):
        return None
    try:
        return base.parse_yaml(text)
    except ValueError:
        return text


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values of an axis of cutoffs, which may be lists themselves."""
    flat = [one for value in values for one in (value if is_list(value) else [value])]
    return [*dict.fromkeys(flat)]


def _set(keys: dict[str, Any], path: Sequence[str], value: Any, axis: str) -> None:
    """Set a key, or a parameter of the component that a key holds."""
    key, *inner = path
    if not inner:
        keys[key] = value
        return
    held = keys.get(key)
    part: dict[str, Any]
    if held is None and key == "chunker":
        part = describe(DEFAULT_CHUNKER)
    elif held is None or held == "none" or key not in KINDS:
        raise ConfigError(f"over: {axis} is a parameter of the {key}, and there is none; name one, or use only_if")
    elif isinstance(held, str):
        name, given = parsed(key, held)
        part = {"type": name, **given}
    else:
        part = dict(held) if is_object(held) else describe(held)
    _set(part, inner, value, axis)
    keys[key] = part


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

_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, others: one in others,
    ast.NotIn: lambda one, others: one not in others,
}


def _parsed_condition(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ConfigError(f"only_if={text!r}: {error.msg}; expected a condition such as embedder != 'lsa'") from error


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """Return the value of a condition, or of a part of it, in a cell.

    Raises:
        ConfigError: It names what is no axis, is more than comparisons, or compares what cannot be compared.
    """
    match node:
        case ast.BoolOp(op=op, values=parts):
            return (all if isinstance(op, ast.And) else any)(_value(part, values) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, values)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, values) for item in items]
        case ast.Name() | ast.Attribute() if (key := ast.unparse(node)) in values:
            return values[key]
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(side, values) for side in (left, *others)]
            try:
                pairs = zip(ops, sides, sides[1:], strict=False)
                return all(_COMPARED[type(op)](one, other) for op, one, other in pairs)
            except TypeError as error:
                raise ConfigError(f"only_if: {ast.unparse(node)}: {error}") from error
        case _:
            raise ConfigError(
                f"only_if: {ast.unparse(node)} is no axis, value or comparison; the axes are {', '.join(values)}"
            )
