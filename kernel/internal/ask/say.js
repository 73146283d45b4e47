// What scripts say, in the page's language: its texts are found by their English in the element lectern-words. {name} in a text is a value.
const lecternSay = (() => {
  "use strict";
  let words = {};
  try { words = JSON.parse(document.getElementById("lectern-words").textContent); } catch { /* the page is English */ }
  return (text, values = {}) => (words[text] ?? text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
})();
