"""Checks that a vector environment is equal to single ones, to the bit.

Each takes two factories: ``make_vec(num_envs, **options)`` gives a vector environment with these
options of `mozaic_env.envs.gymnasium.vector.GameVectorEnv`, ``make(**options)`` a single one of the game.
"""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from mozaic_env.testing.helpers import Make, MakeVec, actions_for, assert_same


def compare_with_singles(
    make_vec: MakeVec,
    make: Make,
    num_envs: int,
    mode: AutoresetMode,
    *,
    seed: int = 0,
    endings: int = 3,
    illegal: float = 0.0,
    **options: Any,
) -> None:
    """Steps a vector environment and Gymnasium's `SyncVectorEnv` of single ones side by side.

    Args:
        make_vec: makes the vector environment.
        make: makes a single environment.
        num_envs: how many games.
        mode: when finished games are replaced.
        seed: of the games and of the choice of actions.
        endings: goes on until so many games have ended in every slot.
        illegal: how often an action is drawn from all, legal or not.
        **options: of both; `threads` and `copy` of the vector environment alone.
    """
    own = {key: options.pop(key) for key in ("threads", "copy") if key in options}
    ours = make_vec(num_envs, autoreset_mode=mode, **own, **options).unwrapped
    singles = [lambda: make(**options).unwrapped] * num_envs
    theirs = SyncVectorEnv(singles, autoreset_mode=mode)
    results = (ours.reset(seed=seed), theirs.reset(seed=seed))
    assert_same(results[0], results[1], "reset")
    rng, ended, number = np.random.default_rng(seed), np.zeros(num_envs, int), 0
    while ended.min() < endings:
        number += 1
        actions = actions_for(ours.action_masks(), rng, illegal)
        found, meant = ours.step(actions), theirs.step(actions)
        assert_same(found, meant, f"step {number}, mode {mode.value}, seed {seed}, {options}")
        over = found[2] | found[3]
        ended += over
        if mode is AutoresetMode.DISABLED and over.any():
            _reset_some(ours, theirs, over, number)
    theirs.close()


def _reset_some(ours: Any, theirs: Any, mask: np.ndarray, number: int) -> None:
    """Resets the same games in both; where nothing was reset only ours says what still holds."""
    seeds = [number + i if i % 2 else None for i in range(len(mask))]
    found, infos = ours.reset(seed=seeds, options={"reset_mask": mask})
    meant, expected = theirs.reset(seed=seeds, options={"reset_mask": mask.copy()})
    assert_same(found, meant, f"reset of some after step {number}")
    for key in expected:
        if not key.startswith("_"):
            assert_same(infos[key][mask], expected[key][mask], f"info {key} of a reset of some")


def check_next_step_mode(make_vec: MakeVec, make: Make) -> None:
    """Equal to singles in Gymnasium's `SyncVectorEnv`, NEXT_STEP mode, illegal actions included."""
    _compare(make_vec, make, AutoresetMode.NEXT_STEP)


def check_same_step_mode(make_vec: MakeVec, make: Make) -> None:
    """The same in SAME_STEP mode, `final_obs` and `final_info` included."""
    _compare(make_vec, make, AutoresetMode.SAME_STEP)


def check_disabled_mode(make_vec: MakeVec, make: Make) -> None:
    """The same without autoreset: games are reset by `reset_mask`, with a list of seeds."""
    _compare(make_vec, make, AutoresetMode.DISABLED)


def _compare(make_vec: MakeVec, make: Make, mode: AutoresetMode) -> None:
    compare_with_singles(make_vec, make, 3, mode, opponent=None)
    compare_with_singles(make_vec, make, 3, mode, opponent=None, reward="margin", copy=False)
    compare_with_singles(make_vec, make, 3, mode, illegal=0.02, threads=2)
    compare_with_singles(make_vec, make, 2, mode, seed=7, reward="margin", max_decisions=9)


def check_number_and_threads_do_not_matter(make_vec: MakeVec, make: Make) -> None:
    """Game i depends on its seed and actions alone, not on how many there are or on the threads."""
    few, many = make_vec(3).unwrapped, make_vec(70, threads=2).unwrapped
    results = [few.reset(seed=4)[0], many.reset(seed=4)[0]]
    rng = np.random.default_rng(4)
    for number in range(80):
        for key in results[0]:
            assert_same(results[0][key], results[1][key][:3], f"{key} at step {number}")
        actions = actions_for(many.action_masks(), rng)
        results = [few.step(actions[:3])[0], many.step(actions)[0]]
