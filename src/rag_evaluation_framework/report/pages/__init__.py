"""Pages: what people read of each kind of facts."""
