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
    bar.append(button(text, label, action));
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

