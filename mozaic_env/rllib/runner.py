"""An RLlib EnvRunner that plays many games of self-play in one compiled loop instead of one Python object each.

RLlib's own runners keep an episode object for every game and go through all of them in Python at every step. This one
steps all its games at once, asks the module once for all of them, and hands the learner finished columns.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from mozaic_env.core.extras import importing

with importing("mozaic_env.rllib", "tree"):
    import ray
    import torch
    from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
    from ray.rllib.env.env_runner import EnvRunner
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.policy.sample_batch import SampleBatch
    from ray.rllib.utils.checkpoints import Checkpointable
    from ray.rllib.utils.metrics import (
        NUM_ENV_STEPS_SAMPLED,
        NUM_ENV_STEPS_SAMPLED_LIFETIME,
        NUM_EPISODES,
        SAMPLE_TIMER,
        WEIGHTS_SEQ_NO,
    )

from mozaic_env.agents.policy.league import League, Opponents, Weights, scores_by_strategy
from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network, make_network
from mozaic_env.envs.gymnasium.spaces import action_space
from mozaic_env.envs.rllib import ACTION_MASK, OBSERVATIONS, masked_space
from mozaic_env.games import make_game
from mozaic_env.simulation.advantages import Array
from mozaic_env.simulation.self_play import Ending, Fragment, Observation, Rewards, SelfPlayGames

SELF_PLAY = "self_play"  # the entry of `env_config` that holds a `SelfPlay`
OPPONENTS = "opponents"  # of the metrics

Past = Mapping[int, Weights]  # earlier selves by their age


@dataclass(frozen=True)
class SelfPlay:
    """What every runner plays: plain data, so that it reaches any node.

    Attributes:
        game: the game's name.
        options: the game's own.
        network: size of the learner's network, and of its earlier selves'.
        games: how many each runner plays at once.
        steps: decisions of each game between two updates.
        rewards: of the decisions.
        opponents: shares of the games; the learner's seat is drawn where it does not hold all.
        seed: of all luck, with the runner's number.
    """

    game: str
    options: Mapping[str, Any] = field(default_factory=dict)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    games: int = 256
    steps: int = 64
    rewards: Rewards = field(default_factory=Rewards)
    opponents: Opponents = field(default_factory=Opponents)
    seed: tuple[int, ...] = (0,)


class GamesEnvRunner(EnvRunner, Checkpointable):  # type: ignore[misc]  # ray has no type information
    """Plays `SelfPlay`; `sample` gives a SampleBatch of decisions with advantages and value targets."""

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        """Makes the games and the module.

        Args:
            config: an AlgorithmConfig whose `env_config` holds a `SelfPlay` under `SELF_PLAY`.
            **kwargs: `worker_index` and others that RLlib gives.
        """
        super().__init__(config=config, **kwargs)
        self.task: SelfPlay = config.env_config[SELF_PLAY]
        self.game = make_game(self.task.game, **self.task.options)
        self.module: Any = None
        self.make_module()
        self._weights_seq_no = 0
        self._seed = [*self.task.seed, self.worker_index or 0]
        self.league = League(self.game, self.task.opponents, self._network, sum(self._seed))
        self.games: SelfPlayGames | None = None  # they begin when the earlier selves are known
        self._past: Past = {}

    def _network(self) -> Network:
        return make_network(self.game, self.task.network)

    def make_module(self) -> None:
        """Makes the module anew, its weights random."""
        spec = self.config.get_multi_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()

    def get_spaces(self) -> dict[str, Any]:
        """What RLlib asks for to make modules: the spaces of one seat."""
        spaces = masked_space(self.game), action_space(self.game)
        return {INPUT_ENV_SPACES: spaces, INPUT_ENV_SINGLE_SPACES: spaces, DEFAULT_MODULE_ID: spaces}

    def set_past(self, past: Past) -> None:
        """Says which earlier selves may be met in games that begin from now on.

        Args:
            past: their weights by age.
        """
        self._past = past

    def begin(self, luck: int) -> None:
        """Begins all games anew, with other luck than they had; decisions not yet trained on are lost."""
        self._seed = [*self.task.seed, self.worker_index or 0, luck]
        self.games = None

    def sample(self, **kwargs: Any) -> SampleBatch:
        """Plays on by one fragment; whatever RLlib may ask for besides has no meaning here."""
        with self.metrics.log_time(SAMPLE_TIMER):
            games = self._games()
            fragment = games.play(self._choose)
            self.league.note(games.endings)
        self._log(fragment, games.endings)
        games.endings.clear()
        return SampleBatch(
            {
                Columns.OBS: {OBSERVATIONS: fragment.observation, ACTION_MASK: fragment.masks},
                Columns.ACTIONS: fragment.actions,
                Columns.ACTION_LOGP: fragment.log_probabilities,
                Postprocessing.ADVANTAGES: fragment.advantages,
                Postprocessing.VALUE_TARGETS: fragment.targets,
            }
        )

    def _games(self) -> SelfPlayGames:
        """The games, those that begin from now on against the earlier selves that were set last."""
        shares = self.league.update(self._past, set() if self.games is None else self.games.opponents_in_use)
        if self.games is None:
            mirror, versus = self.task.opponents.split(self.task.games)
            self.games = SelfPlayGames(
                self.game,
                mirror=mirror,
                versus=versus,
                opponents=self.league.agents,
                shares=shares,
                steps=self.task.steps,
                rewards=self.task.rewards,
                seed=self._seed,
            )
        else:
            self.games.set_shares(shares)
        return self.games

    def _choose(self, observation: Observation, masks: Array) -> tuple[Array, Array, Array]:
        module = self.module[DEFAULT_MODULE_ID]
        views = {key: torch.from_numpy(entry) for key, entry in observation.items()}
        out = module.forward_exploration({Columns.OBS: {OBSERVATIONS: views, ACTION_MASK: torch.from_numpy(masks)}})
        distribution = module.get_exploration_action_dist_cls().from_logits(out[Columns.ACTION_DIST_INPUTS])
        actions = distribution.sample()
        return actions.numpy(), distribution.logp(actions).numpy(), out[Columns.VF_PREDS].numpy()

    def _log(self, fragment: Fragment, endings: list[Ending]) -> None:
        decisions = len(fragment.actions)
        self.num_env_steps_sampled_lifetime += decisions
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, decisions, reduce="sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, decisions, reduce="lifetime_sum")
        self.metrics.log_value(NUM_EPISODES, len(endings), reduce="sum")
        for name, score in scores_by_strategy(endings).items():
            for what, value in score._asdict().items():
                self.metrics.log_value((OPPONENTS, name, what), value, reduce="sum")

    def get_metrics(self) -> Any:
        """What was logged since the last call."""
        return self.metrics.reduce()

    def assert_healthy(self) -> None:
        """Raises AssertionError if the constructor did not come to its end."""
        assert self.module is not None
        assert self.league is not None

    def get_state(
        self,
        components: str | Collection[str] | None = None,
        *,
        not_components: str | Collection[str] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """How far the runner is, and unless it is left out the module's weights."""
        state: dict[str, Any] = {NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime}
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
        return state

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes over weights, unless they are older than its own, and counters."""
        if COMPONENT_RL_MODULE in state:
            number = state.get(WEIGHTS_SEQ_NO, 0)  # 0: whatever they are
            if number == 0 or number > self._weights_seq_no:
                weights = state[COMPONENT_RL_MODULE]
                self.module.set_state(ray.get(weights) if isinstance(weights, ray.ObjectRef) else weights)
                self._weights_seq_no = number or self._weights_seq_no
        if NUM_ENV_STEPS_SAMPLED_LIFETIME in state:
            self.num_env_steps_sampled_lifetime = state[NUM_ENV_STEPS_SAMPLED_LIFETIME]

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a checkpoint needs to make the runner again."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """What saves itself."""
        return [(COMPONENT_RL_MODULE, self.module)]
