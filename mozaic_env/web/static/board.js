// The picture of a position with its places as buttons over it. Knows no game: what can be clicked, and what the clicks
// mean, comes with the position.

const LABELLED = 6; // places whose share is written on them

export class Board {
  /**
   * @param root element that holds the board.
   * @param act called with the ids of the actions that the clicks mean; several if they leave a choice.
   * @param refuse called with the place that was clicked in vain.
   */
  constructor(root, act, refuse) {
    this.root = root;
    this.act = act;
    this.refuse = refuse;
    this.picture = document.createElement("div");
    this.layer = document.createElement("div");
    root.append(this.picture, this.layer);
    this.buttons = new Map();
    this.path = [];
    root.addEventListener("click", (event) => {
      const button = event.target.closest(".place");
      if (button) this.click(button.dataset.name);
    });
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** Shows a position; `playable` says whether its actions may be taken now. */
  show(view, playable) {
    const picture = new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement;
    picture.setAttribute("aria-hidden", "true");
    this.picture.replaceChildren(document.importNode(picture, true));
    this.root.setAttribute("aria-label", `Board: ${view.title}`);
    this.view = view;
    this.playable = playable;
    this.heat = null;
    this.path = [];
    this.lay();
    this.mark();
  }

  /** Shades the places by how much an agent thinks of their actions: `kind`, and [id, number] for each; null: not. */
  warm(heat) {
    this.heat = heat;
    this.mark();
  }

  /** Makes the buttons, or keeps them where the places are still the same, and with them the focus. */
  lay() {
    const {places, size: [width, height]} = this.view;
    if (places.length !== this.buttons.size || places.some(([name]) => !this.buttons.has(name))) {
      this.buttons.clear();
      this.layer.replaceChildren();
      for (const [name] of places) {
        const button = document.createElement("button");
        button.type = "button";
        button.dataset.name = name;
        button.tabIndex = -1;
        this.buttons.set(name, button);
        this.layer.append(button);
      }
    }
    for (const [name, x, y, w, h] of places) {
      const {style} = this.buttons.get(name);
      style.left = `${100 * x / width}%`;
      style.top = `${100 * y / height}%`;
      style.width = `${100 * w / width}%`;
      style.height = `${100 * h / height}%`;
    }
    const middle = places[Math.floor(places.length / 2)]?.[0];
    if (!this.buttons.has(this.current)) this.current = middle;
    if (this.current) this.buttons.get(this.current).tabIndex = 0;
  }

  /** The legal actions whose clicks begin with the path. */
  matching(path) {
    return this.view.legal.filter(([, , clicks]) => clicks.length && path.every((name, i) => clicks[i] === name));
  }

  mark() {
    const next = new Set(this.matching(this.path).map(([, , clicks]) => clicks[this.path.length]));
    const again = new Set(this.path.length ? this.matching([]).map(([, , clicks]) => clicks[0]) : []);
    const shares = this.shares();
    for (const [name, , , , , holds] of this.view.places) {
      const button = this.buttons.get(name);
      const legal = this.playable && next.has(name);
      const chosen = this.path.includes(name);
      const share = shares.get(name);
      button.className = "place";
      button.classList.toggle("legal", legal);
      button.classList.toggle("free", !holds);
      button.classList.toggle("full", Boolean(holds));
      button.classList.toggle("chosen", chosen);
      button.setAttribute("aria-disabled", String(!(legal || chosen || (this.playable && again.has(name)))));
      const words = [name, holds || "empty"];
      if (chosen) words.push("chosen");
      if (legal) words.push("possible");
      if (share?.text) words.push(share.text);
      button.setAttribute("aria-label", words.join(", "));
      button.replaceChildren(...(share ? shareOf(share) : []));
    }
  }

  /** For each place that comes next, how much is thought of the actions through it: share of the most, and text. */
  shares() {
    const found = new Map();
    if (!this.heat) return found;
    const {kind, actions} = this.heat;
    const known = new Map(actions);
    for (const [id, , clicks] of this.matching(this.path)) {
      const number = known.get(id);
      if (number === undefined) continue;
      const name = clicks[this.path.length];
      const before = found.get(name);
      const sum = kind === "probabilities" ? (before ?? 0) + number : Math.max(before ?? -Infinity, number);
      found.set(name, sum);
    }
    const numbers = [...found.values()];
    const most = Math.max(...numbers);
    const least = kind === "probabilities" ? 0 : Math.min(...numbers);
    const order = [...numbers].sort((a, b) => b - a);
    for (const [name, number] of found) {
      // Values differ little next to their range, so the square sets the best ones apart.
      const part = most > least ? (number - least) / (most - least) : 1;
      const labelled = number >= order[Math.min(LABELLED, order.length) - 1];
      const text = kind === "probabilities" ? (number >= 0.005 ? percent(number) : "") : signed(number);
      found.set(name, {share: kind === "probabilities" ? part : part ** 2, text: labelled ? text : ""});
    }
    return found;
  }

  click(name) {
    this.current = name;
    for (const [other, button] of this.buttons) button.tabIndex = other === name ? 0 : -1;
    if (!this.playable) return this.refuse(name);
    if (this.path.at(-1) === name) {
      this.path.pop();
      return this.mark();
    }
    for (const path of [[...this.path, name], [name]]) {
      const actions = this.matching(path);
      if (!actions.length) continue;
      const done = actions.filter(([, , clicks]) => clicks.length === path.length);
      if (done.length) {
        this.act(done);
        return;
      }
      this.path = path;
      return this.mark();
    }
    this.refuse(name);
  }

  key(event) {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (event.key === "Escape" && this.path.length) {
      this.path = [];
      this.mark();
    } else if (step && event.target.classList.contains("place")) {
      const next = this.neighbour(event.target.dataset.name, step);
      if (next) {
        this.buttons.get(this.current).tabIndex = -1;
        this.current = next;
        this.buttons.get(next).tabIndex = 0;
        this.buttons.get(next).focus();
      }
    } else {
      return;
    }
    event.preventDefault();
  }

  /** The nearest place in a direction, what stands aside counting as farther away. */
  neighbour(from, [dx, dy]) {
    const middle = new Map(this.view.places.map(([name, x, y, w, h]) => [name, [x + w / 2, y + h / 2]]));
    const [fromX, fromY] = middle.get(from);
    let best = null;
    let least = Infinity;
    for (const [name, [x, y]] of middle) {
      const ahead = (x - fromX) * dx + (y - fromY) * dy;
      const aside = Math.abs((x - fromX) * dy) + Math.abs((y - fromY) * dx);
      if (ahead > 1 && ahead + 3 * aside < least) [best, least] = [name, ahead + 3 * aside];
    }
    return best;
  }
}

function shareOf({share, text}) {
  const heat = document.createElement("span");
  heat.className = "heat";
  heat.style.setProperty("--share", share.toFixed(3));
  if (!text) return [heat];
  const label = document.createElement("span");
  label.className = "share";
  label.textContent = text;
  return [heat, label];
}

export function percent(share) {
  return `${Math.round(100 * share)}%`;
}

export function signed(number) {
  const text = Math.abs(number) >= 10 ? number.toFixed(0) : number.toFixed(1);
  return (number >= 0 ? "+" : "") + text;
}
