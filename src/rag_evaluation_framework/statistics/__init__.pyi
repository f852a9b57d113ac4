from .paired import PairedDifference as PairedDifference
from .paired import paired_differences as paired_differences
from .power import detectable as detectable
from .power import pairs_needed as pairs_needed
from .power import power as power
from .proportions import clopper_pearson as clopper_pearson
from .selection import top_k as top_k
