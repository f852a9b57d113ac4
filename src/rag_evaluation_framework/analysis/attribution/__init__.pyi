from .attribution import Attribution as Attribution
from .explaining import Explanation as Explanation
from .explaining import explain as explain
from .losses import CAUSES as CAUSES
