// Who plays, and what has happened.

const HUMAN = "human";

/** A line for each seat: whose turn it is, and a choice of who decides for it. */
export class Players {
  constructor(root, change) {
    this.root = root;
    this.change = change;
  }

  make({seat_names: names, agents}) {
    this.selects = names.map((name, seat) => {
      const select = deciderSelect(agents);
      select.setAttribute("aria-label", `Who plays ${name}`);
      select.addEventListener("change", () => this.change(seat, select.value));
      return select;
    });
    this.lines = names.map((name, seat) => {
      const [line, turn, label] = ["div", "span", "span"].map((tag) => document.createElement(tag));
      line.className = "player";
      turn.className = "turn";
      label.className = "name";
      label.textContent = name;
      line.append(turn, label, this.selects[seat]);
      return line;
    });
    this.root.replaceChildren(...this.lines);
  }

  show({seats, view, film}, thinking) {
    this.lines.forEach((line, seat) => {
      const moving = !film && view.mover === seat;
      line.classList.toggle("moving", moving);
      line.classList.toggle("thinking", moving && thinking && seats[seat] !== HUMAN);
      this.selects[seat].value = seats[seat];
    });
  }
}

/** A choice between a human and the agents. */
export function deciderSelect(agents) {
  const select = document.createElement("select");
  for (const [value, text] of [[HUMAN, "you"], ...agents.map(({name}) => [name, name])]) {
    select.append(new Option(text, value));
  }
  return select;
}

/** The decisions so far, or the words of a record; each can be looked at. */
export class Log {
  constructor(root, look) {
    this.root = root;
    root.addEventListener("click", (event) => {
      const line = event.target.closest("li");
      if (line) look(Number(line.dataset.at));
    });
    root.addEventListener("keydown", (event) => {
      const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
      if (!step) return;
      event.preventDefault();
      look(this.at + step);
    });
  }

  show({log, film}, at, seatNames) {
    this.at = at;
    const first = film ? 0 : 1; // the position after the first entry
    this.root.replaceChildren(...log.map((entry, number) => {
      const line = document.createElement("li");
      line.dataset.at = number + first;
      line.classList.toggle("here", number + first === at);
      const [count, text, lead] = ["span", "span", "span"].map((tag) => document.createElement(tag));
      count.className = "number";
      count.textContent = number + 1;
      text.textContent = entry.told ? `${seatNames[entry.seat]} ${entry.move}` : entry.move;
      text.title = entry.told ?? "";
      text.append(...chanceLines(entry.drawn ?? []));
      lead.className = "lead";
      lead.textContent = entry.leads[0] === 0 ? "0" : (entry.leads[0] > 0 ? "+" : "") + entry.leads[0];
      line.append(count, text, lead);
      return line;
    }));
    const here = this.root.querySelector(".here");
    if (here) this.root.scrollTop = here.offsetTop - this.root.offsetTop - this.root.clientHeight / 2;
    else this.root.scrollTop = 0;
  }
}

/** What chance did before a decision; the last draw is what the decision was about, so it needs no line. */
function chanceLines(drawn) {
  const told = drawn.length > 4 ? [`${drawn.length} draws`] : drawn.slice(0, -1);
  return told.map((sentence) => {
    const line = document.createElement("span");
    line.className = "chance";
    line.textContent = sentence;
    return line;
  });
}
