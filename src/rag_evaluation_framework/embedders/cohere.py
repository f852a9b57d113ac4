"""Embedding models of Cohere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from rag_evaluation_framework.base.files import is_list
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.component import check_choice
from rag_evaluation_framework.contracts.roles import Role
from rag_evaluation_framework.embedders.remote import RemoteEmbedder
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.providers.sdks import COHERE, NO_RETRIES, Provider
from rag_evaluation_framework.providers.usage import Consumed

Truncate: TypeAlias = Literal["NONE", "START", "END"]

_MOST_TEXTS = 96  # of a request
_INPUT_TYPES: Mapping[Role, str] = {"text": "search_document", "query": "search_query"}


@dataclass(frozen=True)
class CohereEmbedder(RemoteEmbedder):
    """Embeds with a model of Cohere: chunks as `search_document`, questions as `search_query`.

    Texts are sent in batches, several at once; a request that fails is made again where that may help. Every answer is
    checked. No key is needed before the first request. The other parameters are those of `ProviderModel` and
    `RemoteEmbedder`.

    Attributes:
        base_url: The address of the server; None for the environment variable `CO_API_URL`, or else Cohere.
        api_key: The key; None for the environment variable `CO_API_KEY`. It is never shown.
        client: A `cohere.ClientV2` or `cohere.AsyncClientV2` of your own, instead of one with `api_key` and `base_url`.
        batch_size: The most texts of a request; Cohere takes 96.
        truncate: Of a text that is longer than the model reads, which end is left out. Cohere does not tell of which
            texts it was; by default, `NONE`, such a text is refused.

    Raises:
        ConfigError: A number is out of range, or `truncate` is something else.
    """

    requires: ClassVar[Mapping[str, str]] = {"cohere": "cohere"}
    provider: ClassVar[Provider] = COHERE
    needs: ClassVar[str] = "embed"
    most_tokens: ClassVar[int] = 10_000_000  # no limit beyond that of each text is known

    model: str = "embed-v4.0"
    batch_size: int = field(default=_MOST_TEXTS, repr=False, compare=False)
    truncate: Truncate = "NONE"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size > _MOST_TEXTS:
            raise ConfigError(f"CohereEmbedder: batch_size={self.batch_size}; Cohere takes at most {_MOST_TEXTS} texts")
        check_choice("CohereEmbedder", "truncate", self.truncate, get_args(Truncate))

    def _send(self, sdk: Any, texts: list[str], role: Role) -> Any:
        asked: dict[str, Any] = {} if self.dimensions is None else {"output_dimension": self.dimensions}
        return sdk.embed(
            model=self.model,
            input_type=_INPUT_TYPES[role],
            texts=texts,
            embedding_types=["float"],
            truncate=self.truncate,
            request_options=NO_RETRIES,
            **asked,
        )

    def _read(self, answer: Any, texts: list[str]) -> Sequence[Any]:
        del texts
        vectors: Any = getattr(getattr(answer, "embeddings", None), "float_", None)
        if not is_list(vectors):
            raise ValueError(f"{shown(answer)}; expected a list of vectors")
        return vectors

    def _consumed(self, answer: Any) -> Consumed:
        return Consumed(int(answer.meta.billed_units.input_tokens))
