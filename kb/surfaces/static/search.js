// The list of hits. What is typed is asked for as it is typed; only the last question's answer is shown. While it is typed, the
// last word stands for those that it begins; where none does, the question is asked as if it were finished, misspelt maybe.

import { get, sectionAddress } from "./api.js";
import { byId, crumbs, h, marked, say } from "./dom.js";
import { number, t } from "./texts.js";

const PAGE = 10;
const kept = new Map();
let asking = null;

export const settings = () => ({ semantic: byId("semantic").checked });

export async function show(main, query, keep, typing = false) {
  asking?.abort();
  const { semantic } = settings();
  const key = `${semantic}|${query}`;
  if (keep && kept.has(key)) return paint(main, query, semantic, kept.get(key));
  asking = new AbortController();
  const { signal } = asking;
  main.setAttribute("aria-busy", "true");
  try {
    let answer = await get("/api/search", { query, limit: PAGE, semantic, typing }, signal);
    if (typing && !answer.results.length) answer = await get("/api/search", { query, limit: PAGE, semantic }, signal);
    else answer.typing = typing;
    kept.clear();
    kept.set(key, answer);
    paint(main, query, semantic, answer);
  } catch (error) {
    if (error.name === "AbortError") return;
    main.replaceChildren(h("div", { class: "notice bad", role: "alert" }, `${t("failed")}: ${error.message}`));
  } finally {
    if (!signal.aborted) main.removeAttribute("aria-busy");
  }
}

export function stop() {
  asking?.abort();
}

function paint(main, query, semantic, answer) {
  const list = h("ol", { class: "hits" }, answer.results.map((result) => hit(result, query)));
  const count = h("p", { class: "count" }, counted(answer, semantic));
  const notes = [
    answer.corrected ? h("p", { class: "notice" }, `${t("corrected")} `, h("b", {}, answer.corrected)) : null,
    answer.also ? h("p", { class: "notice" }, `${t("also")} ${answer.also.join(", ")}`) : null,
    answer.warning ? h("p", { class: "notice warn", role: "note" }, answer.warning) : null,
  ];
  const head = h("div", { class: "head" }, h("h1", { class: "hidden" }, query), count, notes);
  if (!answer.results.length) {
    main.replaceChildren(head, h("div", { class: "empty" }, h("h2", {}, t("nothing")), h("p", {}, t("nothingHelp"))));
  } else {
    main.replaceChildren(head, list, more(list, count, query, semantic, answer) ?? "", keys());
  }
  say(answer.results.length ? counted(answer, semantic) : t("nothing"));
}

function counted(answer, semantic) {
  const mode = semantic ? ` · ${t(answer.mode === "semantic" ? "meaning" : "words")}` : "";
  return `${t("found", number(answer.results.length), number(answer.total))} ${t("sections")}${mode}`;
}

function more(list, count, query, semantic, answer) {
  if (answer.results.length >= answer.total) return null;
  const button = h("button", {
    class: "more", type: "button",
    onclick: async () => {
      button.disabled = true;
      const page = await get("/api/search", { query, limit: PAGE, offset: answer.results.length, semantic, typing: answer.typing });
      const first = answer.results.length;
      answer.results.push(...page.results);
      list.append(...page.results.map((result) => hit(result, query)));
      count.textContent = counted(answer, semantic);
      button.disabled = false;
      if (!page.results.length || answer.results.length >= answer.total) button.remove();
      list.children[first]?.querySelector("a").focus({ preventScroll: true });
    },
  }, t("more"));
  return button;
}

function hit(result, query) {
  const several = result.languages?.length > 1;
  const address = sectionAddress(`${result.id}@${result.collection}`, several ? result.language : null, query);
  const words = (result.highlights ?? []).map(([start, end]) => Array.from(result.snippet).slice(start, end).join(""));
  const inner = result.passage && result.passage.id !== result.id ? result.passage.title : null;
  return h("li", {},
    h("a", { href: address, "data-link": "", "data-words": JSON.stringify(words), class: "hit" },
      h("span", { class: "where" }, crumbs(result.path)),
      h("span", { class: "title", lang: result.language },
        /^[A-Za-z][\w]*(\.[\w]+)+$/.test(result.id) ? h("code", {}, result.id) : null, result.title),
      h("span", { class: "snippet", lang: result.language }, marked(result.snippet, result.highlights)),
      h("span", { class: "tags" },
        (several ? result.languages : [result.language]).map((code) => h("span", { class: code === result.language ? "tag on" : "tag" }, code)),
        result.type ? h("span", { class: "tag plain" }, result.type) : null,
        inner ? h("span", { class: "inner" }, `${t("inside")} “${inner}”`) : null,
        result.stale ? h("span", { class: "tag warn" }, t("stale")) : null,
        result.low_confidence ? h("span", { class: "tag warn" }, t("unsure")) : null)));
}

function keys() {
  const key = (name, text) => [h("kbd", {}, name), h("span", {}, text)];
  return h("p", { class: "keys", "aria-hidden": "true" }, key("/", t("keys")), key("↑↓", t("keysChoose")), key("↵", t("keysOpen")), key("Esc", t("keysBack")));
}
