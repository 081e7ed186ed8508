// Small pictures of numbers: curves over the course of a game, and bars.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 300, HEIGHT = 84;

function element(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * Draws curves around a zero line.
 * @param figure element to fill.
 * @param title what the curves are.
 * @param curves lists of [position, number]; numbers above zero are good for whom `title` says.
 * @param last the last position.
 * @param here the position that is shown.
 * @param seek called with the position that was pointed at.
 */
export function drawCurves(figure, title, curves, last, here, seek) {
  const numbers = curves.flat().map(([, number]) => number);
  const top = Math.max(1, ...numbers.map(Math.abs));
  const x = (at) => last ? WIDTH * at / last : 0;
  const y = (number) => HEIGHT / 2 - (HEIGHT / 2 - 4) * number / top;
  const svg = element("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title});
  svg.append(element("line", {class: "zero", x1: 0, x2: WIDTH, y1: y(0), y2: y(0)}));
  curves.forEach((curve, index) => {
    if (!curve.length) return;
    const points = curve.map(([at, number]) => `${x(at).toFixed(1)},${y(number).toFixed(1)}`);
    if (curves.length === 1 && curve.length > 1) {
      const [first] = curve[0], [end] = curve.at(-1);
      svg.append(element("polygon", {class: "area", points: `${x(first)},${y(0)} ${points.join(" ")} ${x(end)},${y(0)}`}));
    }
    svg.append(element("polyline", {class: `curve curve-${index}`, points: points.join(" ")}));
    const [at, number] = curve.at(-1);
    svg.append(element("circle", {class: "dot", cx: x(at), cy: y(number), r: 3}));
  });
  if (last) svg.append(element("line", {class: "here", x1: x(here), x2: x(here), y1: 0, y2: HEIGHT}));
  svg.addEventListener("click", (event) => {
    const {left, width} = svg.getBoundingClientRect();
    seek(Math.min(last, Math.max(0, Math.round(last * (event.clientX - left) / width))));
  });
  const caption = document.createElement("figcaption");
  const scale = document.createElement("span");
  scale.textContent = `±${top.toFixed(top < 10 ? 1 : 0)}`;
  caption.append(title, scale);
  figure.replaceChildren(caption, svg);
}

/** Fills an element with bars: [name, share of the whole bar, text] for each; `none` where there are none. */
export function drawBars(root, bars, none) {
  if (!bars.length) {
    const line = document.createElement("span");
    line.className = "all";
    line.textContent = none;
    root.replaceChildren(line);
    return;
  }
  root.replaceChildren(...bars.flatMap(([name, share, text]) => {
    const [label, bar, filled, number] = ["span", "div", "span", "span"].map((tag) => document.createElement(tag));
    label.textContent = name;
    bar.className = "bar";
    filled.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
    bar.append(filled);
    number.className = "number";
    number.textContent = text;
    return [label, bar, number];
  }));
}
