// Questions to the server. The token lives in this tab only.

import { byId } from "./dom.js";

const KEY = "kb-token";

export class Failure extends Error {
  constructor(message, status, suggestions) {
    super(message);
    this.status = status;
    this.suggestions = suggestions ?? [];
  }
}

function held() {
  try { return sessionStorage.getItem(KEY); } catch { return null; }
}

function askForToken() {
  const dialog = byId("token");
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const value = byId("token-value").value.trim();
      try { sessionStorage.setItem(KEY, value); } catch { /* asked for again next time */ }
      resolve(value);
    }, { once: true });
  });
}

export async function get(path, values = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== false && value !== "") query.set(name, value);
  }
  const address = query.size ? `${path}?${query}` : path;
  const token = held();
  const response = await fetch(address, { signal, headers: token ? { authorization: `Bearer ${token}` } : {} });
  if (response.status === 401 && await askForToken()) return get(path, values, signal);
  let body = null;
  try { body = await response.json(); } catch { /* what is not JSON says nothing more than its status */ }
  if (!response.ok) throw new Failure(body?.error ?? `HTTP ${response.status}`, response.status, body?.suggestions);
  return body;
}

export const one = (id) => encodeURIComponent(id);

export function sectionAddress(id, language, query) {
  const values = new URLSearchParams();
  if (language) values.set("language", language);
  if (query) values.set("q", query);
  return `/section/${one(id)}${values.size ? `?${values}` : ""}`;
}
