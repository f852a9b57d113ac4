from .attribution import Attribution as Attribution
from .explaining import explain as explain
from .explanation import Explanation as Explanation
from .losses import CAUSES as CAUSES
