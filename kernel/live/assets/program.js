// The worker in which one cell's program runs. It needs machine.js and Go's wasm_exec.js before it. The page ends it whenever it likes.
"use strict";

(() => {
  // A program computes. It has no business with what other pages of this site store, or with the network.
  for (const name of ["indexedDB", "caches", "fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "BroadcastChannel", "Worker", "SharedWorker", "importScripts", "navigator", "Notification", "cookieStore"]) {
    for (let o = self; o; o = Object.getPrototypeOf(o)) delete o[name];
    if (name in self) Object.defineProperty(self, name, { value: undefined });
  }
  const most = 32 << 20; // bytes that a cell may print: far fewer are drawn
  let printed = 0;
  const run = async ({ program, files, input, environment, port, kept }) => {
    let began = performance.now();
    // left posts what a cell that has ended has done to files.
    const left = (message) => {
      const files = machine.changes(...kept), at = performance.now();
      port.postMessage({ ...message, files, ran: at - began }, files.flatMap(([, bytes]) => bytes?.buffer ?? []));
      [began, printed] = [performance.now(), 0];
    };
    const say = (fd, bytes) => {
      if (machine.turns(fd, bytes)) return left({});
      printed += bytes.length;
      if (printed < most) port.postMessage({ fd, said: bytes }, [bytes.buffer]);
    };
    for (const [path, bytes] of files) machine.put(path, bytes);
    if (input !== undefined) machine.input(input);
    let state;
    try {
      const status = await machine.start(program instanceof WebAssembly.Module ? program : await WebAssembly.compile(program), ["cell"], environment, say);
      state = "exit status " + status;
    } catch (error) {
      // The engine that runs WebAssembly has a stack of its own, which may run out before Go's. Engines word that
      // differently.
      const said = String(error && error.message || error);
      const text = /call stack|too much recursion/i.test(said) ? "stack overflow" : said;
      say(2, new TextEncoder().encode("fatal error: " + text + "\n\ngoroutine 1 [running]:\n"));
      state = "exit status 2";
    }
    left({ state });
    self.postMessage("ended");
  };
  self.onmessage = ({ data }) => {
    if (data.program) run(data);
    else machine.type(data.line);
  };
})();
