"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const graph = byId("graph");

  // The size of the picture.
  if (graph) {
    const [, , width, height] = graph.getAttribute("viewBox").split(" ").map(Number);
    let scale = 1;
    const resize = (to) => {
      scale = Math.min(4, Math.max(0.1, to));
      graph.setAttribute("width", width * scale);
      graph.setAttribute("height", height * scale);
      byId("chain").hidden = true;
    };
    const whole = () => {
      const stage = byId("stage");
      return Math.min((stage.clientWidth - 24) / width, (stage.clientHeight - 24) / height);
    };
    byId("smaller").onclick = () => resize(scale / 1.25);
    byId("larger").onclick = () => resize(scale * 1.25);
    byId("fit").onclick = () => resize(whole());
    // A picture that nearly fits is shown as a whole; one that does not is readable before it is whole.
    resize(Math.min(1, Math.max(0.6, whole())));
  }

  byId("theme").onclick = () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  };

  // A box that stands for predicates in a row opens as a list of them, one box at a time.
  const chains = new Map(data.chains.map((chain) => [chain.box, chain]));
  const boxes = new Map();
  for (const chain of data.chains) {
    for (const [node] of [...chain.first, ...chain.last]) boxes.set(node, chain.box);
  }
  const panel = byId("chain");
  const opened = { box: null, members: new Map() };
  // What a click on a member leads to, and what is to be done once the list is there.
  let visit = () => {};
  let fill = () => {};
  const close = () => {
    panel.hidden = true;
    opened.box = null;
  };
  const element = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  };
  const open = (number) => {
    const chain = chains.get(number);
    const box = byId("n" + number);
    if (!chain || !box) return;
    panel.replaceChildren();
    const count = chain.first.length + chain.leftOut + chain.last.length;
    const header = element("header", "", panel);
    element("span", `${count} predicates in a row`, header);
    element("button", "\u00d7", header).onclick = close;
    const list = element("ol", "", panel);
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
    const stage = byId("stage");
    const [outer, inner] = [stage.getBoundingClientRect(), box.getBoundingClientRect()];
    panel.style.left = `${Math.max(0, inner.left - outer.left + stage.scrollLeft)}px`;
    panel.style.top = `${inner.bottom - outer.top + stage.scrollTop + 4}px`;
    panel.hidden = false;
    fill();
    panel.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  for (const number of chains.keys()) {
    const box = byId("n" + number);
    if (!box) continue;
    const toggle = () => (opened.box === number && !panel.hidden ? close() : open(number));
    box.addEventListener("click", toggle);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") toggle();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  const mark = (node) => {
    for (const [member, { item }] of opened.members) item.classList.toggle("here", member === node);
    const found = opened.members.get(node);
    if (found && !panel.hidden) panel.scrollTop = found.item.offsetTop - panel.clientHeight / 2;
  };

  // A predicate in the picture and in the list.
  const sections = new Map();
  for (const section of document.querySelectorAll("section[data-node]")) {
    sections.set("n" + section.dataset.node, section);
  }
  const light = (node, section, on) => {
    node.classList.toggle("here", on);
    section.classList.toggle("here", on);
  };
  visit = (node) => {
    const section = sections.get("n" + node);
    if (!section) return;
    document.querySelectorAll("section.here").forEach((other) => other.classList.remove("here"));
    section.classList.add("here");
    section.scrollIntoView({ block: "center" });
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
    for (const [element, other] of [[node, section], [section, node]]) {
      element.addEventListener("mouseenter", () => light(node, section, true));
      element.addEventListener("mouseleave", () => light(node, section, false));
      element.addEventListener("click", () => other.scrollIntoView({ block: "center", inline: "center" }));
    }
    node.addEventListener("mouseenter", () => section.scrollIntoView({ block: "nearest" }));
  }

  // The run, step by step.
  const steps = data.steps;
  if (steps.length === 0) return;
  const items = new Map();
  for (const item of document.querySelectorAll("#steps li[data-step]")) {
    items.set(Number(item.dataset.step), item);
    item.addEventListener("click", () => show(Number(item.dataset.step)));
  }
  for (const step of steps) {
    const parts = [byId("n" + step.box), ...step.arrows.map((arrow) => byId("e" + arrow))];
    parts.filter(Boolean).forEach((part) => part.classList.add("used"));
  }
  const slider = byId("slider");
  slider.max = steps.length - 1;
  byId("player").hidden = false;

  const rows = (node) => {
    const found = [];
    for (let row = byId(`v${node}-0`); row; row = byId(`v${node}-${found.length}`)) found.push(row);
    return found;
  };
  const short = (text) => (text.length > 40 ? text.slice(0, 37) + "..." : text);
  const line = (step) => step.values.map(([name, value]) => `${name} = ${value}`).join(", ");
  const write = (step, isNow) => {
    const places = rows(step.box);
    if (step.box !== step.node) {
      [step.name, line(step)].forEach((text, row) => places[row] && (places[row].textContent = short(text)));
      return;
    }
    // Where there is no room for all, what has changed comes first.
    const values = step.values.length <= places.length
      ? step.values
      : [...step.values].sort((a, b) => Number(b[2]) - Number(a[2]));
    places.forEach((place, row) => {
      const [name, value, isChanged] = values[row] || ["", "", false];
      const isLast = row === places.length - 1 && values.length > places.length;
      place.textContent = isLast ? `and ${values.length - row} more` : short(`${name} = ${value}`);
      place.classList.toggle("changed", isNow && isChanged && !isLast);
    });
  };
  // The last step at each node up to each step would be quadratic to keep, so it is searched for.
  const show = (now) => {
    now = Math.min(steps.length - 1, Math.max(0, now));
    slider.value = now;
    document.querySelectorAll(".now, #steps li.here").forEach((element) => element.classList.remove("now", "here"));
    document.querySelectorAll("svg .value").forEach((element) => (element.textContent = ""));
    opened.members.forEach(({ values }) => (values.textContent = ""));
    const [seenBoxes, seenNodes] = [new Set(), new Set()];
    for (let earlier = now; earlier >= 0; earlier--) {
      const step = steps[earlier];
      if (!seenBoxes.has(step.box)) {
        seenBoxes.add(step.box);
        write(step, earlier === now);
      }
      const member = opened.members.get(step.node);
      if (member && !seenNodes.has(step.node)) {
        seenNodes.add(step.node);
        member.values.textContent = " " + line(step);
      }
    }
    const step = steps[now];
    [byId("n" + step.box), ...step.arrows.map((arrow) => byId("e" + arrow))].filter(Boolean)
      .forEach((part) => part.classList.add("now"));
    const values = line(step);
    byId("now").textContent = `${step.line}. ${step.name} ${values.length > 160 ? values.slice(0, 157) + "..." : values}`;
    const item = items.get(now);
    if (item) {
      item.classList.add("here");
      item.scrollIntoView({ block: "nearest" });
    }
    mark(step.node);
    const box = byId("n" + step.box);
    if (box) box.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  fill = () => show(Number(slider.value));
  // The last time at which the run was there, or the first time at which it will be, if it ever is.
  visit = (node) => {
    let found = Number(slider.value);
    while (found >= 0 && steps[found].node !== node) found--;
    if (found < 0) found = steps.findIndex((step) => step.node === node);
    if (found >= 0) show(found);
  };
  slider.oninput = () => show(Number(slider.value));
  byId("back").onclick = () => show(Number(slider.value) - 1);
  byId("next").onclick = () => show(Number(slider.value) + 1);
  document.addEventListener("keydown", (event) => {
    if (event.target === slider || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "ArrowRight") show(Number(slider.value) + 1);
    if (event.key === "ArrowLeft") show(Number(slider.value) - 1);
  });
  show(0);
})();
