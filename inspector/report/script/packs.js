// Parts of the page that stand in it deflated, in base64: `html` takes the place of its template, `rows` go into the
// table before it. Both are HTML of the page itself, and no policy is loosened for them.
async function inflated(text) {
  const data = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

function canUnpack() {
  try {
    return Boolean(new DecompressionStream("deflate-raw"));
  } catch {
    return false;
  }
}

async function unpackOne(pack) {
  const text = await inflated(pack.content.textContent);
  if (!pack.isConnected) return; // unpacked meanwhile
  if (pack.previousElementSibling?.tagName === "NOSCRIPT") pack.previousElementSibling.remove();
  const parsed = document.createElement("template");
  if (pack.dataset.kind === "rows") {
    parsed.innerHTML = `<table><tbody>${text}</tbody></table>`;
    const table = pack.parentElement.querySelector("table");
    table.append(parsed.content.querySelector("tbody"));
    pack.remove();
  } else {
    parsed.innerHTML = text;
    nameDump(parsed.content);
    pack.replaceWith(parsed.content);
  }
}

// What is packed within an element; what is folded only if `all`.
async function unpack(within, all = false) {
  for (;;) {
    const found = [...within.querySelectorAll("template.pack")].filter((pack) => all || !isFolded(pack));
    if (!found.length) return;
    await Promise.all(found.map(unpackOne));
  }
}
