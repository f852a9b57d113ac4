"""Shared code of components that ask a provider over the network: SDKs, retries and counts of usage."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
