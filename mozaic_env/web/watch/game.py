"""A game that a run's latest checkpoint plays against itself, to step through."""

from collections.abc import Sequence
from typing import Any

from mozaic_env.drawing.picture import to_svg
from mozaic_env.web.play.play import Play
from mozaic_env.web.watch.charts import Line, chart
from mozaic_env.web.watch.run_data import Found

Json = dict[str, Any]


def play_game(found: Found, seed: int) -> Json:
    """Plays a game, the likeliest actions on both sides.

    Args:
        found: the checkpoint that plays.
        seed: of the game's luck.

    Returns:
        What the page shows; see `show`.

    Raises:
        ValueError: the checkpoint is damaged, or for a game that is not here.
        ModuleNotFoundError: torch is not installed.
    """
    from mozaic_env.agents.policy.agent import PolicyAgent
    from mozaic_env.agents.policy.checkpoint import load

    checkpoint = load(found.folder)
    agent = PolicyAgent(checkpoint.game, checkpoint.network, name=f"checkpoint-{found.folder.name}")
    play = Play(checkpoint.game, seed, [agent.name] * checkpoint.game.num_players)
    while play.mover is not None:
        play.play(int(agent.act(play.now.reshape(1))[0]), agent.name)
    return show(play, agent.name, found.decisions) | {"key": f"{found.key}-{seed}"}


def show(play: Play, who: str, decisions: float) -> Json:
    """A game as the page takes it: pictures, what happened, the lead, the record.

    The pictures are SVG texts, cut into lines that most of them share: picture k is the join of `lines[i]` for i in
    `frames[k]`.
    """
    lines: dict[str, int] = {}
    frames, told = [], []
    for number, row in enumerate(play.positions):
        before = play.positions[number - 1] if number else None
        action = play.steps[number - 1].action if number else None
        picture = to_svg(play.game.draw(row, before, action))
        frames.append([lines.setdefault(line, len(lines)) for line in picture.splitlines()])
        told.append([*([play.steps[number - 1].told] if number else []), *play.drawn[number]])
    return {
        "who": who,
        "decisions": decisions,
        "seed": play.seed,
        "lines": list(lines),
        "frames": frames,
        "told": told,
        "lead": _lead(play, play.leads),
        "record": str(play.record()),
    }


def _lead(play: Play, leads: Sequence[Sequence[float]]) -> str:
    """The first seat's lead over the game as a picture."""
    game = play.game
    points = [(float(number), values[0]) for number, values in enumerate(leads)]
    title = f"Lead of {game.seat_names[0]}, in {game.margin_unit}"
    return chart([Line(title, points)], title, x_name="decisions of the game", level=0.0, size=(440, 170))
