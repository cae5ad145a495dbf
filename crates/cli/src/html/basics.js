"use strict";
// What the scripts of all pages share.
const basics = (() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const element = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  // Keys mean letters in fields.
  const isTyping = (event) => (event.target instanceof Element && event.target.matches("input:not([type=range])")) || event.ctrlKey || event.altKey || event.metaKey;
  byId("theme").onclick = () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  };
  return { byId, all, element, clamp, isTyping, data: JSON.parse(byId("data").textContent) };
})();
