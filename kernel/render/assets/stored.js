// lecternStored is an object that this browser remembers under a key. Each of its names is stored by itself, so that a page which is open in
// two windows keeps what is written in both. Where nothing can be stored, the object lasts as long as the page.
const lecternStored = (key) => {
  "use strict";
  const read = () => {
    try {
      const x = JSON.parse(localStorage.getItem(key));
      if (typeof x === "object" && !Array.isArray(x)) return x ?? {};
    } catch { /* there is no storage, or what is in it is damaged */ }
    return {};
  };
  const all = read();
  return {
    all,
    // set gives a name a value, or takes it away if that is undefined, and reports whether the browser remembers it.
    set(name, value) {
      const stored = read();
      for (const x of [all, stored]) {
        if (value === undefined) delete x[name];
        else x[name] = value;
      }
      try {
        if (Object.keys(stored).length) localStorage.setItem(key, JSON.stringify(stored));
        else localStorage.removeItem(key);
      } catch {
        return false;
      }
      return true;
    },
    // clear takes all names away, those of other windows, too.
    clear() {
      for (const name in all) delete all[name];
      try { localStorage.removeItem(key); } catch { /* nothing is stored */ }
    },
  };
};
