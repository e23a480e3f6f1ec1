document.addEventListener("DOMContentLoaded", () => {
  if (!canUnpack()) {
    const newer = "use Chrome 123, Firefox 120, Safari 17.5 or newer";
    document.querySelector("header").append(made("p", `This browser cannot unpack long tables, code, pictures and texts: ${newer}.`));
  }
  searchBar();
  dumpField();
  helpPanel();
  addEventListener("hashchange", shown);
  document.addEventListener("toggle", (event) => { if (event.target.open && event.target.tagName === "DETAILS") prepare(event.target); }, true);
  document.addEventListener("click", (event) => {
    const line = event.target.closest("[data-n]");
    if (line && !event.target.closest("a, button") && !getSelection().toString()) chosenByHand(line);
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) shown(); // the same address again
  });
  document.addEventListener("keydown", pressed);
  shown().then(() => performance.mark("ready")); // what benchmarks/bench_report.py waits for
});
