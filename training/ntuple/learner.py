"""The compiled learner: games played by a softmax policy, what their ends say about each decision, and both updates.

A decision t has a gain r_t (points, for who decides) and leaves an afterstate. The critic's value V of an afterstate is
for the seat that draws next: the points still to come, own less other. With E_t the mean over the policy's actions of
gain and value behind them, averaged over all common draws by their probabilities, the return of an afterstate is

    G_t = E_t + lambda (+-) (G_{t+1} - V_{t+1}),

the sign telling whether the same seat draws again. E_t takes out the luck of the draw and of the policy's own choice;
what is left is what the critic does not know. Random decisions cut the sum: what follows is not the policy's doing. The
advantage of an action taken is its gain and the return behind it, less the policy's mean after the draw that came.

Policy: gradient of log pi times advantage, summed over a batch of games, one step of Adam. Critic: after each game,
from its end backwards, a step towards G that is normalised by the squared counts of the state's features.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.afterstates import (
    WEIGHT,
    Single,
    Weights,
    Workspace,
    add_gradient,
    chance_seat,
    evaluate_actions,
    features_of,
    is_common,
    list_features,
)
from mozaic_env.core.contract import (
    CHANCE,
    OVER,
    Floats,
    Integers,
    Row,
    apply,
    mover,
    outcomes,
    resolve,
    sample,
    setup,
)
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import AGENT, random_bits, unit

GAME_KEYS = np.uint64(2**33)  # the stream of a run's key that gives its games their keys
LEAST = np.float32(1e-3)  # policy gradients leave out actions less likely than this
_LOG2_E = np.float32(1.4426950408889634)
_POWERS = np.array([0.5**k for k in range(128)], np.float32)

STEP = np.dtype(
    [
        ("seat", np.int64),  # who decides
        ("drawer", np.int64),  # whose chance it was before
        ("size", np.int64),  # legal actions
        ("chosen", np.int64),  # which of them
        ("gain", np.float64),  # points at once
        ("behind", np.float64),  # the critic's value of what was left, for who decides
        ("mean", np.float64),  # of gain and value over the policy, for who decides
        ("expected", np.float64),  # the same, averaged over common draws
        ("random", np.bool_),
        ("has_before", np.bool_),  # chance came before
    ],
    align=True,
)

SETTINGS = np.dtype(
    [
        ("temperature", np.float32),
        ("random_share", np.float64),
        ("trace", np.float64),  # lambda
        ("critic_rate", np.float64),
        ("policy_rate", np.float32),
        ("beta_mean", np.float32),
        ("beta_square", np.float32),
        ("epsilon", np.float32),
    ],
    align=True,
)

TOTALS = np.dtype(
    [
        ("decisions", np.int64),
        ("games", np.int64),
        ("squared_error", np.float64),  # of the critic, before its update, points
        ("squared_return", np.float64),
        ("states", np.int64),  # of these
        ("entropy", np.float64),
        ("squared_margin", np.float64),
    ],
    align=True,
)


class Scratch(NamedTuple):
    """Memory for one game."""

    rows: Rows  # the decisions, shape (decisions,)
    befores: Rows  # the afterstates before them
    states: Rows  # the game, the state before the last draw, another draw's
    steps: Rows  # type STEP
    actions: Integers
    points: Single
    sums: Weights
    chances: Single  # of one decision
    kept: Single  # the policy at each decision, shape (decisions, actions)
    codes: Integers
    shares: Floats
    features: Integers
    counts: npt.NDArray[np.int32]  # of each feature, 0 between two uses
    workspace: Workspace


def make_scratch(game: Game) -> Scratch:
    """Memory for games of a variant."""
    most, actions = game.max_decisions, game.num_actions
    features = len(features_of(game).start())
    return Scratch(
        game.rows(most),
        game.rows(most),
        game.rows(3),
        np.zeros(most, STEP),
        np.zeros(actions, np.int64),
        np.zeros(actions, np.float32),
        np.zeros(actions, WEIGHT),
        np.zeros(actions, np.float32),
        np.zeros((most, actions), np.float32),
        np.zeros(game.max_outcomes, np.int64),
        np.zeros(game.max_outcomes),
        np.zeros(features, np.int64),
        np.zeros(features, np.int32),
        features_of(game).make_workspace(),
    )


@jit(forceinline=True)
def _power_of_e(x: float) -> float:
    """Exp of a float32 between -80 and 0, to 6 digits: the same on every machine, and quick."""
    scaled = x * _LOG2_E
    whole = np.int64(-scaled)
    rest = scaled + np.float32(whole)  # in (-1, 0]
    x = rest * np.float32(0.6931471805599453)
    series = np.float32(1 / 5040)
    series = series * x + np.float32(1 / 720)
    series = series * x + np.float32(1 / 120)
    series = series * x + np.float32(1 / 24)
    series = series * x + np.float32(1 / 6)
    series = series * x + np.float32(0.5)
    series = series * x + np.float32(1)
    series = series * x + np.float32(1)
    return series * _POWERS[np.uint64(whole)]


@jit
def set_chances(points: Single, sums: Weights, size: int, temperature: float, chances: Single) -> float:
    """Writes the policy: softmax of gain and preference; returns its mean of gain and value."""
    top = np.float32(-np.inf)
    scale = np.float32(1) / temperature
    for k in range(size):
        chances[k] = points[k] + sums[k].policy
        top = max(top, chances[k])
    total, mean = np.float32(0), np.float32(0)
    for k in range(size):
        chances[k] = _power_of_e(max((chances[k] - top) * scale, np.float32(-40)))
        total += chances[k]
        mean += chances[k] * (points[k] + sums[k].value)
    scale = np.float32(1) / total
    for k in range(size):
        chances[k] *= scale
    return np.float64(mean / total)


@jit
def _draw(chances: Single, size: int, bits: np.uint64) -> int:
    left = np.float32(unit(bits))
    for k in range(size):
        left -= chances[k]
        if left < 0:
            return k
    return size - 1


@jit
def _mean_over_draws(state: Row, code: int, mean: float, weights: Weights, settings: Row, scratch: Scratch) -> float:
    """The policy's mean for the seat whose chance it is, over all draws that are as common as the one that came.

    Args:
        state: after the draw.
        code: of the draw.
        mean: the policy's, for who decides after it.
        weights: of the functions.
        settings: of the learner.
        scratch: `states[1]` is the state before the draw; the policy of another draw overwrites that of this one.
    """
    before = scratch.states[1]
    drawer = chance_seat(before)
    own = mean if mover(state) == drawer else -mean
    if not is_common(before, code):
        return own
    total, expected = 0.0, 0.0
    for k in range(outcomes(before, scratch.codes, scratch.shares)):
        other = scratch.codes[k]
        if not is_common(before, other):
            continue
        total += scratch.shares[k]
        if other == code:
            expected += scratch.shares[k] * own
            continue
        drawn = scratch.states[2]
        scratch.states[2] = before
        resolve(drawn, other)
        size = evaluate_actions(drawn, weights, scratch.actions, scratch.points, scratch.sums, scratch.workspace)
        found = set_chances(scratch.points, scratch.sums, size, settings.temperature, scratch.chances)
        expected += scratch.shares[k] * (found if mover(drawn) == drawer else -found)
    return expected / total


@jit
def _play(key: np.uint64, weights: Weights, settings: Row, scratch: Scratch, totals: Row) -> int:
    """Plays one game from its key; returns how many decisions were made."""
    state = scratch.states[0]
    state.key = key
    setup(state)
    for t in range(len(scratch.steps)):
        step = scratch.steps[t]
        step.has_before = mover(state) == CHANCE
        if step.has_before:
            scratch.befores[t] = state
            step.drawer = chance_seat(state)
        code = 0
        while mover(state) == CHANCE:
            scratch.states[1] = state
            code = sample(state)
            resolve(state, code)
        if mover(state) == OVER:
            return t
        step.seat = mover(state)
        scratch.rows[t] = state
        size = evaluate_actions(state, weights, scratch.actions, scratch.points, scratch.sums, scratch.workspace)
        chances = scratch.kept[t]
        step.mean = set_chances(scratch.points, scratch.sums, size, settings.temperature, chances)
        step.size = size
        bits = random_bits(key, AGENT + np.uint64(step.seat), state.decisions)
        step.random = unit(random_bits(bits, AGENT, 0)) < settings.random_share
        step.chosen = np.int64(unit(bits) * size) if step.random else _draw(chances, size, bits)
        step.gain = np.float64(scratch.points[step.chosen])
        step.behind = np.float64(scratch.sums[step.chosen].value)
        action = scratch.actions[step.chosen]
        if step.has_before:
            own = step.mean
            step.expected = _mean_over_draws(state, code, own, weights, settings, scratch)
            if chance_seat(scratch.states[1]) != step.drawer:
                step.expected = -step.expected
        apply(state, action)
    return len(scratch.steps)


@jit
def _step_critic(row: Row, target: float, weights: Weights, rate: float, scratch: Scratch) -> float:
    """Moves the critic's value of an afterstate towards a target; returns how far off it was."""
    features, counts = scratch.features, scratch.counts
    size = list_features(row, features, scratch.workspace)
    value, squares = np.float32(0), 0
    for k in range(size):
        value += weights[features[k]].value
        counts[features[k]] += 1
    for k in range(size):
        squares += counts[features[k]]
    error = target - value
    change = np.float32(rate * error / squares)
    for k in range(size):
        weights[features[k]].value += change
        counts[features[k]] = 0
    return np.float64(error)


@jit
def _learn(length: int, weights: Weights, gradient: Single, settings: Row, scratch: Scratch, totals: Row) -> None:
    """Goes through a game backwards: the critic's steps, and the policy's gradient."""
    steps = scratch.steps
    last = steps[length - 1]
    # What the return behind a decision differs from the critic's value there, for who decided.
    surprise = -last.behind if mover(scratch.states[0]) == OVER else 0.0
    for back in range(length):
        t = length - 1 - back
        step = steps[t]
        size, chances = step.size, scratch.kept[t]
        advantage = step.gain + step.behind + surprise - step.mean
        if not step.random and size > 1:
            amount = np.float32(advantage)
            for k in range(size):
                chances[k] = -amount * chances[k] if chances[k] >= LEAST else np.float32(0)
            chances[step.chosen] += amount
            add_gradient(scratch.rows[t], chances[:size], gradient, scratch.workspace)
        if not step.has_before:
            continue
        sign = 1.0 if step.seat == step.drawer else -1.0
        target = step.expected + (0.0 if step.random else settings.trace * sign * surprise)
        error = _step_critic(scratch.befores[t], target, weights, settings.critic_rate, scratch)
        totals.squared_error += error * error
        totals.squared_return += target * target
        totals.states += 1
        if t > 0:
            earlier = steps[t - 1]
            same = 1.0 if earlier.seat == step.drawer else -1.0
            surprise = same * target - earlier.behind


@jit
def play_batch(
    key: np.uint64,
    low: int,
    high: int,
    weights: Weights,
    gradient: Single,
    settings: Row,
    scratch: Scratch,
    totals: Row,
) -> None:
    """Plays and learns from the games of a run from number `low` to `high`; the policy's step is `step_policy`."""
    for number in range(low, high):
        length = _play(random_bits(key, GAME_KEYS, number), weights, settings, scratch, totals)
        if length:
            _learn(length, weights, gradient, settings, scratch, totals)
        totals.decisions += length
        totals.games += 1


@jit
def step_policy(weights: Weights, gradient: Single, mean: Single, square: Single, count: int, settings: Row) -> None:
    """One step of Adam up the gradient, which is 0 afterwards.

    Args:
        weights: of the functions.
        gradient: of the policy's, shape (features,).
        mean: Adam's running mean of the gradient.
        square: Adam's running mean of its square.
        count: steps so far, this one included.
        settings: of the learner.
    """
    one = np.float32(1)
    by_mean = settings.policy_rate / np.float32(1 - np.float64(settings.beta_mean) ** count)
    by_square = one / np.float32(1 - np.float64(settings.beta_square) ** count)
    for k in range(len(gradient)):
        mean[k] += (one - settings.beta_mean) * (gradient[k] - mean[k])
        square[k] += (one - settings.beta_square) * (gradient[k] * gradient[k] - square[k])
        weights[k].policy += by_mean * mean[k] / (np.sqrt(by_square * square[k]) + settings.epsilon)
        gradient[k] = 0
