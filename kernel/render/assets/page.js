(() => {
  "use strict";
  const say = lecternSay;
  const $ = (s, r = document) => r.querySelector(s);
  const $$ = (s, r = document) => [...r.querySelectorAll(s)];

  // On a narrow screen the lessons and the contents start folded.
  const wide = matchMedia("(min-width: 75rem)");
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
    button.textContent = say("Copy");
    button.setAttribute("aria-label", say("Copy this code"));
    button.addEventListener("click", async () => {
      let word = say("Copied");
      try { await copyText($("code", box).textContent); } catch { word = say("Not copied"); }
      button.textContent = said.textContent = word;
      button.classList.add("done");
      setTimeout(() => { button.textContent = say("Copy"); said.textContent = ""; button.classList.remove("done"); }, 1600);
    });
    box.append(button);
  }

  // Figures can be seen as large as the window.
  const large = document.createElement("dialog");
  large.className = "large";
  large.setAttribute("aria-label", say("Enlarged figure"));
  const shut = document.createElement("button");
  shut.type = "button";
  shut.className = "tool";
  shut.textContent = say("Close");
  shut.addEventListener("click", () => large.close());
  large.append(shut);
  document.body.append(large);
  let away = null; // what is enlarged, and where it belongs
  large.addEventListener("close", () => {
    if (!away) return;
    away.place.replaceWith(away.picture);
    away.button.focus();
    away = null;
  });
  large.addEventListener("click", (e) => { if (e.target === large) large.close(); });
  for (const figure of $$("main figure")) {
    const picture = $(".picture", figure);
    if (!picture) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tool enlarge";
    button.textContent = say("Enlarge");
    const name = $("figcaption a", figure);
    button.setAttribute("aria-label", name ? say("Enlarge {figure}", { figure: name.textContent.toLowerCase() }) : say("Enlarge this figure"));
    const open = () => {
      const place = document.createElement("div");
      place.style.height = picture.offsetHeight + "px";
      away = { picture, place, button };
      picture.replaceWith(place);
      large.append(picture);
      large.showModal();
    };
    button.addEventListener("click", open);
    picture.addEventListener("click", (e) => {
      const own = e.target.closest("a, button, [tabindex]"); // which takes clicks itself, if it is a part of the picture
      if (!away && e.target.closest("svg, img") && (own === picture || !picture.contains(own))) open();
    });
    figure.append(button);
  }

  // Light, dark, or as the system.
  const themes = { auto: ["◐", say("Auto"), say("Auto colors")], light: ["○", say("Light"), say("Light colors")], dark: ["●", say("Dark"), say("Dark colors")] };
  const switcher = $("#theme");
  const drawTheme = () => {
    const [sign, name, label] = themes[lecternTheme.now];
    switcher.textContent = sign + " " + name;
    switcher.setAttribute("aria-label", label);
  };
  switcher.addEventListener("click", () => {
    const list = Object.keys(themes);
    lecternTheme.choose(list[(list.indexOf(lecternTheme.now) + 1) % list.length]);
    drawTheme();
  });
  drawTheme();
  switcher.hidden = false;

  // The same page in another language opens where this one is: at the step or the block of a talk that its address
  // names, or at the cell at the top of the window.
  for (const link of $$(".language")) {
    const lead = () => {
      const top = scrollY > 200 && $$("main .cell[id]").find((c) => c.offsetParent && c.getBoundingClientRect().bottom > 80);
      link.hash = top && !/^#talk-|\.step-/.test(location.hash) ? top.id : location.hash;
    };
    for (const event of ["click", "auxclick"]) link.addEventListener(event, lead);
  }

  // A box that scrolls can be reached and scrolled by keyboard.
  const reachable = () => {
    for (const box of $$("main pre, main .scroll, main .display, main .picture")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
      if (scrolls) { box.tabIndex = 0; } else { box.removeAttribute("tabindex"); }
    }
  };
  reachable();
  // A separate document says how high it is.
  addEventListener("message", ({ data, source }) => {
    if (!(data?.lecternHeight > 0)) return;
    for (const f of document.querySelectorAll("iframe.apart")) if (f.contentWindow === source) f.style.height = Math.min(4000, Math.ceil(data.lecternHeight) + 2) + "px";
  });

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
  if (!box) return; // the page for what is missing has none
  box.hidden = typeof DecompressionStream === "undefined";
  if (matchMedia("(hover: hover)").matches) input.placeholder = say("Search (/)");
  let index = null;
  const load = async () => {
    const bytes = Uint8Array.from(atob($("#lectern-index").textContent), (c) => c.charCodeAt(0));
    const d = JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text());
    for (const s of d.s) { s.heading = (s.h + (s.i ? "" : " " + d.p[s.p][0])).toLowerCase(); s.words = s.t.toLowerCase(); }
    return d;
  };
  // fit says how well a text holds a word: as a whole, at the start of a word, or anywhere. Chinese has no spaces, so
  // that every character begins and ends a word.
  const letter = /(?!\p{Script=Han})[\p{L}\p{N}_]/u;
  const fit = (text, word) => {
    let best = 0;
    for (let at = text.indexOf(word); at >= 0 && best < 3; at = text.indexOf(word, at + 1)) {
      const starts = at === 0 || !letter.test(text[at - 1]) || !letter.test(word[0]);
      const ends = at + word.length >= text.length || !letter.test(text[at + word.length]);
      best = Math.max(best, starts && ends ? 3 : starts ? 2 : word.length > 2 ? 1 : 0);
    }
    return best;
  };
  // Other words that also match a query's word, or the whole query.
  const also = (d, word) => [word, ...d.y.filter((g) => g.includes(word)).flat().filter((w) => w !== word)];
  const score = (s, words) => Math.max(...words.map((w, i) => {
    const often = s.words.split(w).length - 1;
    const points = 4 * fit(s.heading, w) * (s.i ? 1 : 1.5) + fit(s.words, w) * (1 + 0.2 * Math.log2(1 + often));
    return i > 0 ? points * 0.7 : points;
  }));
  // apart counts the letters by which two words differ: one too many, one missing, one changed, or two swapped.
  const apart = (a, b) => {
    const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i++) {
      rows.push([i]);
      for (let j = 1; j <= b.length; j++) {
        let n = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) n = Math.min(n, rows[i - 2][j - 2] + 1);
        rows[i].push(n);
      }
    }
    return rows[a.length][b.length];
  };
  // meant is the word of the lessons that a word without a hit was probably meant to be: the nearest one, and of
  // several the commonest.
  const meant = (d, word) => {
    if (!d.all) {
      d.all = new Map();
      for (const s of d.s) for (const w of (s.heading + " " + s.words).match(/[\p{L}\p{N}_]{4,}/gu) || []) d.all.set(w, (d.all.get(w) || 0) + 1);
    }
    const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
    let best = [most + 1, 0, word];
    for (const [w, often] of d.all) {
      if (Math.abs(w.length - word.length) > most) continue;
      const n = apart(word, w);
      if (n < best[0] || n === best[0] && n <= most && often > best[1]) best = [n, often, w];
    }
    return best[2];
  };
  const find = (d, query, pairs) => {
    const whole = query.toLowerCase().replace(/\s+/g, " ");
    const terms = d.y.some((g) => g.includes(whole)) ? [whole] : pairs ? pairs : whole.split(" ");
    const sets = terms.map((t) => also(d, t));
    const hits = [];
    d.s.forEach((s, at) => {
      const points = sets.map((words) => score(s, words));
      const found = points.filter((n) => n > 0).length;
      if (pairs ? found > 0.6 * points.length : found === points.length) hits.push({ s, at, points: points.reduce((a, b) => a + b) + (terms.length > 1 ? fit(s.words, whole) + 2 * fit(s.heading, whole) : 0) });
    });
    if (!hits.length && !pairs) { // the same characters, two at a time, of which most are there: those at the ends of words are not
      const two = whole.match(/\p{Script=Han}+|[^\s\p{Script=Han}]+/gu)?.flatMap((run) => (/\p{Script=Han}/u.test(run) && run.length > 2 ? [...run].slice(1).map((c, i) => [...run][i] + c) : [run]));
      if (two?.length > terms.length) return find(d, query, two);
    }
    if (!hits.length) {
      const instead = terms.map((t, i) => (d.s.some((s) => score(s, sets[i]) > 0) ? t : meant(d, t))).join(" ");
      if (instead !== whole) return { ...find(d, instead), instead };
    }
    return { hits: hits.sort((a, b) => b.points - a.points || a.at - b.at).slice(0, 12), words: sets.flat() };
  };
  // A snippet is the text around the first word that was found, which is marked.
  const snippet = (s, words) => {
    const small = document.createElement("small");
    const found = words.map((w) => [s.words.indexOf(w), w.length]).filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0] || [0, 0];
    let from = Math.max(0, found[0] - 50);
    if (from > 0 && letter.test(s.t[from])) from = s.t.indexOf(" ", from) + 1 || from;
    if (from > found[0]) from = found[0];
    const mark = document.createElement("mark");
    mark.textContent = s.t.slice(found[0], found[0] + found[1]);
    const rest = s.t.slice(found[0] + found[1], from + 140);
    small.append((from > 0 ? "… " : "") + s.t.slice(from, found[0]), mark, rest + (from + 140 < s.t.length ? " …" : ""));
    return small;
  };
  const show = async () => {
    const query = input.value.trim();
    if (query !== "" && !index) index = await load();
    if (query !== input.value.trim()) return; // somebody typed on
    list.replaceChildren();
    list.hidden = query === "";
    if (list.hidden) { said.textContent = ""; return; }
    const { hits, words, instead } = find(index, query);
    const tell = (text) => {
      const item = document.createElement("li");
      item.className = "none";
      item.textContent = text;
      list.append(item);
    };
    if (instead && hits.length) tell(say("Nothing found for that. Results for “{words}”:", { words: instead }));
    for (const { s } of hits) {
      const a = document.createElement("a");
      a.href = encodeURIComponent(index.p[s.p][0]) + (s.i ? "#" + encodeURIComponent(s.i) : "");
      a.textContent = s.h;
      if (s.i) {
        const lesson = document.createElement("small");
        lesson.textContent = index.p[s.p][1];
        a.append(lesson);
      }
      a.append(snippet(s, words));
      const item = document.createElement("li");
      item.append(a);
      list.append(item);
    }
    if (!hits.length) tell(say("Nothing found for “{words}”.", { words: query }));
    said.textContent = hits.length === 0 ? say("Nothing found") : hits.length === 1 ? say("1 section found") : say("{n} sections found", { n: hits.length });
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
    const typing = e.target.closest?.("input, textarea, select, [contenteditable]"), command = e.ctrlKey || e.metaKey;
    if (e.defaultPrevented || e.altKey || !(command ? e.key.toLowerCase() === "k" && !e.shiftKey : e.key === "/" && !typing)) return; // with Shift, K is an editor's or the browser's
    e.preventDefault();
    input.focus();
    input.select();
  });
})();
