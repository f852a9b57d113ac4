"""What all components share that ask a provider over the network: its SDK, retries, and counts of what was used."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
