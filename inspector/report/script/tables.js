const PAGE = 200;
const UNITS = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, m: 1e-3, "µ": 1e-6, n: 1e-9 };

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
    this.titles = [...(table.tHead ? table.tHead.rows[0].cells : [])].map((head) => head.textContent);
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
    this.before = button("‹", "earlier rows", () => this.turn(-1));
    this.after = button("›", "later rows", () => this.turn(1));
    this.told = made("span");
    this.told.setAttribute("role", "status");
    bar.append(this.filter, this.before, this.told, this.after);
    this.table.parentElement.before(bar);
  }

  heads() {
    for (const [place, head] of [...(this.table.tHead ? this.table.tHead.rows[0].cells : [])].entries()) {
      if (!head.textContent) continue;
      head.replaceChildren(button(head.textContent, head.textContent, () => this.sort(place, head)));
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

  // On a narrow screen a row is a card: each cell says its title.
  label(row) {
    if (row.dataset.labelled) return;
    row.dataset.labelled = "yes";
    for (const [place, one] of [...row.cells].entries()) {
      const isHead = place === 0 && !this.table.classList.contains("r1"); // a name says what it is
      if (!one.textContent.trim()) one.classList.add("empty");
      else if (this.titles[place] && !isHead) one.dataset.label = this.titles[place];
    }
  }

  draw() {
    const first = this.page * PAGE;
    const last = Math.min(first + PAGE, this.shown.length);
    const rows = this.shown.slice(first, last);
    for (const row of rows) this.label(row);
    this.body.replaceChildren(...rows);
    if (!this.told) return;
    const of = this.shown.length.toLocaleString("en");
    this.told.textContent = this.shown.length > PAGE ? `${first + 1}–${last} of ${of}` : `${of} shown`;
    this.before.disabled = this.page === 0;
    this.after.disabled = last >= this.shown.length;
    this.before.hidden = this.after.hidden = this.shown.length <= PAGE;
  }
}

