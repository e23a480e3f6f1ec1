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
  for (const line of section.querySelectorAll(".said, .tree > li, .tree li, .pane > div, .pane .source > div, .pane .edges > div")) {
    const text = line.closest(".pane") ? [...line.children].map((one) => one.textContent).join("  ") : line.textContent;
    yield { text, show: () => line, in: line };
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

async function reveal(section, place) {
  if (decoded(location.hash.slice(1)) !== section.id) history.pushState(null, "", `#${section.id}`);
  turnTo(section);
  unfold(place.in);
  await prepare(section);
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

function counted(count) {
  if (count > MOST_HITS) return `${MOST_HITS} of ${count.toLocaleString("en")} places`;
  return count === 1 ? "1 place" : `${count.toLocaleString("en")} places`;
}

function searchBar() {
  const bar = made("div", undefined, { class: "tools search", role: "search" });
  const box = made("input", undefined, { type: "search", placeholder: "search everything  ( / )", "aria-label": "search everything" });
  const told = made("span", undefined, { role: "status" });
  const list = made("ol", undefined, { class: "hits" });
  let waiting = 0;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const words = box.value;
      if (words.trim()) told.textContent = "searching …";
      if (words.trim()) await unpack(document.querySelector("main"), true);
      if (words !== box.value) return;
      const count = search(words, list);
      told.textContent = words.trim() ? counted(count) : "";
    }, 150);
  });
  for (const field of [box, list]) field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    const stops = [box, ...list.querySelectorAll("button")];
    stops[Math.max(0, stops.indexOf(document.activeElement) + by)]?.focus();
    event.preventDefault();
  });
  const theme = button("theme: auto", "theme: as the browser's, light or dark", turnTheme);
  theme.className = "theme";
  bar.append(box, told, theme, button("keys", "list the keys", help));
  document.querySelector("nav").after(bar, list);
}

function closeSearch() {
  const box = document.querySelector(".search input");
  box.value = "";
  box.dispatchEvent(new Event("input"));
  document.querySelector(".hits").replaceChildren();
  box.blur();
}
