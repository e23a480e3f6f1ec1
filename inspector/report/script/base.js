// The page says what it has without this script as far as it is short; the script unpacks what is long, sorts, filters,
// marks and moves. All markup was made and escaped when the page was written: what this script adds goes in as text.
document.documentElement.className = "js";

function made(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function button(text, label, action) {
  const element = made("button", text, { type: "button", "aria-label": label.includes(text) ? label : `${text}: ${label}`, title: label });
  element.addEventListener("click", action);
  return element;
}

function isFolded(element) {
  const fold = element.parentElement && element.parentElement.closest("details:not([open])");
  return Boolean(fold);
}
