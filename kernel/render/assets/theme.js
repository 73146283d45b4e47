// Light or dark, if the reader has chosen: style sheets ask the system, and what they ask is replaced with the answer.
// That includes the figures' style sheets. This runs before the page is drawn, and again when all of it is there.
const lecternTheme = (() => {
  "use strict";
  const asked = new Map(); // what each rule asks by itself
  const answer = (rules, theme) => {
    for (const rule of rules) {
      if (rule.media && !asked.has(rule) && rule.media.mediaText.includes("prefers-color-scheme")) asked.set(rule, rule.media.mediaText);
      if (asked.has(rule)) {
        rule.media.mediaText = theme === "auto" ? asked.get(rule) : asked.get(rule).replace(/\(prefers-color-scheme:\s*(light|dark)\)/g, (_, want) => (want === theme ? "(min-width: 0px)" : "(max-width: 0px)"));
      }
      if (rule.cssRules) answer(rule.cssRules, theme);
    }
  };
  let theme = null;
  try { theme = localStorage.getItem("lectern-theme"); } catch { /* no storage: not remembered */ }
  if (theme !== "light" && theme !== "dark") theme = "auto";
  const apply = () => {
    for (const sheet of document.styleSheets) {
      try { answer(sheet.cssRules, theme); } catch { /* an extension's, which no page may read */ }
    }
  };
  if (theme !== "auto") { apply(); addEventListener("DOMContentLoaded", apply); }
  return {
    get now() { return theme; },
    choose(t) {
      theme = t;
      try { localStorage.setItem("lectern-theme", t); } catch { /* as above */ }
      apply();
    },
  };
})();
