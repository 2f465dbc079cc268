// The page as a whole: addresses, keys, and what is shown where.

import { get } from "./api.js";
import { byId, h } from "./dom.js";
import * as reader from "./reader.js";
import * as search from "./search.js";
import * as texts from "./texts.js";
import * as tree from "./tree.js";

const WAIT_MS = 120;
const main = byId("main");
const query = byId("query");
const semantic = byId("semantic");
let timer = 0;
let shown = "";

function place() {
  const address = new URL(location.href);
  const section = address.pathname.match(/^\/section\/(.+)$/);
  return {
    query: address.searchParams.get("q") ?? "",
    semantic: address.searchParams.get("semantic") === "1",
    language: address.searchParams.get("language"),
    section: section ? decodeURIComponent(section[1]) : null,
  };
}

function searchAddress(text) {
  const values = new URLSearchParams();
  if (text) values.set("q", text);
  if (semantic.checked) values.set("semantic", "1");
  return values.size ? `/?${values}` : "/";
}

async function render({ keep = false, typing = false, scroll = 0, focus = null } = {}) {
  const now = place();
  if (document.activeElement !== query) query.value = now.query;
  shown = location.href;
  if (now.section !== null) {
    search.stop();
    const section = await reader.show(main, now.section, now.language, now.query, history.state?.words);
    tree.reveal(section);
  } else {
    reader.stop();
    semantic.checked = now.semantic;
    document.title = now.query ? `${now.query} · kb` : "kb";
    tree.reveal(null);
    await (now.query.trim() ? search.show(main, now.query, keep, typing) : home());
  }
  if (shown !== location.href) return;
  scrollTo(0, scroll);
  if (location.hash) byId(location.hash.slice(1))?.scrollIntoView();
  if (focus) main.querySelector(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}

function go(address, { replace = false, words = null, opened = null, typing = false } = {}) {
  history.replaceState({ ...history.state, scroll: scrollY, opened }, "");
  history[replace ? "replaceState" : "pushState"]({ words: words ?? (replace ? history.state?.words : null) }, "", address);
  closeMenu();
  return render({ typing });
}

async function home() {
  search.stop();
  try {
    const status = await get("/api/status");
    const cards = status.collections.map((held) => h("li", {}, h("b", {}, held.name),
      h("span", {}, `${texts.number(held.sections)} ${texts.t("sections")} · ${Object.keys(held.languages).join(", ")}`)));
    if (place().query || place().section) return;
    main.replaceChildren(h("div", { class: "home" }, h("h1", {}, texts.t("home")), h("h2", {}, texts.t("collections")), h("ul", { class: "cards" }, cards)));
  } catch (error) {
    main.replaceChildren(h("p", { class: "notice bad", role: "alert" }, error.message));
  }
}

function typed() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const here = place();
    const address = searchAddress(query.value.trim() ? query.value : "");
    if (here.section !== null) { if (query.value.trim()) go(address, { typing: true }); return; }
    history.replaceState({}, "", address);
    render({ typing: true });
  }, WAIT_MS);
}

function hits() {
  return [...main.querySelectorAll("a.hit")];
}

function move(step) {
  const links = hits();
  const at = links.indexOf(document.activeElement);
  if (!links.length || (at < 0 && step < 0)) return false;
  if (at + step < 0) { query.focus(); return true; }
  const next = links[Math.min(at + step, links.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

function pressed(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || byId("token").open) return;
  const writing = event.target.matches("input[type=search], input[type=password], select, textarea");
  if (event.key === "/" && !writing) {
    query.focus();
    query.select();
    event.preventDefault();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && (event.target === query || event.target.matches("a.hit") || event.target === document.body || event.target === main)) {
    if (move(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
  } else if (event.key === "Escape") {
    if (byId("menu").getAttribute("aria-expanded") === "true") { closeMenu(); byId("menu").focus(); }
    else if (event.target === query && query.value) { query.value = ""; typed(); }
    else if (place().section !== null && place().query) back();
    event.preventDefault();
  }
}

function back() {
  if (history.state?.inside) history.back();
  else go(searchAddress(place().query));
}

function clicked(event) {
  const link = event.target.closest?.("a[data-link]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const words = link.dataset.words ? JSON.parse(link.dataset.words) : null;
  if (link.matches(".brand")) query.value = "";
  go(link.getAttribute("href"), { replace: link.dataset.link === "replace", words, opened: link.getAttribute("href") });
  if (!link.matches(".variants a")) main.focus({ preventScroll: true });
}

function closeMenu() {
  byId("menu").setAttribute("aria-expanded", "false");
  document.body.classList.remove("open");
  byId("veil").hidden = true;
}

function openMenu() {
  byId("menu").setAttribute("aria-expanded", "true");
  document.body.classList.add("open");
  byId("veil").hidden = false;
  byId("side").querySelector("a, button")?.focus();
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("kb-theme", root.dataset.theme); } catch { /* for this page only, then */ }
}

history.scrollRestoration = "manual";
byId("language").value = texts.start();
query.addEventListener("input", typed);
query.form.addEventListener("submit", (event) => {
  event.preventDefault();
  const first = hits()[0];
  if (first && place().query === query.value && place().section === null && !main.hasAttribute("aria-busy")) first.click();
  else { clearTimeout(timer); go(searchAddress(query.value)); }
});
semantic.addEventListener("change", () => {
  const here = place();
  if (here.section === null) { history.replaceState({}, "", searchAddress(query.value)); render(); }
});
byId("language").addEventListener("change", (event) => { texts.choose(event.target.value); tree.start(); render({ keep: true, scroll: scrollY }); });
byId("theme").addEventListener("click", theme);
byId("menu").addEventListener("click", () => (byId("menu").getAttribute("aria-expanded") === "true" ? closeMenu() : openMenu()));
byId("veil").addEventListener("click", closeMenu);
addEventListener("keydown", pressed);
addEventListener("click", clicked);
addEventListener("popstate", () => render({ keep: true, scroll: history.state?.scroll ?? 0, focus: history.state?.opened }));
tree.start();
render();
