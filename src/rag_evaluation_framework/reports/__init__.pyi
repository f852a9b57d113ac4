from .terminal import detectable_difference as detectable_difference
from .terminal import printable as printable
from .terminal import show_comparison as show_comparison
from .terminal import show_quotes as show_quotes
from .terminal import show_result as show_result
from .terminal import show_worst as show_worst
