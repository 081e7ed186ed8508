// The page to play: what the server says is shown, what is clicked is sent. The server alone knows the rules.

import {hello, listPages, send, ServerError} from "./api.js";
import {Board, percent} from "./board.js";
import {drawBars, drawCurves} from "./charts.js";
import {Analysis} from "./analysis.js";
import {newGame, whichAction} from "./dialogs.js";
import {Log, Players} from "./panels.js";

const $ = (id) => document.getElementById(id);
const HUMAN = "human";

let facts; // what stays: names of game, seats and agents
let state; // the game as the server last told it
let shown; // the position on the board, at state.view.at or before
let busy = null; // the message that changes the game and is under way, a promise
let paused = false;
let timer;

const board = new Board($("board"), choose, (name) => hint(whyNot(name)));
const log = new Log($("log"), look);
const analysis = new Analysis(board, (at) => look(at));
const players = new Players($("players"), (seat, name) => ask(() => (
  {do: "seats", version: state.version, seats: state.seats.map((before, other) => (other === seat ? name : before))})));

// --- talking to the server ---------------------------------------------------------------------

/**
 * Sends a message that changes the game, and shows what comes of it; false if nothing did. One at a time: a message that a
 * person sends while an agent thinks waits, and is written when its turn comes.
 */
async function ask(write) {
  while (busy) await busy;
  clearTimeout(timer);
  busy = deliver(write());
  render();
  return busy;
}

async function deliver(message) {
  try {
    adopt(await send(message));
    return true;
  } catch (error) {
    await explain(error);
    return false;
  } finally {
    busy = null;
    render();
    goOn();
  }
}

async function explain(error) {
  if (!(error instanceof ServerError)) throw error;
  if (error.status === 409 && error.state) {
    if (error.state.version >= state.version) adopt(error.state);
  } else if (error.status === 404) {
    await start();
  } else {
    if (error.status === 0 || error.status >= 500) pause(true);
    toast(error.message);
  }
}

function adopt(answer) {
  state = {...state, ...answer};
  shown = state.view;
}

async function start() {
  facts = await hello();
  adopt(facts);
  if (facts.fresh) toast("Your earlier game is no longer kept; this is a new one.");
  players.make(facts);
  analysis.make(facts);
  render();
  goOn();
}

/** Has the agent to move do so, after the delay that the speed sets. */
function goOn() {
  clearTimeout(timer);
  if (busy || paused || !isLive() || !agentDecides()) return;
  timer = setTimeout(() => ask(() => ({do: "agent", version: state.version})), Number($("speed").value));
}

const isLive = () => !state.film && shown.at === state.view.at;
const agentDecides = () => state.view.mover !== null && state.seats[state.view.mover] !== HUMAN;

async function look(at) {
  if (at < 0 || at > state.view.last) return;
  clearTimeout(timer);
  try {
    const {view} = at === state.view.at ? state : await send({do: "look", version: state.version, at});
    shown = view;
  } catch (error) {
    await explain(error);
  }
  render();
  goOn();
}

// --- playing -----------------------------------------------------------------------------------

async function choose(actions) {
  const {version} = state; // of the position that was clicked on
  const action = actions.length === 1 ? actions[0] : await whichAction(actions);
  if (action) await ask(() => ({do: "play", version, action: action[0]}));
}

function whyNot(name) {
  if (!isLive()) return state.film ? "A record can be played on from here." : "This is an earlier position.";
  if (state.view.results || state.stopped) return "The game is over.";
  if (agentDecides()) return `It is ${seatName(state.view.mover)}'s turn.`;
  const holds = shown.places.find(([other]) => other === name)[5];
  return `${name}${holds ? ` holds a ${holds} and` : " is empty and"} can't be chosen now.`;
}

const seatName = (seat) => facts.seat_names[seat];

function pause(on) {
  paused = on;
  $("pause").classList.toggle("main", on);
  $("pause").textContent = on ? "Go on" : "Pause";
}

// --- showing -----------------------------------------------------------------------------------

function render() {
  const live = isLive();
  const humansTurn = live && state.view.mover !== null && !agentDecides();
  if (render.view !== shown || render.playable !== (humansTurn && !busy)) {
    board.show(shown, humansTurn && !busy);
    render.playable = humansTurn && !busy;
  }
  if (render.view !== shown) {
    hint("");
    render.view = shown;
    $("told").textContent = sentences(shown);
    analysis.show(shown, state, !state.film || state.film.continues);
    drawBars($("odds"), shown.odds.map(([name, share]) => [name, share, percent(share)]), "No draw follows.");
    drawCurves($("leads"), leadTitle(), leadCurves(), state.view.last, shown.at, look);
    log.show(state, shown.at, facts.seat_names);
  }
  $("status").replaceChildren(...headline(live));
  $("now").hidden = live || Boolean(state.film);
  players.show(state, live && busy);
  renderStepper();
  renderButtons();
  renderChoices(humansTurn);
}

function headline(live) {
  const who = document.createElement("span");
  who.className = "who";
  if (!live) return [state.film ? `Word ${shown.at + 1}` : `After ${shown.at} of ${state.view.last} decisions`];
  if (state.stopped) return ["Stopped at the limit of decisions"];
  if (state.view.results) {
    const best = Math.max(...state.view.results);
    const winners = facts.seat_names.filter((_, seat) => state.view.results[seat] === best);
    return [winners.length === facts.seat_names.length ? "A draw" : `${capital(winners.join(" and "))} wins`];
  }
  const by = state.seats[state.view.mover];
  who.textContent = by === HUMAN ? " · you" : busy ? ` · ${by} is thinking` : ` · ${by}`;
  return [`${capital(seatName(state.view.mover))} to play`, who];
}

function renderStepper() {
  const {at, last} = shown;
  Object.assign($("slider"), {max: last, value: at, disabled: !last});
  $("slider").setAttribute("aria-valuetext", `${at} of ${last}`);
  $("place").textContent = `${at} / ${last}`;
  $("first").disabled = $("back").disabled = at === 0;
  $("forth").disabled = $("last").disabled = at === last;
}

function renderButtons() {
  const film = state.film;
  $("film").hidden = !film;
  if (film) {
    $("film-header").textContent = Object.entries(film.header).map((entry) => entry.join("=")).join("  ");
    $("continue").disabled = !film.continues || Boolean(shown.results);
    $("continue").title = film.continues ? "" : "Another variant of the game than this page plays";
  }
  $("undo").disabled = busy || Boolean(film) || !state.log.length;
  $("pause").hidden = state.seats.every((name) => name === HUMAN);
  $("seed").textContent = state.seed;
  $("again").disabled = busy;
}

/** Buttons for the actions that no place of the picture stands for. */
function renderChoices(humansTurn) {
  const bare = humansTurn && !busy ? shown.legal.filter(([, , clicks]) => !clicks.length) : [];
  $("choices").hidden = !bare.length;
  $("choices").replaceChildren(...bare.map((action) => {
    const button = document.createElement("button");
    button.textContent = action[1];
    button.addEventListener("click", () => choose([action]));
    return button;
  }));
}

function leadCurves() {
  const before = state.film ? [] : [[0, facts.seat_names.map(() => 0)]];
  const rows = [...before, ...state.log.map(({leads}, number) => [number + before.length, leads])];
  const seats = facts.seat_names.length === 2 ? [0] : facts.seat_names.map((_, seat) => seat);
  return seats.map((seat) => rows.map(([at, leads]) => [at, leads[seat]]));
}

const leadTitle = () => `Lead of ${facts.seat_names.length === 2 ? seatName(0) : "each seat"}, in ${facts.unit}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** What led to a position; of many draws only how many. */
function sentences({told, at}) {
  const acts = !state.film && at > 0 ? 1 : 0; // the decision comes first
  const draws = told.length - acts;
  const parts = draws > 4 ? [...told.slice(0, acts), `${draws} draws`] : told;
  return parts.map((sentence) => `${capital(sentence)}.`).join(" ");
}

function hint(text) {
  $("hint").textContent = text;
}

function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { $("toast").hidden = true; }, 6000);
}

// --- buttons -----------------------------------------------------------------------------------

$("begin").addEventListener("click", async () => {
  const wanted = await newGame(facts, state.seats);
  if (!wanted) return;
  pause(false);
  await ask(() => ({do: "new", ...wanted}));
});
$("again").addEventListener("click", () => {
  pause(false);
  ask(() => ({do: "new", seed: state.seed}));
});
$("undo").addEventListener("click", () => {
  if (!state.seats.includes(HUMAN)) pause(true);
  const {version} = state;
  ask(() => ({do: "undo", version}));
});
$("pause").addEventListener("click", () => {
  pause(!paused);
  if (!paused && !state.film) shown = state.view;
  render();
  goOn();
});
$("speed").addEventListener("change", () => {
  localStorage.setItem("speed", $("speed").value);
  goOn();
});
$("first").addEventListener("click", () => look(0));
$("back").addEventListener("click", () => look(shown.at - 1));
$("forth").addEventListener("click", () => look(shown.at + 1));
$("last").addEventListener("click", () => look(state.view.last));
$("now").addEventListener("click", () => look(state.view.last));
$("slider").addEventListener("input", () => look(Number($("slider").value)));
$("continue").addEventListener("click", () => {
  const {version} = state;
  const {at} = shown;
  ask(() => ({do: "continue", version, at}));
});
$("leave").addEventListener("click", () => ask(() => ({do: "leave"})));
$("load").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  const [file] = $("file").files;
  $("file").value = "";
  if (!file) return;
  if (file.size > 100_000) return toast("The file is too large for a record.");
  const record = await file.text();
  await ask(() => ({do: "load", record}));
});
$("download").addEventListener("click", async () => {
  try {
    const {record, name} = await send({do: "record"});
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([record], {type: "text/plain"}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    await explain(error);
  }
});
for (const card of document.querySelectorAll("details.card")) {
  const kept = localStorage.getItem(card.id);
  if (kept) card.open = kept === "open";
  card.addEventListener("toggle", () => localStorage.setItem(card.id, card.open ? "open" : "closed"));
}
if (localStorage.getItem("speed")) $("speed").value = localStorage.getItem("speed");

start().then(() => {
  $("title").textContent = document.title = capital(facts.game).replaceAll("_", " ");
  $("variant").textContent = Object.entries(facts.options).map(([key, value]) => `${key.replaceAll("_", " ")} ${value}`).join(" · ");
  listPages($("pages"));
}, (error) => toast(error.message));
