"""What scores and components mean besides their names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..base.files import is_object
from ..base.outside import name_line, shown, without_secrets
from ..data.cutoffs import ScoreName

# What a score means besides its name: the parameters of its metric, and the tokenizer of its budget.


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


# What the record of a component tells of it and of those in it.


def vector_stores(record: object) -> list[str]:
    """Return the types of its vector stores, each once."""
    stores: Iterator[Any] = (part.get("vector_store") for part in record_parts(record))
    return list(dict.fromkeys(str(store.get("type")) for store in stores if is_object(store)))


def servers(record: object) -> list[str]:
    """Return where its parts ask servers, each once, such as `openai at http://127.0.0.1:8000/v1`.

    Where that is the provider's own address, it is not recorded.
    """
    asked = ((part.get("type"), part.get("base_url")) for part in record_parts(record))
    told = (f"{kind} at {without_secrets(url)}" for kind, url in asked if isinstance(url, str))
    return list(dict.fromkeys(map(name_line, told)))


def record_parts(record: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object of a record, from the outside in."""
    if is_object(record):
        yield record
        for value in record.values():
            yield from record_parts(value)
    elif isinstance(record, list | tuple):
        for item in cast("Sequence[Any]", record):
            yield from record_parts(item)
