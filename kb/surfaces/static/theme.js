// Before anything is painted: the theme that was chosen, so that the page never flashes in the other one.
(() => {
  try {
    const chosen = localStorage.getItem("kb-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage may be closed to us; the system's theme does */ }
})();
