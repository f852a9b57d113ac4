"""`rag-eval sweep`: run many configurations, and tell which of them to take."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import report, sweeps
from ..base.outside import one_line
from ..errors import ConfigError
from ..runs import store
from . import paths
from . import run_options as options
from .output import arriving, components_print_to_stderr, print_result, print_text, write_page


def sweep(
    config: Path | None = None,
    *,
    corpus: options.Corpus = None,
    dataset: Annotated[Path | None, typer.Option()] = None,
    over: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE,VALUE")] = None,
    only_if: Annotated[str | None, typer.Option(metavar="CONDITION")] = None,
    score: str | None = None,
    dry_run: bool = False,
    yes_spend: Annotated[float | None, typer.Option(min=0, metavar="AMOUNT")] = None,
    workers: options.Workers = None,
    fresh: bool = False,
    root: options.Root = None,
    html: paths.Html = None,
    no_import: options.NoImport = False,
    as_json: options.AsJson = False,
) -> None:
    """Run every combination of what is varied, and tell which may be the best, and which is the cheapest of these.

    What combinations share is done once. Finished ones are kept in <root>/cells/: the same command goes on after an
    interrupt, and runs only what is new after a change.
    Exit codes: 0 done, 2 one could not be run, or refused.

    Args:
        config: A YAML or JSON file with `base`, a run, and `over`, what is varied; or the configuration of a run.
        dataset: The questions, as for `rag-eval run`.
        over: What is varied: chunker.chunk_size=200,400 or embedder=lsa,none; k=5,10 are rows; repeatable.
        only_if: Which combinations are run, such as "embedder != 'lsa' or reranker is None".
        score: By which score they are compared; by default the recall at the largest budget.
        dry_run: Tell what the sweep will take, and run nothing.
        yes_spend: Refuse if providers would be paid more, or it is not known how much; in the currency of the prices.
        fresh: Run again what is done.
        html: Write the result as a new file of HTML, with its charts.
    """
    keys: dict[str, Any] = {"corpus": corpus and str(corpus.absolute()), "dataset": dataset and str(dataset.absolute())}
    keys |= {"only_if": only_if, "decide_by": score}
    given = {key: value for key, value in keys.items() if value is not None}
    if config is None:
        swept = sweeps.make_sweep({}, "the options", Path(), over or (), given)
    else:
        swept = sweeps.load_sweep(config, over or (), given)
    if not swept.over:
        raise ConfigError("nothing is varied; expected --over, such as --over chunker.chunk_size=200,400")
    where, imports = root or store.ROOT, not no_import
    if html is not None:
        paths.new_page("--html", html)
    executor = None if workers is None else options.executor_of(workers)
    with components_print_to_stderr():
        plan = swept.plan(where, fresh=fresh, imports=imports)
        if yes_spend is not None and not dry_run:
            plan.check_spending(yes_spend)
    if dry_run:
        print_result(plan.record(), plan.summary, as_json=as_json)
        return
    with components_print_to_stderr():
        result = swept.run(where, plan=plan, fresh=fresh, imports=imports, executor=executor)
        folder = swept.save(result, where)
    with arriving(f"the sweep is saved in {folder}"):
        record = {"sweep": str(folder), "plan": dict(result.plan), "bill": dict(result.bill), **result.record()}
        print_result(record, result.summary, as_json=as_json)
        if not as_json:
            print_text(report.saved_text(one_line(str(folder))))
        if html is not None:
            print_text(write_page(html, result.summary()))
    if result.failed:
        raise ConfigError(
            f"{len(result.failed)} of {len(result.cells)} cells could not be run, the first, "
            f"{result.failed[0].cell.name}: {result.failed[0].failure}"
        )
