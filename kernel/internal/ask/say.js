// What scripts say, in the page's language: its texts are found by their English, in the element lectern-words or in lecternWords. {name} in a text is a value.
globalThis.lecternSay ??= (() => {
  "use strict";
  let words = globalThis.lecternWords ?? {};
  try { words = JSON.parse(document.getElementById("lectern-words").textContent); } catch { /* there is no such element */ }
  return (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
})();
