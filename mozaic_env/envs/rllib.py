"""Any game of the package as an RLlib MultiAgentEnv, for RLlib's new API stack; needs the extra `rllib`.

Training at speed does not go through here: `mozaic_env.rllib.runner` plays many games in one compiled loop.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mozaic_env.core.extras import importing

with importing("mozaic_env.envs.rllib", "tree"):
    from ray.rllib.env.multi_agent_env import MultiAgentEnv

from mozaic_env.core.checks import check_choice, check_whole_number
from mozaic_env.core.game import Game
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.envs.gymnasium.single import EpisodeOver, read_reset_options
from mozaic_env.envs.gymnasium.spaces import action_space, observation_space
from mozaic_env.games import game_with
from mozaic_env.simulation.batch import Batch
from mozaic_env.simulation.queries import seat_margins, seat_views
from mozaic_env.simulation.reward import seat_results, seat_rewards
from mozaic_env.simulation.state import FORFEITED, READY

OPTIONS = ("game", "reward", "illegal", "max_decisions", "render_mode")  # beside those of the game
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"  # as RLlib's action masking modules have them
_ONLY = np.zeros(1, np.int64)  # the index of the one game

PerAgent = dict[str, Any]


def masked_space(game: Game) -> spaces.Dict:
    """What an agent observes: the game's observation and its action mask."""
    mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
    return spaces.Dict({OBSERVATIONS: observation_space(game), ACTION_MASK: mask})


class GameMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]  # ray has no type information
    """A board game whose seats are the agents ``player_0``, ``player_1`` and so on.

    **Turns.** Only the agent that is to decide has an observation, and `step` takes its action alone. One that moves
    twice or misses its turn simply is or is not the next in the observation. When the game has ended every agent gets
    its view of the end.

    **Observation.** A Dict of ``observations``, the game's observation from the view of the agent, and ``action_mask``
    (int8, all ones when the game has ended): the names that RLlib's action masking modules know.

    **Reward.** ``"outcome"``: each agent's result at the end, 0 before. ``"margin"``: at every step what each agent has
    gained in its lead, from its first decision on; RLlib adds these up from one decision of an agent to its next.

    **End.** Terminated when the game is over, or after an illegal action with ``illegal="lose"``: reward -1, and the
    other agents share +1. Truncated after `max_decisions` decisions. `infos` hold ``outcome`` and ``margin`` of each
    agent at the end, and ``illegal_action`` (True) of the one that made one.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}

    def __init__(self, config: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Makes the environment from RLlib's `env_config`, from keyword arguments, or from both.

        Args:
            config: any of the options.
            **options: `game` (a name or a game; "mozaic"), `reward` (one of the game's: "outcome", "margin"),
                `illegal` ("lose", "raise"), `max_decisions`, `render_mode` (None, "ansi", "rgb_array"), and the game's
                own, such as `rules`.

        Raises:
            ValueError: an option is none of these.
        """
        given = {**(config or {}), **options}
        reward = given.pop("reward", "outcome")
        modes = (None, *self.metadata["render_modes"])
        self.render_mode = check_choice("render_mode", given.pop("render_mode", None), modes)
        illegal, limit = given.pop("illegal", "lose"), given.pop("max_decisions", None)
        self.game = game_with(given.pop("game", "mozaic"), given, OPTIONS)
        self._batch = Batch(self.game, 1, reward=reward, illegal=illegal, max_decisions=limit)
        seats = self.game.num_players
        self.possible_agents = [f"player_{seat}" for seat in range(seats)]
        self.agents = list(self.possible_agents)
        self.observation_spaces: PerAgent = {agent: masked_space(self.game) for agent in self.agents}
        self.action_spaces: PerAgent = {agent: action_space(self.game) for agent in self.agents}
        # RLlib looks for the spaces of all agents together too.
        self.observation_space = spaces.Dict({agent: masked_space(self.game) for agent in self.agents})
        self.action_space = spaces.Dict({agent: action_space(self.game) for agent in self.agents})
        self._margins = np.zeros((1, seats))
        self._decided = np.zeros(seats, np.bool_)  # who has made a decision that can be paid
        self._begun = False
        super().__init__()

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[PerAgent, PerAgent]:
        """Begins a game.

        Args:
            seed: makes this game and all that follow without a seed repeat exactly; None: the stream goes on.
            options: `position`, a position string to start from.

        Raises:
            ValueError: an unknown option, or a malformed or finished position.
        """
        start, seat = read_reset_options(self.game, options)
        if seat is not None:
            raise ValueError("reset options ['seat']; accepted: 'position': every seat is an agent here")
        keys: Any = None
        if seed is not None:
            keys = keys_from_seeds([check_whole_number("seed", seed, 0)])
        elif not self._begun:
            keys = np.random.SeedSequence().generate_state(1, np.uint64).astype(np.uint64)
        self._batch.begin(_ONLY, keys, start, None)
        self._begun = True
        seat_margins(self._batch.rows, self._margins)
        self._decided[:] = False
        return self._views(), {self._mover(): {}}

    def step(self, action_dict: PerAgent) -> tuple[PerAgent, PerAgent, PerAgent, PerAgent, PerAgent]:
        """Makes the decision of the agent whose turn it is.

        Args:
            action_dict: its action id, under its name.

        Returns:
            observations, rewards, terminateds, truncateds, infos, by agent.

        Raises:
            ValueError: another agent's action or none, no action id, or an illegal one with ``illegal="raise"``.
            EpisodeOver: no game is running.
        """
        batch = self._batch
        if not self._begun or batch.episodes[0]["status"] != READY:
            what = "this game has ended" if self._begun else "no game has begun"
            raise EpisodeOver(f"step() was called, but {what}; call reset() to begin the next one")
        agent = self._mover()
        if list(action_dict) != [agent]:
            raise ValueError(f"actions of {', '.join(map(str, action_dict)) or 'nobody'}; accepted: one, of {agent}")
        action = np.asarray(action_dict[agent])
        if action.shape != () or action.dtype.kind not in "iu":
            raise ValueError(
                f"action {action_dict[agent]!r} of {agent}; accepted: a whole number in 0..{self.game.num_actions - 1}"
            )
        batch.step(action.reshape(1).astype(np.int64))
        self._decided[self.agents.index(agent)] = True
        terminated, truncated = bool(batch.buffers.terminated[0]), bool(batch.buffers.truncated[0])
        ended = terminated or truncated
        return (
            self._views(),
            self._rewards(agent),
            dict.fromkeys(self.agents if ended else [], terminated) | {"__all__": terminated},
            dict.fromkeys(self.agents if ended else [], truncated) | {"__all__": truncated},
            self._endings(agent) if ended else {self._mover(): {}},
        )

    def _mover(self) -> str:
        return self.agents[int(self._batch.buffers.seats[0])]

    def _views(self) -> PerAgent:
        """The observation of the agent that decides; those of all agents once the game has ended."""
        batch, game = self._batch, self.game
        if batch.episodes[0]["status"] == READY:
            return {self._mover(): self._masked(batch.buffers.frames[:1])}
        frames = np.zeros((game.num_players, game.frame.itemsize), np.uint8)
        seat_views(batch.rows, game.num_players, frames)
        return {agent: self._masked(frames[seat : seat + 1]) for seat, agent in enumerate(self.agents)}

    def _masked(self, frame: npt.NDArray[np.uint8]) -> dict[str, Any]:
        entries = frame.view(self.game.frame)[0, 0]
        observation = {field.key: np.array(entries[field.key]) for field in self.game.fields}
        return {OBSERVATIONS: observation, ACTION_MASK: self._batch.buffers.masks[0].copy()}

    def _rewards(self, acted: str) -> PerAgent:
        """What is paid for a step: to all once the game has ended, else to those who are due anything."""
        batch = self._batch
        paid = np.empty((1, self.game.num_players))
        seat_rewards(batch.rows, batch.episodes, batch.settings, self._margins, paid)
        by_agent = dict(zip(self.agents, paid[0].tolist(), strict=True))
        status = batch.episodes[0]["status"]
        if status == FORFEITED:
            return by_agent
        if batch.settings[0]["margin_weight"]:
            return {agent: by_agent[agent] for seat, agent in enumerate(self.agents) if self._decided[seat]}
        return {acted: 0.0} if status == READY else by_agent

    def _endings(self, acted: str) -> PerAgent:
        batch, results = self._batch, np.empty((1, self.game.num_players))
        seat_results(batch.rows, batch.episodes, results)
        infos: PerAgent = {
            agent: {"outcome": float(results[0, seat]), "margin": float(self._margins[0, seat])}
            for seat, agent in enumerate(self.agents)
        }
        if batch.episodes[0]["status"] == FORFEITED:
            infos[acted]["illegal_action"] = True
        return infos

    def render(self) -> Any:
        """The picture that `render_mode` asks for: text or an array, or None without one."""
        if self.render_mode is None:
            return None
        self._require_game()
        row = self._batch.rows[0]
        return self.game.draw_text(row) if self.render_mode == "ansi" else to_rgb(self.game.draw(row))

    def _require_game(self) -> None:
        if not self._begun:
            raise EpisodeOver("no game has begun; call reset() first")

    @property
    def state(self) -> np.void:
        """A copy of the game's row."""
        self._require_game()
        row: np.void = self._batch.rows[0].copy()
        return row

    @property
    def position(self) -> str:
        """The state as the game's position string."""
        return self.game.format_position(self.state)
