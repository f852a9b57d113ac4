"""What a score means besides its name: the parameters of its metric, and the tokenizer of its budget."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.cutoffs import ScoreName


def other_meaning(
    name: str,
    before: tuple[Sequence[str], Mapping[str, Any]],
    after: tuple[Sequence[str], Mapping[str, Any]],
) -> str:
    """Return in what two scores of one name differ, such as `tokenizer 'cl100k_base' before, 'o200k_base' after`.

    "" if they mean the same: one class, in whichever module, and equal values of the parameters that both records have.
    What only one of them has, as a parameter that came later or a value that was kept by the first run, tells nothing.

    Args:
        name: The name, such as `token_set_recall@5`.
        before: The names of the metrics of a run, and the record of its configuration.
        after: The same of another run.
    """
    old, new = _meaning(name, *before), _meaning(name, *after)
    return "; ".join(
        f"{key} {shown(old[key])} before, {shown(new[key])} after" for key in old if key in new and old[key] != new[key]
    )


def _meaning(name: str, metrics: Sequence[str], config: Mapping[str, Any]) -> dict[str, Any]:
    score = ScoreName.parse(name)
    in_tokens = score.cutoff is not None and score.cutoff.unit == "tok"
    budget = {"tokenizer of the budget": config["tokenizer"]} if in_tokens else {}
    metric = dict(zip(metrics, config["metrics"], strict=False)).get(score.metric, {})
    return {key: re.split("[:.]", value)[-1] if key == "type" else value for key, value in metric.items()} | budget
