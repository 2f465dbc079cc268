// Elements made from data. Text is always set as text: nothing here parses markup.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

// Offsets count characters, not the 16-bit units of a JavaScript string.
export function marked(text, highlights) {
  const characters = Array.from(text);
  const parts = [];
  let at = 0;
  for (const [start, end] of highlights ?? []) {
    parts.push(characters.slice(at, start).join(""), h("mark", {}, characters.slice(start, end).join("")));
    at = end;
  }
  parts.push(characters.slice(at).join(""));
  return parts;
}

export function say(text) {
  byId("said").textContent = text;
}

export function crumbs(path) {
  return h("span", { class: "crumbs" }, path.split(" > ").flatMap((name, n) => [n ? h("i", { "aria-hidden": "true" }, "›") : null, h("span", {}, name)]));
}
