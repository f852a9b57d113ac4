"""Where a run lost what was relevant: by cause over all questions, and result by result of one."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
