"""Networks, checkpoints, and a trained policy as an agent."""
