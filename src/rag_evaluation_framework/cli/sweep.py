"""`rag-eval sweep`: run many configurations and recommend one."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import report, sweeps
from ..base.exits import outcome
from ..base.outside import one_line
from ..errors import ConfigError
from ..runs import store
from . import run_options as options
from .output import components_print_to_stderr, print_result, print_text, show_warning, write_page


def sweep(
    config: Path | None = None,
    *,
    corpus: Path | None = None,
    dataset: Path | None = None,
    over: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE,VALUE")] = None,
    score: str | None = None,
    dry_run: bool = False,
    yes_spend: Annotated[float | None, typer.Option(min=0, metavar="AMOUNT")] = None,
    workers: options.Workers = None,
    fresh: bool = False,
    root: Path | None = None,
    html: Path | None = None,
    as_json: bool = False,
) -> None:
    """Run every combination of what is varied, and tell which may be the best, and which is the cheapest of these.

    What combinations share is done once. Finished ones are kept in <root>/cells/: the same command goes on after an
    interrupt, and runs only what is new after a change.
    Exit codes: 0 done, 2 one could not be run, or refused.

    Args:
        config: A YAML or JSON file with `base`, a run, and `over`, what is varied; or the configuration of a run.
        dataset: The questions, as for `rag-eval run`.
        over: What is varied: chunker.chunk_size=200,400 or embedder=lsa,none; k=5,10 are rows; repeatable.
        score: By which score they are compared; by default the recall at the largest budget.
        dry_run: Tell what the sweep will take, and run nothing.
        yes_spend: Refuse if providers would be paid more, or it is not known how much; in the currency of the prices.
        html: Write the result as a new file of HTML, with its charts.
    """
    options.check_new("--html", html, *options.PAGE)
    given: dict[str, Any] = {
        key: str(path.absolute()) for key, path in (("corpus", corpus), ("dataset", dataset)) if path
    }
    given |= {} if score is None else {"decide_by": score}
    swept = sweeps.load_sweep(config, over or (), given)
    if not swept.over:
        raise ConfigError("nothing is varied; expected --over, such as --over chunker.chunk_size=200,400")
    where = root or store.ROOT
    executor = None if workers is None else options.executor_of(workers)
    with components_print_to_stderr():
        plan = swept.plan(where, fresh=fresh)
        if yes_spend is not None and not dry_run:
            plan.check_spending(yes_spend)
    if dry_run:
        print_result(plan.record(), plan.summary, as_json=as_json)
        return
    if plan.failures:
        number, why = next(iter(plan.failures.items()))
        name = plan.cells[number - 1].name
        show_warning(f"{len(plan.failures)} of {len(plan.cells)} cells cannot be run, the first, {name}: {why}")
    with components_print_to_stderr():
        result = swept.run(where, plan=plan, fresh=fresh, executor=executor)
        saved = outcome(lambda: str(swept.save(result, where)), lambda error: error)
    folder = saved if isinstance(saved, str) else None
    record = {"sweep": folder, "plan": dict(result.plan), "bill": dict(result.bill), **result.record()}
    print_result(record, result.summary, as_json=as_json)
    if isinstance(saved, BaseException):
        raise saved
    if not as_json:
        print_text(report.saved_text(one_line(saved)))
    if html is not None:
        print_text(write_page(html, result.summary()))
    if result.failed:
        raise ConfigError(
            f"{len(result.failed)} of {len(result.cells)} cells could not be run, the first, "
            f"{result.failed[0].cell.name}: {result.failed[0].failure}"
        )
