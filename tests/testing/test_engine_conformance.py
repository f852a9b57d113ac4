"""The suite passes for engines that keep the contract, and fails for each way of breaking it."""

import importlib.util
import re
from pathlib import Path

import pytest

import rag_evaluation_framework
from rag_evaluation_framework.components.engines import HttpEngine
from rag_evaluation_framework.data.queries import Scope
from support.engines import MemoryEngine, served
from support.suites import EngineConformance

TEMPLATE = Path(rag_evaluation_framework.__file__).parent / "cli/templates/rag_eval_engine.py"


class Contained(MemoryEngine):
    """Keeps constraints as PostgreSQL does."""

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        allowed = Scope(scope, metadata_constraints or {})
        inside = MemoryEngine(document for document in self.documents.values() if allowed.holds(document))
        return inside.retrieve(query, top_k, scope)


class TestInMemory(EngineConformance):
    def make(self):
        return Contained()


class TestAsynchronous(EngineConformance):
    def make(self):
        class Awaited(Contained):
            async def ingest(self, document):
                super().ingest(document)

            async def delete(self, scope_prefix):
                super().delete(scope_prefix)

            async def retrieve(self, query, top_k, scope, metadata_constraints=None):
                return super().retrieve(query, top_k, scope, metadata_constraints)

        return Awaited()


class TestOverHttp(EngineConformance):
    @pytest.fixture(autouse=True)
    def url(self):
        with served(Contained()) as url:
            self.at = url
            yield

    def make(self):
        return HttpEngine(self.at)


class TestOfTheTemplate(EngineConformance):
    def make(self):
        spec = importlib.util.spec_from_file_location("rag_eval_engine", TEMPLATE)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.make()


class Reading:
    def retrieve(self, query, top_k, scope):
        return []


class TestThatOnlyReads(EngineConformance):
    def make(self):
        return Reading()


class Like(Contained):
    """Deletes as `LIKE` does, for which `_` is any character."""

    def delete(self, scope_prefix):
        pattern = re.compile(re.escape(scope_prefix).replace("_", "."))
        self.documents = {name: kept for name, kept in self.documents.items() if not pattern.match(name)}


class Folded(Contained):
    """Takes upper and lower case for the same."""

    def delete(self, scope_prefix):
        low = scope_prefix.lower()
        self.documents = {name: kept for name, kept in self.documents.items() if not name.lower().startswith(low)}


class Careless(Contained):
    """Searches everything, whatever the scope."""

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        return super().retrieve(query, top_k, "", metadata_constraints)


class Adding(Contained):
    """Keeps the first text of a document."""

    def ingest(self, document):
        self.documents.setdefault(document.id, document)


class Generous(Contained):
    """Returns more than was asked for."""

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        return super().retrieve(query, top_k + 5, scope, metadata_constraints)


class Nameless(Contained):
    """Returns texts without their documents."""

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        return [hit["text"] for hit in super().retrieve(query, top_k, scope, metadata_constraints)]


class Unconstrained(Contained):
    """Takes constraints, and forgets them."""

    def retrieve(self, query, top_k, scope, metadata_constraints=None):
        return super().retrieve(query, top_k, scope)


BROKEN = {
    EngineConformance: [
        (Like, "test_deleting_takes_the_prefix_letter_for_letter"),
        (Folded, "test_deleting_takes_the_prefix_letter_for_letter"),
        (Careless, "test_what_is_ingested_is_found_in_its_scope_and_nowhere_else"),
        (Adding, "test_a_document_that_comes_again_takes_the_place_of_the_first"),
        (Generous, "test_no_more_is_returned_than_was_asked_for"),
        (Nameless, "test_results_name_their_documents_and_places_that_there_are"),
        (Unconstrained, "test_constraints_on_metadata_are_kept"),
    ],
}
