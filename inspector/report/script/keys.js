// Keys, and the panel that lists them.
const THEMES = ["auto", "light", "dark"];
const KEYS = [["/", "search"], ["[  ]", "the section before, after"], ["t", "theme: as the browser's, light, dark"], ["↑ ↓ Enter", "in a column of code: the next line, mark what belongs to it"], ["Esc", "leave the search"], ["?", "these keys"]];

function turnTheme() {
  const root = document.documentElement;
  const next = THEMES[(THEMES.indexOf(root.dataset.theme || "auto") + 1) % THEMES.length];
  if (next === "auto") delete root.dataset.theme;
  else root.dataset.theme = next;
  const shown = document.querySelector(".theme");
  shown.textContent = `theme: ${next}`;
  shown.setAttribute("aria-label", shown.textContent);
}

function turnSection(by) {
  const links = [...document.querySelectorAll("nav a")];
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  const next = links[at + by];
  if (next) location.hash = next.hash;
}

function help() {
  const panel = document.querySelector("dialog");
  if (panel.open) panel.close();
  else panel.showModal();
}

function helpPanel() {
  const panel = made("dialog", undefined, { "aria-label": "Keys" });
  const list = made("dl");
  for (const [key, what] of KEYS) list.append(made("dt", key), made("dd", what));
  panel.append(list, button("close", "close", help));
  document.body.append(panel);
}

function pressed(event) {
  const pane = event.target.closest(".pane");
  if (event.key === "Enter" && event.target.matches("[data-n]")) chosenByHand(event.target);
  else if (pane && event.key.startsWith("Arrow")) moveInPane(pane, event);
  else if (event.key === "Escape" && event.target.closest(".search, .hits")) closeSearch();
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const act = { "/": () => document.querySelector(".search input").focus(), "[": () => turnSection(-1), "]": () => turnSection(1), t: turnTheme, "?": help }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
