// The worker that links: it loads packages into Go's linker while the engine compiles the program that is to be linked with them. It needs
// machine.js, Go's wasm_exec.js and cells.js before it. The page sends it the linker, and the port on which the engine sends { do: … }.
"use strict";

(() => {
  let linker = null; // the promise of its module
  let end = null; // what takes the program, once
  const obey = {
    bundle({ bytes, files }) { for (const { file, at, size } of files) machine.put(file, bytes.subarray(at, at + size)); },
    async begin({ packages }) { end = cells.link(await linker, packages); },
    async end({ archive }) {
      const take = end;
      end = null;
      if (!take) throw new Error("the linker can't begin");
      return take(archive);
    },
  };
  let last = Promise.resolve(); // of what has been asked for, one after another
  self.onmessage = ({ data: { bytes, port } }) => {
    if (bytes) linker = cells.tool(bytes);
    if (port) {
      port.onmessage = ({ data }) => {
        last = last.then(() => obey[data.do](data)).then(
          (result) => { if (result) port.postMessage(result, result.program ? [result.program.buffer] : []); },
          (error) => port.postMessage({ broken: String(error && error.stack || error) }),
        );
      };
    }
  };
})();
