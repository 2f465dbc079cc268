// The words of the interface, in the three languages that the search knows best.

const TEXTS = {
  en: {
    skip: "Skip to content", outline: "Outline", language: "Language of the interface", theme: "Light or dark",
    placeholder: "Search: words, a question, an id", semantic: "By meaning", tokenTitle: "This base needs a token", tokenLabel: "Token",
    tokenSend: "Continue", searching: "Searching…", nothing: "Nothing found", nothingHelp: "Try other words, fewer of them, or look through the outline.",
    found: (n, total) => `${n} of ${total}`, sections: "sections", more: "Show more", corrected: "Searched for:", also: "Also searched for:", stale: "changed since it was indexed",
    unsure: "weak match", inside: "in", loading: "Loading…", variants: "Languages of this section", related: "Related", siblings: "Beside it",
    children: "Below it", contents: "On this page", source: "Source", failed: "This could not be loaded", nearest: "Did you mean:", home: "Search or look through the outline.",
    whole: (shown, all) => `Shown: ${shown} of ${all} characters.`, showAll: "Show all of it", back: "Back to the results", copy: "Copy the address", copied: "Copied",
    documents: "documents", keys: "search", keysChoose: "choose", keysOpen: "open", keysBack: "back", noText: "No text of its own.", meaning: "by meaning", words: "by words", collections: "In this base",
    parseError: "The file could not be read:",
  },
  ru: {
    skip: "К содержанию", outline: "Оглавление", language: "Язык интерфейса", theme: "Светлая или тёмная",
    placeholder: "Поиск: слова, вопрос, номер", semantic: "По смыслу", tokenTitle: "Для этой базы нужен токен", tokenLabel: "Токен",
    tokenSend: "Продолжить", searching: "Ищу…", nothing: "Ничего не найдено", nothingHelp: "Попробуйте другие слова, меньше слов или откройте оглавление.",
    found: (n, total) => `${n} из ${total}`, sections: "разделов", more: "Показать ещё", corrected: "Искали:", also: "Искали также:", stale: "изменён после индексации",
    unsure: "слабое совпадение", inside: "в", loading: "Загружаю…", variants: "Языки раздела", related: "Похожие разделы", siblings: "Рядом",
    children: "Внутри", contents: "На этой странице", source: "Источник", failed: "Не удалось загрузить", nearest: "Возможно, вы искали:", home: "Задайте вопрос или откройте оглавление.",
    whole: (shown, all) => `Показано знаков: ${shown} из ${all}.`, showAll: "Показать всё", back: "К результатам", copy: "Скопировать адрес", copied: "Скопировано",
    documents: "документов", keys: "поиск", keysChoose: "выбор", keysOpen: "открыть", keysBack: "назад", noText: "Собственного текста нет.", meaning: "по смыслу", words: "по словам", collections: "В этой базе",
    parseError: "Файл не удалось прочитать:",
  },
  de: {
    skip: "Zum Inhalt", outline: "Gliederung", language: "Sprache der Oberfläche", theme: "Hell oder dunkel",
    placeholder: "Suche: Wörter, eine Frage, eine Kennung", semantic: "Nach Bedeutung", tokenTitle: "Diese Wissensbasis verlangt ein Token", tokenLabel: "Token",
    tokenSend: "Weiter", searching: "Suche läuft…", nothing: "Nichts gefunden", nothingHelp: "Versuchen Sie andere oder weniger Wörter, oder öffnen Sie die Gliederung.",
    found: (n, total) => `${n} von ${total}`, sections: "Abschnitten", more: "Mehr zeigen", corrected: "Gesucht wurde:", also: "Gesucht wurde auch:", stale: "seit der Indexierung geändert",
    unsure: "schwacher Treffer", inside: "in", loading: "Wird geladen…", variants: "Sprachen dieses Abschnitts", related: "Verwandt", siblings: "Daneben",
    children: "Darunter", contents: "Auf dieser Seite", source: "Quelle", failed: "Das ließ sich nicht laden", nearest: "Meinten Sie:", home: "Suchen Sie, oder blättern Sie in der Gliederung.",
    whole: (shown, all) => `Gezeigt: ${shown} von ${all} Zeichen.`, showAll: "Alles zeigen", back: "Zu den Treffern", copy: "Adresse kopieren", copied: "Kopiert",
    documents: "Dokumente", keys: "suchen", keysChoose: "wählen", keysOpen: "öffnen", keysBack: "zurück", noText: "Kein eigener Text.", meaning: "nach Bedeutung", words: "nach Wörtern", collections: "In dieser Wissensbasis",
    parseError: "Die Datei ließ sich nicht lesen:",
  },
};

const KEY = "kb-language";
let current = "en";

function stored() {
  try { return localStorage.getItem(KEY); } catch { return null; }
}

export function start() {
  const wanted = [stored(), ...navigator.languages.map((code) => code.slice(0, 2))];
  current = wanted.find((code) => code in TEXTS) ?? "en";
  apply();
  return current;
}

export function choose(code) {
  current = code in TEXTS ? code : "en";
  try { localStorage.setItem(KEY, current); } catch { /* for this page only, then */ }
  apply();
}

export const language = () => current;

export function t(name, ...values) {
  const text = TEXTS[current][name];
  return typeof text === "function" ? text(...values) : text;
}

export const number = (value) => value.toLocaleString(current);

function apply() {
  document.documentElement.lang = current;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(element.dataset.label));
    if (element.tagName === "BUTTON") element.title = t(element.dataset.label);
  }
  const query = document.getElementById("query");
  query.placeholder = t("placeholder");
  query.setAttribute("aria-label", t("placeholder"));
}
