// What all widgets share: colours of the page, elements, canvases that are as sharp as the screen.

const PALETTE = {
  light: ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#3a9bd4", "#5a4fcf", "#6f6f6f", "#882255", "#44aa99"],
  dark: ["#56b4e9", "#f0883e", "#2fc494", "#d784c4", "#e0b040", "#8fc7f0", "#9d95ff", "#b0b0b0", "#d0688f", "#7fd6c8"],
};
const KINDS = {};
const darkness = matchMedia("(prefers-color-scheme: dark)");

function colour(number) {
  const palette = darkness.matches ? PALETTE.dark : PALETTE.light;
  return palette[((number % palette.length) + palette.length) % palette.length];
}

function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") made.style.cssText = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function chip(text, pressed, act, number) {
  const made = element("button", { class: "chip", type: "button", "aria-pressed": String(pressed), onclick: act });
  if (number !== undefined) made.append(element("span", { class: "dot" }));
  made.append(text);
  made.recolour = () => { if (number !== undefined) made.style.setProperty("--chip", colour(number)); };
  made.recolour();
  return made;
}

function controls(words, ...chips) {
  return element("div", { class: "controls" }, ...(words ? [element("span", { class: "label" }, words)] : []), ...chips);
}

// A canvas that calls draw(context, width, height) whenever its size or the colours of the page change.
function canvas(height, draw) {
  const made = element("canvas", { role: "img" });
  const context = made.getContext("2d");
  made.redraw = () => {
    const width = made.clientWidth;
    if (!width) return;
    const scale = window.devicePixelRatio || 1;
    made.width = Math.round(width * scale);
    made.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    draw(context, width, height);
  };
  made.style.height = `${height}px`;
  new ResizeObserver(() => made.redraw()).observe(made);
  darkness.addEventListener("change", () => made.redraw());
  return made;
}

function tip(parent) {
  const made = element("div", { class: "tip", hidden: true });
  parent.append(made);
  made.show = (x, y, ...children) => {
    made.replaceChildren(...children);
    made.hidden = false;
    const room = parent.clientWidth - made.offsetWidth;
    made.style.left = `${Math.max(0, Math.min(x + 14, room))}px`;
    made.style.top = `${y + 14}px`;
  };
  made.hide = () => { made.hidden = true; };
  return made;
}

function dot(fill) {
  return element("span", { class: "dot", style: `background:${fill}` });
}

// About `count` round numbers from low to high.
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) || power;
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + 1e-9 * step; at += 1) found.push(at * step);
  return found;
}

function number(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return value.toFixed(size >= 100 ? 1 : size >= 1 ? 2 : 3);
}

function start() {
  for (const holder of document.querySelectorAll(".widget")) {
    const data = JSON.parse(holder.querySelector("script").textContent);
    KINDS[holder.dataset.kind](holder, data);
    holder.dataset.ready = "yes";
  }
}

document.addEventListener("DOMContentLoaded", start);
