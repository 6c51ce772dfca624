"""Phases, lease, admission and store of a checkpoint."""
