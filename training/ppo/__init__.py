"""Self-play PPO with stable-baselines3: learner, league, evaluation on the way."""
