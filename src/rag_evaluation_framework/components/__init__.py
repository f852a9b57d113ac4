"""Components: what cuts, embeds, keeps, retrieves and ranks again; a folder a kind."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
