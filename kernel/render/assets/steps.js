// Cells whose steps were recorded get a button, which opens the stepper below the code.
(() => {
  "use strict";
  const say = lecternSay;
  const place = document.getElementById("lectern-steps");
  const source = JSON.parse(document.getElementById("lectern-source")?.textContent || "{}");
  const unpacked = async (text, note) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const record = JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text());
    return { ...record, note: [record.note, note].filter(Boolean).join(" ") };
  };
  // attach gives a cell a button. load returns the promise of its record, or null if that is yet to come: then show is
  // called with it. load gets whether a reader has asked, not just the address with which the page was opened. offset
  // returns how many lines of the cell come before the code.
  const attach = (box, load, offset) => {
    const code = box.querySelector(".in .code code");
    const name = box.getAttribute("aria-label") || say("This cell");
    const row = document.createElement("div");
    row.className = "step-row";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tool step-open";
    button.textContent = say("Step through");
    button.setAttribute("aria-label", say("Step through {cell}", { cell: name.toLowerCase() }));
    button.setAttribute("aria-expanded", "false");
    row.append(button);
    let stepper = null;
    const address = (tail) => {
      document.dispatchEvent(new CustomEvent("lectern-stepped", { detail: box.id + tail }));
      if (document.documentElement.classList.contains("talk")) return; // then the address is that of the talk
      try { history.replaceState(null, "", "#" + box.id + tail); } catch { /* a browser may find it too often */ }
    };
    const close = (focus) => {
      if (!stepper) return;
      stepper.close();
      stepper = null;
      address("");
      button.hidden = false;
      button.setAttribute("aria-expanded", "false");
      if (focus !== false) button.focus();
    };
    const ended = () => {
      if (!document.documentElement.classList.contains("talk")) return;
      close();
      document.dispatchEvent(new Event("lectern-steps-end"));
    };
    const show = (record, step) => {
      close(false);
      stepper = lecternSteps(record, code, row, { offset: offset(), source, name: say("{cell} step by step", { cell: name }), close: () => close(), moved: (n) => address(".step-" + n), ended });
      if (!stepper) { // it only declares
        button.textContent = say("Nothing to step through");
        return;
      }
      button.textContent = say("Step through");
      button.hidden = true;
      button.setAttribute("aria-expanded", "true");
      where.after(row); // next to the code, even where a question stood between them
      stepper.open(step);
      const at = document.activeElement;
      if (at && !box.contains(at) && at.closest("input, textarea, select, [contenteditable]")) return; // a cell that ran first comes late to who types elsewhere
      stepper.panel.focus({ preventScroll: true });
      row.scrollIntoView({ block: "nearest" });
    };
    const open = async (step, asked = true) => {
      if (stepper) { stepper.open(step); return; }
      button.disabled = true;
      try {
        const record = await load(asked);
        if (record) show(record, step);
      } finally {
        button.disabled = false;
      }
    };
    button.addEventListener("click", () => open());
    // An address such as #cell-05-12.step-7 opens the stepper there.
    const follow = (to, asked) => {
      const [id, step] = to.split(".step-");
      if (id === box.id && step) open(+step, asked);
      else if (id === box.id) close(false);
    };
    const after = box.querySelector(":scope > .after"); // what a question hides
    const where = box.querySelector(".in");
    if (after) after.prepend(row);
    else where.after(row);
    addEventListener("hashchange", () => follow(location.hash.slice(1)));
    document.addEventListener("lectern-step-to", (e) => follow(e.detail));
    follow(location.hash.slice(1), false);
    return { row, button, show, close };
  };
  window.lecternStepping = { attach, unpacked, recorded: place ? JSON.parse(place.textContent) : {} };
  if (typeof DecompressionStream === "undefined" || document.getElementById("lectern-live")) return; // cells that run have their own button
  for (const [id, { r, o, w }] of Object.entries(window.lecternStepping.recorded)) {
    const box = document.getElementById("cell-" + id);
    if (!box?.querySelector(".in .code code")) continue;
    if (r) attach(box, () => unpacked(r, w), () => o || 0);
    else if (w) {
      const row = document.createElement("p");
      row.className = "step-row note";
      row.textContent = w;
      const after = box.querySelector(":scope > .after");
      if (after) after.prepend(row);
      else box.querySelector(".in").after(row);
    }
  }
})();
