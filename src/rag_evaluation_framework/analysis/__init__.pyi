from .comparison import Comparison as Comparison
from .leaderboard import Leaderboard as Leaderboard
from .leaderboard import Standing as Standing
from .leaderboard import compare as compare
from .slices import Slice as Slice
from .slices import slice_record as slice_record
