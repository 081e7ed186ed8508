// Questions: what new game, which of several actions.

import {deciderSelect} from "./panels.js";

const $ = (id) => document.getElementById(id);

/** Asks for seats and seed; null if it is called off. */
export function newGame({seat_names: names, agents, largest_seed: largest}, seats) {
  const selects = names.map((_, seat) => {
    const select = deciderSelect(agents);
    select.value = seats[seat];
    return select;
  });
  $("new-seats").replaceChildren(...names.map((name, seat) => {
    const label = document.createElement("label");
    label.className = "field";
    label.append(name.charAt(0).toUpperCase() + name.slice(1), selects[seat]);
    return label;
  }));
  $("new-seed").value = $("new-error").textContent = "";
  const dialog = $("new");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    $("new-cancel").onclick = () => dialog.close("");
    $("new-start").onclick = (event) => {
      const seed = $("new-seed").value.trim();
      if (seed && !(/^\d+$/.test(seed) && Number(seed) <= largest)) {
        event.preventDefault();
        $("new-error").textContent = `A seed is a whole number from 0 to ${largest}.`;
      }
    };
    dialog.onclose = () => {
      if (dialog.returnValue !== "start") return resolve(null);
      const seed = $("new-seed").value.trim();
      resolve({seats: selects.map(({value}) => value), ...(seed && {seed: Number(seed)})});
    };
  });
}

/** Asks which of several actions is meant; null if none. */
export function whichAction(actions) {
  const dialog = $("which");
  return new Promise((resolve) => {
    let chosen = null;
    $("which-actions").replaceChildren(...actions.map((action) => {
      const button = document.createElement("button");
      button.textContent = action[1];
      button.addEventListener("click", () => {
        chosen = action;
        dialog.close();
      });
      return button;
    }));
    $("which-cancel").onclick = () => dialog.close();
    dialog.onclose = () => resolve(chosen);
    dialog.showModal();
  });
}
