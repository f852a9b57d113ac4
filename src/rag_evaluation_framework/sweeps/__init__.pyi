from .cell import Cell as Cell
from .cell import CellOutcome as CellOutcome
from .facts import CellFacts as CellFacts
from .result import SweepResult as SweepResult
