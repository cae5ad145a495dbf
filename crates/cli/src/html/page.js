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

  // A predicate in the picture and in the list.
  const sections = new Map();
  for (const section of document.querySelectorAll("section[data-node]")) {
    sections.set("n" + section.dataset.node, section);
  }
  const light = (node, section, on) => {
    node.classList.toggle("here", on);
    section.classList.toggle("here", on);
  };
  for (const [id, section] of sections) {
    const node = byId(id);
    if (!node) continue;
    for (const [element, other] of [[node, section], [section, node]]) {
      element.addEventListener("mouseenter", () => light(node, section, true));
      element.addEventListener("mouseleave", () => light(node, section, false));
      element.addEventListener("click", () => other.scrollIntoView({ block: "center", inline: "center" }));
    }
    node.addEventListener("mouseenter", () => section.scrollIntoView({ block: "nearest" }));
  }

  // The run, step by step.
  const steps = data ? data.steps : [];
  if (steps.length === 0) return;
  const items = new Map();
  for (const item of document.querySelectorAll("#steps li[data-step]")) {
    items.set(Number(item.dataset.step), item);
    item.addEventListener("click", () => show(Number(item.dataset.step)));
  }
  for (const step of steps) {
    const parts = [byId("n" + step.node), ...step.arrows.map((arrow) => byId("e" + arrow))];
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
  const write = (step, isNow) => {
    const places = rows(step.node);
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
    const seen = new Set();
    for (let earlier = now; earlier >= 0; earlier--) {
      const step = steps[earlier];
      if (!seen.has(step.node)) {
        seen.add(step.node);
        write(step, earlier === now);
      }
    }
    const step = steps[now];
    [byId("n" + step.node), ...step.arrows.map((arrow) => byId("e" + arrow))].filter(Boolean)
      .forEach((part) => part.classList.add("now"));
    const values = step.values.map(([name, value]) => `${name} = ${value}`).join(", ");
    byId("now").textContent = `${step.line}. ${step.name} ${values.length > 160 ? values.slice(0, 157) + "..." : values}`;
    const item = items.get(now);
    if (item) {
      item.classList.add("here");
      item.scrollIntoView({ block: "nearest" });
    }
    const node = byId("n" + step.node);
    if (node) node.scrollIntoView({ block: "nearest", inline: "nearest" });
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
