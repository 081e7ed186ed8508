"""Options of games and environments mean the same through every interface, and misspelt ones are refused alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.games import UnknownOption, make_game
from tests.envs import ways

CASES: list[tuple[str, dict[str, Any], int | None]] = [  # and how many decisions there are until the limit
    ("mozaic", {"rows": 2, "cols": 3}, None),
    ("mozaic", {"rules": "onyx", "rows": 4, "cols": 2, "max_decisions": 6}, 6),
    ("mozaic", {"max_decisions": 1}, 1),
    ("crystal_mosaic", {"max_rounds": 1}, None),
    ("crystal_mosaic", {"players": 4, "board": "base", "floor": "expansion", "max_rounds": 2}, None),
    ("crystal_mosaic", {"players": 3, "max_decisions": 11}, 11),
    ("mosaic_chess", {"max_plies": 5}, 10),
    ("mosaic_chess", {"max_plies": 5, "max_decisions": 7}, 7),
    ("mosaic_chess", {"max_plies": 2, "max_decisions": 9}, 9),
]
every_case = pytest.mark.parametrize(("game", "options", "limit"), CASES, ids=lambda given: str(given)[:60])


@every_case
@pytest.mark.parametrize("way", [name for name in ways.WAYS if name != "single"])
def test_an_option_means_the_same_through_every_interface(
    way: str, game: str, options: dict[str, Any], limit: int | None
) -> None:
    expected, played = ways.single(game, **options), ways.WAYS[way](game, **options)
    assert played.positions == expected.positions[: len(played.positions)]
    assert len(expected.positions) - len(played.positions) == (way == "stable_baselines3")
    assert played[1:] == expected[1:]
    if limit is not None:
        assert (len(expected.positions) - 1, expected.truncated) == (limit, True)


@every_case
def test_an_option_means_the_same_in_openspiel(game: str, options: dict[str, Any], limit: int | None) -> None:
    made = ways.spiel(game, **options)
    own = {name: value for name, value in options.items() if name != "max_decisions"}
    assert made.rules == make_game(game, **own)
    assert made.max_game_length() == options.get("max_decisions", made.rules.max_decisions)
    assert ways.pytest.importorskip("pyspiel").load_game(str(made)).max_game_length() == made.max_game_length()
    decisions = len(list(ways.spiel_decisions(made)))
    if limit is not None:
        assert decisions == limit
    elif game == "crystal_mosaic":
        assert last_row(made)["round"] <= options["max_rounds"]


def last_row(game: Any) -> Any:
    state, rng = game.new_initial_state(), np.random.default_rng(0)
    while not state.is_terminal():
        actions = [code for code, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        state.apply_action(int(rng.choice(actions)))
    return state.row[0]


@pytest.mark.parametrize("plies", [1, 1000, 2000])
def test_the_limit_of_a_game_follows_its_options_in_openspiel(plies: int) -> None:
    assert ways.spiel("mosaic_chess", max_plies=plies).max_game_length() == 2 * plies
    assert ways.spiel("mosaic_chess", max_plies=plies, max_decisions=2000).max_game_length() == 2000


@pytest.mark.parametrize(("game", "players"), [("mozaic", 2), ("crystal_mosaic", 3)])
def test_cycles_are_decisions_of_every_agent(game: str, players: int) -> None:
    options = {"players": players} if players > 2 else {}
    cycles = ways.pettingzoo(game, max_cycles=2, **options)
    assert cycles == ways.pettingzoo(game, max_decisions=2 * players, **options)
    assert len(cycles.positions) == 2 * players + 1


# --- misspelt -----------------------------------------------------------------------------------


def stable(**options: Any) -> Any:
    return pytest.importorskip("mozaic_env.envs.sb3").GameVecEnv(2, "mozaic", **options)


def zoo(**options: Any) -> Any:
    return pytest.importorskip("mozaic_env.envs.pettingzoo").mozaic_v0.env(**options)


def ray(**options: Any) -> Any:
    pytest.importorskip("ray")
    return pytest.importorskip("mozaic_env.envs.rllib").GameMultiAgentEnv(options)


def open_spiel(**options: Any) -> Any:
    (kind,) = [
        kind
        for kind in pytest.importorskip("mozaic_env.envs.openspiel").SpielGame.__subclasses__()
        if kind.__name__ == "MozaicSpielGame"
    ]
    return kind(options)


GAME = ("rules", "rows", "cols")
ENV = (*GAME, "reward", "illegal", "max_decisions", "render_mode")
MAKERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "make_game": (lambda **options: make_game("mozaic", **options), GAME),
    "GameEnv": (lambda **options: GameEnv("mozaic", **options), (*ENV, "opponent", "seat")),
    "GameEnv of a game": (lambda **options: GameEnv(make_game("mozaic"), **options), (*ENV, "opponent", "seat")),
    "gym.make": (lambda **options: gym.make("mozaic_env:Mozaic-v0", **options), (*ENV, "opponent", "seat")),
    "GameVectorEnv": (
        lambda **options: GameVectorEnv(2, "mozaic", **options),
        (*ENV, "opponent", "seat", "autoreset_mode", "copy", "threads"),
    ),
    "GameVecEnv": (stable, (*ENV, "opponent", "seat", "threads")),
    "PettingZoo": (zoo, (*ENV, "max_cycles", "flat")),
    "RLlib": (ray, (*ENV, "game")),
    "OpenSpiel": (open_spiel, (*GAME, "max_decisions")),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_misspelt_option_brings_all_names_and_the_one_that_was_meant(maker: str) -> None:
    make, accepted = MAKERS[maker]
    for name in accepted:
        wrong = name[:2] + name[3:]
        with pytest.raises(UnknownOption) as caught:
            make(**{wrong: "greedy"})
        said = str(caught.value)
        assert f"got an unexpected keyword argument {wrong!r}; accepted: " in said
        assert f"; did you mean {name!r}?" in said
        assert set(accepted) <= set(said.partition("accepted: ")[2].partition(";")[0].split(", "))
        assert len(said) < 400
    with pytest.raises(UnknownOption) as caught:
        make(frameskip=4)
    assert "did you mean" not in str(caught.value)


# --- seeds and options of `reset` ---------------------------------------------------------------

BAD_SEEDS = [np.array(3), np.array([[3]]), 1.9, -1, "3", b"33", True, {}, [1], [1, None, 2.5], [[1], [2], [3]]]
BAD_OPTIONS = [
    5,
    "position",
    [1],
    np.array(["position"]),
    {"position": 5},
    {"position": b"x"},
    {"position": ["x"]},
    {"position": "nonsense"},
]
BAD_SEATS = [{"seat": seat} for seat in (-1, 2, 0.0, "0", np.array([0, 1]), True, [0])]
UNKNOWN = [{"place": 1}, {1: 2}, {None: None}]


def reset(env: Any) -> Callable[..., Any]:
    return env.reset


def stable_reset(env: Any) -> Callable[..., Any]:
    """By what takes them, which is where they are refused."""

    def call(seed: Any = None, options: Any = None) -> None:
        if seed is not None:
            env.seed(seed)
        env.set_options(options)

    return call


RESETS: dict[str, tuple[Callable[[], Any], Callable[[Any], Callable[..., Any]], list[Any]]] = {
    "single": (lambda: GameEnv("mozaic", rows=4, cols=4), reset, BAD_OPTIONS + BAD_SEATS + UNKNOWN),
    "gym.make": (
        lambda: gym.make("mozaic_env:Mozaic-v0", rows=4, cols=4, disable_env_checker=True),
        reset,
        BAD_OPTIONS + BAD_SEATS + UNKNOWN,
    ),
    "vector": (
        lambda: GameVectorEnv(3, "mozaic", rows=4, cols=4),
        reset,
        [
            *(BAD_OPTIONS + BAD_SEATS + UNKNOWN),
            *({"reset_mask": mask} for mask in (3, [True] * 3, np.ones(2, bool), np.ones(3), np.zeros(3, bool))),
        ],
    ),
    "GameVecEnv": (
        lambda: stable(rows=4, cols=4),
        stable_reset,
        [*(BAD_OPTIONS + BAD_SEATS + UNKNOWN), [{}], [{}] * 3, [{}, {"seat": 2}], [{}, 5], [{"place": 1}, {}]],
    ),
    "PettingZoo": (lambda: zoo(rows=4, cols=4), reset, BAD_OPTIONS),
    "RLlib": (lambda: ray(rows=4, cols=4), reset, BAD_OPTIONS + BAD_SEATS + [{"seat": 0}] + UNKNOWN),
}


def snapshot(env: Any) -> Any:
    env = env.unwrapped
    rows = env.state if isinstance(env, GameEnv) else getattr(env, "states", None)
    return env.position if rows is None else rows.tobytes()


@pytest.mark.parametrize("way", RESETS)
def test_what_is_refused_changes_nothing(way: str) -> None:
    """Each bad seed or option is a ValueError, of the kind that says what is accepted, and the games go on."""
    make, call, options = RESETS[way]
    env = make()
    env.reset()
    before = snapshot(env)
    for seed in BAD_SEEDS:
        with pytest.raises(ValueError, match=r"accepted|entries"):
            call(env)(seed=seed)
    for given in options:
        with pytest.raises(ValueError, match=r"accepted|string|position"):
            call(env)(options=given)
    assert snapshot(env) == before


def test_a_bot_of_openspiel_checks_its_seed() -> None:
    module = pytest.importorskip("mozaic_env.envs.openspiel")
    for seed in (1.9, -1, "3", np.array(3), None):
        with pytest.raises(ValueError, match="accepted: a whole number"):
            module.AgentBot("greedy", ways.spiel("mozaic"), seed)
