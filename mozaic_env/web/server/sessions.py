"""Who plays at the server: a session each, so many and so long."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mozaic_env.web.play.play import Play
from mozaic_env.web.play.replay import Replay

MOST_SESSIONS = 500
IDLE_S = 2 * 60 * 60  # a session that nobody has asked for so long may go
LIFETIME_S = 24 * 60 * 60  # and any may after so long


class TooManySessions(Exception):
    """As many sessions as there may be are in use."""


@dataclass(eq=False)
class Session:
    """What the server knows of one page.

    Attributes:
        token: the secret by which the page names it.
        play: its game.
        replay: of the record that it looks at, if any; the game waits meanwhile.
        version: counts the changes, so that what was said of an earlier state can be told.
        thinking: whether an agent is asked for a move.
        values: what agents have thought of positions of the game: by agent's name, then by number of the position.
        born: when it was made.
        used: when it was last asked for.
    """

    token: str
    play: Play
    replay: Replay | None = None
    version: int = 0
    thinking: bool = False
    values: dict[str, dict[int, float]] = field(default_factory=dict)
    born: float = 0.0
    used: float = 0.0


class Sessions:
    """The sessions, by their secrets."""

    def __init__(self, most: int = MOST_SESSIONS, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._all: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._all)

    def begin(self, play: Play) -> Session:
        """A new session; TooManySessions if there is no room for it."""
        if len(self._all) >= self._most:
            self._all = {token: session for token, session in self._all.items() if self._lives(session)}
        if len(self._all) >= self._most:
            raise TooManySessions
        now = self._clock()
        session = Session(secrets.token_urlsafe(24), play, born=now, used=now)
        self._all[session.token] = session
        return session

    def find(self, token: str) -> Session | None:
        """The session of a secret, if there is one and its time is not up."""
        session = self._all.get(token)
        if session is None:
            return None
        if not self._lives(session):
            del self._all[token]
            return None
        session.used = self._clock()
        return session

    def _lives(self, session: Session) -> bool:
        now = self._clock()
        return now - session.used <= IDLE_S and now - session.born <= LIFETIME_S
