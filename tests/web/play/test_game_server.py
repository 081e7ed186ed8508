"""Messages and answers: what a page can do, and what is refused with the game left as it was."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from mozaic_env.agents.specs import make_agent
from mozaic_env.games import make_game
from mozaic_env.web.play.game_server import LARGEST_SEED, GameServer
from mozaic_env.web.server.messages import MESSAGES, Refused
from mozaic_env.web.server.sessions import IDLE_S, LIFETIME_S, Sessions
from tests.web.play.web_games import GAME, Page, PythonAgent, Thoughtful, make_server

ONYX = make_game("mozaic", rules="onyx", rows=4, cols=4)


def first_legal(states):
    actions = []
    for state in states:
        masks = np.zeros((1, GAME.num_actions), np.int8)
        from mozaic_env.core import contract as on

        on.legal(state, masks, 0)
        actions.append(int(masks[0].argmax()))
    return actions


# --- playing ------------------------------------------------------------------------------------


def test_a_new_page_has_a_game_against_the_first_agent() -> None:
    page = Page(make_server("greedy", "pattern"))
    state = page.state
    assert state["seats"] == ("human", "greedy")
    assert [agent["name"] for agent in state["agents"]] == ["greedy", "pattern"]
    assert (state["game"], state["options"]["rows"], state["seat_names"]) == ("mozaic", 4, ("yellow", "blue"))
    assert state["view"]["mover"] == 0
    assert len(state["view"]["legal"]) == len(state["view"]["places"]) == 16


def test_a_whole_game_against_an_agent() -> None:
    page = Page(make_server())
    page.now("seats", seats=["human", "pattern"])
    page.play_out()
    view, log = page.state["view"], page.state["log"]
    assert sum(view["results"]) == 0
    assert view["legal"] == []
    assert {entry["by"] for entry in log} == {"human", "pattern"}
    assert all((entry["by"] == "human") == (entry["seat"] == 0) for entry in log)
    assert page.refused("agent", version=page.state["version"]).status == 400
    record = page.ask("record")
    assert record["record"].startswith("rules=amethyst board=4x4 first=y yellow=human blue=pattern seed=")
    assert record["name"] == f"mozaic-{page.state['seed']}.txt"


def test_either_seat_both_or_none_can_be_an_agents() -> None:
    page = Page(make_server())
    for seats in (["pattern", "human"], ["human", "human"], ["random", "pattern"], ["human", "random"]):
        page.ask("new", seats=seats)
        page.play_out()
        assert page.state["view"]["results"] is not None
        assert {entry["by"] for entry in page.state["log"]} == set(seats)


def test_the_same_seed_brings_the_same_game() -> None:
    courses = []
    for seed in (11, 11, 12):
        page = Page(make_server())
        page.ask("new", seed=seed, seats=["pattern", "random"])
        page.play_out()
        courses.append([entry["told"] for entry in page.state["log"]])
        assert page.state["seed"] == seed
    assert courses[0] == courses[1] != courses[2]


def test_every_move_that_is_offered_is_clicked_on_places_that_are_there() -> None:
    page = Page(make_server())
    page.ask("new", seed=2, seats=["human", "human"])
    lengths = set()
    while page.state["view"]["mover"] is not None:
        view = page.state["view"]
        names = {place[0] for place in view["places"]}
        for _, _, clicks in view["legal"]:
            assert set(clicks) <= names
            lengths.add(len(clicks))
        page.play_first()
    assert lengths == {1, 2}


def test_undo_and_looking_back() -> None:
    page = Page(make_server())
    page.play_out(6)
    before = page.state
    last = before["view"]["last"]
    assert page.now("look", at=0)["view"]["title"].endswith("yellow 0, blue 0")
    assert page.now("look", at=last)["view"] == before["view"]
    for at in (-1, last + 1, 10**20):
        assert page.refused("look", version=before["version"], at=at).status == 400
    page.now("undo")
    assert page.state["view"]["last"] < last
    assert page.state["version"] == before["version"] + 1


def test_moves_of_others_and_illegal_ones_are_refused() -> None:
    page = Page(make_server())
    version = page.state["version"]
    taken = page.state["view"]["legal"][3]
    assert page.refused("agent", version=version).status == 400
    page.now("play", action=taken[0])
    while page.state["view"]["mover"] == 0:
        page.play_first()
    refusal = page.refused("play", version=page.state["version"], action=page.state["view"]["legal"][0][0])
    assert "blue is played by pattern" in str(refusal)
    page.now("seats", seats=["human", "human"])
    for action in (taken[0], -1, GAME.num_actions, 10**25):
        assert page.refused("play", version=page.state["version"], action=action).status == 400


def test_what_was_said_of_an_earlier_state_is_refused_with_the_present_one() -> None:
    page = Page(make_server())
    old = page.state["version"]
    page.play_first()
    for message in ({"do": "undo"}, {"do": "play", "action": 0}, {"do": "agent"}, {"do": "look", "at": 0}):
        refusal = page.refused(**message, version=old)
        assert refusal.status == 409
        assert refusal.state == page.state


# --- who may play -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seats",
    [
        ["human", "expectimax"],
        ["human", "/etc/passwd"],
        ["human", "policy:runs/secret"],
        ["human", "../runs/quick"],
        ["human"],
        ["human"] * 3,
        [],
        ["human", "Pattern"],
        ["human", ""],
    ],
)
def test_visitors_choose_among_the_agents_of_the_command_line_alone(seats, tmp_path, monkeypatch) -> None:
    page = Page(make_server())
    monkeypatch.setattr("mozaic_env.agents.specs.make_agent", None)  # nothing makes an agent for a visitor
    for do in ("seats", "new"):
        fields = {"version": page.state["version"]} if do == "seats" else {}
        refusal = page.refused(do, seats=seats, **fields)
        assert "accepted are 2 of: human, pattern, random" in str(refusal)
    assert page.refused("think", version=page.state["version"], at=0, agent="/etc/passwd").status == 400


def test_a_table_refuses_agents_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="at least one"):
        GameServer(GAME, {})
    with pytest.raises(ValueError, match="accepted"):
        GameServer(GAME, {"human": make_agent("random", GAME)})
    with pytest.raises(ValueError, match="accepted"):
        GameServer(ONYX, {"random": make_agent("random", GAME)})


@pytest.mark.parametrize(
    "agent",
    [PythonAgent(lambda states: 1 / 0), PythonAgent(lambda states: [-1] * len(states)), PythonAgent(lambda states: [])],
    ids=["raises", "illegal", "nothing"],
)
def test_an_agent_that_fails_leaves_the_game_as_it_was(agent) -> None:
    page = Page(make_server("pattern", agent))
    page.ask("new", seats=["odd", "human"])
    refusal = page.refused("agent", version=page.state["version"])
    assert (refusal.status, "as it was" in str(refusal)) == (500, True)
    page.now("seats", seats=["pattern", "human"])
    page.now("agent")


def test_one_failing_position_does_not_spoil_those_asked_with_it() -> None:
    def act(states):
        if (states["key"] % 2).any():
            raise RuntimeError("odd keys are too much")
        return first_legal(states)

    async def run() -> list[object]:
        table = make_server(PythonAgent(act))
        states = [await table.answer(None, {"do": "hello"}) for _ in range(12)]
        for state in states:
            seats = ["odd", "human"]
            await table.answer(state["token"], {"do": "new", "seed": state["seed"], "seats": seats})
        asked = [table.answer(state["token"], {"do": "agent", "version": 1}) for state in states]
        return await asyncio.gather(*asked, return_exceptions=True)

    answers = asyncio.run(run())
    failed = [answer for answer in answers if isinstance(answer, Refused)]
    assert len(answers) == 12
    assert {refused.status for refused in failed} <= {500}
    for answer in answers:
        assert isinstance(answer, Refused) or len(answer["log"]) == 1


def test_agents_think_beside_the_event_loop_and_the_game_can_go_on_meanwhile() -> None:
    may_answer, threads = threading.Event(), []

    def act(states):
        threads.append(threading.current_thread())
        assert may_answer.wait(60)
        return first_legal(states)

    async def run() -> None:
        table = make_server("pattern", PythonAgent(act))
        token = (await table.answer(None, {"do": "hello"}))["token"]
        state = await table.answer(token, {"do": "new", "seats": ["odd", "human"]})
        asked = asyncio.create_task(table.answer(token, {"do": "agent", "version": state["version"]}))
        while not threads:
            await asyncio.sleep(0.001)
        with pytest.raises(Refused, match="thinking already"):
            await table.answer(token, {"do": "agent", "version": state["version"]})
        after = await table.answer(token, {"do": "new", "seats": ["human", "odd"]})
        may_answer.set()
        with pytest.raises(Refused, match="gone on") as refused:
            await asked
        assert refused.value.status == 409
        assert refused.value.state["version"] == after["version"]
        assert refused.value.state["log"] == []

    asyncio.run(run())
    assert threads[0] is not threading.main_thread()


# --- minds and odds -----------------------------------------------------------------------------


def test_an_agent_tells_values_of_actions_and_of_the_game_so_far() -> None:
    page = Page(make_server("random", "pattern", "expectimax:depth=2"))
    assert [agent["mind"] for agent in page.state["agents"]] == [None, "values", "values"]
    page.ask("new", seed=1, seats=["pattern", "pattern"])
    page.play_out(12)
    last = page.state["view"]["last"]
    mind = page.now("think", at=last, agent="expectimax:depth=2")
    legal = {action for action, _, _ in page.state["view"]["legal"]}
    assert {action for action, _ in mind["actions"]} <= legal
    assert mind["kind"] == "values"
    assert mind["more"]
    while mind["more"]:
        mind = page.now("think", at=last, agent="expectimax:depth=2")
    assert [number for number, _, _ in mind["values"]] == list(range(last + 1))
    best = max(value for _, value in mind["actions"])
    assert mind["values"][last][1:] == (page.state["view"]["mover"], best)
    page.now("undo")
    mind = page.now("think", at=0, agent="expectimax:depth=2")
    assert [number for number, _, _ in mind["values"]] == list(range(last))
    assert page.refused("think", version=page.state["version"], at=0, agent="random").status == 400


def test_a_policy_tells_probabilities() -> None:
    page = Page(make_server(Thoughtful(first_legal)))
    mind = page.now("think", at=0, agent="odd")
    assert (mind["kind"], mind["actions"]) == ("probabilities", [(0, 0.75)])
    assert mind["values"] == [(0, 0, 0.0)]


def test_heuristic_values_are_those_that_the_agent_plays_by() -> None:
    agent = make_agent("pattern", GAME)
    page = Page(make_server("pattern"))
    page.ask("new", seed=3, seats=["pattern", "pattern"])
    for _ in range(10):
        at = page.state["view"]["last"]
        mind = page.now("think", at=at, agent="pattern")
        session = page.table.sessions.find(page.token)
        chosen = int(agent.act(session.play.now.reshape(1))[0])
        values = dict(mind["actions"])
        assert values[chosen] == max(values.values())
        page.now("agent")


def test_the_odds_are_those_of_the_bag() -> None:
    page = Page(make_server())
    odds = dict(page.state["view"]["odds"])
    # Yellow's first gem is in hand: 7 + 8 gems and the four exceptions are in the bag.
    assert odds == pytest.approx(
        {"blue": 8 / 19, "yellow": 7 / 19} | dict.fromkeys(odds.keys() - {"blue", "yellow"}, 1 / 19)
    )
    assert len(odds) == 6
    page.play_out()
    assert page.state["view"]["odds"] == []


# --- records ------------------------------------------------------------------------------------


def test_a_record_is_loaded_looked_at_left_and_played_on() -> None:
    page = Page(make_server())
    page.play_out()
    mine, record = page.state, page.ask("record")["record"]
    page.ask("load", record=record)
    film = page.state
    assert film["film"]["header"]["blue"] == "pattern"
    assert len(film["log"]) == film["view"]["last"] + 1 == len(record.split("|")[1].split())
    end = page.now("look", at=film["view"]["last"])["view"]
    assert end["results"] == mine["view"]["results"]
    for do, fields in (("play", {"action": 0}), ("agent", {}), ("undo", {})):
        assert "leave it first" in str(page.refused(do, version=film["version"], **fields))
    assert page.refused("continue", version=film["version"], at=film["view"]["last"]).status == 400
    page.now("continue", at=4, seed=9, seats=["human", "random"])
    assert page.state["film"] is None
    assert page.state["seed"] == 9
    page.play_out()
    assert page.state["view"]["results"]
    page.ask("load", record=record)
    page.ask("leave")
    assert page.state["film"] is None
    assert page.state["view"]["results"]
    assert page.refused("continue", version=page.state["version"], at=0).status == 400


def test_a_record_of_another_variant_can_be_looked_at_alone() -> None:
    other = Page(make_server(game=ONYX))
    other.play_out()
    page = Page(make_server())
    page.ask("load", record=other.ask("record")["record"])
    assert page.state["film"]["continues"] is False
    assert page.refused("continue", version=page.state["version"], at=2).status == 400
    assert page.refused("think", version=page.state["version"], at=2, agent="pattern").status == 400


@pytest.mark.parametrize(
    "record", ["", "nonsense", "rules=amethyst board=4x4 first=y | y:a1 y:a1", "|" * 1000, "\ud800"]
)
def test_a_bad_record_is_refused_and_nothing_changes(record) -> None:
    assert Page(make_server()).refused("load", record=record).status == 400


# --- sessions -----------------------------------------------------------------------------------


def test_pages_are_told_apart_and_a_reload_finds_the_game() -> None:
    table = make_server()
    first, second = Page(table), Page(table)
    first.play_first()
    assert len(second.ask("state")["log"]) == 0
    again = asyncio.run(table.answer(first.token, {"do": "hello"}))
    assert (again["token"], again["log"]) == (first.token, first.state["log"])
    assert first.token != second.token
    assert len(first.token) >= 32
    for token in (None, "", first.token[:-1], "nobody"):
        with pytest.raises(Refused, match="no such game") as refused:
            asyncio.run(table.answer(token, {"do": "state"}))
        assert refused.value.status == 404


def test_sessions_are_limited_in_number_and_lifetime() -> None:
    now = [0.0]
    table = make_server(sessions=Sessions(2, clock=lambda: now[0]))
    first, second = Page(table), Page(table)
    with pytest.raises(Refused, match="sessions are in use") as refused:
        Page(table)
    assert refused.value.status == 503
    now[0] += IDLE_S - 1
    first.ask("state")
    now[0] += 2  # second has been idle too long
    third = Page(table)
    with pytest.raises(Refused, match="no such game"):
        second.ask("state")
    while now[0] <= LIFETIME_S:
        first.ask("state")
        third.ask("state")
        now[0] += IDLE_S - 1
    with pytest.raises(Refused, match="no such game"):
        first.ask("state")
    third.ask("state")
    assert len(table.sessions) == 1


def test_seeds_have_their_bounds() -> None:
    page = Page(make_server())
    assert page.ask("new", seed=LARGEST_SEED)["seed"] == LARGEST_SEED
    for seed in (-1, LARGEST_SEED + 1, 10**40):
        assert page.refused("new", seed=seed).status == 400


@pytest.mark.parametrize("do", MESSAGES)
def test_every_message_checks_its_fields(do) -> None:
    page = Page(make_server())
    needed = [field for field in MESSAGES[do] if not field.endswith("?")]
    good = {"version": page.state["version"], "action": 0, "at": 0, "seats": ["human", "human"], "agent": "pattern"}
    good["record"] = page.ask("record")["record"]
    for field in needed:
        rest = {name: good[name] for name in needed if name != field}
        assert f"needs {field}" in str(page.refused(do, **rest))
        for wrong in (None, True, 1.5, {}, [1], "0" if field != "agent" and field != "record" else 0):
            assert "wrong kind" in str(page.refused(do, **rest, **{field: wrong}))
    assert "takes" in str(page.refused(do, **{name: good[name] for name in needed}, colour="red"))
