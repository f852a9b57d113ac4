"""Retrievers that know what they find."""

from collections.abc import Mapping

from rag_evaluation_framework import Retriever


class Listing(Retriever):
    """Lists its chunks, finds them in their order, or what it is told (by question), and notes what is asked."""

    def __init__(self, listed, found=None):
        self.listed, self.found, self.calls = listed, listed if found is None else found, []

    def index(self, corpus):
        self.calls.append("index")

    def retrieve(self, query, k):
        self.calls.append("retrieve")
        return (self.found[query] if isinstance(self.found, Mapping) else self.found)[:k]

    def chunks(self):
        return self.listed

    def close(self):
        self.calls.append("close")
