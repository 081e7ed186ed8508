// What an agent thinks of the position on the board: shades over the places, its best actions, its values so far.

import {percent, signed} from "./board.js";
import {drawBars, drawCurves} from "./charts.js";
import {send} from "./api.js";

const $ = (id) => document.getElementById(id);
const BEST = 5;

export class Analysis {
  constructor(board, seek) {
    this.board = board;
    this.seek = seek;
    $("analysis-card").addEventListener("toggle", () => this.ask());
    $("analysis-agent").addEventListener("change", () => {
      localStorage.setItem("mind", $("analysis-agent").value);
      this.ask();
    });
  }

  make({agents, seat_names: names}) {
    this.names = names;
    const able = agents.filter(({mind}) => mind);
    $("analysis-agent").replaceChildren(...able.map(({name}) => new Option(name, name)));
    const kept = localStorage.getItem("mind");
    if (able.some(({name}) => name === kept)) $("analysis-agent").value = kept;
    $("analysis-card").hidden = !able.length;
  }

  /** Takes note of what is shown; `known` says whether the agents know this variant. */
  show(view, state, known) {
    Object.assign(this, {view, state, known});
    this.ask();
  }

  async ask() {
    if (!this.view || $("analysis-card").hidden) return;
    if (!$("analysis-card").open) return this.board.warm(null);
    if (!this.known) return this.say("The agents here do not play the record's variant.");
    const {view, state} = this;
    const agent = $("analysis-agent").value;
    const asked = () => this.view === view && $("analysis-agent").value === agent && $("analysis-card").open; // still wanted
    let answer;
    try {
      answer = await send({do: "think", version: state.version, at: view.at, agent});
    } catch (error) {
      if (error.status !== 409 && asked()) this.say(error.message);
      return;
    }
    if (!asked()) return;
    this.draw(answer);
    if (answer.more) setTimeout(() => asked() && this.ask(), 60);
  }

  say(text) {
    $("analysis-about").textContent = text;
    $("analysis-best").replaceChildren();
    $("analysis-values").replaceChildren();
    this.board.warm(null);
  }

  draw({kind, actions, values, at}) {
    const chances = kind === "probabilities";
    const {legal, mover, last} = this.view;
    if (mover === null) this.say("Nobody decides here.");
    else {
      $("analysis-about").textContent = chances
        ? `How likely it would take each action as ${this.names[mover]}.`
        : `What it expects of each action as ${this.names[mover]}: the lead in points.`;
      this.board.warm({kind, actions});
      const notation = new Map(legal.map(([id, text]) => [id, text]));
      const best = [...actions].sort((a, b) => b[1] - a[1]).slice(0, BEST);
      const low = chances ? 0 : Math.min(...actions.map(([, number]) => number));
      const range = chances ? 1 : Math.max(1e-9, best[0]?.[1] - low);
      drawBars($("analysis-best"), best.map(([id, number]) => [
        notation.get(id), (number - low) / range, chances ? percent(number) : signed(number),
      ]), "It has nothing to say.");
    }
    const two = this.names.length === 2;
    const curves = two
      ? [values.map(([number, seat, value]) => [number, seat === 0 ? value : -value])]
      : this.names.map((_, seat) => values.filter((one) => one[1] === seat).map(([number, , value]) => [number, value]));
    const title = two ? `Its value of the game for ${this.names[0]}` : "Its value of the game for each seat";
    drawCurves($("analysis-values"), title, curves, last, at, this.seek);
  }
}
