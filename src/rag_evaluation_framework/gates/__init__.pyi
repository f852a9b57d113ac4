from .checking import assert_gates as assert_gates
from .checking import check_gates as check_gates
from .checking import refuse_unreliable as refuse_unreliable
from .checking import unreliable as unreliable
from .gate import Gate as Gate
from .gating import Gating as Gating
from .measuring import Runs as Runs
from .plan import Written as Written
