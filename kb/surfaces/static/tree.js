// The outline: branches are fetched when they are opened.

import { get, sectionAddress } from "./api.js";
import { byId, h } from "./dom.js";
import { language, t } from "./texts.js";

const branches = new Map();
let chosen = null;

export async function start() {
  const place = byId("tree");
  try {
    const answer = await get("/api/tree", { depth: 1, language: language() });
    const groups = new Map();
    for (const node of answer.results) groups.set(node.collection, [...(groups.get(node.collection) ?? []), node]);
    branches.clear();
    place.replaceChildren(h("h2", {}, t("outline")), ...[...groups].flatMap(([collection, nodes]) => [
      groups.size > 1 ? h("h3", {}, collection) : "", list(nodes)]));
    if (chosen) await reveal(chosen);
  } catch (error) {
    place.replaceChildren(h("p", { class: "notice bad" }, error.message));
  }
}

function list(nodes) {
  return h("ul", {}, nodes.map(branch));
}

function branch(node) {
  const name = `${node.id}@${node.collection}`;
  const below = node.children.length || node.more;
  const item = h("li", {});
  const link = h("a", { href: sectionAddress(name), "data-link": "", title: node.title },
    /^[A-Za-z]\w*(\.\w+)+$/.test(node.id) || /^[A-Z]$/.test(node.id) ? h("code", {}, node.id) : null, node.title);
  const button = below ? h("button", { type: "button", class: "fold", "aria-expanded": "false", "aria-label": node.title, onclick: () => toggle(name) }) : h("i", { class: "leaf" });
  item.append(h("div", { class: "node" }, button, link));
  branches.set(name, { node, item, button, link, below });
  return item;
}

async function toggle(name, open = undefined) {
  const held = branches.get(name);
  if (!held?.below) return;
  const opening = open ?? held.button.getAttribute("aria-expanded") !== "true";
  held.button.setAttribute("aria-expanded", String(opening));
  const inner = held.item.querySelector(":scope > ul");
  if (inner) { inner.hidden = !opening; return; }
  if (!opening || held.loading) return held.loading;
  held.loading = (async () => {
    const answer = await get("/api/tree", { id: name, depth: 1, language: language() });
    held.item.append(list(answer.results[0]?.children ?? []));
  })();
  try { await held.loading; } catch { held.button.setAttribute("aria-expanded", "false"); } finally { held.loading = null; }
}

export async function reveal(section) {
  chosen = section;
  for (const { link } of branches.values()) link.removeAttribute("aria-current");
  if (!section) return;
  for (const node of section.trail ?? []) await toggle(`${node.id}@${section.collection}`, true);
  const held = branches.get(`${section.id}@${section.collection}`);
  held?.link.setAttribute("aria-current", "page");
  const side = byId("side");
  if (held && side.offsetParent !== null) {
    const top = held.link.getBoundingClientRect().top - side.getBoundingClientRect().top;
    if (top < 0 || top > side.clientHeight - 40) side.scrollTop += top - side.clientHeight / 3;
  }
}
