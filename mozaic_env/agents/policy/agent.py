"""A trained network as an agent: greedy or sampled, always masked, any number of states at once."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, marked
from mozaic_env.agents.kernels import agent_bits
from mozaic_env.core.contract import Bytes, Floats, Integers, legal, mover, observe
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import unit

if TYPE_CHECKING:
    from torch import Tensor, nn

# Below 16 observations, and for odd numbers of them, torch computes convolutions and matrix
# products in another order, which changes the last bit of some results. Whole multiples of 16 give
# each state the same numbers in any company.
_MULTIPLE = 16
_MOST = 1024  # observations at once; more only spill the processor's caches


class PolicyAgent(Agent):
    """Plays what a network says.

    Greedy: the legal action of the largest logit, the first of equals. Sampled: a legal action by the policy's
    probabilities, from one random number that is a function of the game's key, the seat, the decision and the agent's
    seed.
    """

    def __init__(self, game: Game, network: "nn.Module", *, sample: bool = False, name: str = "policy") -> None:
        """Makes an agent of a network in memory; later changes of its weights change the agent.

        Args:
            game: what it plays.
            network: made for the game's layout, called like a
                `mozaic_env.agents.policy.network.BoardNetwork`.
            sample: draw actions by their probabilities instead of taking the likeliest.
            name: what results and records call it.
        """
        self.game, self.network, self.sample, self.name = game, network, sample, name
        self._parameter = next(network.parameters(), None)  # tells where the network is; to look for it takes time

    @classmethod
    def load(cls, path: str | Path, game: Game, *, sample: bool = False) -> "PolicyAgent":
        """Makes an agent of a checkpoint.

        Args:
            path: a checkpoint or run folder.
            game: what it is to play; the checkpoint must be for the same game and variant.
            sample: as above.

        Raises:
            ValueError: no checkpoint there, a damaged one, or one for another game or layout.
        """
        from mozaic_env.agents.names import folder_name
        from mozaic_env.agents.policy.checkpoint import load, resolve

        return cls(game, load(resolve(path), game).network, sample=sample, name=f"policy:{folder_name(path)}")

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        """Actions for the seats that decide; the masks are worked out anew, so a wrong one can do no harm."""
        logits, masks, _ = self._run(states)
        chosen = np.empty(len(states), np.int64)
        if self.sample:
            actions, weights = np.empty(logits.shape[1], np.int64), np.empty(logits.shape[1])
            _sample_rows(states, logits, masks, self.agent_seed, chosen, actions, weights)
        else:
            _best_rows(logits, masks, chosen)
        return chosen

    def choices(self, states: Rows) -> Masks | None:
        return None if self.sample else marked(self.act(states), self.game.num_actions)

    def evaluate(self, states: Rows) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """What the network thinks of states at a decision, from the view of the seat that decides.

        Args:
            states: rows, shape (n,).

        Returns:
            Probabilities of all actions, float64, shape (n, actions), exactly zero for illegal
            ones; and values, float64, shape (n,): the discounted sum of the rewards still to come,
            as the card's `training` has weighed and discounted them.
        """
        logits, masks, values = self._run(states)
        probabilities = np.empty(logits.shape)
        _softmax_rows(logits, masks, probabilities)
        return probabilities, values.astype(np.float64)

    def _run(self, states: Rows) -> tuple[npt.NDArray[np.float32], Masks, npt.NDArray[np.float32]]:
        """Logits, masks and values."""
        self.game.check_rows(states)
        if len(states) <= _MOST:
            return self._run_part(states)
        parts = [self._run_part(states[low : low + _MOST]) for low in range(0, len(states), _MOST)]
        logits, masks, values = (np.concatenate(arrays) for arrays in zip(*parts))
        return logits, masks, values

    def _run_part(self, states: Rows) -> tuple[npt.NDArray[np.float32], Masks, npt.NDArray[np.float32]]:
        import torch

        size = len(states)
        frames, entries = _room(self.game.frame)
        masks = np.empty((size, self.game.num_actions), np.int8)
        _observe_rows(states, frames, masks)
        whole = -(-max(size, 1) // _MULTIPLE) * _MULTIPLE
        observation = {key: entry[:whole] for key, entry in entries.items()}
        if self._parameter is not None and not self._parameter.is_cpu:
            observation = {key: entry.to(self._parameter.device) for key, entry in observation.items()}
        with torch.inference_mode():
            logits, values = self.network(observation)
        return logits[:size].float().cpu().numpy(), masks, values[:size].float().cpu().numpy()


_rooms = threading.local()  # since agents of several threads must not write into the same


def _room(frame: np.dtype[np.void]) -> tuple[Bytes, "dict[str, Tensor]"]:
    """Frames for observations, uint8, shape (_MOST, bytes), and their entries as tensors over the same memory.

    Made once for each thread and layout: to make them anew takes longer than to fill them.
    """
    import torch

    rooms: dict[Any, tuple[Bytes, dict[str, Tensor]]] = _rooms.__dict__
    if frame not in rooms:
        frames = np.zeros((_MOST, frame.itemsize), np.uint8)
        entries = frames.view(frame)[:, 0]
        rooms[frame] = frames, {key: torch.from_numpy(entries[key]) for key in frame.names or ()}
    return rooms[frame]


@jit
def _observe_rows(rows: Rows, frames: Bytes, masks: Bytes) -> None:
    """What each deciding seat sees, and its mask."""
    for i in range(len(rows)):
        observe(rows[i], mover(rows[i]), frames, i)
        legal(rows[i], masks, i)


@jit
def _best_rows(logits: Floats, masks: Bytes, chosen: Integers) -> None:
    for i in range(len(chosen)):
        best = -1
        for action in range(logits.shape[1]):
            if masks[i, action] and (best < 0 or logits[i, action] > logits[i, best]):
                best = action
        chosen[i] = best


@jit
def _softmax(logits: Floats, masks: Bytes, index: int, probabilities: Floats) -> None:
    """Probabilities of the legal actions of one row, in float64; zero elsewhere."""
    top = -np.inf
    for action in range(logits.shape[1]):
        if masks[index, action] and logits[index, action] > top:
            top = np.float64(logits[index, action])
    total = 0.0
    for action in range(logits.shape[1]):
        probabilities[action] = np.exp(np.float64(logits[index, action]) - top) if masks[index, action] else 0.0
        total += probabilities[action]
    for action in range(logits.shape[1]):
        probabilities[action] /= total


@jit
def _softmax_rows(logits: Floats, masks: Bytes, probabilities: Floats) -> None:
    for i in range(len(logits)):
        _softmax(logits, masks, i, probabilities[i])


@jit
def _sample_rows(
    rows: Rows,
    logits: Floats,
    masks: Bytes,
    agent_seed: np.uint64,
    chosen: Integers,
    actions: Integers,
    weights: Floats,
) -> None:
    """Draws each row's action: the one at whose turn the cumulative probability passes a random number.

    Of the last two arrays, room for one row, only the part for legal actions is used.
    """
    for i in range(len(rows)):
        count, top = 0, -np.inf
        for action in range(logits.shape[1]):
            if masks[i, action]:
                actions[count] = action
                top = max(top, np.float64(logits[i, action]))
                count += 1
        total = 0.0
        for k in range(count):
            weights[k] = np.exp(np.float64(logits[i, actions[k]]) - top)
            total += weights[k]
        left = total * unit(agent_bits(rows[i], agent_seed))
        for k in range(count):
            chosen[i] = actions[k]  # rounding may leave a rest: then the last legal one
            left -= weights[k]
            if left < 0:
                break
