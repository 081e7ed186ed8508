"""Agents by name: what is accepted, and what people are told otherwise."""

from pathlib import Path

import pytest

from mozaic_env.agents.baselines import random_agent
from mozaic_env.agents.names import AGENTS
from mozaic_env.agents.specs import make_agent
from mozaic_env.games import make_game

GAME = make_game("mozaic", rows=4, cols=4)


@pytest.mark.parametrize(
    "spec", ["random", "greedy", "pattern", "expectimax", "expectimax:depth=3,nodes=50", "mcts:simulations=3"]
)
def test_names(spec: str) -> None:
    agent = make_agent(spec, GAME)
    assert agent.name == spec
    state = GAME.parse_position("4/4/y3/yybb y y 1 4,6,1,1,1,1 0-0")
    assert GAME.format_action(int(agent.act(state)[0]))


def test_an_agent_is_returned_as_it_is() -> None:
    agent = random_agent(GAME)
    assert make_agent(agent, GAME) is agent
    with pytest.raises(ValueError, match="this is"):
        make_agent(agent, make_game("mozaic"))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("clever", "unknown agent 'clever'"),
        ("", "accepted"),
        (None, "accepted"),
        (7, "accepted"),
        ("random:depth=2", "accepted options, each once: none"),
        ("pattern:heuristic=greedy", "each once"),
        ("expectimax:depth", "depth="),
        ("expectimax:depth=two", "whole number"),
        ("alphabeta:seconds=abc", "seconds='abc': expected a number above 0, such as 0.5"),
        ("alphabeta:seconds=nan", "expected a number above 0"),
        ("expectimax:depth=9", "1 to 4"),
        ("expectimax:depth=2,depth=3", "each once"),
        ("expectimax:heuristic=x", "greedy"),
        ("mcts:simulations=0", "1 to 100000"),
        ("mcts:simulations=-1", "whole number"),
        ("policy", "name the folder first"),
        ("policy:sample=1", "name the folder first"),
        ("policy:/no/such/folder", "/no/such/folder"),
        ("/no/such/folder", "/no/such/folder"),
        ("./nothing,search=1", "nothing"),
        ("policy:x,sample=2", "0 or 1"),
        ("policy:x,sample=1,search=1", "does not go with"),
        ("policy:x,candidates=3", "goes with search=1"),
        ("policy:x,samples=3", "goes with search=1"),
        ("policy:x,search=2", "0, 1 or draws"),
        ("policy:x,search=draws,samples=2", "samples goes with search=1"),
        ("policy:x,search=1,rollouts=random", "accepted: ntuple"),
        ("policy:x,colour=blue", "sample=..."),
        ("champion", r"plays Mozaic\(rules=.amethyst., rows=8, cols=8\); this is Mozaic\(.*rows=4"),
    ],
)
def test_errors(spec: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_agent(spec, GAME)  # type: ignore[arg-type]


def test_a_folder_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"card\.json"):
        make_agent(str(tmp_path), GAME)


def test_unknown_agents_are_told_the_names_and_where_to_read_on() -> None:
    with pytest.raises(ValueError, match="unknown agent") as error:
        make_agent("clever", GAME)
    assert all(name in str(error.value) for name in (*AGENTS, *GAME.heuristics))
    assert "mozaic evaluate --help" in str(error.value)
    assert len(str(error.value)) < 300
