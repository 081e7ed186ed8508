"""Rows of another variant or another game: compiled code would read and write anywhere, so they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mozaic_env.agents.specs import make_agent
from mozaic_env.core.exact import require_exact_values
from mozaic_env.games import make_game
from mozaic_env.testing import rows as on

GAME = make_game("mozaic", rows=2, cols=4)
FOREIGN: dict[str, tuple[Any, str]] = {
    "larger": (make_game("mozaic"), "rows with rows=8; accepted: rows of Mozaic.*rows=2, cols=4.*, with rows=2"),
    "longer": (make_game("mozaic", rows=2, cols=6), "rows with cols=6; accepted: rows of Mozaic.*, with cols=4"),
    "edition": (make_game("mozaic", rows=2, cols=4, rules="onyx"), "rows with edition=1; .*, with edition=0"),
    "chess": (make_game("mosaic_chess"), "rows of MosaicChess; accepted: rows of Mozaic"),
}


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("spec", ["random", "greedy", "expectimax:depth=1", "paranoid:depth=1", "mcts:simulations=1"])
def test_agents_refuse_rows_of_another_game(spec: str, foreign: str) -> None:
    game, message = FOREIGN[foreign]
    agent, rows = make_agent(spec, GAME), np.concatenate([on.seeded(game, 2)])
    for ask in (agent.act, agent.choices, getattr(agent, "action_values", agent.act)):
        if spec.startswith("mcts") and ask == agent.choices:
            continue  # says None whatever it is asked
        with pytest.raises(ValueError, match=message):
            ask(rows)


def test_one_foreign_row_among_others_is_enough() -> None:
    rows = np.concatenate([on.seeded(GAME, 3), on.seeded(FOREIGN["longer"][0], 1)])
    with pytest.raises(ValueError, match="cols=6"):
        make_agent("greedy", GAME).act(rows)


def test_a_search_that_makes_moves_in_its_rows_refuses_too() -> None:
    with pytest.raises(ValueError, match="rows of Mozaic; accepted: rows of MosaicChess"):
        make_agent("alphabeta:depth=1", make_game("mosaic_chess")).act(on.seeded(GAME, 1))


def test_networks_refuse_too() -> None:
    pytest.importorskip("torch")
    from mozaic_env.agents.policy.agent import PolicyAgent
    from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of

    agent = PolicyAgent(GAME, BoardNetwork(layout_of(GAME), NetworkConfig(channels=4, blocks=1, value_hidden=4)))
    for ask in (agent.act, agent.evaluate):
        with pytest.raises(ValueError, match=FOREIGN["larger"][1]):
            ask(on.seeded(FOREIGN["larger"][0], 2))


@pytest.mark.parametrize("foreign", FOREIGN)
def test_exact_values_refuse_too(foreign: str) -> None:
    game, message = FOREIGN[foreign]
    with pytest.raises(ValueError, match=message):
        require_exact_values(GAME).action_values(on.seeded(game, 2))


@pytest.mark.parametrize("name", ["mozaic", "crystal_mosaic", "mosaic_chess"])
def test_rows_of_the_game_are_taken_from_start_to_end(name: str) -> None:
    game = make_game(name)
    game.check_rows(on.states(game, 2))
    game.check_rows(game.rows(0))


@pytest.mark.parametrize("options", [{"players": 3}, {"board": "grey"}, {"max_rounds": 7}])
def test_every_option_of_crystal_mosaic_tells_rows_apart(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="accepted: rows of CrystalMosaic"):
        make_game("crystal_mosaic").check_rows(make_game("crystal_mosaic", **options).rows(1))


@pytest.mark.parametrize(
    "who",
    [
        "exact",
        "greedy",
        "ntuple",
        "rollout",
        "paranoid:depth=2",
        *(f"expectimax:depth={depth}" for depth in (1, 2, 3, 4)),
    ],
)
def test_no_action_has_a_value_where_nobody_decides(who: str) -> None:
    """At the end, and at chance, where searches that are asked have to end as well."""
    states = on.states(GAME, 2)
    nobody = states[on.where(states) < 0]
    assert len(nobody)
    asked: Any = require_exact_values(GAME) if who == "exact" else make_agent(who, GAME)
    assert np.isnan(asked.action_values(nobody)).all()
    if who != "exact":
        assert len(asked.act(nobody)) == len(nobody)
