"""Retrieval evaluation for RAG: label the text once, compare any chunker, embedder, retriever and reranker fairly.

Public names load when they are first used; the stub beside this file lists them.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
