"""Checks of what a game shows and says: observations, positions, actions and records."""

from typing import Any

import numpy as np

from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.record import Record, parse_record
from mozaic_env.core.registry import HEADER
from mozaic_env.testing import rows as on
from mozaic_env.testing.game_rules import GAMES, decisions, endings, mask_of, some


def check_observation_layout(game: Game) -> None:
    """Frames are whole words, the entries one behind the other, bounds of the right number."""
    frame = game.frame
    assert frame.names == tuple(field.key for field in game.fields), f"{game!r}: {frame}"
    assert frame.itemsize % 8 == 0, f"{game!r}: frames of {frame.itemsize} bytes"
    at = 0
    for field in game.fields:
        kind, offset = frame.fields[field.key][:2]  # type: ignore[index]
        where = f"{game!r}: entry {field.key}"
        assert (kind.base, kind.shape) == (np.dtype(field.dtype), field.shape), f"{where}: {kind}"
        assert offset == at, f"{where} starts at byte {offset}, not {at}"
        assert at % kind.base.itemsize == 0, f"{where} is not aligned"
        assert field.high is None or len(field.high) == field.size, f"{where}: {field.high}"
        assert field.text, f"{where} says nothing of what it holds"
        at += kind.itemsize


def check_observation_bounds(game: Game) -> None:
    """Every number of every seat's view, at chance and at the end too, is within its bounds."""
    rows = some(on.states(game, GAMES), 2000)
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    frames = np.zeros((len(rows), game.frame.itemsize), np.uint8)
    for seat in range(game.num_players):
        on.look(rows, np.full(len(rows), seat), masks, frames)
        entries = frames.view(game.frame)[:, 0]
        for field in game.fields:
            numbers = entries[field.key].reshape(len(rows), -1)
            high = np.ones(field.size) if field.high is None else np.array(field.high)
            wrong = np.flatnonzero(((numbers < 0) | (numbers > high)).any(axis=1))
            assert not len(wrong), f"{game!r}, seat {seat}: {field.key} is {numbers[wrong[0]]}, bounds 0 and {high}"


def check_writing_stays_in_place(game: Game) -> None:
    """Observation and mask fill their own row of the buffers, whatever was there, and no other."""
    used = sum(np.dtype(field.dtype).itemsize * field.size for field in game.fields)
    for row in decisions(game, 40):
        seat, written = on.mover(row), []
        for before in (0, 77):
            frames = np.full((3, game.frame.itemsize), before, np.uint8)
            masks = np.full((3, game.num_actions), before, np.int8)
            on.observe(row, seat, frames, 1)
            on.legal(row, masks, 1)
            outside = [frames[0], frames[2], masks[0], masks[2]]
            at = f"{game!r} at {game.format_position(row)!r}"
            assert all((part == before).all() for part in outside), f"{at}: neighbours overwritten"
            written.append((frames[1, :used].tobytes(), masks[1].tobytes()))
        assert written[0] == written[1], f"{at}: what was in the buffer shows through"


def check_observation_is_sufficient(game: Game) -> None:
    """States that look alike to their mover allow the same and lead to what looks alike.

    Looks one action ahead: the same action in both, then the same seat's view, what comes next,
    and the chances. On small boards most states come up again and again.
    """
    rows = on.states(game, 600, seed=5, most=21_000)
    rows = rows[on.where(rows) >= 0][:20_000]
    masks, views = _views(game, rows, on.where(rows))
    order = np.lexsort([views])
    first = order[0]
    for index in order[1:]:
        if views[index] != views[first]:
            first = index
            continue
        pair = f"{_text(game, rows[first])} and {_text(game, rows[index])} look alike"
        assert np.array_equal(masks[first], masks[index]), f"{game!r}: {pair}; masks differ"
        legal = np.flatnonzero(masks[index])
        action = legal[(int(first) + int(index)) % len(legal)]
        next_views = [_after(game, rows[i], action) for i in (first, index)]
        assert next_views[0] == next_views[1], f"{game!r}: {pair}, but {action} leads elsewhere"


def _views(game: Game, rows: Rows, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    frames = np.zeros((len(rows), game.frame.itemsize), np.uint8)
    on.look(rows, seats, masks, frames)
    return masks, frames.view(np.dtype((np.bytes_, frames.shape[1])))[:, 0]


def _after(game: Game, row: np.void, action: int) -> tuple[object, ...]:
    """What an action leads to, as its seat sees it: view, whose turn, chances of the draws."""
    seat, after = on.mover(row), row.copy().reshape(1)
    on.apply(after[0], action)
    follows = on.mover(after[0])
    _, views = _views(game, after, np.array([seat]))
    codes, shares = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    size = on.outcomes(after[0], codes, shares) if follows == CHANCE else 0
    turn = follows if follows < 0 else int((follows - seat) % game.num_players)
    return views[0], turn, tuple(sorted(shares[:size].tolist()))


def _text(game: Game, row: np.void) -> str:
    return repr(game.format_position(row))


def check_action_notation(game: Game) -> None:
    """Legal actions go to notation and back; ids outside the range and nonsense are ValueErrors."""
    for row in decisions(game, 60):
        for action in np.flatnonzero(mask_of(game, row)):
            text = game.format_action(int(action))
            again = game.parse_action(text)
            assert again == action, f"{game!r}: {action} is written {text!r}, read as {again}"
            assert text.split() == [text], f"{game!r}: notation {text!r} is not one word"
    for wrong in (-1, game.num_actions, 10**12):
        assert_refused(game, f"format_action({wrong})", lambda: game.format_action(wrong))  # noqa: B023
    for text in ("", " ", "nonsense", "-", "0"):
        assert_refused(game, f"parse_action({text!r})", lambda: game.parse_action(text))  # noqa: B023


def assert_refused(game: Game, what: str, call: object) -> None:
    """The call is a ValueError that says something."""
    try:
        found = call()  # type: ignore[operator]
    except ValueError as error:
        said = str(error)
    else:
        raise AssertionError(f"{game!r}: {what} is accepted and gives {str(found)[:80]}")
    assert said, f"{game!r}: {what} is refused without a word"


def check_position_round_trip(game: Game) -> None:
    """Position strings read back as the same state: it looks the same, and goes on the same."""
    ends = endings(game)
    for row in [*decisions(game), *some(ends, 20)]:
        text = game.format_position(row)
        parsed = game.parse_position(text)
        assert parsed.shape == (1,), f"{game!r}: parse_position gives shape {parsed.shape}"
        assert parsed.dtype == game.dtype, f"{game!r}: parse_position gives {parsed.dtype}"
        again = game.format_position(parsed[0])
        assert again == text, f"{game!r}: {text!r} reads back as {again!r}"
        for name, _ in HEADER:
            parsed[name] = row[name]
        ours = row.copy().reshape(1)
        assert on.mover(parsed[0]) == on.mover(row), f"{game!r}: {text!r} has another mover"
        for seat in range(game.num_players):
            seats = np.array([seat])
            same = [_views(game, rows, seats)[1][0] for rows in (parsed, ours)]
            assert same[0] == same[1], f"{game!r}: {text!r} looks different to seat {seat}"
        on.play_on(parsed, 3, 12)
        on.play_on(ours, 3, 12)
        if on.mover(row) != OVER:
            assert np.array_equal(parsed, ours), f"{game!r}: {text!r} goes on differently"


def check_bad_positions(game: Game) -> None:
    """What is no position string is a ValueError that quotes it, whatever its type."""
    good = game.format_position(decisions(game, 1)[0])
    for text in (
        "",
        "nonsense",
        f"{good} ",
        f" {good}",
        good[1:],
        good[:-1] + "x",
        f"{good}\n",
        good + good,
    ):
        assert_refused(game, f"position {text!r}", lambda: game.parse_position(text))  # noqa: B023
    nonsense: list[Any] = [None, 5, b"x", ["x"]]
    for thing in nonsense:
        assert_refused(game, f"position {thing!r}", lambda: game.parse_position(thing))  # noqa: B023


def check_record_round_trip(game: Game) -> None:
    """Records of whole, running and truncated games, from the start or anywhere, replay."""
    for seed, (skip, stop) in enumerate([(0, None), (0, None), (0, 5), (0, 0), (7, None), (4, 9)]):
        start = on.seeded(game, 1, seed=300 + seed)
        on.play_on(start, 0, skip)
        row, played = _play(start, stop)
        over = on.mover(row) == OVER
        for ending in ["over"] if over else ["truncated", "running"]:
            record = game.write_record(start[0], played, {"note": "x"}, ending)
            line = str(record)
            assert parse_record(line) == record, f"{game!r}: {line!r} reads back differently"
            assert record.header["note"] == "x", f"{game!r}: {line!r} lacks our header word"
            assert record.truncated == (ending == "truncated"), f"{game!r}, {ending}: {line!r}"
            words = list(game.replay(parse_record(line)))
            assert tuple(word for word, _ in words) == record.words, f"{game!r}: words of {line!r}"
            if played:
                _assert_same_end(game, words[-1][1], row, line)


def _assert_same_end(game: Game, found: np.void, meant: np.void, line: str) -> None:
    """The same final position; in an unfinished game, whose last draw is untold, the same lead."""
    if on.mover(meant) == OVER:
        texts = [game.format_position(row) for row in (found, meant)]
        assert texts[0] == texts[1], f"{game!r}: {line!r} ends at {texts[0]!r}, not {texts[1]!r}"
    else:
        seats = range(game.num_players)
        leads = [[on.margin(row, seat) for seat in seats] for row in (found, meant)]
        assert leads[0] == leads[1], f"{game!r}: {line!r} gives the leads {leads[0]}, not {leads[1]}"


def _play(start: Rows, stop: int | None) -> tuple[np.void, list[int]]:
    rows, chosen = start.copy(), np.empty(1, np.int64)
    actions: list[int] = []
    on.deal(rows[0])
    while on.mover(rows[0]) >= 0 and (stop is None or len(actions) < stop):
        on.random_actions(rows, 9, chosen)
        actions.append(int(chosen[0]))
        on.apply(rows[0], chosen[0])
        on.deal(rows[0])
    return rows[0], actions


def check_records_are_checked(game: Game) -> None:
    """A word too many or too few, a word or a header of nonsense, are ValueErrors."""
    for seed in range(1, 100):  # to the first game that is not cut off
        start = on.seeded(game, 1, seed=seed)
        end, actions = _play(start, None)
        if not on.cut_off(end):
            break
    record = game.write_record(start[0], actions, {}, "over")
    words = record.words
    tampered = [
        Record(record.header, (*words, words[-1])),
        Record(record.header, (*words[:3], "nonsense", *words[4:])),
        Record(record.header, words[:-1]),
        Record(record.header, words, truncated=True),
        Record({}, words),
    ]
    for wrong in tampered:
        assert_refused(game, f"record {str(wrong)!r}", lambda: list(game.replay(wrong)))  # noqa: B023


def check_text_picture(game: Game) -> None:
    """There is a picture in text of every state."""
    for row in some(on.states(game, GAMES), 50):
        assert game.draw_text(row).strip(), f"{game!r}: an empty picture"
