// One section: its place, its text, its languages and neighbours.

import { get, one, sectionAddress } from "./api.js";
import { h, say } from "./dom.js";
import { number, t } from "./texts.js";

const FEW_HEADINGS = 3;
const MANY = 40;
let asking = null;

export async function show(main, id, language, query, words, whole = false) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  main.setAttribute("aria-busy", "true");
  try {
    const section = await get(`/render/${one(id)}`, { language, whole: whole ? "1" : null }, signal);
    paint(main, section, { id, language, query, words });
    document.title = `${section.title} · kb`;
    return section;
  } catch (error) {
    if (error.name !== "AbortError") failed(main, error);
    return null;
  } finally {
    if (!signal.aborted) main.removeAttribute("aria-busy");
  }
}

export function stop() {
  asking?.abort();
}

function failed(main, error) {
  const near = error.suggestions.map((id) => h("li", {}, h("a", { href: sectionAddress(id), "data-link": "" }, id)));
  main.replaceChildren(h("div", { class: "empty" }, h("h1", {}, t("failed")), h("p", { role: "alert" }, error.message),
    near.length ? h("p", {}, t("nearest")) : null, near.length ? h("ul", { class: "bare" }, near) : null));
  say(error.message);
}

function paint(main, section, asked) {
  const at = section.id === null ? asked.id : `${section.id}@${section.collection}`;
  const body = h("div", { class: "prose", lang: section.language });
  const template = document.createElement("template");
  template.innerHTML = section.html; // sanitised by the server; the policy of this page runs no script besides its own
  body.append(template.content);
  withoutTitle(body, section.title);
  dress(body);
  if (asked.words?.length) highlight(body, asked.words);
  const contents = outline(body);
  const related = h("section", { class: "near", hidden: true });
  main.replaceChildren(h("article", { class: "section" },
    trail(section),
    h("h1", { lang: section.language }, code(section), section.title),
    h("div", { class: "meta" }, variants(section, at, asked), source(section), copy()),
    section.error ? h("p", { class: "notice bad" }, `${t("parseError")} ${section.error}`) : null,
    h("div", { class: contents ? "columns" : "" }, body, contents ?? ""),
    body.childNodes.length || section.error ? null : h("p", { class: "quiet" }, t("noText")),
    section.shown < section.characters ? rest(main, section, asked) : null,
    h("div", { class: "around" }, near(t("children"), section.children, section), near(t("siblings"), section.siblings, section), related)));
  if (section.id !== null) fillRelated(related, at, section.language);
}

function code(section) {
  return section.id && /^[A-Za-z]\w*(\.\w+)+/.test(section.id) ? h("code", {}, section.id) : null;
}

function trail(section) {
  const above = section.trail ?? [];
  return h("nav", { class: "trail", "aria-label": "Breadcrumb" }, h("ol", {},
    h("li", {}, h("span", {}, section.collection)),
    above.map((node) => h("li", {}, h("a", { href: sectionAddress(`${node.id}@${section.collection}`), "data-link": "" }, node.title)))));
}

function variants(section, at, asked) {
  if (!section.languages || section.languages.length < 2) return section.language ? h("span", { class: "tag on" }, section.language) : null;
  return h("span", { class: "variants", role: "group", "aria-label": t("variants") }, section.languages.map((language) =>
    h("a", { class: "tag", href: sectionAddress(at, language, asked.query), "data-link": "replace", lang: language, hreflang: language,
      "aria-current": language === section.language ? "true" : null }, language)));
}

function source(section) {
  if (!section.source) return null;
  const lines = section.lines ? `:${section.lines[0]}–${section.lines[1]}` : "";
  return h("span", { class: "source" }, `${section.source}${lines}`);
}

function copy() {
  const button = h("button", { class: "quiet", type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(location.href); } catch { return; }
    button.textContent = t("copied");
    say(t("copied"));
    setTimeout(() => { button.textContent = t("copy"); }, 1500);
  } }, t("copy"));
  return button;
}

function rest(main, section, asked) {
  return h("p", { class: "notice" }, `${t("whole", number(section.shown), number(section.characters))} `,
    h("button", { type: "button", class: "quiet", onclick: () => show(main, asked.id, asked.language, asked.query, asked.words, true) }, t("showAll")));
}

function near(title, nodes, section) {
  if (!nodes?.length) return null;
  const link = (node) => h("li", {}, h("a", { href: sectionAddress(`${node.id}@${section.collection}`, section.languages?.length > 1 ? section.language : null), "data-link": "" },
    /^[A-Za-z]\w*(\.\w+)+$/.test(node.id) ? h("code", {}, node.id) : null, node.title));
  const hidden = nodes.slice(MANY);
  const list = h("ul", {}, nodes.slice(0, MANY).map(link));
  const more = hidden.length ? h("button", { type: "button", class: "quiet", onclick: () => { list.append(...hidden.map(link)); more.remove(); } }, `${t("more")} (${hidden.length})`) : null;
  return h("section", { class: "near" }, h("h2", {}, title), list, more);
}

async function fillRelated(place, at, language) {
  let answer;
  try { answer = await get(`/api/related/${one(at)}`, { top_k: 6, language }); } catch { return; }
  if (answer.available && !answer.results.length) return;
  place.hidden = false;
  place.append(h("h2", {}, t("related")));
  if (!answer.available) {
    place.append(h("p", { class: "quiet" }, answer.message));
    return;
  }
  place.append(h("ul", {}, answer.results.map((row) => h("li", {},
    h("a", { href: sectionAddress(row.id ? `${row.id}@${row.collection}` : row.source), "data-link": "" },
      row.id && /^[A-Za-z]\w*(\.\w+)+$/.test(row.id) ? h("code", {}, row.id) : null, row.title)))));
}

// The title stands above the text already.
function withoutTitle(body, title) {
  const first = body.firstElementChild;
  const plain = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
  if (first && /^H[1-6]$/.test(first.tagName) && plain(first.textContent).endsWith(plain(title))) first.remove();
}

function dress(body) {
  for (const table of body.querySelectorAll("table")) {
    const frame = h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": table.caption?.textContent || t("source") });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const block of body.querySelectorAll("pre")) block.tabIndex = 0;
  for (const link of body.querySelectorAll("a[href]")) {
    if (link.getAttribute("href").startsWith("/section/")) link.dataset.link = "";
    else link.target = "_blank";
  }
  for (const link of body.querySelectorAll("a:not([href])")) link.replaceWith(...link.childNodes);
}

function outline(body) {
  const headings = [...body.querySelectorAll("h1, h2, h3, h4")];
  if (headings.length < FEW_HEADINGS) return null;
  headings.forEach((heading, n) => { heading.id = `part-${n + 1}`; });
  const top = Math.min(...headings.map((heading) => Number(heading.tagName[1])));
  return h("nav", { class: "contents", "aria-label": t("contents") }, h("h2", {}, t("contents")), h("ul", {}, headings.slice(0, MANY).map((heading) =>
    h("li", { class: `deep-${Math.min(Number(heading.tagName[1]) - top, 2)}` }, h("a", { href: `#${heading.id}` }, heading.textContent)))));
}

// Marks the words that the search had found, as whole words in whatever case.
function highlight(body, words) {
  const escaped = [...new Set(words.filter((word) => word.length > 1))].map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!escaped.length) return;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode() && nodes.length < 20000) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const found = [...node.data.matchAll(pattern)];
    if (!found.length) continue;
    const parts = [];
    let at = 0;
    for (const match of found) {
      parts.push(node.data.slice(at, match.index), h("mark", {}, match[0]));
      at = match.index + match[0].length;
    }
    node.replaceWith(...parts, node.data.slice(at));
  }
}
