"""The games in OpenSpiel: its own simulation test, chance nodes that tell the truth, and its algorithms."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import warnings
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.cli.processes import run
from tests.oracles.nim import Nim
from tests.oracles.reference import ReferenceGame

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what OpenSpiel's imports say is not about this project
    import pyspiel
    from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

from mozaic_env.core.record import parse_record
from mozaic_env.envs.openspiel import AgentBot, SpielGame, SpielState, game_type, register
from mozaic_env.games import GAMES, make_game
from mozaic_env.games.mozaic.actions import LETTERS
from mozaic_env.testing import rows as on

ROOT = Path(__file__).parent.parent.parent
VARIANTS = [
    f"python_mozaic(rules={rules},rows={rows},cols={cols})"
    for rules in ("amethyst", "onyx")
    for rows, cols in ((8, 8), (4, 4), (2, 2), (3, 4))
]
SMALL = "python_mozaic(rows=4,cols=4)"
every_variant = pytest.mark.parametrize("text", VARIANTS)


def random_game(game: SpielGame, seed: int) -> Iterator[SpielState]:
    """The states of a random game, the last one included."""
    rng, state = np.random.default_rng(seed), game.new_initial_state()
    while not state.is_terminal():
        yield state
        actions, probabilities = state.legal_actions(), None
        if state.is_chance_node():
            actions, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(int(rng.choice(actions, p=probabilities)))
    yield state


@pytest.fixture(scope="module")
def nim() -> SpielGame:
    if "python_nim" not in pyspiel.registered_names():
        register(Nim())
    return pyspiel.load_game("python_nim")


# --- OpenSpiel's own test -----------------------------------------------------------------------


@every_variant
def test_random_simulation(text: str) -> None:
    game = pyspiel.load_game(text)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False, mask_test=True)


def test_random_simulation_of_three_players_without_chance(nim: SpielGame) -> None:
    assert nim.num_players() == 3
    assert nim.max_chance_outcomes() == nim.max_chance_nodes_in_history() == 0
    assert nim.get_type().chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
    pyspiel.random_sim_test(nim, num_sims=20, serialize=True, verbose=False, mask_test=True)
    state = pyspiel.load_game("python_nim(stones=9)").new_initial_state()
    for player, action in ((0, 2), (0, 2), (0, 0), (1, 0), (2, 0)):
        assert state.current_player() == player
        state.apply_action(action)
    assert state.returns() == [0.5, 0.5, -1.0]


def test_every_game_is_registered() -> None:
    for name in GAMES:
        game = pyspiel.load_game(f"python_{name}")
        assert game.rules == make_game(name)
        assert game.max_game_length() == game.rules.max_decisions
        assert game.get_type().min_num_players <= game.num_players() <= game.get_type().max_num_players


@pytest.mark.parametrize(
    "text",
    ["python_crystal_mosaic(players=3,max_decisions=40)", "python_mosaic_chess(max_decisions=20)"],
)
def test_random_simulation_of_the_other_games(text: str) -> None:
    game = pyspiel.load_game(text)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False, mask_test=True)


def test_commas_in_options_are_semicolons() -> None:
    floor = "-1,-1,-1,-1,-1,-1,-1"
    game = pyspiel.load_game(f"python_crystal_mosaic(floor={floor.replace(',', ';')})")
    assert game.rules == make_game("crystal_mosaic", floor=floor)
    assert pyspiel.load_game(str(game)).rules == game.rules


def test_options_that_are_left_to_the_game() -> None:
    """The floor of Crystal Mosaic is that of the board, unless it is given."""
    for board in ("base", "side2"):
        game = pyspiel.load_game(f"python_crystal_mosaic(board={board})")
        assert game.rules == make_game("crystal_mosaic", board=board)
        assert pyspiel.load_game(str(game)).rules == game.rules
    assert SpielGameOf(Nim(30)).rules == Nim(30)


def SpielGameOf(game: Any) -> SpielGame:  # noqa: N802
    """As a registered game that is made without parameters."""
    kind = type("Made", (SpielGame,), {"kind": game_type(game), "default": game})
    return kind()


@every_variant
def test_pickles_clones_and_copies_go_on_identically(text: str) -> None:
    game = pyspiel.load_game(text)
    assert str(pickle.loads(pickle.dumps(game))) == str(game)
    assert pickle.loads(pickle.dumps(game.get_type())) == game.get_type()
    for state in random_game(game, 1):
        _, read = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
        twins = [state.clone(), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), read]
        for twin in twins:
            assert str(twin) == str(state)
            assert twin.history() == state.history()
            assert twin.returns() == state.returns()
        if not state.is_terminal():
            action = state.legal_actions()[-1]
            for twin in twins:
                twin.apply_action(action)
            assert len({str(twin) for twin in twins}) == 1
            assert str(twins[0]) != str(state)
            assert state.history() == twins[0].history()[:-1]


def test_pickles_are_read_where_nothing_is_imported_yet(tmp_path: Path) -> None:
    game = pyspiel.load_game("python_mozaic(rules=onyx,rows=2,cols=2)")
    *_, state = random_game(game, 5)
    for thing in (game, state):
        (tmp_path / "thing.pickle").write_bytes(pickle.dumps(thing))
        script = "import pathlib, pickle; print(pickle.loads(pathlib.Path('thing.pickle').read_bytes()))"
        assert run(script, tmp_path).strip() == str(thing)


# --- chance -------------------------------------------------------------------------------------


@every_variant
def test_draws_are_those_of_the_contract(text: str) -> None:
    """To the bit, and as the bag has them by the slow reference's reading of the rules."""
    game = pyspiel.load_game(text)
    codes, probabilities = np.zeros(6, np.int64), np.zeros(6)
    nodes = 0
    for seed in range(3):
        for state in random_game(game, seed):
            if not state.is_chance_node() or not state.history():
                continue
            outcomes = dict(state.chance_outcomes())
            row = state.row[0]
            size = on.outcomes(row, codes, probabilities)
            assert outcomes == dict(zip(codes[:size].tolist(), probabilities[:size].tolist()))
            total = int(row["bag"].sum())
            assert outcomes == {gem: int(n) / total for gem, n in enumerate(row["bag"]) if n}
            assert [state.action_to_string(code) for code in outcomes] == [game.rules.outcome_name(c) for c in outcomes]
            nodes += 1
    assert nodes > 10


def test_amethyst_starts_with_a_decision_and_onyx_with_a_coin() -> None:
    state = pyspiel.load_game(SMALL).new_initial_state()
    assert state.current_player() == 0
    game = pyspiel.load_game("python_mozaic(rules=onyx,rows=4,cols=4)")
    state = game.new_initial_state()
    assert state.is_chance_node()
    assert state.chance_outcomes() == [(0, 0.5), (1, 0.5)]
    assert state.returns() == [0, 0]
    starters = []
    for code in range(2):
        child = state.child(code)
        assert child.is_chance_node()
        child.apply_action(LETTERS.index("y"))
        starters.append(child.current_player())
    assert starters == [0, 1]
    with pytest.raises(ValueError, match="first chance node"):
        _ = state.row


def test_outcomes_have_names() -> None:
    state = pyspiel.load_game(SMALL).new_initial_state()
    assert state.action_to_string(5) == "b2"
    state.apply_action(5)
    names = [state.action_to_string(code) for code, _ in state.chance_outcomes()]
    assert names == ["yellow", "blue", "emerald", "diamond", "ruby", "double turn"]


# --- the same game ------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_games_of_the_environment_replay(rules: str) -> None:
    """Every word of a record is an action here: the same decisions, views, masks and results."""
    env = gym.make("mozaic_env:Mozaic-v0", rules=rules, rows=4, cols=4, opponent=None).unwrapped
    game = pyspiel.load_game(f"python_mozaic(rules={rules},rows=4,cols=4)")
    observation = make_observation(game)
    for seed in range(5):
        rng, over = np.random.default_rng(seed), False
        seen, info = env.reset(seed=seed)
        steps = [(env.position, seen, info)]
        while not over:
            seen, _, over, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
            steps.append((env.position, seen, info))
        record = parse_record(env.record)
        state = game.new_initial_state()
        if state.is_chance_node():
            state.apply_action(LETTERS.index(record.header["first"]))
        for word in record.words:
            letter, _, notation = word.partition(":")
            if state.is_chance_node():
                state.apply_action(LETTERS.index(letter))
            if notation:
                position, seen, info = steps.pop(0)
                assert str(state) == position
                assert state.current_player() == info["seat"]
                assert state.legal_actions_mask() == info["action_mask"].tolist()
                observation.set_from(state, info["seat"])
                for key, entry in seen.items():
                    np.testing.assert_array_equal(observation.dict[key], entry)
                state.apply_action(state.string_to_action(notation))
        assert state.is_terminal()
        assert str(state) == steps[0][0]
        result = int(np.sign(np.subtract(*map(int, record.header["result"].split("-")))))
        assert state.returns() == [result, -result]


def test_the_limit_is_a_draw() -> None:
    game = pyspiel.load_game("python_mozaic(rows=4,cols=4,max_decisions=5)")
    assert game.max_game_length() == 5
    for seed in range(5):
        *_, last = random_game(game, seed)
        assert last.row["decisions"] == 5
        assert last.current_player() == pyspiel.PlayerId.TERMINAL
        assert last.returns() == [0, 0]
        assert last.legal_actions() == []


def test_states_from_positions() -> None:
    game = pyspiel.load_game(SMALL)
    position = "4/1y2/4/4 b d 1 7,8,1,0,1,1 0-0"
    state = game.new_initial_state(position)
    assert str(state) == position
    assert state.current_player() == 1
    assert state.legal_actions() == [80 + 9]
    with pytest.raises(ValueError, match="position"):
        game.new_initial_state("4/4")
    over = "ybyb/byby/ybyb/byby - - 0 0,0,1,1,1,1 0-0"
    assert game.new_initial_state(over).is_terminal()


def test_what_cannot_be_is_refused() -> None:
    state = pyspiel.load_game(SMALL).new_initial_state()
    for action in (16, 95, 96, 10**9, -2):
        with pytest.raises(ValueError, match="accepted: 0, 1, 2"):
            state.apply_action(action)
    state.apply_action(0)
    state.apply_action(LETTERS.index("d"))
    for action in (LETTERS.index("d"), 6, -2):
        with pytest.raises(ValueError, match="can't happen"):
            state.apply_action(action)
    assert state.history() == [0, LETTERS.index("d")]
    *_, last = random_game(pyspiel.load_game(SMALL), 0)
    with pytest.raises(ValueError, match="over"):
        last.apply_action(0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [("rules=ruby", "amethyst"), ("rows=3,cols=3", "even"), ("max_decisions=0", "max_decisions"), ("rows=9", "rows")],
)
def test_bad_parameters(parameters: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game(f"python_mozaic({parameters})")


# --- observations -------------------------------------------------------------------------------


def test_observers() -> None:
    game = pyspiel.load_game("python_mozaic(rules=onyx,rows=4,cols=4)")
    observer = make_observation(game)
    assert game.observation_tensor_size() == 3 * 16 + 2 + 6 + 4 + 1 + 4
    for state in random_game(game, 3):
        for player in range(2):
            observer.set_from(state, player)
            np.testing.assert_array_equal(observer.tensor, state.observation_tensor(player))
            mover = state.current_player()
            turn = [mover == player, mover == 1 - player, state.is_chance_node(), state.is_terminal()]
            assert observer.dict["next_player"].tolist() == turn
            if state.history():
                own = int(state.row["gems"][0, player]).bit_count()
                assert observer.dict["board"][0].sum() == own
            assert str(state) in state.observation_string(player)
            assert game.rules.seat_names[player] in state.observation_string(player)
            assert state.information_state_string(player) == state.history_str()
    assert make_observation(game, INFO_STATE_OBS_TYPE).tensor is None
    with pytest.raises(ValueError, match="accepted: none"):
        make_observation(game, params={"planes": 3})


# --- algorithms ---------------------------------------------------------------------------------


def value_by_hand(game: ReferenceGame, depth: int, colour: str) -> Fraction:
    """Expectiminimax over the slow reference; 0 after so many decisions and draws."""
    if game.status == "over":
        return Fraction(0 if game.winner() == "-" else 1 if game.winner() == colour else -1)
    if depth == 0:
        return Fraction(0)
    if game.status == "chance":
        total = Fraction(0)
        for gem, probability in game.possible_draws().items():
            child = game.clone()
            child.draw(gem)
            total += probability * value_by_hand(child, depth - 1, colour)
        return total
    values = []
    for action in game.legal_actions():
        child = game.clone()
        child.apply(action)
        values.append(value_by_hand(child, depth - 1, colour))
    return max(values) if game.mover == colour else min(values)


def value(state: SpielState, depth: int) -> float:
    """The same for player 0 over OpenSpiel's states."""
    if state.is_terminal() or depth == 0:
        return state.returns()[0]
    if state.is_chance_node():
        return sum(probability * value(state.child(code), depth - 1) for code, probability in state.chance_outcomes())
    values = [value(state.child(action), depth - 1) for action in state.legal_actions()]
    return max(values) if state.current_player() == 0 else min(values)


@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_search_over_chance_nodes_finds_the_exact_values(rules: str) -> None:
    position = "bbyb/byyb/yy1b/yyb1 y y 1 0,1,1,1,1,1 4-4"
    game = pyspiel.load_game(f"python_mozaic(rules={rules},rows=4,cols=4)")
    found = []
    for depth in range(1, 5):
        found.append(value(game.new_initial_state(position), depth))
        expected = value_by_hand(ReferenceGame.from_position(position, rules), depth, "y")
        assert found[-1] == pytest.approx(float(expected), abs=1e-12)
    assert 0 < found[-1] < 1


def test_agents_as_bots() -> None:
    """The bot plays what the agent plays, and its own choices go by its seed."""
    game = pyspiel.load_game(SMALL)
    for state in random_game(game, 2):
        if state.current_player() >= 0:
            action = AgentBot("pattern", game, seed=1).step(state)
            assert action in state.legal_actions()
    choices = {AgentBot("random", game, seed=seed).step(game.new_initial_state()) for seed in range(20)}
    assert len(choices) > 5
    bots = [AgentBot("greedy", game), AgentBot("random", game)]
    results = [pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)[0] for seed in range(40)]
    assert sum(results) > 0
    with pytest.raises(ValueError, match="unknown agent"):
        AgentBot("gready", game)
    with pytest.raises(ValueError, match="seed"):
        AgentBot("greedy", game, seed=-1)


@pytest.mark.parametrize("other", ["python_mozaic", "python_mosaic_chess", "tic_tac_toe"])
def test_a_bot_refuses_states_of_another_game(other: str) -> None:
    bot = AgentBot("greedy", pyspiel.load_game("python_mozaic(rows=2,cols=4)"))
    with pytest.raises(ValueError, match=r"a state of .*; accepted: states of Mozaic\(.*rows=2, cols=4"):
        bot.step(pyspiel.load_game(other).new_initial_state())


def test_the_example_plays(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("openspiel_mcts", ROOT / "examples" / "openspiel_mcts.py")
    assert spec is not None
    assert spec.loader is not None
    example: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main(["--games", "2", "--simulations", "4"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "4 simulations against pattern" in lines[2]
    assert lines[3].startswith("won ")
    for arguments in (
        ["--game", "python_mozaic(rows=9)"],
        ["--game", "mozaic"],
        ["--agent", "gready"],
        ["--simulations", "0"],
        ["--games", "some"],
    ):
        with pytest.raises(SystemExit) as stopped:
            example.main(arguments)
        assert stopped.value.code == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith("openspiel_mcts: error: ")
