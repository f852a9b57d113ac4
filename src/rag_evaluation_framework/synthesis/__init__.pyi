from .filters.rejection import Rejection as Rejection
