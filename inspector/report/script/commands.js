// Commands are whole lines to copy; where the dump has another path on this machine, they take that.
let dumpPath = null;

const quoted = (path) => (/^[\w@%+=:,./~-]+$/.test(path) ? path : `'${path.replaceAll("'", `'"'"'`)}'`);

function nameDump(within) {
  if (dumpPath === null) return;
  for (const one of within.querySelectorAll("i.dump")) one.textContent = dumpPath;
}

function copyable(within) {
  for (const code of within.querySelectorAll("code.cmd")) {
    if (prepared.has(code) || isFolded(code)) continue;
    prepared.add(code);
    const copy = button("copy", `copy: ${code.textContent}`, async () => {
      const done = await copied(code.textContent);
      copy.textContent = done ? "copied" : "press Ctrl+C";
      setTimeout(() => { copy.textContent = "copy"; }, 1500);
      if (!done) getSelection().selectAllChildren(code);
    });
    copy.className = "copy";
    (code.closest("a") || code).after(copy);
  }
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function dumpField() {
  const first = document.querySelector("main").dataset.dump;
  if (!first) return;
  const label = made("label", "The dump on this machine ");
  const field = made("input", undefined, { spellcheck: "false", value: first });
  label.className = "dump-field";
  field.addEventListener("input", () => {
    dumpPath = quoted(field.value.trim() || first);
    nameDump(document);
  });
  label.append(field);
  document.querySelector(".search").append(label);
}
