"""Generations as people read them: what they will need, and what became of the questions that were asked for."""

from collections.abc import Iterator, Sequence

from ...authoring.models import Estimate, FailedRequests
from ...authoring.models.filters import Funnel, Rejection, Stage
from ...base.outside import grouped, name_line, one_line
from ...components.providers.calls import ModelUsage
from ..blocks import Line, Lines, Page, Role, Table, line, plural, quoted

_ASSUMED = (
    "If every question is written, found and checked: four characters are taken for a token, and a question for 25 "
    "tokens, its quotes for 60, a verdict for 20. Not counted: requests that are made again, and what a model thinks "
    "before it answers"
)
_GO_ON = "Run the same command again: only what failed is asked."
_EXAMPLES = 2
_MOST_TOLD = 400  # characters of what is particular about an example


def generation_page(
    funnel: Funnel,
    rejections: Sequence[Rejection],
    failed: Sequence[FailedRequests],
    models: Sequence[ModelUsage],
    kept_before: int,
    saved: Sequence[str],
) -> Page:
    """Return what became of the questions that were asked for: how many are kept, and why the others are not.

    Args:
        funnel: How many there were at each stage.
        rejections: What was not taken.
        failed: The requests that failed.
        models: What was asked of each model.
        kept_before: How many answers were there before.
        saved: Where the dataset is; nowhere if no question was kept.
    """
    asked = [model.told for model in models]
    if kept_before:
        verb = "were" if kept_before > 1 else "was"
        asked.append(f"{plural(kept_before, 'answer')} that {verb} kept, not asked for again")
    return Page.of(
        "Generated questions",
        Lines(tuple(_verdict(funnel, saved, failed))),
        Lines(tuple(_failed(failed)), "Requests that failed"),
        _stages(funnel),
        Lines(tuple(_examples(rejections, failed)), "Not taken, for example"),
        Lines(tuple(line((told, "muted"), indent=2) for told in asked), "Asked of models"),
    )


def _verdict(funnel: Funnel, saved: Sequence[str], failed: Sequence[FailedRequests]) -> Iterator[Line]:
    yield line((f"{funnel.kept:,} of {plural(funnel.asked, 'question')} kept", "good" if funnel.kept else "bad"))
    if saved:
        without = ", without what the requests that failed would have brought" if failed else ""
        yield line("Saved to ", (" and ".join(saved), "place"), without)


def _stages(funnel: Funnel) -> Table:
    rows = [("asked for", f"{funnel.asked:,}")]
    roles: dict[tuple[int, int], Role] = {}
    counts: dict[Stage, int] = {"parsed": funnel.parsed, "verified": funnel.verified, "kept": funnel.kept}
    for stage, count in counts.items():
        for reason, number in funnel.rejected.get(stage, {}).items():
            roles |= {(len(rows), 0): "muted", (len(rows), 1): "muted"}
            rows.append((reason, f"-{number:,}"))
        rows.append((stage, f"{count:,}"))
    roles[len(rows) - 1, 0] = "label"
    left = ", ".join(f"{count:,} {reason}" for reason, count in funnel.quotes.items())
    told = (f"left out of questions: {left}",) if left else ()
    return Table(("", "questions"), tuple(rows), "From asked to kept", told, roles=roles)


def _examples(rejections: Sequence[Rejection], failed: Sequence[FailedRequests]) -> Iterator[Line]:
    """Yield for each reason up to two examples of what was not taken, but what failed."""
    of_failures = {message for each in failed for message in each.messages}
    told = (one for one in rejections if one.detail not in of_failures and (one.question or one.detail))
    for reason, examples in grouped((one.reason, one) for one in told).items():
        yield line((reason, "label"), indent=2)
        for each in examples[:_EXAMPLES]:
            yield line(quoted(each.question) if each.question else ", ".join(map(name_line, each.doc_ids)), indent=4)
            yield line((one_line(each.detail, _MOST_TOLD), "muted"), indent=6)


def _failed(failed: Sequence[FailedRequests]) -> Iterator[Line]:
    """Yield how to go on, and how many requests failed in which way, with what was told of the first of each."""
    if failed:
        yield line((_GO_ON, "bad"), indent=2)
    for each in failed:
        asking = f"{each.asking[:1].lower()}{each.asking[1:]}"
        yield line(f"{plural(len(each.messages), 'time')}, {asking}", indent=2)
        yield line((one_line(each.messages[0], _MOST_TOLD), "muted"), indent=4)


def estimate_page(estimate: Estimate) -> Page:
    """Return how many calls and tokens a generation needs, and what it costs, with what that takes for granted."""
    counts = {"calls": estimate.calls, "tokens read": estimate.input_tokens, "tokens written": estimate.output_tokens}
    rows = [(name, f"{count:,}") for name, count in counts.items()]
    rows += [] if estimate.cost is None else [("cost", f"{estimate.cost:,.4g}")]
    needs, assumed = Table(("", "about"), tuple(rows), "Needs"), Lines((line((_ASSUMED, "muted")),))
    return Page.of(f"{plural(estimate.questions, 'question')} to generate", needs, assumed)
