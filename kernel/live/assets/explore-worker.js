// The worker in which the explorers of a page run. It needs Go's wasm_exec.js before it. The page sends { id, wasm, words } once, and then calls:
// { id, place, name, control, value }. Each is answered by { id, html }, the first without html, or by { broken }: why nothing works any more.
"use strict";

(() => {
  let ready = null;
  const start = async (wasm) => {
    const go = new Go();
    const { instance } = await WebAssembly.instantiate(wasm, go.importObject);
    go.run(instance); // it answers calls until the page is closed
  };
  self.onmessage = async ({ data }) => {
    try {
      if (data.wasm) {
        if (data.words) self.lecternWords = JSON.stringify(data.words); // the reader's language, by the English
        ready = start(data.wasm);
        await ready;
        self.postMessage({ id: data.id });
        return;
      }
      await ready;
      const html = self.lecternExplorers(data.place, data.name, data.control, data.value);
      if (typeof html !== "string") throw new Error("the program has ended");
      self.postMessage({ id: data.id, html });
    } catch (error) {
      self.postMessage({ broken: String(error && error.message || error) });
    }
  };
})();
