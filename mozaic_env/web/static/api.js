// Messages to the server. The session's secret is kept for this tab alone, and survives a reload.

const KEY = "session";

export class ServerError extends Error {
  constructor(status, message, state) {
    super(message);
    this.status = status;
    this.state = state;
  }
}

/** Sends a message, an object with `do`, and gives the answer; ServerError says why there is none. */
export async function send(message) {
  const headers = {"Content-Type": "application/json"};
  const token = sessionStorage.getItem(KEY);
  if (token) headers["X-Session"] = token;
  let response, answer;
  try {
    response = await fetch("/message", {method: "POST", headers, body: JSON.stringify(message)});
    answer = await response.json();
  } catch {
    throw new ServerError(0, "The server does not answer. Is it still running?");
  }
  if (!response.ok) throw new ServerError(response.status, answer.error, answer.state);
  return answer;
}

/** The session of this tab, or a new one; `fresh` says that an earlier one is gone. */
export async function hello() {
  const before = sessionStorage.getItem(KEY);
  const answer = await send({do: "hello"});
  sessionStorage.setItem(KEY, answer.token);
  return {...answer, fresh: before !== null && before !== answer.token};
}

/** Lists the pages of the server in a navigation element, if there is more than one. */
export async function listPages(nav) {
  const pages = await (await fetch("/pages")).json();
  nav.replaceChildren(...pages.map(({path, title}) => {
    const link = document.createElement("a");
    link.href = path;
    link.textContent = title;
    if (path === location.pathname) link.setAttribute("aria-current", "page");
    return link;
  }));
  nav.hidden = pages.length < 2;
}
