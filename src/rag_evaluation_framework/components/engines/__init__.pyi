from .http import HttpEngine as HttpEngine  # http
