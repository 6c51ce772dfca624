"""Pandas tables and the tools that work on them."""
