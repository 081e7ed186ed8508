"""Checks of a game's rules: masks, decisions, chance, results, and that a row is all there is."""

import pickle

import numpy as np

from mozaic_env.agents.kernels import MAX_WEIGHTS
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.registry import HEADER
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.testing import rows as on

GAMES = 40  # random games whose states are looked at


def some(rows: Rows, size: int) -> Rows:
    """At most `size` of the rows, spread over all of them."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, size).astype(int))] if len(rows) else rows


def decisions(game: Game, size: int = 200) -> Rows:
    """States at a decision, from random games."""
    rows = on.states(game, GAMES)
    return some(rows[on.where(rows) >= 0], size)


def chances(game: Game, size: int = 200) -> Rows:
    """States at chance, from random games; none if the game has no chance."""
    rows = on.states(game, GAMES)
    return some(rows[on.where(rows) == CHANCE], size)


def endings(game: Game) -> Rows:
    """States at the end of random games."""
    rows = on.states(game, GAMES)
    return rows[on.where(rows) == OVER]


def mask_of(game: Game, row: np.void) -> np.ndarray:
    """The action mask of a row at a decision, bool, shape (actions,)."""
    masks = np.full((1, game.num_actions), 7, np.int8)
    on.legal(row, masks, 0)
    assert np.isin(masks, (0, 1)).all(), f"{game!r}: a mask holds {np.unique(masks)}, not 0 and 1"
    return masks[0].astype(bool)


def check_declarations(game: Game) -> None:
    """The facts that the game declares fit each other, and its options make it again."""
    again = type(game)(**game.options)
    assert again == game, f"{game!r}: type(game)(**game.options) is another game, {again!r}"
    assert hash(again) == hash(game), f"{game!r}: equal games have different hashes"
    assert len(game.seat_names) == game.num_players >= 2, f"{game!r}: {game.seat_names}"
    rows = game.rows(3)
    assert rows.dtype == game.dtype, f"{game!r}: rows of type {rows.dtype}"
    assert rows.shape == (3,), f"{game!r}: rows(3) has shape {rows.shape}"
    assert not rows["key"].any(), f"{game!r}: rows come with keys {rows['key']}"
    for name, weights in game.heuristics.items():
        fits = 1 <= len(weights) <= MAX_WEIGHTS and np.isfinite(weights).all()
        assert fits, f"{game!r}: heuristic {name} has the weights {weights}"


def check_every_decision_has_a_legal_action(game: Game) -> None:
    """Wherever someone is to decide, the mask allows something, and seats are in range."""
    rows = some(on.states(game, GAMES), 20_000)
    where = on.where(rows)
    known = (where >= OVER) & (where < game.num_players)
    assert known.all(), f"{game!r}: mover says {np.unique(where[~known])}"
    rows, where = rows[where >= 0], where[where >= 0]
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    on.look(rows, where, masks, np.zeros((len(rows), game.frame.itemsize), np.uint8))
    empty = np.flatnonzero(~masks.any(axis=1))
    assert not len(empty), f"{game!r}: no legal action at {game.format_position(rows[empty[0]])!r}"


def check_mask_against_is_legal(game: Game) -> None:
    """`legal` and `is_legal` agree on every action id."""
    allowed = np.zeros((1, game.num_actions), np.int8)
    for row in decisions(game):
        on.is_legal(row, allowed)
        wrong = np.flatnonzero(mask_of(game, row) != allowed[0].astype(bool))
        assert not len(wrong), f"{game!r} at {game.format_position(row)!r}: mask and is_legal differ at {wrong}"


def check_mask_against_action_values(game: Game) -> None:
    """`action_values` lists exactly the legal actions, once each, with finite values."""
    actions, values = np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions)
    padded = np.zeros(MAX_WEIGHTS)
    for weights in game.heuristics.values():
        padded[: len(weights)] = weights
        for row in decisions(game, 100):
            size = on.action_values(row, on.mover(row), padded, actions, values)
            listed, legal = np.sort(actions[:size]), np.flatnonzero(mask_of(game, row))
            at = f"{game!r} at {game.format_position(row)!r}"
            assert np.array_equal(listed, legal), f"{at}: {listed} are valued, {legal} are legal"
            assert np.isfinite(values[:size]).all(), f"{at}: values {values[:size]}"
            assert np.isfinite(on.value(row, 0, padded)), f"{at}: value is not finite"


def check_decision_kinds(game: Game) -> None:
    """Kinds are below `decision_kinds`; decisions of one kind that can follow an action have equal values."""
    actions, values = np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions)
    weights = np.array(list(game.heuristics.values())[-1])
    for row in decisions(game, 30):
        states = np.repeat(row, 50)
        states["key"] = keys_from_seeds(range(50))
        on.apply_each(states, np.full(50, np.flatnonzero(mask_of(game, row))[0]))
        known: dict[int, list[float]] = {}
        for state in states:
            on.deal(state)
            kind = on.decision_kind(state) if on.mover(state) >= 0 else -1
            if kind == -1:
                continue
            at = f"{game!r} at {game.format_position(state)!r}"
            assert 0 <= kind < game.decision_kinds, f"{at}: kind {kind}, decision_kinds {game.decision_kinds}"
            size = on.action_values(state, 0, weights, actions, values)
            found = [on.value(state, 0, weights), *actions[:size].tolist(), *values[:size].tolist()]
            assert known.setdefault(kind, found) == found, f"{at}: another decision of kind {kind} has other values"


def check_every_legal_action_applies(game: Game) -> None:
    """Each changes a copy of the row, counts one decision and no draw, and leaves a known mover."""
    for row in decisions(game, 60):
        before = row.copy()
        for action in np.flatnonzero(mask_of(game, row)):
            after = row.copy()
            on.apply(after, action)
            did = f"{game!r} at {game.format_position(row)!r}, {game.format_action(int(action))}"
            assert row == before, f"{did}: applying to a copy has changed the row itself"
            assert after["decisions"] == row["decisions"] + 1, f"{did}: not counted"
            assert after["draws"] == row["draws"], f"{did}: a decision has used up chance"
            assert after["key"] == row["key"], f"{did}: the key has changed"
            assert OVER <= on.mover(after) < game.num_players, f"{did}: {on.mover(after)} is to move"
            after["decisions"] = row["decisions"]
            assert after != row, f"{did}: nothing has happened"


def check_the_last_action(game: Game) -> None:
    """The highest action id that the game ever allows works like any other."""
    last = game.last_action
    for seed in range(10):
        rows = on.states(game, 300, seed=1000 * seed, most=100_000)
        rows = rows[on.where(rows) >= 0]
        masks = np.zeros((len(rows), game.num_actions), np.int8)
        on.look(rows, on.where(rows), masks, np.zeros((len(rows), game.frame.itemsize), np.uint8))
        assert not masks[:, last + 1 :].any(), f"{game!r}: an action above {last} is legal"
        for row in some(rows[masks[:, last] == 1], 20):
            assert game.parse_action(game.format_action(last)) == last
            after = row.copy()
            on.apply(after, last)
            assert after["decisions"] == row["decisions"] + 1, f"{game!r}: {last} not counted"
            return
    raise AssertionError(f"{game!r}: action {last} was legal in none of 3000 random games")


def check_random_actions(game: Game) -> None:
    """`random_action` gives every legal action about equally often and no other."""
    size = 20_000
    for row in decisions(game, 5):
        rows = np.repeat(row, size)
        rows["key"] = keys_from_seeds([int(row["key"])]) + np.arange(size, dtype=np.uint64)
        chosen = np.empty(size, np.int64)
        on.random_actions(rows, 1, chosen)
        legal = mask_of(game, row)
        counts = np.bincount(chosen, minlength=game.num_actions)
        at = f"{game!r} at {game.format_position(row)!r}"
        assert not counts[~legal].any(), f"{at}: illegal {np.flatnonzero(counts * ~legal)} drawn"
        assert_frequencies(counts[legal], np.full(legal.sum(), 1 / legal.sum()), at)


def assert_frequencies(counts: np.ndarray, probabilities: np.ndarray, what: str) -> None:
    """Chi-square: at most five standard deviations above its mean."""
    expected, free = probabilities * counts.sum(), max(len(counts) - 1, 1)
    deviation = ((counts - expected) ** 2 / expected).sum()
    limit = free + 5 * (2 * free) ** 0.5 + 5
    assert deviation < limit, f"{what}: counts {counts}, expected {expected.round(1)}"


def check_chance(game: Game) -> None:
    """Outcomes are distinct, sum to one and hold the sampled one; `resolve` counts one draw."""
    codes, probabilities = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    for row in chances(game):
        before = row.copy()
        size = on.outcomes(row, codes, probabilities)
        found, shares = codes[:size].tolist(), probabilities[:size]
        at = f"{game!r} after {row['decisions']} decisions and {row['draws']} draws"
        assert len(set(found)) == size, f"{at}: outcomes {found}"
        assert set(found) <= set(range(game.max_outcomes)), f"{at}: outcomes {found}, max_outcomes {game.max_outcomes}"
        assert (shares > 0).all(), f"{at}: probabilities {shares}"
        assert abs(shares.sum() - 1) < 1e-12, f"{at}: probabilities sum to {shares.sum()}"
        assert on.sample(row) in found, f"{at}: {on.sample(row)} sampled, possible are {found}"
        assert row == before, f"{at}: outcomes or sample have changed the row"
        for code in found:
            after = row.copy()
            on.resolve(after, code)
            assert after["draws"] == row["draws"] + 1, f"{at}: outcome {code} is not counted"
            assert after["decisions"] == row["decisions"], f"{at}: outcome {code} decides"
            assert OVER <= on.mover(after) < game.num_players, f"{at}: outcome {code}"


def check_chance_frequencies(game: Game) -> None:
    """Over many streams each outcome comes as often as its probability says."""
    size = 20_000
    codes, probabilities = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    keys = keys_from_seeds(range(200))[:, None] + np.arange(size // 200, dtype=np.uint64)
    sampled = np.empty(size, np.int64)
    for row in chances(game, 10):
        count = on.outcomes(row, codes, probabilities)
        on.sampled_outcomes(row.copy(), keys.ravel(), sampled)
        counts = np.array([np.count_nonzero(sampled == code) for code in codes[:count]])
        at = f"{game!r} after {row['draws']} draws, outcomes {codes[:count]}"
        assert counts.sum() == size, f"{at}: other outcomes sampled, {np.unique(sampled)}"
        assert_frequencies(counts, probabilities[:count].copy(), at)


def check_starts(game: Game) -> None:
    """`setup` gives the starts that are declared, each as often as its probability says, and no other."""
    size = 2_000
    rows, known = on.seeded(game, size), game.rows(len(game.starts))
    on.setup_rows(known)
    for row, (_, fields) in zip(known, game.starts):
        for name, number in fields.items():
            row[name] = number
    rows["key"] = 0
    counts = np.array([np.count_nonzero(rows == row) for row in known])
    assert counts.sum() == size, f"{game!r}: {size - counts.sum()} of {size} games start as none of {game.starts}"
    probabilities = np.array([probability for probability, _ in game.starts])
    assert abs(probabilities.sum() - 1) < 1e-12, f"{game!r}: starts {game.starts}"
    assert_frequencies(counts, probabilities, f"{game!r}, starts")


def check_returns(game: Game) -> None:
    """Results are in [-1, 1] and sum to zero; leads of two players are opposite at every moment."""
    for row in endings(game):
        results = [on.outcome(row, seat) for seat in range(game.num_players)]
        assert max(map(abs, results)) <= 1, f"{game!r}: results {results}"
        assert abs(sum(results)) < 1e-12, f"{game!r}: results {results} do not sum to zero"
    for row in some(on.states(game, GAMES), 200):
        leads = [on.margin(row, seat) for seat in range(game.num_players)]
        assert np.isfinite(leads).all(), f"{game!r}: leads {leads}"
        assert game.num_players != 2 or sum(leads) == 0, f"{game!r}: leads {leads}"


def check_games_end(game: Game) -> None:
    """Random games end, nearly all within the default limit, and nothing happens after the end."""
    rows = endings(game)
    assert len(rows) == GAMES, f"{game!r}: {len(rows)} of {GAMES} random games have ended"
    late = (rows["decisions"] > game.max_decisions).mean()
    assert late < 0.5, f"{game!r}: {late:.0%} of random games are longer than max_decisions"
    before = rows.copy()
    on.play_on(rows, 0, 5)
    assert np.array_equal(rows, before), f"{game!r}: a finished game has gone on"


def check_rows_are_all_there_is(game: Game) -> None:
    """Pickled rows, and rows alone or among others, go on identically; setting up starts afresh."""
    begun = on.seeded(game, 20, seed=77)
    fresh = begun.copy()
    on.play_on(begun, 0, 8)
    copied = pickle.loads(pickle.dumps(begun))
    alone = [begun[i : i + 1].copy() for i in reversed(range(len(begun)))][::-1]
    on.play_on(begun, 1, 10_000)
    on.play_on(copied, 1, 10_000)
    assert np.array_equal(begun, copied), f"{game!r}: pickled rows have gone on differently"
    for i, row in enumerate(alone):
        on.play_on(row, 1, 10_000)
        assert row[0] == begun[i], f"{game!r}: game {i} depends on its neighbours"
    on.setup_rows(begun)
    assert np.array_equal(begun, fresh), f"{game!r}: setup leaves something of the game before"


def check_keys_decide_the_luck(game: Game) -> None:
    """Equal keys give equal games, other keys other ones (where there is chance at all)."""
    rows = on.seeded(game, 60)
    rows["key"][30:] = rows["key"][:30]
    on.setup_rows(rows)
    on.play_on(rows, 0, 10_000)
    assert np.array_equal(rows[:30], rows[30:]), f"{game!r}: equal keys, different games"
    names = [name for name in game.dtype.names or () if name != HEADER[0][0]]
    distinct = len(np.unique(rows[:30][names]))
    assert distinct > 15, f"{game!r}: only {distinct} different games under 30 keys"
