"""Strategies: which questions a language model is asked to write."""
