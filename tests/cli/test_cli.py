"""The `mozaic` command as a user meets it: what it prints, writes, and says when something is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mozaic_env import __version__
from mozaic_env.agents.names import FORMS
from mozaic_env.arena.match import play_match
from mozaic_env.cli import main

ROOT = Path(__file__).resolve().parents[2]
SMALL = ["--rules", "onyx", "--rows", "4", "--cols", "4"]
EVALUATE = ["evaluate", "pattern", "--against", "random", "greedy", "--games", "20", *SMALL]
TOURNAMENT = ["tournament", "random", "greedy", "pattern", "--games", "20", *SMALL]


def instead(words, option, value):
    """The words with another value for an option that they have."""
    place = words.index(option)
    return [*words[: place + 1], value, *words[place + 2 :]]


def started(*words, **options):
    """The command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-m", "mozaic_env", *words]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def refused(capsys, *words):
    """What a wrong command says: one line on stderr, nothing on stdout, status 2."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mozaic")
    assert err.count("\n") == 1
    return err


def test_evaluate_prints_a_table_that_repeats_to_the_last_digit(capsys):
    assert main([*EVALUATE, "--seed", "5"]) == 0
    first, err = capsys.readouterr()
    assert "\x1b" not in first + err  # no colours, no bars
    assert re.search(r"40 games in [\d.]+ s, [\d,]+ games per second", err)
    lines = {line.split()[0]: line for line in first.splitlines() if line.strip()}
    for opponent in ("random", "greedy"):
        numbers = re.findall(r"[\d.]+", lines[opponent])
        assert sum(map(int, numbers[:3])) == 20
    assert main([*EVALUATE, "--seed", "5", "--threads", "2"]) == 0
    assert capsys.readouterr().out == first
    assert main([*EVALUATE, "--seed", "6"]) == 0
    assert capsys.readouterr().out != first


def test_evaluate_says_where_nothing_is_decided(capsys):
    assert main(["evaluate", "greedy", "--against", "greedy", "--games", "20", *SMALL]) == 0
    out = capsys.readouterr().out
    assert "greedy against greedy: undecided, the interval includes 50%." in out


def test_evaluate_writes_records_json_and_a_report(capsys, tmp_path):
    records, figures, report = tmp_path / "games.txt", tmp_path / "all.json", tmp_path / "report"
    words = ["--records", str(records), "--json", str(figures), "--report", str(report)]
    assert main([*EVALUATE, *words]) == 0
    lines = records.read_text().splitlines()
    assert len(lines) == 40
    for line in lines:
        header = dict(word.split("=") for word in line.split("|")[0].split())
        assert {header["yellow"], header["blue"]} in ({"pattern", "random"}, {"pattern", "greedy"})
        assert header["seed"].isdecimal()
    results = json.loads(figures.read_text())["results"]
    assert [result["players"] for result in results] == [["pattern", "random"], ["pattern", "greedy"]]
    assert (report / "report.md").is_file()
    capsys.readouterr()
    assert main(["replay", str(records), "--quiet"]) == 0
    assert capsys.readouterr().out == "40 of 40 records are in order\n"


@pytest.mark.parametrize("against", [[], ["--against", "random"]])
def test_evaluate_with_regret(capsys, tmp_path, against):
    records, figures, report = tmp_path / "games.txt", tmp_path / "all.json", tmp_path / "report"
    words = ["--records", str(records), "--json", str(figures), "--report", str(report), "--games", "20"]
    assert main(["evaluate", "pattern", *against, "--regret", "--rows", "2", "--cols", "4", *words]) == 0
    out, err = capsys.readouterr()
    for text in ("not best %", "by gem in hand", "by board covered", "75 to 100%", "luck"):
        assert text in out
    assert f"{20 + 20 * bool(against)} games in" in err
    found = json.loads(figures.read_text())
    assert len(found["results"]) == len(against) // 2
    assert found["regret"]["match"]["players"] == ["pattern", "perfect"]
    assert found["regret"] == json.loads((report / "results.json").read_text())["regret"]
    assert f"{found['regret']['regret']:.2f} ± " in out
    assert "## Regret" in (report / "report.md").read_text()
    assert len(records.read_text().splitlines()) == 20 + 20 * bool(against)


def test_regret_by_outcome(capsys):
    words = ["evaluate", "random", "--regret", "--objective", "outcome", "--games", "4", "--rows", "2", "--cols", "4"]
    assert main(words) == 0
    assert "the result is minus the regret, plus luck" in " ".join(capsys.readouterr().out.split())


def save_checkpoint(folder, seed):
    import torch

    from mozaic_env.agents.policy.checkpoint import save
    from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
    from mozaic_env.games import make_game

    game = make_game("mozaic", rules="onyx", rows=4, cols=4)
    torch.manual_seed(seed)
    network = BoardNetwork(layout_of(game), NetworkConfig(channels=4, blocks=1, value_hidden=4))
    save(folder, network, game, steps=0, seed=seed)


@pytest.fixture
def run_folder(tmp_path):
    """A training run's folder, as far as evaluation looks at it."""
    run = tmp_path / "a run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    save_checkpoint(run / "final", seed=0)
    return run


def test_evaluating_a_run_takes_its_game_and_adds_to_its_folder(capsys, run_folder):
    words = ["evaluate", f"{run_folder}/", "--against", "random", "--games", "4"]
    for count in (1, 2):
        assert main([*words, "--report"]) == 0
        evaluations = json.loads((run_folder / "evaluation.json").read_text())
        assert len(evaluations) == count
    (result,) = evaluations[1]["results"]
    assert result["options"] == {"rules": "onyx", "rows": 4, "cols": 4}
    assert result["games"] == 4
    assert (run_folder / "report" / "report.md").is_file()
    capsys.readouterr()
    assert main(["evaluate", "random", "--against", str(run_folder), "--games", "4"]) == 0
    assert len(json.loads((run_folder / "evaluation.json").read_text())) == 2
    capsys.readouterr()
    error = refused(capsys, *words, "--rules", "amethyst")
    assert "onyx" in error
    assert "amethyst" in error
    (run_folder / "evaluation.json").write_text("[{")
    assert "evaluation.json" in refused(capsys, *words)
    assert (run_folder / "evaluation.json").read_text() == "[{"


@pytest.mark.parametrize("command", ["evaluate", "tournament", "play"])
def test_a_game_that_a_checkpoint_does_not_play_is_refused(capsys, run_folder, command):
    words = {
        "evaluate": ["evaluate", str(run_folder), "--against", "random", "--games", "2"],
        "tournament": ["tournament", str(run_folder), "random", "--games", "2"],
        "play": ["play", "--terminal", "--agents", str(run_folder)],
    }[command]
    for game in ("mosaic_chess", "crystal_mosaic"):
        error = refused(capsys, *words, "--game", game)
        assert str(run_folder) in error
        assert "Mozaic(" in error
    if command != "play":
        assert main([*words, "--game", "mozaic"]) == 0


def test_the_champion_can_guide_a_search(capsys):
    assert main(["evaluate", "mcts:policy=champion,simulations=2", "--against", "random", "--games", "2"]) == 0
    capsys.readouterr()
    champion = ["evaluate", "mcts:policy=champion", "--against", "random"]
    assert "yet to be trained" in refused(capsys, *champion, "--rows", "4")
    assert "none is shipped" in refused(capsys, *champion, "--game", "mosaic_chess")


@pytest.mark.parametrize(
    ("twice", "message"),
    [
        (["--option", "players=2", "--option", "players=3"], "players is given twice; accepted: each option once"),
        (["--rows", "4", "--option", "rows=6"], "'rows=6': rows is given twice, also as --rows 4"),
        (["--option", "cols=4", "--cols", "6"], "'cols=4': cols is given twice, also as --cols 6"),
        (["--rules", "onyx", "--option", "rules=onyx"], "'rules=onyx': rules is given twice, also as --rules onyx"),
        (["--rows", "4", "--rows", "6"], "--rows is given twice"),
        (["--games", "2", "--games=4"], "--games is given twice"),
        (["--see", "2", "--seed=4"], "--seed is given twice"),
        (["--against", "greedy"], "--against is given twice"),
    ],
    ids=" ".join,
)
def test_an_option_given_twice_is_refused(capsys, twice, message):
    assert message in refused(capsys, "evaluate", "random", "--against", "random", *twice)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            ["evalute", "random"],
            "play, watch, bench; did you mean 'evaluate'?",
        ),
        (["evaluate", "random", "--agianst", "greedy"], "there is no option --agianst; did you mean '--against'?"),
        (
            ["evaluate", "random", "--against", "greedy", "--seeds=3"],
            "there is no option --seeds; did you mean '--seed'",
        ),
        (["--verison"], "there is no option --verison; did you mean '--version'?"),
        (["play", "--game", "mozaik"], "invalid choice: 'mozaik'; accepted: mozaic, crystal_mosaic, mosaic_chess; did"),
        (["evaluate", "gredy", "--against", "random"], "did you mean 'greedy'?"),
        (["tournament", "greedy", "pattrn"], "did you mean 'pattern'?"),
        (["evaluate", "expectimax:dept=2", "--against", "random"], "did you mean 'depth'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_misspelt_is_told_what_is_close_in_a_short_line(capsys, words, hint):
    error = refused(capsys, *words)
    assert hint in error
    assert len(error) < 320


def test_help_lists_the_agents(capsys):
    for command in ("evaluate", "tournament", "play"):
        assert main([command, "--help"]) == 0
        out = capsys.readouterr().out
        for form in FORMS:
            assert form.split()[0] in out
        assert max(map(len, out.splitlines())) < 120


def test_a_run_trained_anew_is_another_agent_on_the_ladder(capsys, run_folder, tmp_path):
    file = tmp_path / "ladder.jsonl"
    words = ["tournament", "random", str(run_folder), "--games", "4", "--results", str(file)]
    assert main(words) == 0
    save_checkpoint(run_folder / "final", seed=1)
    assert main(words) == 0
    names = {json.loads(line)["players"][1] for line in file.read_text().splitlines()}
    assert len(names) == 2
    assert all(re.fullmatch(r"\S*run@[0-9a-f]{6}", name) for name in names)


def test_tournament_grows_a_ladder(capsys, tmp_path):
    file, report = tmp_path / "ladder.jsonl", tmp_path / "report"
    assert main([*TOURNAMENT, "--results", str(file), "--report", str(report)]) == 0
    first = capsys.readouterr().out
    assert "Elo points above random" in first
    assert len(file.read_text().splitlines()) == 3
    assert (report / "ladder.png").is_file()
    assert main([*TOURNAMENT, "--results", str(file)]) == 0
    assert capsys.readouterr().out == first
    assert len(file.read_text().splitlines()) == 3  # nothing was played again
    assert main([*TOURNAMENT, "--results", str(file), "--seed", "1"]) == 0
    assert "120 games" in capsys.readouterr().out
    with file.open("a") as lines:
        lines.write('{"players": ["a"')
    assert main(["tournament", "--results", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "120 games" in out
    assert "line 7 is no whole result and was left out" in err


def test_a_tournament_writes_its_records_match_by_match(capsys, tmp_path, monkeypatch):
    results, records, played = tmp_path / "ladder.jsonl", tmp_path / "games.txt", []

    def crash_now_and_then(*arguments, **options):
        played.append(arguments)
        if len(played) in (3, 6):
            raise KeyboardInterrupt
        return play_match(*arguments, **options)

    def replayed():
        capsys.readouterr()
        assert main(["replay", str(records), "--quiet"]) == 0
        return capsys.readouterr().out

    monkeypatch.setattr("mozaic_env.arena.tournament.play_match", crash_now_and_then)
    words = [*TOURNAMENT, "--results", str(results), "--records", str(records)]
    assert main(words) == 130
    assert replayed() == "40 of 40 records are in order\n"
    assert main(words) == 0  # goes on: what is there is neither played nor written again
    assert replayed() == "60 of 60 records are in order\n"
    pairs = {frozenset(re.findall(r"(?:yellow|blue)=(\w+)", line)) for line in records.read_text().splitlines()}
    assert len(pairs) == 3
    assert main([*TOURNAMENT, "--records", str(records)]) == 130  # without results there is nothing to add to
    assert replayed() == "20 of 20 records are in order\n"
    assert "cannot write" in refused(capsys, *TOURNAMENT, "--records", "/missing/games.txt")


def test_a_crash_loses_at_most_the_running_pairing(capsys, tmp_path, monkeypatch):
    file, played = tmp_path / "ladder.jsonl", []

    def crash_at_the_third(*arguments, **options):
        played.append(arguments)
        if len(played) == 3:
            raise KeyboardInterrupt
        return play_match(*arguments, **options)

    monkeypatch.setattr("mozaic_env.arena.tournament.play_match", crash_at_the_third)
    assert main([*TOURNAMENT, "--results", str(file)]) == 130
    assert len(file.read_text().splitlines()) == 2
    assert main([*TOURNAMENT, "--results", str(file)]) == 0
    assert len(played) == 4
    assert len(file.read_text().splitlines()) == 3


def test_replay_prints_the_positions_of_the_record_asked_for(capsys, tmp_path):
    file = tmp_path / "games.txt"
    main([*EVALUATE, "--records", str(file)])
    capsys.readouterr()
    assert main(["replay", str(file), "--game", "2"]) == 0
    out = capsys.readouterr().out.splitlines()
    words = file.read_text().splitlines()[1].split("|")[1].split()
    assert out[0].startswith("line 2: rules=onyx board=4x4")
    assert [line.split()[1] for line in out[1:-1]] == words
    assert out[-1] == "1 of 1 records are in order"
    result = re.search(r"result=(\S+)", out[0])[1]
    assert out[-2].endswith(f" - - 0 {out[-2].split()[-2]} {result}")
    assert main(["replay", str(file), "--game", "2", "--boards"]) == 0
    boards = capsys.readouterr().out
    assert boards.count("a b c d") == len(words)
    assert "the game is over" in boards


def test_replay_of_a_file_that_holds_something_else_tells_the_first_lines_and_how_many_more(capsys):
    lines = sum(1 for line in (ROOT / "README.md").read_text("utf-8").splitlines() if line.strip())
    assert main(["replay", str(ROOT / "README.md")]) == 2
    out, err = capsys.readouterr()
    assert err.splitlines()[-1] == f"mozaic replay: and {lines - 5} more lines like these"
    assert len(err.splitlines()) == 6
    assert out == f"0 of {lines} records are in order\n"


def test_replay_reports_bad_lines_with_their_numbers(capsys, tmp_path):
    file = tmp_path / "games.txt"
    main([*EVALUATE, "--records", str(file)])
    lines = file.read_text().splitlines()
    lines[1] = lines[1].replace("result=", "result=9")
    lines[4] = "nonsense"
    words = lines[6].split()
    words[-1] = "y:z9"
    lines[6] = " ".join(words)
    file.write_text("\n".join(lines))
    capsys.readouterr()
    assert main(["replay", str(file), "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == "37 of 40 records are in order\n"
    assert [re.search(r"line (\d+): ", line)[1] for line in err.splitlines()] == ["2", "5", "7"]
    assert "record word" in err.splitlines()[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "nobody", "--against", "random"], "unknown agent 'nobody'; accepted"),
        (["evaluate", "random", "--against", "greedy", "nobody"], "unknown agent 'nobody'"),
        (["evaluate", "runs/missing", "--against", "random"], "runs/missing does not exist"),
        (["evaluate", "policy:runs/missing", "--against", "random"], "runs/missing does not exist"),
        (instead(EVALUATE, "--games", "0"), "games=0; accepted: a whole number of at least 2"),
        (instead(EVALUATE, "--games", "-4"), "games=-4; accepted"),
        (instead(EVALUATE, "--games", "3"), "games=3; accepted: an even number"),
        (instead(EVALUATE, "--games", "many"), "argument --games: invalid int value: 'many'"),
        ([*EVALUATE, "--seed", "-1"], "seed=-1; accepted"),
        ([*EVALUATE, "--threads", "0"], "threads=0; accepted"),
        (instead(EVALUATE, "--rules", "ruby"), "rules='ruby'; accepted: 'amethyst', 'onyx'"),
        (instead(EVALUATE, "--rows", "9"), "rows=9; accepted: a whole number from 2 to 8"),
        ([*EVALUATE, "--report"], "name a folder"),
        ([*EVALUATE, "--records", "/missing/games.txt"], "cannot write /missing/games.txt"),
        ([*EVALUATE, "--json", "/"], "cannot write /: it is a folder"),
        ([*EVALUATE, "--report", "/dev/null/report"], "/dev/null/report"),
        (["evaluate", "random"], "nothing to play; accepted: --against"),
        (["evaluate", "random", "--regret"], "accepted: up to 16 tiles"),
        (["evaluate", "random", "--regret", "--game", "mosaic_chess"], "the game has no solver"),
        (["evaluate", "random", "--regret", "--objective", "luck"], "invalid choice: 'luck'"),
        ([*EVALUATE, "--objective", "outcome"], "--objective outcome says what regret is counted in; add --regret"),
        (["evaluate", "expectimax:deep=1", "--against", "random"], "deep=1"),
        (["tournament"], "at least two agents"),
        (["tournament", "random"], "at least two agents, all different; got random"),
        (["tournament", "random", "random"], "at least two agents"),
        (instead(TOURNAMENT, "--games", "0"), "games=0; accepted"),
        ([*TOURNAMENT, "--results", "/missing/l.jsonl"], "cannot write /missing/l.jsonl"),
        (["replay", "/missing.txt"], "cannot read /missing.txt: No such file"),
        (["replay", "/"], "cannot read /: Is a directory"),
        ([], "required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_in_one_line(capsys, words, message):
    assert message in refused(capsys, *words)


def test_records_that_are_not_there_are_named(capsys, tmp_path):
    file = tmp_path / "games.txt"
    file.write_text("\n")
    assert "holds no records" in refused(capsys, "replay", str(file))
    file.write_text("rules=onyx board=4x4 first=y |\n")
    assert "holds 1 records" in refused(capsys, "replay", str(file), "--game", "2")
    assert "accepted: 1 for the first" in refused(capsys, "replay", str(file), "--game", "0")


def test_nothing_is_played_where_the_output_cannot_be_written(capsys, monkeypatch):
    def play(*arguments, **options):
        raise AssertionError("played")

    monkeypatch.setattr("mozaic_env.arena.evaluate.play_match", play)
    refused(capsys, *EVALUATE, "--records", "/missing/games.txt")
    refused(capsys, *EVALUATE, "--report", "/dev/null/report")


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("rich", EVALUATE, "play"),
        ("choix", TOURNAMENT, "train"),
        ("matplotlib", [*EVALUATE, "--report", "REPORT"], "train"),
    ],
)
def test_a_missing_library_is_named_with_what_to_install(capsys, monkeypatch, tmp_path, module, words, extra):
    for name in list(sys.modules):
        if name.partition(".")[0] == module or name.startswith("mozaic_env.arena"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    words = [str(tmp_path) if word == "REPORT" else word for word in words]
    assert main(words) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert f"needs {module}, which the extra '{extra}' brings: pip install 'mozaic_env[{extra}]'" in err


def test_help_and_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mozaic_env {__version__}\n"
    for words in ([], ["evaluate"], ["tournament"], ["replay"]):
        assert main([*words, "--help"]) == 0
        out, err = capsys.readouterr()
        assert out.startswith("usage: mozaic")
        assert err == ""


def test_the_command_as_a_process():
    with started("evaluate", "greedy", "--against", "random", "--games", "10", *SMALL) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "random" in out
    with started("evaluate", "nobody", "--against", "random") as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1
    short = [sys.executable, "-m", "mozaic_env", "--version"]
    assert subprocess.check_output(short, cwd=ROOT, text=True) == f"mozaic_env {__version__}\n"


def test_ctrl_c_ends_it_without_a_traceback(tmp_path):
    # So many games that it cannot be over; the folder is there when they are about to be played.
    report = tmp_path / "report"
    words = ["evaluate", "pattern", "--against", "greedy", "--games", "1000000", "--threads", "2"]
    with started(*words, "--report", str(report)) as process:
        while not report.exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == ("", "interrupted\n")


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    file = tmp_path / "games.txt"
    main([*instead(EVALUATE, "--games", "200"), "--records", str(file)])
    with started("replay", str(file)) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=120) == 141
        assert process.stderr.read() == ""
