"""The wire protocol of LangSmith: datasets, experiments, and what the service says of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.loopback.langsmith_datasets import DatasetRoutes
from rag_evaluation_framework.loopback.langsmith_experiments import ExperimentRoutes
from rag_evaluation_framework.loopback.langsmith_store import LangSmithStore, StoredDataset, StoredExperiment
from rag_evaluation_framework.loopback.messages import Answer, Request
from rag_evaluation_framework.loopback.requests import check_key
from rag_evaluation_framework.loopback.server import Route, Work

_BELOW = ("", "/api/v1")
_BELOW_PLATFORM = ("/v1", "", "/api/v1")
_INFO = {
    "version": "0.16.0",
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 16,
        "scale_down_nempty_trigger": 4,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
    },
    "instance_flags": {"dataset_examples_multipart_enabled": True, "zstd_compression_enabled": True},
}


def langsmith_error(status: int, message: str) -> Any:
    """Return the body of an error."""
    del status
    return {"detail": message}


@dataclass(frozen=True)
class LangSmithRoutes:
    """What a server of LangSmith's protocol answers.

    Attributes:
        store: What it holds.
    """

    store: LangSmithStore = field(default_factory=LangSmithStore)

    def routes(self) -> Sequence[Route]:
        """Return the routes, each at the root and below `/api/v1`."""
        works = {**DatasetRoutes(self.store).routes(), **ExperimentRoutes(self.store).routes()}
        info = Route("GET /info", lambda _: Answer(_INFO), langsmith_error, _BELOW)
        return (info, *(self._route(name, work) for name, work in works.items()))

    @property
    def datasets(self) -> Mapping[str, StoredDataset]:
        """A copy of the datasets, by name."""
        return self.store.stored_datasets

    @property
    def experiments(self) -> Mapping[str, StoredExperiment]:
        """A copy of the experiments, by name."""
        return self.store.stored_experiments

    def _route(self, name: str, work: Work) -> Route:
        below = _BELOW_PLATFORM if " /platform/" in name else _BELOW

        def guarded(request: Request) -> Answer:
            check_key(request)
            with self.store.lock:
                # Written while nothing changes it.
                answer = work(request)
                return Answer(answer.body, answer.status, answer.headers)

        return Route(name, guarded, langsmith_error, below)
