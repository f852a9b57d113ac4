"""What a component must be able to do, one contract per file; rooms on one floor know each other only through these."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
