"""The games as OpenSpiel games, every draw a chance node; needs the extra `openspiel`.

Importing this registers each game of the package as ``python_`` and its name, its options as game parameters:

```python
import pyspiel
import mozaic_env.envs.openspiel

game = pyspiel.load_game("python_mozaic(rules=onyx,rows=4,cols=4)")
```

Returns are the results at the end. A game at the limit of decisions (`max_decisions`) ends with a draw. An option that
is left to the game, None elsewhere, is "default", `max_decisions` -1, and a comma within one is a semicolon, since
commas part OpenSpiel's parameters.

What goes through the whole tree of a game does not end on Mozaic, on no board: missed turns can follow each other
without end, and `max_decisions` counts decisions only. OpenSpiel's `exploitability`, `expectiminimax`, `get_all_states`
and the like stop with a RecursionError. `mozaic solve` and `mozaic exploit` give exact values and best responses.
What samples (MCTS, bots, MCCFR by outcomes) works.
"""

from mozaic_env.core.extras import importing

with importing("mozaic_env.envs.openspiel"):
    import pyspiel

from mozaic_env.envs.openspiel.bot import AgentBot
from mozaic_env.envs.openspiel.game import SpielGame, game_type, register
from mozaic_env.envs.openspiel.state import Observer, SpielState
from mozaic_env.games import GAMES, make_game

__all__ = ["AgentBot", "Observer", "SpielGame", "SpielState", "game_type", "register"]

for _name in GAMES:
    if f"python_{_name}" not in pyspiel.registered_names():
        register(make_game(_name))
