// What becomes of a cell's program before it runs. It needs machine.js, and runs in a worker or in Node.
"use strict";

const cells = (() => {
  const text = (output) => new TextDecoder().decode(output.length === 1 ? output[0] : output.reduce((all, part) => {
    const joined = new Uint8Array(all.length + part.length);
    joined.set(all);
    joined.set(part, all.length);
    return joined;
  }, new Uint8Array(0)));

  // unsigned writes a number as WebAssembly does, in groups of seven bits.
  const unsigned = (n) => {
    const bytes = [];
    do {
      bytes.push((n & 127) | (n > 127 ? 128 : 0));
      n >>>= 7;
    } while (n);
    return bytes;
  };
  // limited is a module that may have no more than so many pages of 64 kB as memory: beyond that Go reports that there is no more.
  const limited = (module, pages) => {
    let at = 8;
    const number = () => {
      for (let n = 0, shift = 0; ; shift += 7) {
        const byte = module[at++];
        n |= (byte & 127) << shift;
        if (byte < 128) return n >>> 0;
      }
    };
    while (at < module.length) {
      const begin = at, id = module[at++], size = number(), content = at;
      if (id === 5 && module[at] === 1 && module[at + 1] === 0) { // one memory, without a limit of its own
        at += 2;
        const least = number();
        const memory = [1, 1, ...unsigned(least), ...unsigned(Math.max(least, pages))];
        const section = [5, ...unsigned(memory.length), ...memory];
        const out = new Uint8Array(module.length - (content + size - begin) + section.length);
        out.set(module.subarray(0, begin));
        out.set(section, begin);
        out.set(module.subarray(content + size), begin + section.length);
        return out;
      }
      at = content + size;
    }
    return module;
  };

  // build compiles and links a rewritten cell. It returns the program, or null if one of the tools has refused it, which the engine then knows.
  const build = async ({ compiler, linker }, answer, step = () => {}) => {
    const config = Object.entries(answer.files).map(([path, file]) => `packagefile ${path}=${file}\n`).join("");
    machine.put("/build/cell.go", answer.program);
    machine.put("/build/cell.cfg", config + "packagefile main=/build/cell.a\n");
    for (const [module, argv] of [
      [compiler, ["compile", "-o", "/build/cell.a", "-p", "main", "-complete", "-pack", "-c=1", "-dwarf=false", "-importcfg", "/build/cell.cfg", "/build/cell.go"]],
      [linker, ["link", "-o", "/build/cell.wasm", "-importcfg", "/build/cell.cfg", "-s", "-w", "-checklinkname=0", "-buildmode=exe", "/build/cell.a"]],
    ]) {
      step(argv[0]);
      const said = [];
      const status = await machine.start(module, argv, { GOGC: "off" }, (_, bytes) => said.push(bytes));
      if (status) {
        lecternEngine.refused(text(said));
        return null;
      }
    }
    return limited(machine.get("/build/cell.wasm"), 16384);
  };

  // environment is what a cell's program finds around it.
  const environment = { LECTERN_KEEP_DIR: "/keep", LECTERN_KEEP_LIMIT: String(512 << 20), LECTERN_TOKEN: "page", LECTERN_INPUT: "/input" };
  // kept are the folders whose files live on from cell to cell.
  const kept = ["/keep", "/cell", "/tmp"];
  return { build, environment, kept, limited };
})();
