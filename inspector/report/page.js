"use strict";
// Everything that the page says is there without this script; it sorts, filters, marks and moves. Nothing is ever
// parsed as HTML: text goes in as textContent.
document.documentElement.className = "js";

const PAGE = 200;
const UNITS = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, m: 1e-3, "µ": 1e-6, n: 1e-9 };

function made(name, text) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  return element;
}

// `262 kB`, `1.6 s`, `94.56 %`, `12,355`: a number in one unit; null for other texts.
function number(text) {
  const found = /^[~≥≤+]?\s*(-?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([kMGTPEmµn]?)(?:B|s|FLOP|FLOP\/s|B\/s|%|×)?(?:\s|$)/.exec(text);
  return found ? Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] || 1) : null;
}

class Rows {
  constructor(table) {
    this.table = table;
    this.rows = [...table.tBodies].flatMap((body) => [...body.rows]);
    this.texts = null;
    this.shown = this.rows;
    this.page = 0;
    for (const body of [...table.tBodies].slice(1)) body.remove();
    this.body = table.tBodies[0];
    if (this.rows.length > 12) this.tools();
    this.heads();
    this.draw();
  }

  tools() {
    const bar = made("div");
    bar.className = "tools";
    this.filter = made("input");
    this.filter.type = "search";
    this.filter.placeholder = `filter ${this.rows.length.toLocaleString("en")} rows`;
    this.filter.setAttribute("aria-label", this.filter.placeholder);
    this.filter.addEventListener("input", () => this.find());
    this.before = made("button", "‹");
    this.before.setAttribute("aria-label", "earlier rows");
    this.before.addEventListener("click", () => this.turn(-1));
    this.after = made("button", "›");
    this.after.setAttribute("aria-label", "later rows");
    this.after.addEventListener("click", () => this.turn(1));
    this.told = made("span");
    this.told.setAttribute("role", "status");
    bar.append(this.filter, this.before, this.told, this.after);
    this.table.parentElement.before(bar);
  }

  heads() {
    for (const [place, head] of [...(this.table.tHead ? this.table.tHead.rows[0].cells : [])].entries()) {
      if (!head.textContent) continue;
      const button = made("button", head.textContent);
      button.addEventListener("click", () => this.sort(place, head));
      head.replaceChildren(button);
    }
  }

  find() {
    this.texts ??= new Map(this.rows.map((row) => [row, row.textContent.toLowerCase()]));
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.rows.filter((row) => words.every((word) => this.texts.get(row).includes(word)));
    this.page = 0;
    this.draw();
  }

  sort(place, head) {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of this.table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keys = new Map(this.rows.map((row) => {
      const text = row.cells[place] ? row.cells[place].textContent.trim() : "";
      return [row, { text, value: number(text) }];
    }));
    const order = (one, other) => {
      const [a, b] = [keys.get(one), keys.get(other)];
      if (!a.text || !b.text) return (a.text ? 0 : 1) - (b.text ? 0 : 1); // what is empty stays last
      const found = a.value !== null && b.value !== null ? a.value - b.value : a.text.localeCompare(b.text, "en", { numeric: true });
      return down ? -found : found;
    };
    this.rows.sort(order);
    const kept = new Set(this.shown);
    this.shown = this.rows.filter((row) => kept.has(row));
    this.page = 0;
    this.draw();
  }

  // The row comes into view, whatever is filtered.
  reveal(row) {
    if (!this.shown.includes(row)) {
      if (this.filter) this.filter.value = "";
      this.shown = this.rows;
    }
    this.page = Math.floor(this.shown.indexOf(row) / PAGE);
    this.draw();
  }

  turn(by) {
    this.page += by;
    this.draw();
  }

  draw() {
    const first = this.page * PAGE;
    const last = Math.min(first + PAGE, this.shown.length);
    this.body.replaceChildren(...this.shown.slice(first, last));
    if (!this.told) return;
    const of = this.shown.length.toLocaleString("en");
    this.told.textContent = this.shown.length > PAGE ? `${first + 1}–${last} of ${of}` : `${of} shown`;
    this.before.disabled = this.page === 0;
    this.after.disabled = last >= this.shown.length;
    this.before.hidden = this.after.hidden = this.shown.length <= PAGE;
  }
}

// Search in everything, whether it is folded or not: a hit is a line of text, or a row of a table.
const MOST_HITS = 200;
const SHOWN = 180;

function* places(section) {
  for (const table of section.querySelectorAll("table")) {
    const rows = tables.get(table);
    for (const row of rows ? rows.rows : [...table.tBodies].flatMap((body) => [...body.rows])) {
      yield { text: [...row.cells].map((one) => one.textContent).join("  "), show: () => (tables.get(table)?.reveal(row), row), in: table };
    }
  }
  for (const pre of section.querySelectorAll("pre")) {
    for (const [number, text] of pre.textContent.split("\n").entries()) yield { text, show: () => lineOf(pre, number), in: pre };
  }
  for (const line of section.querySelectorAll(".pane > div, .pane .source > div")) {
    yield { text: [...line.children].map((one) => one.textContent).join("  "), show: () => line, in: line };
  }
}

// A line of a text, as what the browser marks as selected.
function lineOf(pre, number) {
  const walk = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let left = number;
  let started = false;
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    for (let at = 0; ; ) {
      const end = node.data.indexOf("\n", at);
      if (left === 0 && !started) {
        range.setStart(node, at);
        started = true;
      }
      if (end < 0) break;
      if (left === 0) {
        range.setEnd(node, end);
        return range;
      }
      left -= 1;
      at = end + 1;
    }
    if (started) range.setEnd(node, node.data.length);
  }
  return range;
}

function search(words, list) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = [];
  let count = 0;
  for (const section of wanted.length ? document.querySelectorAll("main > section") : []) {
    for (const place of places(section)) {
      const text = place.text.toLowerCase();
      if (!wanted.every((word) => text.includes(word))) continue;
      count += 1;
      if (hits.length < MOST_HITS) hits.push([section, place]);
    }
  }
  list.replaceChildren(...hits.map(([section, place]) => {
    const fold = place.in.closest("details");
    const title = [section.querySelector("h2").textContent, fold ? fold.querySelector("summary b")?.textContent : ""].filter(Boolean).join(" › ");
    const item = made("li");
    const button = made("button");
    const from = place.text.length <= SHOWN ? 0 : Math.max(0, place.text.toLowerCase().indexOf(wanted[0]) - SHOWN / 3);
    button.append(made("i", `${title}  `), made("code", place.text.slice(from, from + SHOWN).trim()));
    button.addEventListener("click", () => reveal(section, place));
    item.append(button);
    return item;
  }));
  return count;
}

function reveal(section, place) {
  if (decodeURIComponent(location.hash.slice(1)) !== section.id) history.pushState(null, "", `#${section.id}`);
  turnTo(section);
  for (let fold = place.in.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  prepare(section);
  const found = place.show();
  const element = found instanceof Range ? found.startContainer.parentElement : found;
  element.scrollIntoView();
  const selection = getSelection();
  selection.removeAllRanges();
  if (found instanceof Range) selection.addRange(found);
  else selection.selectAllChildren(found);
  const box = selection.getRangeAt(0).getBoundingClientRect();
  scrollBy(0, box.top - innerHeight / 3);
}

function searchBar() {
  const bar = made("div");
  bar.className = "tools search";
  const box = made("input");
  box.type = "search";
  box.placeholder = "search everything";
  box.setAttribute("aria-label", box.placeholder);
  const told = made("span");
  told.setAttribute("role", "status");
  const list = made("ol");
  list.className = "hits";
  let waiting = 0;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const count = search(box.value, list);
      told.textContent = !box.value.trim() ? "" : count > MOST_HITS ? `${MOST_HITS} of ${count.toLocaleString("en")} places` : count === 1 ? "1 place" : `${count.toLocaleString("en")} places`;
    }, 150);
  });
  bar.append(box, told);
  document.querySelector("nav").after(bar, list);
}

// Tables and pictures are prepared when they are first seen: a page has hundreds, and thousands of rows.
const prepared = new WeakSet();
const tables = new WeakMap();
function prepare(within) {
  for (const table of within.querySelectorAll("table")) {
    const fold = table.closest("details");
    if (prepared.has(table) || !table.tBodies.length || (fold && !fold.open)) continue;
    prepared.add(table);
    tables.set(table, new Rows(table));
  }
  for (const canvas of within.querySelectorAll(".canvas")) {
    if (prepared.has(canvas) || !canvas.clientWidth) continue; // not yet unfolded
    prepared.add(canvas);
    movable(canvas);
  }
}

// What shares an FX node with the chosen line is marked in all three columns, and brought into view.
function choose(element) {
  const code = element.closest(".code");
  const again = element.classList.contains("chosen");
  for (const old of code.querySelectorAll(".marked, .chosen")) old.classList.remove("marked", "chosen");
  if (again) return;
  const wanted = new Set(element.dataset.n.split(" "));
  element.classList.add("chosen");
  for (const other of code.querySelectorAll("[data-n]")) {
    if (other.dataset.n.split(" ").some((name) => wanted.has(name))) other.classList.add("marked");
  }
  for (const pane of code.querySelectorAll(".pane")) {
    if (pane.contains(element)) continue;
    const fold = [...pane.querySelectorAll("details.kernel")].filter((one) => one.querySelector(".marked"));
    if (fold.length && !fold.some((one) => one.open)) fold[0].open = true;
    const first = [...pane.querySelectorAll(".marked")].find((one) => one.offsetParent);
    if (first) pane.scrollTop += first.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  }
}

// Drag moves a picture, Ctrl and the wheel or the buttons enlarge it: by its viewBox alone.
function movable(canvas) {
  const svg = canvas.querySelector("svg");
  const box = svg && svg.viewBox.baseVal;
  if (!box || !box.width) return;
  const whole = [box.x, box.y, box.width, box.height];
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  const set = (x, y, width, height) => svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  const scale = () => Math.max(box.width / canvas.clientWidth, box.height / canvas.clientHeight);
  const zoom = (by, x = box.x + box.width / 2, y = box.y + box.height / 2) => {
    const now = Math.min(Math.max(by, 0.02 * whole[2] / box.width), 4 * whole[2] / box.width);
    set(x - (x - box.x) * now, y - (y - box.y) * now, box.width * now, box.height * now);
  };
  // At first as large as it can be read: a tall picture begins at its top.
  const readable = () => {
    const width = Math.min(whole[2], canvas.clientWidth * 0.9);
    const height = width * canvas.clientHeight / canvas.clientWidth;
    if (whole[2] <= width * 1.8 && whole[3] <= height * 1.8) set(...whole);
    else set(whole[0], whole[1], width, height);
  };
  const needed = Math.min(whole[3] * Math.max(1, canvas.clientWidth / whole[2]), 0.75 * innerHeight);
  canvas.style.height = `${Math.max(needed, 120)}px`;
  const bar = made("div");
  bar.className = "tools";
  const actions = [["+", "enlarge", () => zoom(0.7)], ["−", "make smaller", () => zoom(1.4)], ["whole", "the whole picture", () => set(...whole)], ["readable", "as large as text", readable]];
  for (const [text, label, action] of actions) {
    const button = made("button", text);
    button.setAttribute("aria-label", label);
    button.addEventListener("click", action);
    bar.append(button);
  }
  bar.append(made("span", "drag to move, Ctrl and wheel to enlarge"));
  canvas.before(bar);
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const at = svg.createSVGPoint();
    [at.x, at.y] = [event.clientX, event.clientY];
    const place = at.matrixTransform(svg.getScreenCTM().inverse());
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, place.x, place.y);
  }, { passive: false });
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    from = [event.clientX, event.clientY, box.x, box.y, scale()];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (from) set(from[2] - (event.clientX - from[0]) * from[4], from[3] - (event.clientY - from[1]) * from[4], box.width, box.height);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { from = null; });
  readable();
}

function turnTo(section) {
  for (const one of document.querySelectorAll("main > section")) one.classList.toggle("on", one === section);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash.slice(1) === section.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function shown() {
  const sections = [...document.querySelectorAll("main > section")];
  const wanted = decodeURIComponent(location.hash.slice(1));
  const target = wanted && document.getElementById(wanted);
  const section = (target && target.closest("section")) || sections[0];
  turnTo(section);
  if (target && target.tagName === "DETAILS") target.open = true;
  prepare(section);
  if (target && target !== section) target.scrollIntoView();
  else scrollTo(0, 0);
}

document.addEventListener("DOMContentLoaded", () => {
  searchBar();
  addEventListener("hashchange", shown);
  document.addEventListener("toggle", (event) => { if (event.target.open) prepare(event.target); }, true);
  document.addEventListener("click", (event) => {
    const line = event.target.closest("[data-n]");
    if (line && !getSelection().toString()) choose(line);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("[data-n]")) choose(event.target);
  });
  shown();
});
