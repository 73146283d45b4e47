// What becomes of a cell's program before it runs. It needs machine.js, and runs in a worker or in Node.
"use strict";

const cells = (() => {
  const text = (output) => new TextDecoder().decode(joined(...output));

  // unsigned writes a number as WebAssembly does, in groups of seven bits.
  const unsigned = (n) => {
    const bytes = [];
    do {
      bytes.push((n & 127) | (n > 127 ? 128 : 0));
      n >>>= 7;
    } while (n);
    return bytes;
  };
  // sections finds the parts of a module.
  const sections = (module) => {
    const list = [];
    for (let at = 8; at < module.length;) {
      const begin = at, id = module[at++];
      const [size, content] = numberAt(module, at);
      list.push({ id, begin, content, end: at = content + size });
    }
    return list;
  };
  // numberAt reads what unsigned has written. It returns where that ends, too.
  const numberAt = (module, at) => {
    for (let n = 0, shift = 0; ; shift += 7) {
      const byte = module[at++];
      n |= (byte & 127) << shift;
      if (byte < 128) return [n >>> 0, at];
    }
  };
  const joined = (...pieces) => {
    const all = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
    pieces.reduce((at, p) => { all.set(p, at); return at + p.length; }, 0);
    return all;
  };
  // leastMemory is how many pages of 64 kB a module begins with, if it has one memory and no limit of its own.
  const leastMemory = (module, memory) => (memory && module[memory.content] === 1 && module[memory.content + 1] === 0 ? numberAt(module, memory.content + 2)[0] : 0);
  // limited is a module that may have no more than so many pages of 64 kB as memory: beyond that Go reports that there is no more.
  const limited = (module, pages) => {
    const memory = sections(module).find((s) => s.id === 5), least = leastMemory(module, memory);
    if (!least) return module;
    const content = [1, 1, ...unsigned(least), ...unsigned(Math.max(least, pages))];
    return joined(module.subarray(0, memory.begin), [5, ...unsigned(content.length), ...content], module.subarray(memory.end));
  };
  // tool compiles a program that is to run often, each time in the same memory: to wipe that takes less time than to get another from the system,
  // page by page, which is half of what the linker does.
  const tool = async (module) => {
    const parts = sections(module), imports = parts.find((s) => s.id === 2), memory = parts.find((s) => s.id === 5), least = leastMemory(module, memory);
    if (!imports || !least) return WebAssembly.compile(module);
    const text = (s) => [...unsigned(s.length), ...new TextEncoder().encode(s)];
    const [count, first] = numberAt(module, imports.content);
    const content = joined(unsigned(count + 1), module.subarray(first, imports.end), text("lectern"), text("memory"), [2, 0], unsigned(least));
    const compiled = await WebAssembly.compile(joined(module.subarray(0, imports.begin), [2], unsigned(content.length), content, module.subarray(imports.end, memory.begin), module.subarray(memory.end)));
    machine.lend(compiled, new WebAssembly.Memory({ initial: least }));
    return compiled;
  };

  // build compiles and links a rewritten cell. It returns the program, or null if one of the tools has refused it, which the engine then knows.
  // A program of several cells that is refused is given up: then answer.alone, the first cell's own, is built, and null afterwards.
  const build = async (modules, answer, step = () => {}) => {
    const config = Object.entries(answer.files).map(([path, file]) => `packagefile ${path}=${file}\n`).join("");
    machine.put("/build/cell.go", answer.program);
    machine.put("/build/cell.cfg", config + "packagefile main=/build/cell.a\n");
    for (const [module, argv] of [
      [modules.compiler, ["compile", "-o", "/build/cell.a", "-p", "main", "-complete", "-pack", "-c=1", "-dwarf=false", "-importcfg", "/build/cell.cfg", "/build/cell.go"]],
      [modules.linker, ["link", "-o", "/build/cell.wasm", "-importcfg", "/build/cell.cfg", "-s", "-w", "-checklinkname=0", "-buildmode=exe", "/build/cell.a"]],
    ]) {
      step(argv[0]);
      const said = [];
      const status = await machine.start(module, argv, { GOGC: "off" }, (_, bytes) => said.push(bytes));
      if (!status) continue;
      const { alone } = answer;
      if (alone) { // so it has to be without the other cells
        answer.alone = null;
        return build(modules, alone, step);
      }
      lecternEngine.refused(text(said));
      return null;
    }
    return limited(machine.get("/build/cell.wasm"), 16384);
  };

  // environment is what a cell's program finds around it.
  const environment = { LECTERN_KEEP_DIR: "/keep", LECTERN_KEEP_LIMIT: String(512 << 20), LECTERN_TOKEN: "page", LECTERN_INPUT: "/input" };
  // kept are the folders whose files live on from cell to cell.
  const kept = ["/keep", "/cell", "/tmp"];
  return { build, environment, kept, limited, tool };
})();
