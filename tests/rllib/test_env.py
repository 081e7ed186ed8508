"""The MultiAgentEnv: the same game as the single environment, for every seat, and RLlib's own checks and PPO on it."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.envs.gymnasium.single import EpisodeOver, GameEnv
from mozaic_env.games import make_game

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray warns of itself

SMALL = {"rows": 3, "cols": 4}


@pytest.fixture
def make():
    pytest.importorskip("ray.rllib", reason="needs ray[rllib], of the extra rllib: make test-ray")
    from mozaic_env.envs.rllib import GameMultiAgentEnv

    return lambda plain=False, **options: GameMultiAgentEnv(options if plain else {**SMALL, **options})


def some_action(rng, mask):
    return int(rng.choice(np.flatnonzero(mask)))


def play(env, rng, seed=None):
    """A game: each step's result, with who moved."""
    observations, _ = env.reset(seed=seed)
    while True:
        (agent,) = observations
        observations, *rest = result = env.step({agent: some_action(rng, observations[agent]["action_mask"])})
        yield agent, result
        if rest[1]["__all__"] or rest[2]["__all__"]:
            return


@pytest.mark.parametrize(
    ("options", "games"),
    [
        ({"rules": "amethyst", **SMALL}, 20),
        ({"rules": "onyx", **SMALL}, 20),
        ({"game": "crystal_mosaic", "players": 3}, 2),
    ],
)
def test_equal_to_the_single_environment(make, options, games):
    env, single = make(plain=True, **options), GameEnv(**{"game": "mozaic", "opponent": None, **options})
    rng = np.random.default_rng(0)
    for seed in range(games):
        observations, infos = env.reset(seed=seed)
        expected, info = single.reset(seed=seed)
        done = False
        while not done:
            (agent,) = observations
            assert agent == f"player_{info['seat']}"
            assert list(infos) == [agent]
            assert env.position == single.position
            seen = observations[agent]
            assert env.observation_spaces[agent].contains(seen)
            np.testing.assert_array_equal(seen["action_mask"], info["action_mask"])
            for key, entry in expected.items():
                np.testing.assert_array_equal(seen["observations"][key], entry)
            action = some_action(rng, info["action_mask"])
            observations, rewards, terminateds, truncateds, infos = env.step({agent: action})
            expected, reward, done, truncated, info = single.step(action)
            assert rewards[agent] == reward
            assert (terminateds["__all__"], truncateds["__all__"]) == (done, truncated)
        everyone = {f"player_{seat}" for seat in range(env.game.num_players)}
        assert set(observations) == set(rewards) == set(infos) == everyone
        assert sum(rewards.values()) == pytest.approx(0)
        assert rewards == {name: facts["outcome"] for name, facts in infos.items()}


def test_margin_rewards_add_up_to_what_is_gained_from_the_first_decision_on(make):
    env, rng = make(reward="margin"), np.random.default_rng(1)
    for seed in range(20):
        totals, first, before, infos = {}, {}, dict.fromkeys(env.agents, 0.0), {}
        for agent, (_, rewards, _, _, infos) in play(env, rng, seed):  # noqa: B007 - the last ones are wanted
            first.setdefault(agent, before[agent])
            assert set(rewards) <= set(first)  # nobody is paid before the first decision
            for name, reward in rewards.items():
                totals[name] = totals.get(name, 0.0) + reward
            before = {name: env._margins[0, seat] for seat, name in enumerate(env.agents)}
        for name, total in totals.items():
            assert total == pytest.approx(infos[name]["margin"] - first[name])


def test_illegal_actions(make):
    env = make(reward="margin")
    observations, _ = env.reset(seed=0)
    (agent,) = observations
    illegal = int(np.flatnonzero(observations[agent]["action_mask"] == 0)[0])
    observations, rewards, terminateds, _, infos = env.step({agent: illegal})
    (other,) = set(env.agents) - {agent}
    assert (rewards, terminateds["__all__"]) == ({agent: -1.0, other: 1.0}, True)
    assert infos[agent]["illegal_action"] is True
    assert "illegal_action" not in infos[other]
    assert set(observations) == {agent, other}
    strict = make(illegal="raise")
    strict.reset(seed=0)
    before = strict.position
    with pytest.raises(ValueError, match=rf"action {illegal} is illegal in position"):
        strict.step({agent: illegal})
    assert strict.position == before


def test_the_limit_truncates(make):
    env = make(max_decisions=4)
    *_, (_, (_, rewards, terminateds, truncateds, _)) = play(env, np.random.default_rng(0), seed=0)
    assert (terminateds["__all__"], truncateds["__all__"]) == (False, True)
    assert set(rewards.values()) == {0.0}


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({}, "actions of nobody; accepted: one, of player_"),
        ({"player_0": 0, "player_1": 0}, "accepted: one, of player_"),
        ({"white": 0}, "actions of white"),
    ],
)
def test_whose_turn_it_is(make, actions, message):
    env = make()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(actions)


@pytest.mark.parametrize("action", [1.5, "a1", None, [1, 2], 10_000, -1])
def test_actions_that_are_none(make, action):
    env = make()
    (agent,) = env.reset(seed=0)[0]
    with pytest.raises(ValueError, match="action"):
        env.step({agent: action})


def test_steps_without_a_game(make):
    env = make(max_decisions=1)
    with pytest.raises(EpisodeOver, match="no game has begun"):
        env.step({"player_0": 0})
    list(play(env, np.random.default_rng(0)))
    with pytest.raises(EpisodeOver, match="this game has ended"):
        env.step({"player_0": 0})


def test_options(make):
    for options in ({"reward": "score"}, {"illegal": "ignore"}, {"colour": "red"}, {"max_decisions": 0}):
        with pytest.raises(ValueError, match="accepted"):
            make(**options)
    assert make(rules="onyx").game == make_game("mozaic", rules="onyx", **SMALL)
    env = make()
    position = GameEnv("mozaic", **SMALL)
    position.reset(seed=3)
    env.reset(options={"position": position.position})
    assert env.position == position.position
    with pytest.raises(ValueError, match="every seat is an agent"):
        env.reset(options={"seat": 0})
    assert make(render_mode="ansi").render() is None
    for mode, kind in (("ansi", str), ("rgb_array", np.ndarray)):
        drawn = make(render_mode=mode)
        drawn.reset(seed=0)
        assert isinstance(drawn.render(), kind)


def test_seeds_repeat_and_streams_go_on(make):
    def story(env, seed):
        rng = np.random.default_rng(0)
        list(play(env, rng, seed))
        first = env.position
        list(play(env, rng))  # without a seed: the stream goes on
        return first, env.position

    env = make()
    assert story(env, 5) == story(make(), 5) == story(env, 5)
    assert story(env, 5) != story(env, 6)


def test_rllibs_own_check(make):
    """It samples illegal actions (ray 27987, 54600)."""
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    check_multiagent_environments(make())


def test_rllibs_own_runner_and_ppo_train_on_it(ray_here, make):
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec

    from mozaic_env.agents.policy.network import NetworkConfig
    from mozaic_env.envs.rllib import GameMultiAgentEnv
    from mozaic_env.rllib.module import module_spec

    spec = module_spec(make_game("mozaic", **SMALL), NetworkConfig(8, 0, 8))
    config = (
        PPOConfig()
        .environment(
            GameMultiAgentEnv,
            env_config={**SMALL, "illegal": "raise", "reward": "margin"},
            disable_env_checking=True,  # which tries an illegal action
        )
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda agent, episode: "both")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"both": spec}))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=2)
        .training(train_batch_size=64, minibatch_size=32, num_epochs=1)
    )
    algorithm = config.build_algo()
    try:
        results = algorithm.train()
    finally:
        algorithm.stop()
    assert results["env_runners"]["num_env_steps_sampled_lifetime"] >= 64  # and no illegal action among them
    assert np.isfinite(results["learners"]["both"]["total_loss"])
