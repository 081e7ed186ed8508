"""What the folders of checkpoints and of training runs hold, for those who look without loading anything."""

CARD, WEIGHTS = "card.json", "policy.safetensors"  # in a checkpoint
BEST, FINAL, CHECKPOINTS = "best", "final", "checkpoints"  # where a run folder keeps checkpoints
