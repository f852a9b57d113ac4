"""A server on this machine that speaks the wire protocols of providers, so that their real SDKs can talk to it.

It has no model: vectors are made of the words of a text, and language models answer from a script, or quote what they
are asked about.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
