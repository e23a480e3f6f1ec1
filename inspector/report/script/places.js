// Sections, and the places that an address names: `#kernel=…`, `#node=…`, `#line=train.py:7`, `#graph=…&kernel=…`.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const byId = (raw) => document.getElementById(raw) || document.getElementById(decoded(raw));

async function placeOf(raw) {
  if (!raw || byId(raw)) return raw ? byId(raw) : null;
  const main = document.querySelector("main");
  if (!/^(graph|node|kernel|line)=/.test(raw)) {
    for (const all of [false, true]) {
      await unpack(main, all);
      if (byId(raw)) return byId(raw);
    }
    return null;
  }
  await unpack(document.getElementById("code"));
  const parts = raw.split("&").map((part) => [part.slice(0, part.indexOf("=")), decoded(part.slice(part.indexOf("=") + 1))]);
  const graph = parts.find(([kind]) => kind === "graph");
  const wanted = parts.filter(([kind]) => kind !== "graph").map(([kind, name]) => `${kind}=${name}`);
  const folds = [...document.querySelectorAll("#code > details.code")].filter((fold) => !graph || fold.id === `graph=${graph[1]}`);
  for (const fold of folds) {
    await unpack(fold, true);
    const found = byId(raw) || [...fold.querySelectorAll("[id]")].find((one) => wanted.some((id) => one.id === id || one.id.endsWith(`&${id}`)));
    if (found) return found;
  }
  return graph ? folds[0] : null;
}

function turnTo(section) {
  for (const one of document.querySelectorAll("main > section")) one.classList.toggle("on", one === section);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash.slice(1) === section.id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function unfold(element) {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

// Tables and pictures are prepared when they are first seen: a page has hundreds, and thousands of rows.
const prepared = new WeakSet();
const tables = new WeakMap();
async function prepare(within) {
  await unpack(within);
  for (const table of within.querySelectorAll("table")) {
    if (prepared.has(table) || !table.tBodies.length || isFolded(table)) continue;
    prepared.add(table);
    tables.set(table, new Rows(table));
  }
  for (const canvas of within.querySelectorAll(".canvas")) {
    if (prepared.has(canvas) || !canvas.clientWidth) continue; // not yet unfolded
    prepared.add(canvas);
    movable(canvas);
  }
  copyable(within);
}

let last = null; // the newest address wins where an older one is still unpacked
async function shown() {
  const raw = location.hash.slice(1);
  last = raw;
  const sections = [...document.querySelectorAll("main > section")];
  const there = byId(raw);
  if (there || !raw) turnTo((there && there.closest("main > section")) || sections[0]);
  const found = await placeOf(raw);
  if (last !== raw) return;
  const section = (found && found.closest("main > section")) || document.querySelector("main > section.on") || sections[0];
  turnTo(section);
  if (found && found !== section) unfold(found);
  await prepare(section);
  if (last !== raw) return;
  if (!found || found === section) {
    scrollTo(0, 0);
    return;
  }
  const line = found.matches("[data-n]") ? found : found.querySelector(":scope > summary[data-n]");
  if (line) choose(line, true);
  found.scrollIntoView({ block: "center" });
  if (found.tagName === "DETAILS" || found.offsetHeight > innerHeight / 2) found.scrollIntoView();
  document.querySelector(".target")?.classList.remove("target");
  found.classList.add("target");
  if (!found.matches("a, button, summary, [tabindex]")) found.tabIndex = -1;
  found.focus({ preventScroll: true });
}
