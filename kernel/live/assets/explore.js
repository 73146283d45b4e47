// Explorers: what readers play with, without a compiler. It needs loading.js before it. How an explorer looks at first
// is part of the page; the program that answers is loaded when the first of them comes near the window.
// notebooks/explore says what the attributes of its HTML mean.
"use strict";

// The argument has what loading.js needs, the explorers by name, and what they say in a language other than English.
// The result puts an explorer where an element of class explore names it.
const lecternExplorers = (page) => {
  const say = lecternSay;
  const { words } = page;
  const { worker, binary } = lecternLoading(page);

  // The program.
  const calls = new Map(); // id to { done, failed }
  let program = null, ids = 0;
  const post = (w, message, give = []) => new Promise((done, failed) => {
    calls.set(++ids, { done, failed });
    w.postMessage({ id: ids, ...message }, give);
  });
  const load = async () => {
    const [script, wasm] = await Promise.all([worker("explorescript"), binary("explore")]);
    const w = new Worker(script);
    // A program that has failed answers nothing any more. The next call begins another.
    const end = (why) => {
      w.onmessage = w.onerror = null;
      w.terminate();
      program = null;
      for (const { failed } of calls.values()) failed(new Error(why));
      calls.clear();
    };
    w.onmessage = ({ data }) => {
      if (data.broken) return end(data.broken);
      calls.get(data.id).done(data.html);
      calls.delete(data.id);
    };
    w.onerror = (e) => end(e.message || "the worker can't start");
    await post(w, { wasm, words }, [wasm]);
    return w;
  };
  const started = () => {
    if (!program) {
      program = load();
      program.catch(() => { program = null; }); // it is tried again
    }
    return program;
  };
  const ask = async (call) => post(await started(), call);

  // patch makes one element look like another, and leaves everything alone that is the same, so that controls keep
  // their focus.
  const patch = (from, to) => {
    const old = [...from.childNodes], now = [...to.childNodes]; // what goes over to one is gone from the other
    now.forEach((n, i) => {
      const o = old[i];
      if (!o) from.append(n);
      else if (o.nodeType !== n.nodeType || o.nodeName !== n.nodeName || o.name !== n.name) o.replaceWith(n);
      else if (n.nodeType !== 1) { if (o.data !== n.data) o.data = n.data; }
      else {
        for (const { name } of [...o.attributes]) if (!n.hasAttribute(name) && name !== "open") o.removeAttribute(name);
        for (const { name, value } of n.attributes) if (o.getAttribute(name) !== value) o.setAttribute(name, value);
        patch(o, n);
        if (o.nodeName === "INPUT" && o !== document.activeElement) o.value = n.getAttribute("value");
        if (o.nodeName === "SELECT") o.value = n.value;
      }
    });
    old.slice(now.length).forEach((o) => o.remove());
  };

  let translate = []; // what draws the first looks again, which are English
  let places = 0;
  const put = (place) => {
    const number = places++;
    const name = place.dataset.explore;
    const known = page.explorers[name];
    if (!known) return;
    const title = document.createElement("p");
    title.className = "x-title";
    title.append(Object.assign(document.createElement("b"), { textContent: say("Try it") }), " " + (words?.[known.title] ?? known.title));
    const body = document.createElement("div");
    const note = document.createElement("p");
    note.className = "x-note";
    note.setAttribute("role", "status");
    place.append(title, body, note);
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", say("Try it: {title}", { title: words?.[known.title] ?? known.title }));
    place.hidden = false;

    const show = (html) => {
      const t = document.createElement("template");
      t.innerHTML = html;
      patch(body, t.content);
      for (const group of body.querySelectorAll("[data-arrows]")) { // one stop for the Tab key
        const buttons = [...group.querySelectorAll("button")];
        const stop = buttons.find((b) => b === document.activeElement) ?? buttons.find((b) => b === group.stop) ?? buttons.find((b) => b.classList.contains("x-picked")) ?? buttons[0];
        buttons.forEach((b) => { b.tabIndex = b === stop ? 0 : -1; });
      }
    };
    show(known.html);
    if (words) translate.push(() => ask({ place: number, name, control: "", value: "" }).then(show));

    // What is set while the program works has to wait, and only the last value of each control counts.
    let busy = false;
    let waiting = [];
    const work = async () => {
      if (busy) return;
      busy = true;
      while (waiting.length) {
        const [control, value] = waiting.shift();
        const slow = setTimeout(() => { note.textContent = say("Loading"); }, 400);
        try {
          show(await ask({ place: number, name, control, value }));
          note.textContent = "";
        } catch (error) {
          note.textContent = say("Something went wrong: {why}", { why: error.message });
        }
        clearTimeout(slow);
      }
      busy = false;
    };
    const send = (control, value, again) => {
      const last = waiting.at(-1);
      if (again && last?.[0] === control) last[1] = value;
      else waiting.push([control, value]);
      work();
    };

    body.addEventListener("input", ({ target }) => { if (target.name) send(target.name, target.value, true); });
    body.addEventListener("click", ({ target }) => {
      const b = target.closest("[data-set]");
      if (b) send(b.dataset.set, b.dataset.value);
    });
    body.addEventListener("pointerover", ({ target, pointerType }) => {
      const b = target.closest("[data-over]");
      if (b && pointerType === "mouse") send(b.dataset.over, b.dataset.value, true);
    });
    body.addEventListener("focusin", ({ target }) => {
      const group = target.closest("[data-arrows]");
      if (!group || target.nodeName !== "BUTTON") return;
      group.stop = target;
      for (const b of group.querySelectorAll("button")) b.tabIndex = b === target ? 0 : -1;
      if (target.dataset.over) send(target.dataset.over, target.dataset.value, true);
    });
    body.addEventListener("keydown", (e) => {
      const group = e.target.closest("[data-arrows]");
      const row = Number(group?.dataset.arrows);
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row }[e.key];
      if (!group || !step || e.ctrlKey || e.metaKey || e.altKey) return;
      const buttons = [...group.querySelectorAll("button")];
      const next = buttons[buttons.indexOf(e.target) + step];
      e.preventDefault();
      next?.focus();
    });
    // Dragging: a value goes up by one for each place.
    body.addEventListener("pointerdown", (e) => {
      const box = e.target.closest("[data-drag]"), start = e.target.closest("[data-at]");
      if (!box || !start || e.button) return;
      e.preventDefault();
      const value = Number(box.dataset.value) - Number(start.dataset.at);
      let at = start.dataset.at;
      const move = ({ clientX, clientY }) => {
        const here = document.elementFromPoint(clientX, clientY)?.closest("[data-at]");
        if (!here || !box.contains(here) || here.dataset.at === at) return;
        at = here.dataset.at;
        send(box.dataset.drag, String(value + Number(at)), true);
      };
      const end = () => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", end);
        removeEventListener("pointercancel", end);
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end);
      addEventListener("pointercancel", end);
    });
    near.observe(place);
  };

  // Loading begins shortly before a reader gets there.
  const near = new IntersectionObserver((list) => {
    if (!list.some((e) => e.isIntersecting)) return;
    started().then(() => {
      const now = translate;
      translate = [];
      now.forEach((draw) => draw().catch(() => {}));
    }, () => {}); // whoever uses an explorer is told
    for (const { target, isIntersecting } of list) if (isIntersecting) near.unobserve(target);
  }, { rootMargin: "400px" });
  return put;
};

(() => {
  const told = document.getElementById("lectern-explore");
  if (!told || typeof WebAssembly !== "object" || typeof Worker !== "function" || typeof DecompressionStream !== "function") return;
  document.querySelectorAll(".explore").forEach(lecternExplorers(JSON.parse(told.textContent)));
})();
