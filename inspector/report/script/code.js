// What shares an FX node with the chosen line is marked in all three columns, and brought into view.
function choose(element, keep = false) {
  const code = element.closest(".code");
  const again = element.classList.contains("chosen") && !keep;
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

// A chosen line's address stands in the browser, to be sent to somebody.
function chosenByHand(element) {
  choose(element);
  const place = (element.tagName === "SUMMARY" ? element.parentElement : element).id;
  if (place) history.replaceState(null, "", `#${encodeURIComponent(place).replaceAll("%3D", "=").replaceAll("%26", "&").replaceAll("%3A", ":")}`);
}

// Up and down move between the lines of a column; a column is one stop of the Tab key.
function moveInPane(pane, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  const lines = [...pane.querySelectorAll("[data-n], summary")].filter((one) => one.offsetParent);
  const at = lines.indexOf(document.activeElement);
  const next = lines[at < 0 ? 0 : at + by];
  if (!next) return;
  event.preventDefault();
  if (next.tagName !== "SUMMARY") next.tabIndex = -1;
  next.focus();
}
