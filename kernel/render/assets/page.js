(() => {
  "use strict";
  const $ = (s, r = document) => r.querySelector(s);
  const $$ = (s, r = document) => [...r.querySelectorAll(s)];

  // On a narrow screen the lessons and the contents start folded.
  const wide = matchMedia("(min-width: 72rem)");
  const fold = () => $$(".side > details").forEach((d) => { d.open = wide.matches; $("summary", d).tabIndex = wide.matches ? -1 : 0; });
  wide.addEventListener("change", fold);
  fold();
  const current = $('.lessons [aria-current="page"]');
  if (wide.matches && current) {
    const box = $(".lessons");
    box.scrollTop = Math.max(0, current.offsetTop - box.clientHeight / 2);
  }

  // Copy buttons.
  const said = $("#said");
  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      area.className = "hidden";
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      if (!done) throw new Error("copying is not allowed here");
    }
  };
  for (const box of $$("main .code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      let word = "Copied";
      try { await copyText($("code", box).textContent); } catch { word = "Not copied"; }
      button.textContent = said.textContent = word;
      button.classList.add("done");
      setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; button.classList.remove("done"); }, 1600);
    });
    box.append(button);
  }

  // A box that scrolls can be reached and scrolled by keyboard.
  const reachable = () => {
    for (const box of $$("main pre, main .scroll, main .display, main .picture")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
      if (scrolls) { box.tabIndex = 0; } else { box.removeAttribute("tabindex"); }
    }
  };
  reachable();
  addEventListener("load", reachable);
  addEventListener("resize", reachable);

  // Mark where the reader is in the contents.
  const links = new Map($$(".contents a").map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
  const heads = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  if (heads.length) {
    let waiting = false;
    const mark = () => {
      waiting = false;
      let at = null;
      for (const h of heads) {
        if (h.getBoundingClientRect().top > 120) break;
        at = h;
      }
      for (const [id, a] of links) a.classList.toggle("here", at !== null && id === at.id);
    };
    addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });
    mark();
  }

  // Paper cannot be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => { folded = $$("main details:not([open])"); folded.forEach((d) => { d.open = true; }); });
  addEventListener("afterprint", () => { folded.forEach((d) => { d.open = false; }); });

  // Search, over the index that is part of the page.
  const input = $("#search"), list = $("#results");
  const box = $(".search");
  box.hidden = false;
  if (matchMedia("(hover: hover)").matches) input.placeholder = "Search (Ctrl K)";
  let index = null;
  const load = () => {
    if (index) return;
    const d = JSON.parse($("#lectern-index").textContent);
    const words = d.w.split(" ");
    const where = d.x.split(",").map((x) => { let at = 0; return x.split(" ").map((n) => (at += parseInt(n, 36))); });
    index = { pages: d.p, sections: d.s, words, where, titles: d.s.map((s) => s[2].toLowerCase()) };
  };
  const terms = (q) => q.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}_\p{Mn}]+/gu) || [];
  const find = (query) => {
    let scores = null;
    for (const term of terms(query)) {
      const found = new Map();
      index.words.forEach((word, i) => {
        const fit = word === term ? 4 : word.startsWith(term) ? 2 : term.length > 2 && word.includes(term) ? 1 : 0;
        if (fit) for (const s of index.where[i]) found.set(s, Math.max(found.get(s) || 0, fit));
      });
      index.titles.forEach((title, s) => { if (title.includes(term)) found.set(s, (found.get(s) || 0) + (index.sections[s][1] ? 6 : 8)); });
      if (scores === null) scores = found;
      else scores = new Map([...found].filter(([s]) => scores.has(s)).map(([s, n]) => [s, n + scores.get(s)]));
    }
    return scores ? [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 12).map(([s]) => index.sections[s]) : [];
  };
  const show = () => {
    load();
    const query = input.value.trim();
    list.replaceChildren();
    list.hidden = query === "";
    if (list.hidden) { said.textContent = ""; return; }
    const hits = find(query);
    for (const [page, id, title] of hits) {
      const a = document.createElement("a");
      a.href = encodeURIComponent(index.pages[page][0]) + (id ? "#" + encodeURIComponent(id) : "");
      a.textContent = title;
      const small = document.createElement("small");
      small.textContent = id ? index.pages[page][1] : "Lesson";
      a.append(small);
      const item = document.createElement("li");
      item.append(a);
      list.append(item);
    }
    if (!hits.length) {
      const item = document.createElement("li");
      item.className = "none";
      item.textContent = "Nothing found for “" + query + "”.";
      list.append(item);
    }
    said.textContent = hits.length === 0 ? "Nothing found" : hits.length === 1 ? "1 section found" : hits.length + " sections found";
  };
  const close = () => { list.hidden = true; };
  input.addEventListener("input", show);
  input.addEventListener("focus", () => { if (input.value.trim()) show(); });
  document.addEventListener("click", (e) => { if (!box.contains(e.target)) close(); });
  list.addEventListener("click", (e) => { if (e.target.closest("a")) close(); });
  box.addEventListener("focusout", (e) => { if (e.relatedTarget && !box.contains(e.relatedTarget)) close(); });
  box.addEventListener("keydown", (e) => {
    const items = $$("a", list);
    const at = items.indexOf(document.activeElement);
    if (e.key === "Escape") { close(); input.value = ""; input.focus(); }
    else if (e.key === "ArrowDown" && items.length) { e.preventDefault(); items[Math.min(at + 1, items.length - 1)].focus(); }
    else if (e.key === "ArrowUp" && at >= 0) { e.preventDefault(); (at === 0 ? input : items[at - 1]).focus(); }
    else if (e.key === "Enter" && e.target === input && items.length) { e.preventDefault(); items[0].click(); }
  });
  document.addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") { e.preventDefault(); input.focus(); input.select(); }
  });
})();
