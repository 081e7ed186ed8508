"""Agents that play by exact values."""
