"""Everything that a page can ask of the server about games: messages in, answers out, all checked here.

`mozaic_env.web.server.messages` lists the messages. An answer is a JSON object as well. What cannot be done raises
`Refused`, and the game is as it was.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.core import contract as on
from mozaic_env.core.game import Game
from mozaic_env.web.play import view
from mozaic_env.web.play.agent_worker import AgentFailed, AgentWorker
from mozaic_env.web.play.play import HUMAN, IllegalMove, Play
from mozaic_env.web.play.replay import Replay
from mozaic_env.web.play.view import Json
from mozaic_env.web.server.messages import MESSAGES, Refused, read
from mozaic_env.web.server.sessions import Session, Sessions, TooManySessions

LARGEST_SEED = 2**53 - 1  # that a page can write exactly
SEEDS_DRAWN = 1_000_000
VALUES_AT_ONCE = 8  # earlier positions that one message has valued


class GameServer:
    """The games of one server: all of one variant, against the agents that it was given."""

    def __init__(self, game: Game, agents: Mapping[str, Agent], sessions: Sessions | None = None) -> None:
        """Serves no game yet.

        Args:
            game: what is played.
            agents: by the names that pages see and choose from; the first is the usual opponent.
            sessions: where games are kept.

        Raises:
            ValueError: no agents, one of another game, or with a name that stands for people.
        """
        if not agents or HUMAN in agents or any(agent.game != game for agent in agents.values()):
            raise ValueError(f"agents {', '.join(agents) or 'none'}; accepted: at least one, for {game!r}")
        self.game = game
        self.sessions = Sessions() if sessions is None else sessions
        self._agents = {name: AgentWorker(name, agent) for name, agent in agents.items()}

    async def answer(self, token: str | None, message: Any) -> Json:
        """Carries out a message.

        Args:
            token: the session's secret, if the page has one.
            message: what came, parsed as JSON; anything at all.

        Raises:
            Refused: it cannot be carried out.
        """
        name, fields = read(message)
        session = None if token is None else self.sessions.find(token)
        if name == "hello":
            return self._hello(session)
        if session is None:
            raise Refused(404, "there is no such game here (any more); begin a new one")
        if "version" in fields and fields.pop("version") != session.version:
            raise Refused(409, "the game has gone on meanwhile", self._state(session))
        try:
            return await _HANDLERS[name](self, session, **fields)
        except (IllegalMove, ValueError) as error:
            raise Refused(400, str(error)) from None
        except AgentFailed as error:
            raise Refused(500, f"the agent {error} has failed; the game is as it was") from None

    # --- what pages see -------------------------------------------------------------------------

    def _hello(self, session: Session | None) -> Json:
        if session is None:
            opponent = next(iter(self._agents))
            seats = (HUMAN, *[opponent] * (self.game.num_players - 1))
            try:
                session = self.sessions.begin(Play(self.game, secrets.randbelow(SEEDS_DRAWN), seats))
            except TooManySessions:
                raise Refused(503, "all sessions are in use; try again later") from None
        return self._state(session) | {
            "token": session.token,
            "game": self.game.name,
            "options": self.game.options,
            "seat_names": self.game.seat_names,
            "unit": self.game.margin_unit,
            "agents": [{"name": worker.name, "mind": worker.analyses} for worker in self._agents.values()],
            "largest_seed": LARGEST_SEED,
        }

    def _state(self, session: Session) -> Json:
        play, replay = session.play, session.replay
        state = {"version": session.version, "seed": play.seed, "seats": play.seats, "film": None}
        if replay is not None:
            shown = {"header": replay.header, "continues": replay.game == self.game}
            return state | {"film": shown, "log": view.log_of_replay(replay), "view": view.of_replay(replay, 0)}
        shown = view.of_play(play, len(play.steps))
        return state | {"stopped": play.stopped, "log": view.log_of_play(play), "view": shown}

    def _changed(self, session: Session) -> Json:
        session.version += 1
        for values in session.values.values():
            for at in [at for at in values if at > len(session.play.steps)]:
                del values[at]
        return self._state(session)

    def _begin(self, session: Session, play: Play) -> Json:
        session.play, session.replay = play, None
        session.values.clear()
        return self._changed(session)

    # --- messages -------------------------------------------------------------------------------

    async def _ask_state(self, session: Session) -> Json:
        return self._state(session)

    async def _ask_play(self, session: Session, action: int) -> Json:
        play = self._running(session)
        if play.mover is not None and play.seats[play.mover] != HUMAN:
            raise IllegalMove(f"{self.game.seat_names[play.mover]} is played by {play.seats[play.mover]}")
        play.play(action, HUMAN)
        return self._changed(session)

    async def _ask_agent(self, session: Session) -> Json:
        play = self._running(session)
        seat = play.mover
        if seat is None:
            raise IllegalMove("the game is over; nobody is to move")
        if play.seats[seat] == HUMAN:
            raise IllegalMove(f"{self.game.seat_names[seat]} is not played by an agent")
        if session.thinking:
            raise Refused(409, "the agent is thinking already", self._state(session))
        version, name = session.version, play.seats[seat]
        session.thinking = True
        try:
            action = await self._agents[name].act(play.now)
        finally:
            session.thinking = False
        if session.version != version:
            raise Refused(409, "the game has gone on meanwhile", self._state(session))
        try:
            play.play(action, name)
        except IllegalMove:
            raise AgentFailed(name) from None
        return self._changed(session)

    async def _ask_undo(self, session: Session) -> Json:
        self._running(session).undo()
        return self._changed(session)

    async def _ask_new(self, session: Session, seed: int | None = None, seats: Sequence[str] | None = None) -> Json:
        return self._begin(session, Play(self.game, _seed(seed), self._seats(session, seats)))

    async def _ask_seats(self, session: Session, seats: Sequence[str]) -> Json:
        session.play.seats = self._seats(session, seats)
        return self._changed(session)

    async def _ask_look(self, session: Session, at: int) -> Json:
        self._check_position(session, at)
        replay = session.replay
        return {"view": view.of_play(session.play, at) if replay is None else view.of_replay(replay, at)}

    async def _ask_think(self, session: Session, at: int, agent: str) -> Json:
        self._check_position(session, at)
        replay, game = session.replay, self.game
        positions = session.play.positions
        if replay is not None:
            game, positions = replay.game, replay.positions
        worker = self._agents.get(agent)
        if worker is None or worker.analyses is None:
            raise ValueError(f"{agent[:40]!r} does not say what it thinks")
        if game != self.game:
            raise ValueError("the record is of another variant, which the agents here do not play")
        return await self._analysis(session, worker, positions, at)

    async def _analysis(self, session: Session, worker: AgentWorker, positions: Sequence[np.void], at: int) -> Json:
        """An agent's analysis of a position; with the values of all analysed so far, a few more than before."""
        owner = session.replay or session.play
        values = session.values.setdefault(worker.name, {})
        decisions = [number for number, row in enumerate(positions) if on.mover(row) >= 0]
        missing = [number for number in decisions if number not in values and number != at]
        asked = [at] * (at in decisions) + missing[-VALUES_AT_ONCE:]
        actions = []
        if asked:
            found = await worker.analyse(np.array([positions[number] for number in asked], self.game.dtype))
            if owner is not (session.replay or session.play) or len(positions) <= max(asked):
                raise Refused(409, "the game has gone on meanwhile", self._state(session))
            values.update(zip(asked, found.values.tolist(), strict=True))
            if at in decisions:
                actions = found.of_actions(0)
        series = [(number, int(on.mover(positions[number])), values[number]) for number in sorted(values)]
        more = len(missing) > VALUES_AT_ONCE
        return {"at": at, "kind": worker.analyses, "actions": actions, "values": series, "more": more}

    async def _ask_load(self, session: Session, record: str) -> Json:
        replay = await asyncio.to_thread(Replay, record, self.game.name)
        session.replay = replay
        session.values.clear()
        return self._changed(session)

    async def _ask_leave(self, session: Session) -> Json:
        session.replay = None
        session.values.clear()
        return self._changed(session)

    async def _ask_continue(
        self, session: Session, at: int, seed: int | None = None, seats: Sequence[str] | None = None
    ) -> Json:
        replay = session.replay
        if replay is None:
            raise IllegalMove("no record is being looked at")
        self._check_position(session, at)
        if replay.game != self.game:
            raise ValueError("the record is of another variant, which is not played here")
        if replay.is_over(at):
            raise IllegalMove("the game is over here")
        play = Play(self.game, _seed(seed), self._seats(session, seats), replay.positions[at])
        return self._begin(session, play)

    async def _ask_record(self, session: Session) -> Json:
        return {"record": f"{session.play.record()}\n", "name": f"{self.game.name}-{session.play.seed}.txt"}

    # --- checks ---------------------------------------------------------------------------------

    def _running(self, session: Session) -> Play:
        if session.replay is not None:
            raise IllegalMove("a record is being looked at; leave it first")
        return session.play

    def _seats(self, session: Session, seats: Sequence[str] | None) -> tuple[str, ...]:
        if seats is None:
            return session.play.seats
        if len(seats) != self.game.num_players or not all(name == HUMAN or name in self._agents for name in seats):
            accepted = ", ".join((HUMAN, *self._agents))
            raise ValueError(f"seats: accepted are {self.game.num_players} of: {accepted}")
        return tuple(seats)

    def _check_position(self, session: Session, at: int) -> None:
        positions = (session.replay or session.play).positions
        if not 0 <= at < len(positions):
            raise ValueError(f"at: accepted are 0 to {len(positions) - 1}")


def _seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbelow(SEEDS_DRAWN)
    if not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed: accepted is a whole number from 0 to {LARGEST_SEED}")
    return seed


_HANDLERS: dict[str, Callable[..., Awaitable[Json]]] = {
    name: getattr(GameServer, f"_ask_{name}") for name in MESSAGES if name != "hello"
}
