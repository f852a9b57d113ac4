"""Embedding models of OpenAI, and of servers that speak its protocol."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rag_evaluation_framework.base.files import is_list
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.roles import Role
from rag_evaluation_framework.embedders.remote import RemoteEmbedder
from rag_evaluation_framework.providers.sdks import OPENAI, Provider
from rag_evaluation_framework.providers.usage import Consumed


@dataclass(frozen=True)
class OpenAIEmbedder(RemoteEmbedder):
    """Embeds with a model of OpenAI, or of any server that speaks its protocol (`base_url`).

    Texts are sent in batches, several at once; a request that fails is made again where that may help. Every answer is
    checked: one vector per text, put in order by its index, finite numbers, all of one length. No key is needed before
    the first request. The other parameters are those of `ProviderModel` and `RemoteEmbedder`.

    Attributes:
        base_url: The address of the server, such as `http://127.0.0.1:8000/v1`; None for the environment variable
            `OPENAI_BASE_URL`, or else OpenAI. A server of one's own needs no key.
        api_key: The key; None for the environment variable `OPENAI_API_KEY`. It is never shown.
        client: An `OpenAI`, `AzureOpenAI` or `AsyncOpenAI` of your own, instead of one with `api_key` and `base_url`.
        batch_size: The most texts of a request; OpenAI takes 2,048.

    Raises:
        ConfigError: A number is out of range.
    """

    requires: ClassVar[Mapping[str, str]] = {"openai": "openai"}
    provider: ClassVar[Provider] = OPENAI
    needs: ClassVar[str] = "embeddings"
    most_tokens: ClassVar[int] = 300_000

    model: str = "text-embedding-3-small"
    batch_size: int = field(default=256, repr=False, compare=False)

    def _send(self, sdk: Any, texts: list[str], role: Role) -> Any:
        del role
        asked: dict[str, Any] = {} if self.dimensions is None else {"dimensions": self.dimensions}
        # In base64 the SDK leaves the vectors as they came, and decodes junk to no vector.
        return sdk.embeddings.create(input=texts, model=self.model, encoding_format="base64", **asked)

    def _read(self, answer: Any, texts: list[str]) -> Sequence[Any]:
        data: Any = getattr(answer, "data", None)
        if not is_list(data):
            raise ValueError(f"{shown(answer)}; expected a list of vectors")
        rows: dict[int, Any] = {item.index: _decoded(item.embedding) for item in data}
        if len(rows) != len(data) or rows.keys() - set(range(len(texts))):
            raise ValueError(f"{len(data)} vectors with the indices {sorted(rows)} for {len(texts)} texts")
        return [rows[number] for number in sorted(rows)]

    def _consumed(self, answer: Any) -> Consumed:
        return Consumed(int(answer.usage.prompt_tokens))


def _decoded(embedding: Any) -> Any:
    """Return a vector that came in base64, as little-endian float32; a server may also send numbers."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return embedding
