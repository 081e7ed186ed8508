"""Self-play PPO on RLlib's new API stack, for one machine or a Ray cluster; needs the extra `rllib`."""
