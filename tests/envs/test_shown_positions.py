"""Every position that an environment shows begins a game: the same is shown again, at the limit of each counter too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mozaic_env.core.game import Game
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.games import make_game
from mozaic_env.testing.helpers import assert_same

GAMES: dict[str, tuple[Game, dict[str, tuple[int, ...]]]] = {  # counters of the row, and values close to their limits
    "mozaic": (
        make_game("mozaic", rows=3, cols=4),
        {"score": (0, 40, 999_999_988, 999_999_996)},
    ),
    "mozaic onyx": (make_game("mozaic", rules="onyx", rows=2, cols=2), {"score": (0, 999_999_996)}),
    "crystal_mosaic": (
        make_game("crystal_mosaic", players=3, max_rounds=100),
        {"score": (0, 980, 999), "round": (1, 9, 99, 100)},
    ),
    "mosaic_chess": (
        make_game("mosaic_chess", max_plies=10_000),
        {"number": (200, 999, 65_534, 65_535), "quiet": (198, 199)},
    ),
}
every_game = pytest.mark.parametrize("name", GAMES)


def same_again(env: GameEnv, twin: GameEnv) -> None:
    """The position that the environment shows begins a game that shows what it does."""
    text = env.position
    seen, info = twin.reset(seed=0, options={"position": text})
    assert twin.position == text
    assert_same(seen, env._observe(), text)
    assert_same(info["action_mask"], env._batch.buffers.masks[0], text)


@every_game
@settings(deadline=None, derandomize=True, max_examples=12)
@given(data=st.data())
def test_what_is_shown_is_accepted(name: str, data: st.DataObject) -> None:
    """From a position in the middle of a random game, some counters of which are high, to the end or some way on."""
    game, counters = GAMES[name]
    env, twin = (GameEnv(game, opponent=None) for _ in range(2))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    env.reset(seed=int(rng.integers(2**32)))
    play(env, rng, data.draw(st.integers(0, 30), label="decisions before"), None)
    if env._batch.episodes[0]["status"]:  # over
        return
    row = env.state.reshape(1)
    for counter, values in counters.items():
        shape = row[counter].shape[1:]
        numbers: Any = [data.draw(st.sampled_from(values), label=counter) for _ in range(int(np.prod(shape)))]
        if counter != "quiet" or row["past"][0] == 0:
            row[counter] = np.reshape(numbers, (1, *shape))
    if "passed" in (game.dtype.names or ()) and row["quiet"][0]:
        row["passed"] = 144  # a pawn's two steps are not quiet
    env.reset(seed=0, options={"position": game.format_position(row[0])})
    play(env, rng, 25, twin)


def play(env: GameEnv, rng: np.random.Generator, steps: int, twin: GameEnv | None) -> None:
    """Random decisions, up to the end at most; with a twin every position on the way is tried there."""
    for _ in range(steps):
        if twin is not None:
            same_again(env, twin)
        _, _, terminated, truncated, _ = env.step(rng.choice(np.flatnonzero(env.action_masks())))
        if terminated or truncated:
            if twin is not None:  # what is over can't be played on, but it is read
                text = env.position
                assert env.game.format_position(env.game.parse_position(text)[0]) == text
                with pytest.raises(ValueError, match="is a finished game"):
                    twin.reset(options={"position": text})
            return


@pytest.mark.parametrize(
    ("name", "counter", "most"), [("mozaic", "score", 999_999_996), ("mosaic_chess", "number", 65_535)]
)
def test_a_counter_stays_at_its_limit(name: str, counter: str, most: int) -> None:
    game = make_game(name)
    position = {
        "mozaic": f"8/8/8/8/8/8/yy6/y7 y y 1 28,32,1,1,1,1 {most}-0",
        "mosaic_chess": f"kr10/12/12/12/12/12/12/12/12/12/12/KR10 b - 0 {most}",
    }[name]
    env = GameEnv(game, opponent=None)
    env.reset(seed=0, options={"position": position})
    for word in {"mozaic": ("b1",), "mosaic_chess": ("b12", "-b11")}[name]:
        env.step(np.int64(game.parse_action(word)))
    assert env.state[counter].max() == most
    same_again(env, GameEnv(game, opponent=None))


def test_a_move_number_that_its_moves_can_not_have_is_refused() -> None:
    game = make_game("mosaic_chess")
    env = GameEnv(game, opponent=None)
    env.reset(seed=0)
    for word in ("b3", "-b5", "b10", "-b8", "b5", "-b3"):
        env.step(np.int64(game.parse_action(word)))
    words = env.position.split(" ")
    assert words[4:] == ["2", "-", "b3-b5,b10-b8,b5-b3"]
    words[4] = "1"
    with pytest.raises(ValueError, match="move number 1, and 3 moves at the end"):
        game.parse_position(" ".join(words))
