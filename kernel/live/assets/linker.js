// The worker that links: it loads packages into Go's linker while the engine compiles the program that is to be linked with them. It needs
// machine.js, Go's wasm_exec.js and cells.js before it. The page sends it the linker, and the port on which the engine sends { do: … }.
"use strict";

(() => {
  let linker = null; // the promise of its module
  let begun = null; // the promise of what takes the program
  const obey = {
    bundle({ bytes, files }) { for (const { file, at, size } of files) machine.put(file, bytes.subarray(at, at + size)); },
    begin({ packages }) {
      begun = linker.then((module) => cells.link(module, packages));
      begun.catch(() => {}); // end says what was wrong
    },
    async end({ archive }) { return (await begun)(archive); },
  };
  self.onmessage = ({ data: { bytes, port } }) => {
    if (bytes) linker = cells.tool(bytes);
    if (!port) return;
    port.onmessage = async ({ data }) => {
      try {
        const result = await obey[data.do](data);
        if (result) port.postMessage(result, result.program ? [result.program.buffer] : []);
      } catch (error) {
        port.postMessage({ broken: String(error && error.stack || error) });
      }
    };
  };
})();
