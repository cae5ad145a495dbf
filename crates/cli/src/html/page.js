(() => {
  const { byId, all, element, clamp, isTyping, data } = basics;
  const graph = byId("graph");
  const stage = byId("stage");

  // The graph fits into what the controls of a run leave.
  byId("player").hidden = data.steps.length === 0;

  // ---- zoom ----------------------------------------------------------------------------------------------

  // Text of 12 units is not smaller than this many pixels when a page opens, nor larger.
  const [LEAST_TEXT, MOST_TEXT] = [10, 16];
  // Moves a box into view.
  let reveal = () => {};
  if (graph) {
    const [, , width, height] = graph.getAttribute("viewBox").split(" ").map(Number);
    // The middle of what is seen, and pixels per unit.
    const view = { x: width / 2, y: height / 2, scale: 1 };
    const whole = () => Math.min(stage.clientWidth / width, stage.clientHeight / height);
    let overview = null;
    const draw = () => {
      const [w, h] = [stage.clientWidth / view.scale, stage.clientHeight / view.scale];
      // What is larger than the window does not leave it, what is smaller stays in it.
      const limit = (middle, seen, size) => (seen >= size ? size / 2 : clamp(middle, seen / 2, size - seen / 2));
      view.x = limit(view.x, w, width);
      view.y = limit(view.y, h, height);
      graph.setAttribute("viewBox", `${view.x - w / 2} ${view.y - h / 2} ${w} ${h}`);
      if (overview) {
        overview.box.toggleAttribute("hidden", whole() >= view.scale * 0.99);
        overview.draw(view.x - w / 2, view.y - h / 2, w, h);
      }
      byId("chain").hidden = true;
    };
    const zoom = (factor, x = view.x, y = view.y) => {
      const scale = clamp(view.scale * factor, Math.min(whole(), 0.2), 4);
      // The given point stays where it is.
      view.x = x + (view.x - x) * (view.scale / scale);
      view.y = y + (view.y - y) * (view.scale / scale);
      view.scale = scale;
      draw();
    };
    const fit = () => {
      view.scale = Math.min(whole(), MOST_TEXT / 12);
      view.x = width / 2;
      view.y = height / 2;
      draw();
    };
    const open = () => {
      fit();
      if (view.scale * 12 >= LEAST_TEXT) return;
      // All of it would be too small to read: the beginning is shown.
      view.scale = LEAST_TEXT / 12;
      const start = all(".node.start, .node.predicate", graph)[0];
      const box = (start || graph).getBBox();
      view.x = box.x + box.width / 2;
      view.y = 0;
      draw();
    };
    reveal = (node) => {
      const box = node.getBBox();
      const [w, h] = [stage.clientWidth / view.scale, stage.clientHeight / view.scale];
      const isSeen = box.x >= view.x - w / 2 && box.x + box.width <= view.x + w / 2
        && box.y >= view.y - h / 2 && box.y + box.height <= view.y + h / 2;
      if (isSeen) return;
      view.x = box.x + box.width / 2;
      view.y = box.y + box.height / 2;
      draw();
    };
    const pointer = (event) => {
      const outer = stage.getBoundingClientRect();
      const [dx, dy] = [event.clientX - outer.left - outer.width / 2, event.clientY - outer.top - outer.height / 2];
      return [view.x + dx / view.scale, view.y + dy / view.scale];
    };
    graph.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoom(Math.exp(-clamp(event.deltaY, -100, 100) / 300), ...pointer(event));
    }, { passive: false });
    let drag = null;
    graph.addEventListener("pointerdown", (event) => {
      if (event.button === 0) drag = { id: event.pointerId, x: event.clientX, y: event.clientY, isMoved: false };
    });
    graph.addEventListener("pointermove", (event) => {
      if (!drag || drag.id !== event.pointerId) return;
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.isMoved && Math.hypot(dx, dy) < 4) return;
      if (!drag.isMoved) graph.setPointerCapture(drag.id);
      Object.assign(drag, { x: event.clientX, y: event.clientY, isMoved: true });
      graph.classList.add("dragged");
      view.x -= dx / view.scale;
      view.y -= dy / view.scale;
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) {
      graph.addEventListener(end, () => {
        graph.classList.remove("dragged");
        drag = null;
      });
    }
    byId("smaller").onclick = () => zoom(1 / 1.25);
    byId("larger").onclick = () => zoom(1.25);
    byId("fit").onclick = fit;
    document.addEventListener("keydown", (event) => {
      if (isTyping(event)) return;
      const pan = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "+" || event.key === "=") zoom(1.25);
      else if (event.key === "-") zoom(1 / 1.25);
      else if (event.key === "0") fit();
      else if (pan && event.shiftKey) {
        view.x += (pan[0] * 80) / view.scale;
        view.y += (pan[1] * 80) / view.scale;
        draw();
      } else return;
      event.preventDefault();
    });
    // A small map of the whole, where not all can be seen.
    const svg = (name, attributes, parent) => {
      const made = document.createElementNS(graph.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      parent.append(made);
      return made;
    };
    const share = Math.min(150 / width, (0.45 * stage.clientHeight) / height);
    const box = svg("svg", {
      id: "overview", viewBox: `0 0 ${width} ${height}`, width: width * share, height: height * share, "aria-hidden": "true",
    }, stage);
    graph.after(box);
    const marks = new Map();
    for (const node of all(".node", graph)) {
      const { x, y, width, height } = node.querySelector("rect").getBBox();
      marks.set(node.id, svg("rect", { x, y, width, height }, box));
    }
    const seen = svg("rect", { class: "view" }, box);
    seen.setAttribute("stroke-width", Math.max(width, height) / 80);
    overview = {
      box,
      draw: (x, y, width, height) => {
        Object.entries({ x, y, width, height }).forEach(([key, value]) => seen.setAttribute(key, value));
        for (const [id, mark] of marks) mark.classList.toggle("used", byId(id).classList.contains("used"));
      },
    };
    box.addEventListener("click", (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(box.getScreenCTM().inverse());
      view.x = point.x;
      view.y = point.y;
      draw();
    });
    open();
    new ResizeObserver(draw).observe(stage);
    // On paper there is the whole graph.
    addEventListener("beforeprint", () => graph.setAttribute("viewBox", `0 0 ${width} ${height}`));
    addEventListener("afterprint", draw);
  }

  // ---- panels --------------------------------------------------------------------------------------------

  const panels = all(".panel");
  const tabs = byId("tabs");
  const choose = (panel) => {
    if (tabs.hidden) return;
    panels.forEach((other) => (other.hidden = other !== panel));
    all("button", tabs).forEach((tab, place) => tab.setAttribute("aria-selected", panels[place] === panel));
  };
  for (const panel of panels) {
    const tab = element("button", panel.dataset.tab, tabs);
    tab.setAttribute("role", "tab");
    tab.onclick = () => choose(panel);
  }
  // Brings an element of a list into view, wherever it is hidden.
  const scrollTo = (target) => {
    const panel = target.closest(".panel");
    if (panel && panel.hidden) choose(panel);
    for (let around = target.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
    target.scrollIntoView({ block: "nearest" });
  };
  const single = (selector, target, name = "here") => {
    all(`${selector}.${name}`).forEach((other) => other.classList.remove(name));
    if (target) target.classList.add(name);
  };
  const showClause = (number) => {
    const clause = byId("c" + number);
    if (!clause) return;
    single(".clause", clause);
    scrollTo(clause);
  };
  for (const link of all("[data-clause]")) link.onclick = () => showClause(link.dataset.clause);
  for (const arrow of all(".arrow[data-clauses]")) {
    arrow.addEventListener("click", () => showClause(arrow.dataset.clauses.split(" ")[0]));
  }
  // The automaton fills the window on demand.
  const enlarge = byId("enlarge");
  const setLarge = (isLarge) => {
    if (!enlarge) return;
    enlarge.parentElement.classList.toggle("large", isLarge);
    enlarge.textContent = isLarge ? "Smaller (Esc)" : "Larger";
  };
  // The boxes of each clause in the automaton.
  const statements = new Map();
  for (const box of all(".statements[data-clause]")) {
    const clause = Number(box.dataset.clause);
    statements.set(clause, [...(statements.get(clause) || []), box]);
  }
  if (enlarge) {
    enlarge.onclick = () => setLarge(!enlarge.parentElement.classList.contains("large"));
    for (const box of all(".statements", enlarge.parentElement)) box.addEventListener("click", () => setLarge(false));
  }
  // Long formulas open.
  const shorten = () => {
    for (const text of all("pre.long")) {
      if (text.nextElementSibling && text.nextElementSibling.classList.contains("more")) continue;
      if (!text.offsetParent || text.scrollHeight <= text.clientHeight + 24) {
        if (text.offsetParent) text.classList.remove("long");
        continue;
      }
      const more = document.createElement("button");
      more.className = "link more";
      more.textContent = "Show all of it";
      more.onclick = (event) => {
        event.stopPropagation();
        more.textContent = text.classList.toggle("whole") ? "Show less" : "Show all of it";
      };
      text.after(more);
    }
  };

  // ---- predicates in a row -------------------------------------------------------------------------------

  // A box that stands for predicates in a row opens as a list of them, one box at a time.
  const chains = new Map(data.chains.map((chain) => [chain.box, chain]));
  const boxes = new Map();
  for (const chain of data.chains) {
    for (const [node] of [...chain.first, ...chain.last]) boxes.set(node, chain.box);
  }
  const popup = byId("chain");
  const opened = { box: null, members: new Map() };
  // What a click on a member leads to, and what is to be done once the list is there.
  let visit = () => {};
  let fill = () => {};
  const close = () => {
    popup.hidden = true;
    opened.box = null;
  };
  const open = (number) => {
    const chain = chains.get(number);
    const box = byId("n" + number);
    if (!chain || !box) return;
    reveal(box);
    popup.replaceChildren();
    const count = chain.first.length + chain.leftOut + chain.last.length;
    const header = element("header", "", popup);
    element("span", `${count} predicates in a row`, header);
    element("button", "\u00d7", header).onclick = close;
    const list = element("ol", "", popup);
    opened.box = number;
    opened.members = new Map();
    const add = ([node, name, about]) => {
      const item = element("li", "", list);
      element("b", name, item);
      const values = element("span", "", item);
      if (about) element("pre", about, item);
      item.onclick = () => visit(node);
      opened.members.set(node, { item, values });
    };
    chain.first.forEach(add);
    if (chain.leftOut > 0) element("li", `${chain.leftOut} predicates are left out here.`, list).className = "note";
    chain.last.forEach(add);
    const [outer, inner] = [stage.getBoundingClientRect(), box.getBoundingClientRect()];
    popup.hidden = false;
    const [left, top] = [inner.left - outer.left, inner.bottom - outer.top + 4];
    popup.style.left = `${clamp(left, 8, Math.max(8, outer.width - popup.offsetWidth - 8))}px`;
    popup.style.top = `${clamp(top, 8, Math.max(8, outer.height - popup.offsetHeight - 8))}px`;
    fill();
    popup.hidden = false;
  };
  for (const number of chains.keys()) {
    const box = byId("n" + number);
    if (!box) continue;
    const toggle = () => (opened.box === number && !popup.hidden ? close() : open(number));
    box.addEventListener("click", toggle);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") toggle();
    });
  }
  const mark = (node) => {
    for (const [member, { item }] of opened.members) item.classList.toggle("here", member === node);
    const found = opened.members.get(node);
    if (found && !popup.hidden) popup.scrollTop = found.item.offsetTop - popup.clientHeight / 2;
  };

  // ---- predicates in the graph and in the list -----------------------------------------------------------

  const sections = new Map();
  for (const section of all("section[data-node]")) sections.set("n" + section.dataset.node, section);
  const light = (node, section, on) => {
    node.classList.toggle("here", on);
    section.classList.toggle("here", on);
  };
  visit = (node) => {
    const section = sections.get("n" + node);
    if (!section) return;
    single("section", section);
    scrollTo(section);
    mark(node);
  };
  for (const [id, section] of sections) {
    const node = byId(id);
    if (!node) {
      const number = Number(section.dataset.node);
      section.addEventListener("click", () => {
        if (!boxes.has(number)) return;
        open(boxes.get(number));
        mark(number);
      });
      continue;
    }
    for (const part of [node, section]) {
      part.addEventListener("mouseenter", () => light(node, section, true));
      part.addEventListener("mouseleave", () => light(node, section, false));
    }
    const go = () => {
      single("section", section);
      scrollTo(section);
    };
    node.addEventListener("click", go);
    node.addEventListener("keydown", (event) => event.key === "Enter" && go());
    section.addEventListener("click", () => reveal(node));
  }

  // ---- the run -------------------------------------------------------------------------------------------

  const steps = data.steps;
  const list = byId("steps");
  if (steps.length > 0) {
    // A step says what it changes in the arguments of its predicate.
    const arrow = data.arrow;
    // A value that is a list or a number of a datatype comes with its term.
    const values = new Map();
    for (const step of steps) {
      const now = [...(values.get(step.node) || [])];
      for (const [place, value, term] of step.set) now[place] = { value, term };
      values.set(step.node, now);
      step.values = now.map(({ value }) => value);
      step.terms = now.map(({ term }) => term);
      step.before = new Map(step.changed);
      // For an array, a text with the elements that change.
      step.elements = new Map(step.changed.map(([place, , elements]) => [place, elements]));
      step.fresh = new Set(step.fresh === true ? now.keys() : step.fresh);
      step.names = (data.predicates[step.node] || { names: [] }).names;
    }
    const FEW = 8;
    const change = (step, place) =>
      step.elements.get(place) ?? `${step.names[place]}: ${step.before.get(place)} ${arrow} ${step.values[place]}`;
    const plain = (step, place) => `${step.names[place]} = ${step.values[place]}`;
    const text = (step, place) => (step.before.has(place) ? change(step, place) : plain(step, place));
    // What a step shows if not all is wanted: changes, and new values, of many only those that change some time.
    const isShown = (step, place) => {
      if (step.before.has(place)) return true;
      if (!step.fresh.has(place)) return false;
      return step.values.length <= FEW || data.predicates[step.node].shown.includes(place);
    };
    const items = [];
    let at = 0;
    const isAll = () => byId("all").getAttribute("aria-pressed") === "true";
    const write = (item, step, whole) => {
      const places = [...step.values.keys()];
      const shown = places.filter((place) => whole || isShown(step, place));
      item.replaceChildren();
      element("b", step.name, item);
      shown.forEach((place, number) => {
        item.append(number === 0 ? "  " : ", ");
        const kind = step.before.has(place) ? "changed" : step.fresh.has(place) ? "new" : "same";
        const span = element("span", text(step, place), item);
        span.className = kind;
        if (step.terms[place]) span.title = step.terms[place];
      });
      const hidden = places.length - shown.length;
      if (shown.length === 0 && hidden > 0) element("span", "  no change", item).className = "same";
      if (hidden > 0 || (whole && places.some((place) => !isShown(step, place)))) {
        item.append(" ");
        const rest = element("button", whole ? "less" : `+${hidden}`, item);
        rest.className = "rest";
        rest.title = whole ? "Changes only" : `${hidden} more values`;
        rest.onclick = (event) => {
          event.stopPropagation();
          write(item, step, !whole);
        };
      }
      const from = step.from.length > 1 ? `from ${step.from.join(" and ")}, ` : "";
      const aside = element("small", from, item);
      const link = element("button", step.title, aside);
      link.className = "link";
      link.onclick = (event) => {
        event.stopPropagation();
        showClause(step.clause);
      };
    };
    const note = list.querySelector(".note");
    steps.forEach((step, position) => {
      const item = document.createElement("li");
      item.value = step.line;
      item.className = `level${step.level}`;
      item.dataset.step = position;
      write(item, step, false);
      item.onclick = () => show(position);
      if (note && position < data.first) note.before(item);
      else list.append(item);
      items.push(item);
      for (const id of ["n" + step.box, "c" + step.clause, ...step.arrows.map((number) => "e" + number)]) {
        const part = byId(id);
        if (part) part.classList.add("used");
      }
      (statements.get(step.clause) || []).forEach((part) => part.classList.add("used"));
    });
    const slider = byId("slider");
    slider.max = steps.length - 1;

    const rows = (node) => {
      const found = [];
      for (let row = byId(`v${node}-0`); row; row = byId(`v${node}-${found.length}`)) found.push(row);
      return found;
    };
    const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);
    // As much as a box has room for.
    const short = (row, text) => cut(text, Number(row.dataset.columns));
    const line = (step) => step.values.map((_, place) => plain(step, place)).join(", ");
    // The values of a step in its box: what has changed first, and as much of the rest as there is room for.
    const place = (step, isNow) => {
      const places = rows(step.box);
      if (step.box !== step.node) {
        [step.name, line(step)].forEach((text, row) => places[row] && (places[row].textContent = short(places[row], text)));
        return;
      }
      const known = data.predicates[step.node] || { shown: [] };
      const wanted = [...step.values.keys()].filter((place) => known.shown.includes(place) || step.before.has(place));
      if (places.length === 1) {
        const told = wanted.filter((place) => step.before.has(place));
        places[0].textContent = short(places[0], (told.length > 0 ? told : wanted).map((place) => plain(step, place)).join(", "));
        places[0].classList.toggle("changed", isNow && told.length > 0);
        return;
      }
      if (wanted.length > places.length) wanted.sort((a, b) => Number(step.before.has(b)) - Number(step.before.has(a)) || a - b);
      places.forEach((element, row) => {
        const isLast = row === places.length - 1 && wanted.length > places.length;
        const isEmpty = row >= wanted.length;
        element.textContent = isEmpty ? "" : isLast ? `and ${wanted.length - row} more` : short(element, plain(step, wanted[row]));
        element.classList.toggle("changed", isNow && !isEmpty && !isLast && step.before.has(wanted[row]));
      });
    };
    // The last step at each node up to each step would be quadratic to keep, so it is searched for.
    const show = (wanted) => {
      at = clamp(wanted, 0, steps.length - 1);
      slider.value = at;
      all(".now").forEach((part) => part.classList.remove("now"));
      all("svg .value").forEach((row) => (row.textContent = ""));
      opened.members.forEach(({ values }) => (values.textContent = ""));
      const [seenBoxes, seenNodes] = [new Set(), new Set()];
      for (let earlier = at; earlier >= 0; earlier--) {
        const step = steps[earlier];
        if (!seenBoxes.has(step.box)) {
          seenBoxes.add(step.box);
          place(step, earlier === at);
        }
        const member = opened.members.get(step.node);
        if (member && !seenNodes.has(step.node)) {
          seenNodes.add(step.node);
          member.values.textContent = " " + line(step);
        }
      }
      const step = steps[at];
      for (const id of ["n" + step.box, ...step.arrows.map((number) => "e" + number)]) {
        const part = byId(id);
        if (part) part.classList.add("now");
      }
      (statements.get(step.clause) || []).forEach((part) => part.classList.add("now"));
      const told = [...step.values.keys()].filter((place) => isShown(step, place)).map((place) => text(step, place));
      const last = steps[steps.length - 1].line;
      byId("now").textContent = cut(`Step ${step.line} of ${last}: ${step.name}  ${told.join(", ")}`, 150);
      single("#steps li", items[at]);
      if (!items[at].closest(".panel").hidden) items[at].scrollIntoView({ block: "nearest" });
      mark(step.node);
      const box = byId("n" + step.box);
      if (box) reveal(box);
    };
    fill = () => {
      const { box } = opened;
      show(at);
      opened.box = box;
    };
    // The last time at which the run was there, or the first time at which it will be, if it ever is.
    visit = (node) => {
      let found = at;
      while (found >= 0 && steps[found].node !== node) found--;
      if (found < 0) found = steps.findIndex((step) => step.node === node);
      if (found >= 0) show(found);
    };
    for (const node of all(".node.predicate")) {
      node.addEventListener("click", () => visit(Number(node.id.slice(1))));
      node.addEventListener("keydown", (event) => event.key === "Enter" && visit(Number(node.id.slice(1))));
    }
    slider.oninput = () => show(Number(slider.value));
    byId("first").onclick = () => show(0);
    byId("back").onclick = () => show(at - 1);
    byId("next").onclick = () => show(at + 1);
    byId("last").onclick = () => show(steps.length - 1);
    const toggle = () => {
      byId("all").setAttribute("aria-pressed", !isAll());
      items.forEach((item, position) => write(item, steps[position], isAll()));
    };
    byId("all").onclick = toggle;
    document.addEventListener("keydown", (event) => {
      if (isTyping(event) || event.shiftKey || event.target === slider) return;
      const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1 };
      if (event.key in moves) show(moves[event.key]);
      else if (event.key === "a") toggle();
      else return;
      event.preventDefault();
    });
    show(0);
  }

  // ---- search --------------------------------------------------------------------------------------------

  const search = byId("search");
  const found = byId("found");
  const hits = { list: [], at: -1 };
  // Elements of the lists, and boxes that only the graph has.
  const candidates = () => {
    const listed = all("section, .clause, #steps li[data-step]").map((target) => ({ target, text: target.textContent }));
    const names = (chain) => [...chain.first, ...chain.last].map(([, name]) => name).join("\n");
    const chained = data.chains.map((chain) => ({ target: byId("n" + chain.box), text: names(chain) }));
    const drawn = all(".node.predicate").map((target) => ({ target, text: (target.querySelector("title") || target).textContent }));
    return [...listed, ...drawn, ...chained].filter(({ target }) => target);
  };
  const isBox = (target) => target.classList.contains("node");
  // Where the text stands in an element, for browsers that can mark it without a change of the page.
  const ranges = (target, wanted) => {
    const found = [];
    const walker = document.createTreeWalker(target, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data.toLowerCase();
      for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
        const range = new Range();
        range.setStart(walker.currentNode, from);
        range.setEnd(walker.currentNode, Math.min(from + wanted.length, walker.currentNode.length));
        found.push(range);
      }
    }
    return found;
  };
  const showHit = (number) => {
    const { list } = hits;
    if (list.length === 0) return;
    hits.at = (number + list.length) % list.length;
    single(".hit", list[hits.at], "current");
    found.textContent = `${hits.at + 1} of ${list.length}`;
    const target = list[hits.at];
    const isList = !isBox(target);
    if (isList) scrollTo(target);
    const node = isList ? byId("n" + target.dataset.node) || byId("n" + boxes.get(Number(target.dataset.node))) : target;
    if (node) reveal(node);
  };
  const find = () => {
    const wanted = search.value.trim().toLowerCase();
    all(".hit").forEach((hit) => hit.classList.remove("hit", "current"));
    hits.list = wanted ? candidates().filter(({ text }) => text.toLowerCase().includes(wanted)).map(({ target }) => target) : [];
    hits.list.forEach((target) => target.classList.add("hit"));
    // Boxes are marked; only those that no list has are visited.
    const listed = new Set(hits.list.filter((target) => !isBox(target)).map((target) => "n" + target.dataset.node));
    hits.list = hits.list.filter((target) => !isBox(target) || !listed.has(target.id));
    if (window.CSS && CSS.highlights) {
      CSS.highlights.delete("found");
      const marked = hits.list.slice(0, 500).flatMap((target) => ranges(target, wanted));
      if (marked.length > 0) CSS.highlights.set("found", new Highlight(...marked));
    }
    found.classList.toggle("none", wanted !== "" && hits.list.length === 0);
    found.textContent = wanted && hits.list.length === 0 ? "not found" : "";
    showHit(0);
  };
  search.oninput = find;
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") showHit(hits.at + (event.shiftKey ? -1 : 1));
    if (event.key === "Escape") {
      search.value = "";
      find();
      search.blur();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
      setLarge(false);
    }
    if (event.key === "/" && !isTyping(event)) {
      event.preventDefault();
      search.focus();
    }
  });

  // Lists that are short stand one below the other.
  tabs.hidden = all("section, .clause, #steps li").length <= 40;
  shorten();
  choose(panels[0]);
  tabs.addEventListener("click", shorten);
})();
