from .checking import assert_gates as assert_gates
from .checking import check_gates as check_gates
from .checking import told_verdict as told_verdict
from .gate import Gate as Gate
from .plan import Written as Written
from .plan import gates_of_run as gates_of_run
