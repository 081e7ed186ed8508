"use strict";
// The page on a training run: asks for its parts every few seconds, and steps through a game.

const EVERY_MS = 3000;
const byId = (id) => document.getElementById(id);
const kept = byId("snapshot").textContent.trim();
const snapshot = kept ? JSON.parse(kept) : null;

// --- the run -------------------------------------------------------------------------------------

const shown = {};

function showState(state) {
  for (const id of ["head", "strength", "more"]) {
    if (shown[id] !== state[id]) {
      byId(id).innerHTML = shown[id] = state[id];
    }
  }
  document.title = byId("head").querySelector("h1").textContent;
}

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = !text;
}

async function ask(path, options) {
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

async function refresh() {
  try {
    if (!document.hidden) {
      const state = await ask("/run");
      showState(state);
      trouble("");
      if (state.game !== film.key) await fetchGame();
    }
  } catch (error) {
    trouble(`No news from mozaic watch: ${error.message}. What is shown is what was known last.`);
  }
  setTimeout(refresh, EVERY_MS);
}

// --- the game ------------------------------------------------------------------------------------

const film = { game: null, key: null, place: 0, timer: null, touched: false, newer: null };

async function fetchGame() {
  const game = await ask("/game");
  film.key = game.key || game.error;
  if (film.game && film.touched && game.frames) {
    film.newer = game; // someone is looking at the old one
    byId("newer").hidden = false;
  } else {
    showGame(game);
  }
}

function showGame(game) {
  byId("game").hidden = false;
  byId("newer").hidden = true;
  film.newer = null;
  byId("game-trouble").textContent = game.error || "";
  if (!game.frames) return;
  stop();
  film.game = game;
  film.touched = false;
  byId("viewer").hidden = false;
  byId("place").max = game.frames.length - 1;
  byId("lead").innerHTML = game.lead;
  byId("lead-title").textContent = byId("lead").querySelector("svg").getAttribute("aria-label");
  byId("who").textContent =
    `${game.who}, after ${game.decisions.toLocaleString("en")} decisions; the likeliest action on both sides. ` +
    `Seed ${game.seed}.`;
  const link = byId("record");
  if (link.href) URL.revokeObjectURL(link.href);
  link.href = URL.createObjectURL(new Blob([game.record + "\n"], { type: "text/plain" }));
  go(game.frames.length - 1);
}

function go(place) {
  const game = film.game;
  if (!game) return;
  film.place = Math.max(0, Math.min(place, game.frames.length - 1));
  byId("board").innerHTML = game.frames[film.place].map((line) => game.lines[line]).join("\n");
  byId("place").value = film.place;
  byId("told").textContent = `${film.place} of ${game.frames.length - 1}: ${game.told[film.place].join("; ") || "the beginning"}`;
  showPlace();
}

// A line on the picture of the lead, where its curve is at this position.
function showPlace() {
  const svg = byId("lead").querySelector("svg");
  const curve = svg.querySelector(".curve");
  if (!curve || film.game.frames.length < 2) return;
  let here = svg.querySelector(".here");
  if (!here) {
    here = document.createElementNS("http://www.w3.org/2000/svg", "path");
    here.setAttribute("class", "here");
    svg.insertBefore(here, svg.querySelector(".slice"));
  }
  const places = curve.getAttribute("d").slice(1).split("L").map((pair) => pair.split(" ")[0]);
  const frame = svg.querySelector(".slice");
  const top = Number(frame.getAttribute("y"));
  here.setAttribute("d", `M${places[film.place]} ${top}V${top + Number(frame.getAttribute("height"))}`);
}

function stop() {
  clearInterval(film.timer);
  film.timer = null;
  byId("run").textContent = "▶";
  byId("run").setAttribute("aria-label", "play");
}

function run() {
  if (film.timer) return stop();
  if (film.place === film.game.frames.length - 1) go(0);
  byId("run").textContent = "⏸";
  byId("run").setAttribute("aria-label", "pause");
  film.timer = setInterval(() => {
    go(film.place + 1);
    if (film.place === film.game.frames.length - 1) stop();
  }, Number(byId("speed").value));
}

function step(move) {
  if (!film.game) return;
  film.touched = true;
  move();
}

const MOVES = {
  first: () => { stop(); go(0); },
  back: () => { stop(); go(film.place - 1); },
  run,
  next: () => { stop(); go(film.place + 1); },
  last: () => { stop(); go(Infinity); film.touched = false; },
};
const KEYS = { Home: "first", ArrowLeft: "back", " ": "run", ArrowRight: "next", End: "last" };

for (const [id, move] of Object.entries(MOVES)) byId(id).addEventListener("click", () => step(move));
byId("place").addEventListener("input", () => step(() => { stop(); go(Number(byId("place").value)); }));
byId("speed").addEventListener("change", () => { if (film.timer) { stop(); run(); } });
byId("newer").addEventListener("click", () => showGame(film.newer));
byId("another").addEventListener("click", async () => {
  byId("another").disabled = true;
  try {
    const game = await ask("/game", { method: "POST" });
    film.key = game.key || game.error;
    showGame(game);
  } catch (error) {
    trouble(`No other game: ${error.message}.`);
  }
  byId("another").disabled = false;
});
document.addEventListener("keydown", (event) => {
  const move = KEYS[event.key];
  const element = event.target;
  const used = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
  const pressed = element instanceof HTMLButtonElement && event.key === " ";
  if (!move || used || pressed || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  step(MOVES[move]);
});

if (snapshot) {
  showState(snapshot.state);
  showGame(snapshot.game);
  byId("another").hidden = true;
} else {
  refresh();
}
