from pathlib import Path

import pytest

from training.config import Config, as_yaml, load_config

FILES = (Path(__file__).parents[2] / "configs").glob("*.yaml")
OTHERS = {
    "rllib.yaml",
    "sweep.yaml",
    "mozaic-ntuple.yaml",
}  # of other kinds: test_rllib_config.py, test_sweep.py, test_ntuple.py
CONFIGS = sorted(path for path in FILES if path.name not in OTHERS)


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "run.yaml").write_text(text)
        return tmp_path / "run.yaml"

    return write


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_the_configs_that_come_along_are_valid(path):
    from training.train import check

    config = load_config(path)
    if config.evaluation.regret:  # takes a solved board, which is minutes of work: what is said without one
        with pytest.raises(ValueError, match=r"has yet to be solved.* mozaic solve --game"):
            check(config)
        config = load_config(path, ["evaluation.regret=false"])
    check(config)


def test_an_empty_file_is_the_defaults(write):
    assert load_config(write("")) == Config()


def test_a_config_survives_being_written(write):
    config = load_config(write("{steps: 7, minutes: 0.5, opponents: {fixed: {pattern: 1}}}"), ["ppo.epochs=9"])
    assert load_config(write(as_yaml(config))) == config


def test_overrides_win_over_the_file(write):
    path = write("steps: 5\nppo: {epochs: 2, clip: 0.1}")
    config = load_config(path, ["ppo.epochs=4", "game.options={rules: onyx}", "minutes=null", "seed=8"])
    assert (config.ppo.epochs, config.ppo.clip, config.steps, config.seed) == (4, 0.1, 5, 8)
    assert config.game.options == {"rules": "onyx"}


def test_numbers_as_people_write_them(write):
    config = load_config(write("steps: 3_000_000\nppo: {learning_rate: 3e-4, entropy: 0}"))
    assert (config.steps, config.ppo.learning_rate, config.ppo.entropy) == (3_000_000, 3e-4, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ppo: {epoch: 3}", ["ppo.epoch: unknown key", "epochs"]),
        ("stepz: 3", ["stepz: unknown key", "steps"]),
        ("steps: many", ["steps:", "integer", "'many'"]),
        ("steps: true", ["steps:", "integer", "True"]),
        ("steps: 1.5", ["steps:", "integer", "1.5"]),
        ("steps: 0", ["steps:", "greater than or equal to 1", "got 0"]),
        ("seed: -1\nsteps: 0", ["seed:", "got -1", "(and 1 more)"]),
        ("minutes: .nan", ["minutes:", "got nan"]),
        ("minutes: 0", ["minutes:", "greater than 0"]),
        ("threads: some", ["threads:", "integer", "'auto'", "'some'"]),
        ("device: tpu", ["device:", "'cpu'", "'tpu'"]),
        ("ppo: 3", ["ppo is a section", "got 3"]),
        ("ppo: {discount: 1.1}", ["ppo.discount:", "less than or equal to 1"]),
        ("ppo: {games: 1}", ["ppo.games=1 leaves no game for one of opponents.mirror and the others"]),
        ("warm_start: {keep: 0.1}", ["warm_start.keep is called warm_start.kl_coefficient now"]),
        ("warm_start: {stretch: 8}", ["warm_start.stretch is called warm_start.segment now"]),
        ("opponents: {fixed: {greedy: -1}}", ["opponents.fixed.greedy:", "got -1"]),
        ("opponents: {mirror: 0, past: 0, fixed: {}}", ["opponents:", "all shares are 0"]),
        ("reward: {margin: 0, outcome: 0}", ["reward.margin and reward.outcome are both 0"]),
        ("evaluation: {games: 3}", ["evaluation.games:", "multiple of 2"]),
        ("evaluation: {against: greedy}", ["evaluation.against:", "list", "'greedy'"]),
        ("steps: 1\nsteps: 2", ["not YAML in line 1", "'steps' is given twice"]),
        ("steps: [1", ["not YAML"]),
        ("- steps", ["is a list", "key: value"]),
        ("steps: !!python/object/apply:os.getcwd []", ["not YAML in line 1"]),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_key(write, text, words):
    path = write(text)
    with pytest.raises(ValueError, match="config") as caught:
        load_config(path)
    assert "\n" not in str(caught.value)
    for word in [str(path), *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("word", ["steps", "=3", "ppo.=3", "steps.more=3", "steps=[1"])
def test_overrides_that_are_none(write, word):
    with pytest.raises(ValueError, match="override"):
        load_config(write("steps: 3"), [word])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"no\.yaml can't be read: No such file.*configs/"):
        load_config(tmp_path / "no.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nsteps: !!int x\n", "in line 2: 'x' is no int"),
        ("steps: !!float 1.2.3\n", "in line 1: '1.2.3' is no float"),
        ("ppo: {epochs: !!bool maybe}\n", "in line 1: 'maybe' is no bool"),
        (f"steps: {'9' * 5000}\n", "in line 1: '9999"),
    ],
    ids=["int", "float", "bool", "digits"],
)
def test_a_value_that_is_not_of_the_type_it_names(write, text, message):
    with pytest.raises(ValueError, match=f"is not YAML {message}"):
        load_config(write(text))


def test_an_override_that_is_not_of_the_type_it_names(write):
    with pytest.raises(ValueError, match=r"override 'steps=!!int x' is not YAML in line 1: 'x' is no int"):
        load_config(write(""), ["steps=!!int x"])
