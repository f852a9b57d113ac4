"""A server on this machine that speaks the wire protocols of providers, so that their real SDKs can talk to it.

It has no model: vectors are made of the words of a text, and language models answer from a script, or quote what they
are asked about. `rag_evaluation_framework.testing.LoopbackProviders` is what it is used by.
"""

from rag_eval_loopback.models import ChatRequest
from rag_eval_loopback.providers import LoopbackProviders
from rag_eval_loopback.server import Exchange, Request

__all__ = ["ChatRequest", "Exchange", "LoopbackProviders", "Request"]
