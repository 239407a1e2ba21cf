"""Metrics: cards on pure functions, one table for all of them."""
