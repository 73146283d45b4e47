// A talk: the lesson in large type, one block at a time, to present it. A second window, for the audience, follows the
// first, in which the speaker sees what comes next and can keep notes. Both are this page; the address, such as
// #talk-12, says which block is shown.
(() => {
  "use strict";
  const article = document.querySelector("main article"), button = document.getElementById("talk");
  if (!article || !button) return;
  const say = lecternSay;
  const root = document.documentElement;
  const make = (tag, props = {}, ...inside) => {
    const e = Object.assign(document.createElement(tag), props);
    e.append(...inside);
    return e;
  };

  // A beat is what one key press shows: an element, or the answer to a question.
  let beats = [], boxes = []; // a box comes with the first beat in it
  const collect = (box) => {
    for (const e of box.children) {
      if (e.matches(".eyebrow, .badge, .step-row, .asks, .verdict, .ask, .live-strip, .live-tools, .live-out, .live-input, .live-why, script, style")) continue; // they belong to what stands beside them
      if (e.matches(".guess")) {
        beats.push({ e }, { e: e.querySelector(".answer"), act: () => e.querySelector(".ask:not([hidden]) .give")?.click() });
      } else if (e.matches("ul, ol, .cell, .after")) {
        boxes.push({ e, first: beats.length });
        collect(e);
      } else beats.push({ e });
    }
  };

  let at = -1, other = null, audience = false; // the other window, and whether this one is for the audience
  const tell = (message) => other?.postMessage({ lecternTalk: message }, "*"); // a page on a disk has no name to send to
  const talking = () => at >= 0;
  const cellOf = (beat) => beat.e.closest(".cell");
  // shown is what a beat shows. If a cell has run in the page, what it has given stands beside what is stored.
  const shown = (beat) => [beat.e, ...(beat.e.matches(".out") ? cellOf(beat).querySelectorAll(".live-out") : [])];
  const go = (n) => {
    at = Math.max(0, Math.min(beats.length - 1, n));
    beats.forEach((b, i) => {
      if (i <= at) b.act?.();
      for (const e of shown(b)) {
        e.classList.toggle("talk-later", i > at);
        e.classList.toggle("talk-now", i === at);
      }
    });
    for (const { e, first } of boxes) e.classList.toggle("talk-later", first > at);
    const now = shown(beats[at]).at(-1);
    now.scrollIntoView({ block: now.offsetHeight > 0.6 * innerHeight ? "start" : "nearest" });
    count.textContent = say("{n} of {all}", { n: at + 1, all: beats.length });
    recall();
    dispatchEvent(new Event("resize")); // boxes that are shown now may scroll
    try { history.replaceState(null, "", "#talk-" + (at + 1)); } catch { /* a browser may find it too often */ }
    if (!audience) tell({ at });
  };
  const heading = (way) => {
    let n = at + way;
    while (n > 0 && n < beats.length - 1 && !/^H[1-6]$/.test(beats[n].e.tagName)) n += way;
    return n;
  };
  const step = () => {
    const open = cellOf(beats[at])?.querySelector(".step-open:not([hidden])");
    open?.click();
  };

  // Notes of the speaker, one for each cell, which this browser remembers.
  const key = "lectern-notes:" + location.pathname.split("/").pop().replace(/\.html$/, "");
  const written = lecternStored(key);
  const notes = make("textarea", { rows: 5, placeholder: say("Notes for this cell. They stay in this browser.") });
  notes.setAttribute("aria-label", say("Notes for this cell"));
  notes.addEventListener("input", () => {
    written.set(cellOf(beats[at])?.id, notes.value || undefined);
  });
  const recall = () => { notes.value = written.all[cellOf(beats[at])?.id] ?? ""; };

  const tool = (text, label, act) => {
    const b = make("button", { type: "button", className: "tool", title: label, textContent: text });
    b.setAttribute("aria-label", label);
    b.addEventListener("click", act);
    return b;
  };
  const count = make("span"), clock = make("span");
  const bar = make("div", { className: "talk-bar" }, tool("◀", say("Back (left arrow)"), () => go(at - 1)), count, tool("▶", say("Next (right arrow, space)"), () => go(at + 1)),
    tool(say("Steps"), say("Step through this cell (S)"), step), tool(say("Two windows"), say("Open a second window for the audience (W)"), () => pair()), clock, tool(say("End"), say("End the talk (Escape)"), () => end()), notes);
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", say("Talk"));
  let began = 0, ticking = 0;
  const tick = () => { clock.textContent = say("{n} min", { n: Math.floor((Date.now() - began) / 60000) }); };

  const start = (n) => {
    beats = [];
    boxes = [];
    collect(article);
    root.classList.add("talk");
    root.classList.toggle("talk-audience", audience);
    document.body.append(bar);
    began = Date.now();
    tick();
    ticking = setInterval(tick, 5000);
    go(n);
  };
  const end = () => {
    const now = beats[at].e;
    tell("end");
    clearInterval(ticking);
    at = -1;
    other = null;
    bar.remove();
    root.classList.remove("talk", "talk-audience", "talk-speaker");
    for (const e of [...beats.flatMap(shown), ...boxes.map((b) => b.e)]) e.classList.remove("talk-later", "talk-now");
    history.replaceState(null, "", "#" + (now.closest(".cell")?.id ?? ""));
    now.scrollIntoView({ block: "center" });
    button.focus();
  };
  const pair = () => {
    if (other && !other.closed) { // it may be behind this one
      other.focus();
      return;
    }
    other = open(location.href, "", "popup,width=1280,height=800");
    root.classList.toggle("talk-speaker", Boolean(other));
    dispatchEvent(new Event("resize"));
  };

  // What the speaker points at, relative to the block that it is in.
  const dot = make("div", { className: "talk-dot", hidden: true });
  document.body.append(dot);
  let pointing = false;
  document.addEventListener("pointermove", (e) => {
    if (!talking() || !other || audience || pointing) return;
    pointing = true;
    requestAnimationFrame(() => {
      pointing = false;
      const i = beats.findIndex((b) => b.e.contains(e.target)), r = beats[i]?.e.getBoundingClientRect();
      tell({ point: i < 0 ? null : [i, (e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height] });
    });
  });
  const point = (to) => {
    dot.hidden = !to || !beats[to[0]];
    if (dot.hidden) return;
    const r = beats[to[0]].e.getBoundingClientRect();
    Object.assign(dot.style, { left: r.left + to[1] * r.width + "px", top: r.top + to[2] * r.height + "px" });
  };

  addEventListener("message", ({ data, source }) => {
    const said = data?.lecternTalk;
    if (said === "hello" && talking() && !audience && source?.opener === window) { // also after a reload, which has said "end"
      other = source;
      root.classList.add("talk-speaker");
      tell({ at });
    }
    if (!said || !source || source !== other) return;
    if (said === "end") { if (audience) close(); else { other = null; root.classList.remove("talk-speaker"); } return; }
    if (!audience || !talking()) return;
    if (Number.isInteger(said.at) && said.at !== at) go(said.at);
    if (said.point !== undefined) point(said.point);
    if (typeof said.step === "string") document.dispatchEvent(new CustomEvent("lectern-step-to", { detail: said.step }));
  });
  addEventListener("pagehide", () => { if (talking()) tell("end"); });
  // Steps go on in both windows. After the last one the talk does.
  document.addEventListener("lectern-stepped", ({ detail }) => { if (!audience) tell({ step: detail }); });
  document.addEventListener("lectern-steps-end", () => { if (talking() && !audience) go(at + 1); });

  document.addEventListener("keydown", (e) => {
    if (!talking() || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return; // what has the focus may go by arrow keys, too
    if (e.target.closest("input, textarea, select, dialog[open], [contenteditable], .steps") || e.key === " " && e.target.closest("button, summary")) return;
    const act = {
      ArrowRight: () => go(at + 1), " ": () => go(at + 1), PageDown: () => go(at + 1), ArrowLeft: () => go(at - 1), PageUp: () => go(at - 1),
      ArrowDown: () => go(heading(1)), ArrowUp: () => go(heading(-1)), Home: () => go(0), End: () => go(beats.length - 1), s: step, w: pair, Escape: end,
    }[e.key];
    if (!act) return;
    act();
    e.preventDefault();
  });
  button.addEventListener("click", () => start(0));
  button.hidden = false;
  const asked = /^#talk-(\d+)$/.exec(location.hash);
  if (asked) {
    audience = Boolean(opener);
    start(asked[1] - 1);
    if (audience) {
      other = opener;
      tell("hello");
    }
  }
})();
