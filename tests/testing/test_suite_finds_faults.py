"""The conformance suite itself: each of these faults, all seen in public environments, is found."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import VectorEnv

from mozaic_env.core.capabilities import Start
from mozaic_env.core.record import Record
from mozaic_env.core.symmetry import Symmetry
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.games.mozaic.game import Mozaic
from mozaic_env.testing import (
    checks_for_env,
    checks_for_game,
    checks_for_vector_env,
)

SMALL = {"rows": 3, "cols": 4}


def failing(checks: list[Callable[..., None]], *arguments: Any) -> set[str]:
    """Names of the checks that say AssertionError."""
    names = set()
    for check in checks:
        try:
            check(*arguments)
        except AssertionError:
            names.add(check.__name__)
    return names


# --- games --------------------------------------------------------------------------------------


class ForgetsTheScore(Mozaic):
    def parse_position(self, text: str) -> Any:
        row = super().parse_position(text)
        row["score"] = 0
        return row


class ForgetsTheBag(Mozaic):
    def format_position(self, row: Any) -> str:
        words = super().format_position(row).split(" ")
        return " ".join([*words[:4], "0,0,0,0,0,0", words[5]])


class NamesTwoActionsAlike(Mozaic):
    def format_action(self, action: int) -> str:
        return super().format_action(1 if action == 0 else action)


class PlacesBesideThePicture(Mozaic):
    def places(self, row: Any) -> Any:
        return tuple(replace(place, x=place.x + 300) for place in super().places(row))


class ClicksElsewhere(Mozaic):
    def clicks(self, row: Any, action: int) -> Any:
        return ("z9",)


class ASlideBeginsAsAnotherAction(Mozaic):
    def clicks(self, row: Any, action: int) -> Any:
        return super().clicks(row, action)[: 1 + action % 2]


class SaysNothing(Mozaic):
    def tell_action(self, row: Any, action: int) -> str:
        return ""


class NamesAllDrawsAlike(Mozaic):
    def outcome_name(self, code: int) -> str:
        return "gem"


class LosesAWord(Mozaic):
    def write_record(self, *arguments: Any) -> Record:
        whole = super().write_record(*arguments)
        return Record(whole.header, whole.words[:-1], whole.truncated)


class ReplaysAnything(Mozaic):
    def replay(self, record: Record) -> Any:
        try:
            yield from super().replay(record)
        except ValueError:
            return


class HasOneActionMore(Mozaic):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.num_actions += 1


class BoundsTheBagTooLow(Mozaic):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        low = next(field for field in self.fields if field.key == "bag")
        object.__setattr__(low, "high", (1,) * low.size)


class MirrorsTheBoardAlone(Mozaic):
    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        kept, mirrored = super().symmetries[0], super().symmetries[2]
        return kept, Symmetry("mirror", kept.actions, mirrored.entries)


class LacksARotation(Mozaic):
    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return tuple(symmetry for symmetry in super().symmetries if symmetry.name != "rotate 180")


class ForgetsTheCoin(Mozaic):
    def __init__(self, **options: Any) -> None:
        super().__init__("onyx", **options)
        self.starts = (Start(1.0, {"mover": 0}),)


class HasMoreKindsOfDecisions(Mozaic):
    decision_kinds = 8


GAME_FAULTS = {
    HasMoreKindsOfDecisions: "check_decision_kinds",
    ForgetsTheScore: "check_position_round_trip",
    ForgetsTheBag: "check_position_round_trip",
    NamesTwoActionsAlike: "check_action_notation",
    LosesAWord: "check_record_round_trip",
    ReplaysAnything: "check_records_are_checked",
    HasOneActionMore: "check_the_last_action",
    BoundsTheBagTooLow: "check_observation_bounds",
    PlacesBesideThePicture: "check_places_are_on_the_picture",
    ClicksElsewhere: "check_clicks_lead_to_every_action",
    ASlideBeginsAsAnotherAction: "check_clicks_lead_to_every_action",
    SaysNothing: "check_what_happens_is_told",
    NamesAllDrawsAlike: "check_what_happens_is_told",
    MirrorsTheBoardAlone: "check_rules_commute_with_symmetries",
    ForgetsTheCoin: "check_starts",
    LacksARotation: "check_symmetries_are_a_group",
}


@pytest.mark.parametrize("fault", GAME_FAULTS)
def test_games(fault: type[Mozaic]) -> None:
    checks = [check for check in checks_for_game() if check.__name__ == GAME_FAULTS[fault]]
    with pytest.raises((AssertionError, ValueError)):
        checks[0](fault(**SMALL))


# --- single environments ------------------------------------------------------------------------


class ReturnsViews(GameEnv):
    def _observe(self) -> Any:
        return {key: entry[0] for key, entry in self._batch.buffers.observation.items()}


class RewardsTheOther(GameEnv):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, -reward, *rest


class ShowsTheMaskBefore(GameEnv):
    def step(self, action: Any) -> Any:
        mask = self.action_masks().astype(np.int8)
        *rest, info = super().step(action)
        return *rest, {**info, "action_mask": mask}


class ReseedsAtEveryReset(GameEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=0 if seed is None else seed, options=options)


class UsesTheGlobalGenerator(GameEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=random.getrandbits(30), options=options)


class ForgetsTheGame(GameEnv):
    def __getstate__(self) -> Any:
        fresh = GameEnv(self.game, render_mode=self.render_mode)
        fresh.reset(seed=0)
        return fresh.__dict__


class TruncatesLate(GameEnv):
    def __init__(self, *arguments: Any, max_decisions: Any = None, **options: Any) -> None:
        if type(max_decisions) is int and max_decisions > 0:
            max_decisions += 1
        super().__init__(*arguments, max_decisions=max_decisions, **options)


class PlaysSomethingLegalInstead(GameEnv):
    def step(self, action: Any) -> Any:
        if self._batch.episodes[0]["status"] == 0 and not self.action_masks()[int(action)]:
            action = np.int64(np.flatnonzero(self.action_masks())[0])
        return super().step(action)


class GivesNumpyRewards(GameEnv):
    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return observation, np.float32(reward), *rest


class EatsItsOptions(GameEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        kept = dict(options) if isinstance(options, dict) else options
        if isinstance(options, dict):
            options.pop("position", None)
        return super().reset(seed=seed, options=kept)


ENV_FAULTS = {
    ReturnsViews: "check_results_are_not_reused",
    RewardsTheOther: "check_reward_of_the_actor",
    ShowsTheMaskBefore: "check_masks",
    ReseedsAtEveryReset: "check_reset_goes_on",
    UsesTheGlobalGenerator: "check_global_generators",
    ForgetsTheGame: "check_copies",
    TruncatesLate: "check_truncation",
    PlaysSomethingLegalInstead: "check_illegal_loses",
    GivesNumpyRewards: "check_types",
    EatsItsOptions: "check_options_are_left_alone",
}


@pytest.mark.parametrize("fault", ENV_FAULTS)
def test_environments(fault: type[GameEnv]) -> None:
    checks = [check for check in checks_for_env() if check.__name__ == ENV_FAULTS[fault]]
    assert failing(checks, partial(fault, "mozaic", **SMALL)) == {ENV_FAULTS[fault]}


# --- vector environments ------------------------------------------------------------------------


class SharesItsBuffers(GameVectorEnv):
    def _next_buffers(self) -> None:
        """The same arrays again."""


class SeedsAllAlike(GameVectorEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if type(seed) is int and seed >= 0:
            seed = [seed] * self.num_envs
        return super().reset(seed=seed, options=options)


class IgnoresTheResetMask(GameVectorEnv):
    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return super().reset(seed=seed)


class HasNoFinalInfo(GameVectorEnv):
    def step(self, actions: Any) -> Any:
        *rest, infos = super().step(actions)
        infos.pop("final_info", None)
        return *rest, infos


class WrapsActionsAround(GameVectorEnv):
    def step(self, actions: Any) -> Any:
        return super().step(np.asarray(actions) % self.single_action_space.n)


VECTOR_FAULTS = {
    SharesItsBuffers: {"check_copy_keeps_results"},
    SeedsAllAlike: {"check_next_step_mode", "check_same_step_mode", "check_seeds"},
    IgnoresTheResetMask: {"check_reset_mask", "check_disabled_mode"},
    HasNoFinalInfo: {"check_same_step_mode"},
    WrapsActionsAround: {"check_bad_actions"},
}


@pytest.mark.parametrize("fault", VECTOR_FAULTS)
def test_vector_environments(fault: type[VectorEnv[Any, Any, Any]]) -> None:
    expected = VECTOR_FAULTS[fault]
    checks = [check for check in checks_for_vector_env() if check.__name__ in expected]
    make_vec = partial(fault, game="mozaic", **SMALL)
    assert failing(checks, make_vec, partial(GameEnv, "mozaic", **SMALL)) == expected
