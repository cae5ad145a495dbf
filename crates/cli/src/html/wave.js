// Draws a waveform. Only the rows and steps that are in view are in the document, so that a run may be long.
(() => {
  const { byId, all, element, clamp, isTyping, data } = basics;
  const search = byId("search");
  const found = byId("found");
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !isTyping(event)) {
      search.focus();
      event.preventDefault();
    }
  });

  if (!data.columns) {
    // An invariant is a list of clauses.
    search.oninput = () => {
      const wanted = search.value.trim().toLowerCase();
      const clauses = all(".clause");
      const hits = clauses.filter((clause) => {
        clause.hidden = !clause.textContent.toLowerCase().includes(wanted);
        return !clause.hidden;
      });
      found.textContent = wanted ? `${hits.length} of ${clauses.length}` : "";
      found.classList.toggle("none", hits.length === 0);
    };
    return;
  }

  const [HEIGHT, AXIS] = [26, 28];
  const [NARROWEST, WIDEST, USUAL] = [0.02, 240, 48];
  const columns = data.columns;
  const names = byId("names");
  const waves = byId("waves");
  const space = byId("space");
  const drawing = byId("drawing");
  for (const shown of [names, waves, byId("player")]) shown.hidden = false;

  // The rows in view, the pixels of a step, and the step whose values are shown.
  let rows = [];
  let scale = USUAL;
  let cursor = columns - 1;

  // The number of the step in a column: steps in the middle of a long run are left out.
  const stepOf = (column) => (column < data.first ? column : column + data.skipped);

  // What happens in the last step.
  const end = data.back === null ? `${data.bad} fails` : `back to step ${data.back}`;

  // The last place in a sorted array whose element is not above the number; -1 if all are.
  const lastUpTo = (array, number) => {
    let [low, high] = [0, array.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (array[middle] <= number) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };

  // A bit changes to its complement; words have a value for each change.
  const valueFrom = (signal, change) => (signal.values ? signal.values[change] : String((signal.start + change) % 2));
  const valueAt = (signal, column) => valueFrom(signal, lastUpTo(signal.at, column));
  const isNeededAt = (signal, column) => lastUpTo(signal.needed, column) % 2 === 0;

  // ---- rows ----------------------------------------------------------------------------------------------

  const arrange = () => {
    const wanted = search.value.trim().toLowerCase();
    rows = [];
    let hits = 0;
    for (const group of data.groups) {
      const signals = group.signals.filter((signal) => signal.name.toLowerCase().includes(wanted));
      hits += signals.length;
      if (wanted && signals.length === 0) continue;
      rows.push({ group });
      if (wanted || group.open) rows.push(...signals.map((signal) => ({ signal })));
    }
    found.textContent = wanted ? (hits === 0 ? "not found" : `${hits} found`) : "";
    found.classList.toggle("none", Boolean(wanted) && hits === 0);
    resize();
  };

  const resize = () => {
    space.style.width = `${Math.max(waves.clientWidth, columns * scale + 8)}px`;
    space.style.height = `${Math.max(waves.clientHeight, AXIS + rows.length * HEIGHT)}px`;
    draw();
  };

  // ---- drawing -------------------------------------------------------------------------------------------

  const shape = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    drawing.append(made);
    return made;
  };

  const draw = () => {
    const [width, height] = [waves.clientWidth, waves.clientHeight];
    const [left, top] = [waves.scrollLeft, waves.scrollTop];
    drawing.setAttribute("width", width);
    drawing.setAttribute("height", height);
    drawing.replaceChildren();
    const x = (column) => column * scale - left;
    const from = clamp(Math.floor(left / scale), 0, columns - 1);
    const to = clamp(Math.ceil((left + width) / scale), from + 1, columns);
    // Where the property fails: the loop, or the last step.
    const band = data.loop ?? columns - 1;
    shape("rect", { class: "band", x: x(band), y: 0, width: (columns - band) * scale, height });
    const firstRow = Math.floor(top / HEIGHT);
    const lastRow = Math.min(rows.length, Math.ceil((top + height - AXIS) / HEIGHT));
    for (let row = firstRow; row < lastRow; row++) {
      const y = AXIS + row * HEIGHT - top;
      if (rows[row].signal) drawSignal(rows[row].signal, y, from, to, x);
      else shape("line", { class: "rule", x1: 0, x2: width, y1: y + HEIGHT / 2, y2: y + HEIGHT / 2 });
    }
    drawAxis(width, from, to, x);
    if (data.skipped > 0) shape("line", { class: "gap", x1: x(data.first), x2: x(data.first), y1: 0, y2: height });
    const middle = x(cursor) + scale / 2;
    shape("line", { class: "cursor", x1: middle, x2: middle, y1: AXIS - 6, y2: height });
    drawNames(top, firstRow, lastRow);
  };

  const drawAxis = (width, from, to, x) => {
    shape("rect", { class: "axis", x: 0, y: 0, width, height: AXIS });
    shape("line", { class: "axis-line", x1: 0, x2: width, y1: AXIS - 0.5, y2: AXIS - 0.5 });
    const room = (String(stepOf(columns - 1)).length * 7 + 16) / scale;
    let every = 1;
    for (let factor = 2; every < room; factor = factor === 2 ? 2.5 : 2) every *= factor;
    every = Math.round(every);
    for (let column = Math.ceil(from / every) * every; column < to; column += every) {
      shape("text", { class: "number", x: x(column) + scale / 2, y: 18 }, stepOf(column));
    }
  };

  // Parts of a row with one value that is needed everywhere or nowhere.
  const parts = (signal, from, to) => {
    const found = [];
    let change = lastUpTo(signal.at, from);
    let turn = lastUpTo(signal.needed, from);
    for (let start = from; start < to; ) {
      const end = Math.min(to, signal.at[change + 1] ?? to, signal.needed[turn + 1] ?? to);
      found.push({ start, end, value: valueFrom(signal, change), isNeeded: turn % 2 === 0 });
      if (signal.at[change + 1] === end) change += 1;
      if (signal.needed[turn + 1] === end) turn += 1;
      start = end;
    }
    return found;
  };

  const drawSignal = (signal, y, from, to, x) => {
    const [high, low, middle] = [y + 5, y + HEIGHT - 5, y + HEIGHT / 2];
    const paths = { needed: "", idle: "", busy: "" };
    // Where the row stands, for the rising and falling edges of bits.
    let before = null;
    let busy = null;
    const flush = () => {
      if (busy) paths.busy += `M${busy[0]} ${high}H${busy[1]}V${low}H${busy[0]}Z`;
      busy = null;
    };
    for (const { start, end, value, isNeeded } of parts(signal, from, to)) {
      const [a, b] = [x(start), x(end)];
      // Too many changes for the pixels are a block.
      if (b - a < 2 && to - from > 2) {
        if (busy && a - busy[1] > 0.01) flush();
        busy = busy ? [busy[0], b] : [a, b];
        before = null;
        continue;
      }
      flush();
      const kind = isNeeded ? "needed" : "idle";
      if (!signal.values) {
        const line = value === "1" ? high : low;
        paths[kind] += `M${a} ${before ?? line}V${line}H${b}`;
        before = line;
        continue;
      }
      const slope = Math.min(3, (b - a) / 2);
      paths[kind] += `M${a} ${middle}L${a + slope} ${high}H${b - slope}L${b} ${middle}L${b - slope} ${low}H${a + slope}Z`;
      const [left, right] = [Math.max(a, 0), Math.min(b, waves.clientWidth)];
      const letters = Math.floor((right - left - 8) / 7);
      if (letters >= Math.min(value.length, 3)) {
        const text = value.length <= letters ? value : `${value.slice(0, letters - 1)}…`;
        shape("text", { class: `value ${kind}`, x: (left + right) / 2, y: middle + 4 }, text);
      }
    }
    flush();
    for (const [kind, path] of Object.entries(paths)) if (path) shape("path", { class: kind, d: path });
  };

  const drawNames = (top, firstRow, lastRow) => {
    names.replaceChildren();
    const head = element("div", "", names);
    head.className = "head";
    head.style.top = "0";
    element("span", `Step ${stepOf(cursor)}`, head);
    for (let row = firstRow; row < lastRow; row++) {
      const { group, signal } = rows[row];
      const line = element("div", "", names);
      line.style.top = `${AXIS + row * HEIGHT - top}px`;
      if (group) {
        line.className = "group";
        const button = element("button", `${group.open || search.value ? "▾" : "▸"} ${group.title}`, line);
        button.onclick = () => {
          group.open = !group.open;
          arrange();
        };
        continue;
      }
      line.className = `${signal.kind} ${isNeededAt(signal, cursor) ? "needed" : "idle"}`;
      const name = element("span", signal.name, line);
      name.className = "name";
      line.title = `${signal.name} (${signal.kind}) = ${valueAt(signal, cursor)}`;
      element("span", valueAt(signal, cursor), line).className = "value";
    }
    const isLast = cursor === columns - 1;
    byId("now").textContent = `Step ${stepOf(cursor)} of ${stepOf(columns - 1)}${isLast ? `: ${end}` : ""}`;
    byId("slider").value = cursor;
  };

  // ---- moving --------------------------------------------------------------------------------------------

  // Shows the values of a step, and brings the step into view.
  const visit = (column) => {
    cursor = clamp(column, 0, columns - 1);
    const [start, end] = [cursor * scale, (cursor + 1) * scale];
    if (start < waves.scrollLeft) waves.scrollLeft = start;
    if (end > waves.scrollLeft + waves.clientWidth) waves.scrollLeft = end - waves.clientWidth + 8;
    draw();
  };

  const zoom = (wanted, fixed = cursor) => {
    const place = (fixed + 0.5) * scale - waves.scrollLeft;
    scale = clamp(wanted, NARROWEST, WIDEST);
    resize();
    // The fixed step stays where it is.
    waves.scrollLeft = (fixed + 0.5) * scale - place;
    draw();
  };
  const whole = () => (waves.clientWidth - 8) / columns;

  const actions = {
    first: () => visit(0),
    back: () => visit(cursor - 1),
    next: () => visit(cursor + 1),
    last: () => visit(columns - 1),
    larger: () => zoom(scale * 1.5),
    smaller: () => zoom(scale / 1.5),
    fit: () => zoom(Math.min(whole(), USUAL * 2)),
  };
  for (const [id, action] of Object.entries(actions)) byId(id).onclick = action;
  const keys = { Home: "first", ArrowLeft: "back", ArrowRight: "next", End: "last", "+": "larger", "-": "smaller", 0: "fit" };
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || !Object.hasOwn(keys, event.key)) return;
    actions[keys[event.key]]();
    event.preventDefault();
  });
  byId("slider").max = columns - 1;
  byId("slider").oninput = () => visit(Number(byId("slider").value));
  waves.onclick = (event) => visit(Math.floor((event.clientX - waves.getBoundingClientRect().left + waves.scrollLeft) / scale));
  waves.onscroll = draw;
  waves.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const column = (event.clientX - waves.getBoundingClientRect().left + waves.scrollLeft) / scale;
    zoom(scale * (event.deltaY < 0 ? 1.25 : 0.8), clamp(Math.floor(column), 0, columns - 1));
  }, { passive: false });
  names.addEventListener("wheel", (event) => waves.scrollBy(0, event.deltaY), { passive: true });
  search.oninput = () => {
    waves.scrollTop = 0;
    arrange();
  };
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    search.blur();
    arrange();
  });
  addEventListener("resize", resize);

  // Steps are wide enough for values. A run that does not fit opens at its end, where the property fails.
  arrange();
  scale = clamp(whole(), 24, USUAL);
  resize();
  visit(columns - 1);
})();
