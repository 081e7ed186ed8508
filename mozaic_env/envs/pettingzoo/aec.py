"""Any game of the package as a PettingZoo AEC environment: every seat an agent, each asked when it decides."""

import copy
import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from pettingzoo.utils import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from mozaic_env.core.checks import check_flag, check_whole_number
from mozaic_env.core.game import Game
from mozaic_env.envs.gymnasium.single import EpisodeOver, GameEnv
from mozaic_env.envs.gymnasium.spaces import action_space, observation_space
from mozaic_env.games import game_with, keywords_of
from mozaic_env.simulation import single_row
from mozaic_env.simulation.queries import seat_margins
from mozaic_env.simulation.reward import seat_rewards

Observation = dict[str, Any]


def version_of(game: str) -> int:
    """The version of a game's environments, as registered with Gymnasium."""
    versions = [spec.version or 0 for spec in gym.registry.values() if spec.kwargs.get("game") == game]
    return max(versions, default=0)


class GameAEC(AECEnv[str, Observation, Any]):  # type: ignore[misc]  # PettingZoo has no type information
    """A board game whose seats are the agents ``player_0``, ``player_1`` and so on.

    The page on a game's actions, observation and rules is the docstring of its class, such as
    `mozaic_env.games.mozaic.game.Mozaic`.

    **Turns.** `agent_selection` is the seat that decides next. Where the rules have a player move twice or miss turns,
    the same agent is selected again, or others are meanwhile; chance is played out in between.

    **Observation.** A dict: `observation` holds what Gymnasium's environment gives, from the view of the agent that is
    asked about, and `action_mask` (int8) its legal actions. The mask of an agent that is not to decide is all zeros;
    when the game has ended, all ones. With ``flat=True``, `observation` is one vector of all numbers, in the order of
    `gymnasium.spaces.flatten`.

    **Rewards.** ``"outcome"``: every agent's result at the end. ``"margin"``: by how much each agent's lead grows, in
    the game's unit. Both sum to zero over a game of two; what `last` gives has accrued since the agent's last action.

    **End.** Every agent is terminated when the game is over, truncated at the limit, and then steps once with None.
    After an illegal action with ``illegal="lose"`` all are terminated: its agent's reward is -1, the others
    share +1, and its info holds `illegal_action` (True).

    Attributes:
        game: the game with its options.
    """

    metadata: dict[str, Any] = {
        "render_modes": GameEnv.metadata["render_modes"],
        "render_fps": GameEnv.metadata["render_fps"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        game: str | Game,
        *,
        reward: str = "outcome",
        illegal: str = "lose",
        max_decisions: int | None = None,
        max_cycles: int | None = None,
        flat: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Makes an environment; `reset` begins the first game.

        Args:
            game: a game's name, or a game.
            reward: one of the game's `rewards`: "outcome", "margin".
            illegal: what an illegal action does: "lose" the game or "raise" ValueError.
            max_decisions: after how many decisions of all agents a game is truncated; None: the game's default.
            max_cycles: PettingZoo's way to say it: so many decisions for each agent, on average.
            flat: whether the observation is one vector instead of named entries.
            render_mode: None, "ansi", "rgb_array" or "human".
            **options: the game's own options.

        Raises:
            ValueError: an option is none of these, or a window is asked for and pygame is not installed.
        """
        super().__init__()
        self.game = game_with(game, options, keywords_of(GameAEC.__init__))
        if max_cycles is not None:
            if max_decisions is not None:
                raise ValueError(
                    f"max_cycles={max_cycles!r} and max_decisions={max_decisions!r} are given; accepted: one of the two"
                )
            max_decisions = check_whole_number("max_cycles", max_cycles, 1) * self.game.num_players
        self._flat = check_flag("flat", flat)
        self._env = GameEnv(
            self.game,
            opponent=None,
            reward=reward,
            illegal=illegal,
            max_decisions=max_decisions,
            render_mode=render_mode,
        )
        self.render_mode = render_mode
        name = f"{self.game.name}_v{version_of(self.game.name)}"
        self.metadata = {**self.metadata, "render_modes": self._env.metadata["render_modes"], "name": name}
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.num_players)]
        self.agents: list[str] = []
        self._entries = observation_space(self.game)
        self.observation_spaces = {agent: self._make_space() for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(self.game) for agent in self.possible_agents}

    def _make_space(self) -> spaces.Dict:
        entries = observation_space(self.game)
        mask = spaces.Box(0, 1, (self.game.num_actions,), np.int8)
        seen = spaces.flatten_space(entries) if self._flat else entries
        return spaces.Dict([("observation", seen), ("action_mask", mask)])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begins a game.

        Args:
            seed: makes this game and all that follow without a seed repeat exactly; None: the stream goes on.
            options: `position`, a position string to start from. Others are left aside with a warning.

        Raises:
            ValueError: the seed or the options are none, or the position is malformed or finished.
        """
        if not isinstance(options, Mapping | None):
            raise ValueError(f"reset options {options!r}; accepted: None or a dict with 'position'")
        unknown = sorted(str(key) for key in options or {} if key != "position")
        if unknown:  # PettingZoo's own tests pass one, so it can't be an error
            warnings.warn(f"reset options {unknown} are left aside; accepted: 'position'", stacklevel=2)
        position = (options or {}).get("position")
        _, info = self._env.reset(seed=seed, options=None if position is None else {"position": position})
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None  # of a last game that was left before all had stepped with None
        self._select(info)
        self._margins = np.empty((1, self.game.num_players))
        seat_margins(self._env._batch.rows, self._margins)

    def _select(self, info: Mapping[str, Any]) -> None:
        self.agent_selection = self.possible_agents[info["seat"]]
        self._mask = info["action_mask"]

    def step(self, action: Any) -> None:
        """Makes the decision of `agent_selection`; an agent whose game has ended steps with None.

        Raises:
            ValueError: the action is no id of the action space, or illegal with ``illegal="raise"``, or not None after
                the end.
            EpisodeOver: no game is running.
        """
        if not self.agents:
            raise EpisodeOver("step() was called, but no game is running; call reset() to begin the next one")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        _, _, terminated, truncated, info = self._env.step(action)
        self._cumulative_rewards[agent] = 0.0
        batch, paid = self._env._batch, np.empty((1, len(self.agents)))
        seat_rewards(batch.rows, batch.episodes, batch.settings, self._margins, paid)
        self.rewards = dict(zip(self.agents, paid[0].tolist(), strict=True))
        self._accumulate_rewards()
        self.infos = {other: {} for other in self.agents}
        if "illegal_action" in info:
            self.infos[agent]["illegal_action"] = True
        self._select(info)
        if terminated or truncated:
            self.terminations = dict.fromkeys(self.agents, terminated)
            self.truncations = dict.fromkeys(self.agents, truncated)

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """What `agent_selection` sees, and what it has been given since its last action.

        Raises:
            EpisodeOver: no game has begun.
        """
        self._env._require_game()
        result: tuple[Observation | None, float, bool, bool, dict[str, Any]] = super().last(observe)
        return result

    def observe(self, agent: str) -> Observation:
        """What an agent sees, whether it is to decide or not.

        Raises:
            ValueError: there is no such agent.
            EpisodeOver: no game has begun.
        """
        if agent not in self.possible_agents:
            raise ValueError(f"agent {agent!r}; accepted: {', '.join(self.possible_agents)}")
        seen: Any = single_row.view(self.game, self.row.reshape(1), self.possible_agents.index(agent))
        if self._flat:
            seen = spaces.flatten(self._entries, seen)
        running = agent in self.agents and not (self.terminations[agent] or self.truncations[agent])
        waits = running and agent != self.agent_selection
        return {"observation": seen, "action_mask": np.zeros_like(self._mask) if waits else self._mask.copy()}

    @property
    def row(self) -> np.void:
        """A copy of the game's row."""
        return self._env.state

    @property
    def position(self) -> str:
        """The state as the game's position string."""
        return self._env.position

    @property
    def record(self) -> str:
        """The game so far as a record, as `mozaic_env.envs.gymnasium.single.GameEnv.record`."""
        return self._env.record

    def clone(self) -> "GameAEC":
        """An independent copy with the game in progress; one of an environment with a window has none."""
        twin = copy.deepcopy(self)
        if twin.render_mode == "human":
            twin.render_mode = twin._env.render_mode = None
        return twin

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows of the environment; None before the first game."""
        return self._env._repr_svg_()

    def render(self) -> Any:
        """The picture that `render_mode` asks for: text or an array; None where a window shows it, or without a mode.

        Raises:
            ValueError: no game has begun, or no window can be opened.
        """
        return self._env.render()

    def close(self) -> None:
        """Closes the window, if there is one."""
        self._env.close()


def make_env(game: str | Game, **options: Any) -> OrderEnforcingWrapper[str, Observation, Any]:
    """`GameAEC` in the wrapper that PettingZoo's environments come in; the arguments are its."""
    return OrderEnforcingWrapper(GameAEC(game, **options))
