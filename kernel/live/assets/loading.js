// How a page loads its parts: over http they are fetched; a page that was opened as a file runs the scripts that carry
// them, and so does a page that has them in no other form.
"use strict";

// The argument has the parts by what they are, the folder that they are in, and whether they exist only as scripts.
const lecternLoading = (() => {
  // loaded has, by name, the promise of a part's bytes.
  const carried = new Map(), loaded = new Map();
  const decoded = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
  };
  window.lecternPart = (name, text) => { carried.get(name)?.(decoded(text)); };

  return ({ parts, folder, scripts: carriedOnly }) => {
    const script = (name) => new Promise((done, failed) => {
      carried.set(name, done);
      const s = document.createElement("script");
      const ends = (why) => { // unless the part is there
        s.remove();
        failed(new Error(why));
      };
      s.onload = () => ends(`${folder}${name}.js is damaged`);
      s.onerror = () => ends(`can't read ${folder}${name}.js`);
      s.src = folder + name + ".js";
      document.head.append(s);
    });
    const fetched = async (name, progress) => {
      const answer = await fetch(folder + name);
      if (!answer.ok) throw new Error(`the server answers ${answer.status} to ${folder}${name}`);
      const pieces = [];
      for (const reader = answer.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
        pieces.push(value);
        progress(value.length);
      }
    };
    const part = (p, progress = () => {}) => {
      if (!loaded.has(p.name)) {
        const bytes = carriedOnly || location.protocol === "file:" ? script(p.name).then((b) => { progress(p.bytes); return b; }) : fetched(p.name, progress);
        bytes.catch(() => loaded.delete(p.name)); // it is tried again
        loaded.set(p.name, bytes);
      }
      return loaded.get(p.name);
    };
    // Scripts and notebooks are small, and packed so that the browser itself unpacks them.
    const unpacked = async (p) => {
      const bytes = await part(p);
      if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return new Blob([bytes]).text(); // a server's Content-Encoding has done it already
      return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    };
    const worker = async (name) => URL.createObjectURL(new Blob([await unpacked(parts[name])], { type: "text/javascript" }));
    // The rest is packed more tightly. Unpacking it takes a second or two, so workers do it, a few at once.
    const unpackers = Array.from({ length: Math.min(4, navigator.hardwareConcurrency || 2) }, () => ({ worker: null })); // that have nothing to do
    const wanted = []; // who waits for one: { bytes, take }
    const content = async (p, progress) => {
      const bytes = await part(p, progress);
      const u = unpackers.pop() ?? await new Promise((take) => wanted.push({ bytes: p.bytes, take }));
      try {
        u.worker ??= new Worker(await worker("unpacker"));
        return await new Promise((done, failed) => {
          u.worker.onmessage = ({ data }) => { if (data.bytes) done(data.bytes); else failed(new Error(data.broken)); };
          u.worker.onerror = (e) => failed(new Error(e.message || "the worker can't start"));
          u.worker.postMessage(bytes);
        });
      } catch (error) {
        u.worker?.terminate();
        u.worker = null;
        throw error;
      } finally {
        wanted.sort((a, b) => a.bytes - b.bytes);
        const next = wanted.pop(); // what takes longest, so that it is not alone in the end
        if (next) next.take(u);
        else unpackers.push(u);
      }
    };
    const rest = () => { // each takes some memory
      for (const u of unpackers) {
        u.worker?.terminate();
        u.worker = null;
      }
    };
    // binary is what a part holds.
    const binary = async (name) => {
      const { buffer } = await content(parts[name]);
      rest();
      return buffer;
    };
    return { part, unpacked, worker, content, binary, rest };
  };
})();
