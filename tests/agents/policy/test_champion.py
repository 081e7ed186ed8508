"""The checkpoint that is shipped with the package: it is there, plays by name, and is as strong as its page says."""

import pytest

from mozaic_env.agents.policy.checkpoint import WEIGHTS, read_card
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import evaluate
from mozaic_env.games import make_game

GAME = make_game("mozaic")


def test_it_is_small_and_says_where_it_comes_from() -> None:
    folder = GAME.champion
    assert folder is not None
    assert (folder / WEIGHTS).stat().st_size < 2_000_000
    card = read_card(folder)
    assert card["game"] == {"name": "mozaic", "options": GAME.options}
    assert card["training"]["warm_start"]["teacher"] == "expectimax:depth=2"


def test_it_is_stronger_than_pattern() -> None:
    (result,) = evaluate(make_agent("champion", GAME), [make_agent("pattern", GAME)], 200, seed=3)
    assert result.interval[0] > 0.5


@pytest.mark.parametrize(
    "spec",
    [
        "champion:sample=1",
        "champion:search=1,candidates=2,samples=2",
        "champion:search=1,rollouts=pattern,samples=1",
        "champion:search=draws,candidates=2",
        "mcts:simulations=8,policy=champion",
    ],
)
def test_its_ways_to_play(spec: str) -> None:
    agent = make_agent(spec, GAME)
    assert agent.name == spec
    state = GAME.parse_position("8/8/8/8/8/8/8/8 y y 1 31,32,1,1,1,1 0-0")
    assert 0 <= int(agent.act(state)[0]) < 64


def test_other_variants_have_none() -> None:
    with pytest.raises(ValueError, match=r"'champion' plays Mozaic.*; this is Mozaic.*onyx.*has yet to be trained"):
        make_agent("champion", make_game("mozaic", rules="onyx"))
    with pytest.raises(ValueError, match="'champion': none is shipped for MosaicChess"):
        make_agent("champion", make_game("mosaic_chess"))
