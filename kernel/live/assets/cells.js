// What happens to a cell's program before it runs. It needs machine.js, and runs in a worker or in Node.
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
  // limited is a module whose memory may have no more than that many pages of 64 kB: beyond that, Go reports that there
  // is no more.
  const limited = (module, pages) => {
    const memory = sections(module).find((s) => s.id === 5), least = leastMemory(module, memory);
    if (!least) return module;
    const content = [1, 1, ...unsigned(least), ...unsigned(Math.max(least, pages))];
    return joined(module.subarray(0, memory.begin), [5, ...unsigned(content.length), ...content], module.subarray(memory.end));
  };
  // tool compiles a program that runs often, each time in the same memory: wiping that takes less time than getting new
  // memory from the system, page by page, which is half of what the linker does. What Go has in registers is exported,
  // so that there can be a snapshot of the program on its way.
  const tool = async (module) => {
    const parts = sections(module), [imports, memory, globals, exports] = [2, 5, 6, 7].map((id) => parts.find((s) => s.id === id)), least = leastMemory(module, memory);
    if (!imports || !globals || !exports || !least) return WebAssembly.compile(module);
    const text = (s) => [...unsigned(s.length), ...new TextEncoder().encode(s)];
    const vector = (section, ...more) => {
      const [count, first] = numberAt(module, section.content), content = joined(unsigned(count + more.length), module.subarray(first, section.end), ...more);
      return joined([section.id], unsigned(content.length), content);
    };
    const registers = Array.from({ length: numberAt(module, globals.content)[0] }, (_, i) => [...text("register" + i), 3, ...unsigned(i)]);
    const compiled = await WebAssembly.compile(joined(module.subarray(0, imports.begin), vector(imports, [...text("lectern"), ...text("memory"), 2, 0, ...unsigned(least)]),
      module.subarray(imports.end, memory.begin), module.subarray(memory.end, exports.begin), vector(exports, ...registers), module.subarray(exports.end)));
    machine.lend(compiled, new WebAssembly.Memory({ initial: least }));
    return compiled;
  };

  const compiled = "/build/cell.a", linked = "/build/cell.wasm", source = "/build/cell.go", config = "/build/cell.cfg";
  // begin has a tool do its work with some packages, up to where it needs a file. What it returns continues when the
  // file is there, or will never be, and promises what the tool has said if it has failed, else null. Tools of a Go
  // without snapshots begin anew each time.
  const begin = (tool, argv, packages, file) => {
    const said = [];
    machine.put(config, packages);
    const waits = machine.expect(file);
    const status = machine.start(tool, argv, { GOGC: "off" }, (_, bytes) => said.push(bytes), globalThis.lecternBeginAnew ? null : packages);
    return async (content) => {
      await Promise.race([waits, status]);
      if (content === null) machine.remove(file);
      else machine.put(file, content);
      return await status ? text(said) : null;
    };
  };
  // link begins to link a program with packages, whose archives the linker reads while the program is still being compiled. What it returns takes
  // the archive of the program, null if there is none, and promises { program, said }: of these one is null.
  const link = (linker, packages) => {
    const goOn = begin(linker, ["link", "-o", linked, "-importcfg", config, "-s", "-w", "-checklinkname=0", "-buildmode=exe", compiled], packages, compiled);
    return async (archive) => {
      const said = await goOn(archive);
      return { said, program: said === null ? limited(machine.get(linked), 16384) : null };
    };
  };

  // build compiles and links a rewritten cell by the compiler and what link does. It returns the program, or null if one of the tools has refused
  // it, which the engine then knows. A program of several cells that is refused is given up: then answer.alone, the first cell's own, is built, and
  // null afterwards.
  const known = new Map(); // packages to archives: those of all programs, since a tool that has begun with others begins anew
  const build = async (tools, answer, step = () => {}) => {
    for (const [path, file] of Object.entries(answer.files)) known.set(path, file);
    const packages = [...known].map(([path, file]) => `packagefile ${path}=${file}\n`).join("");
    step("compile");
    const end = tools.link(packages);
    const refused = await begin(tools.compiler, ["compile", "-o", compiled, "-p", "main", "-complete", "-pack", "-c=1", "-dwarf=false", "-importcfg", config, source], packages, source)(answer.program);
    if (refused === null) step("link");
    const { said, program } = await end(refused === null ? machine.get(compiled).slice() : null);
    if (program) return program;
    const { alone } = answer;
    if (alone) { // so it has to be without the other cells
      answer.alone = null;
      return build(tools, alone, step);
    }
    lecternEngine.refused(refused ?? said);
    return null;
  };

  // library compiles a package to an archive, and promises what the compiler has said if it has refused it, else null.
  const library = async (compiler, { path, archive, sources, files }) => {
    const said = [];
    machine.put(config, Object.entries(files).map(([path, file]) => `packagefile ${path}=${file}\n`).join(""));
    const argv = ["compile", "-o", archive, "-p", path, "-complete", "-pack", "-c=1", "-dwarf=false", "-importcfg", config, ...sources];
    return await machine.start(compiler, argv, { GOGC: "off" }, (_, bytes) => said.push(bytes)) ? text(said) : null;
  };

  // environment is the environment of a cell's program.
  const environment = { LECTERN_KEEP_DIR: "/keep", LECTERN_KEEP_LIMIT: String(512 << 20), LECTERN_TOKEN: "page", LECTERN_INPUT: "/input" };
  // kept are the folders whose files persist from cell to cell.
  const kept = ["/keep", "/cell", "/tmp"];
  return { build, environment, kept, library, limited, link, tool };
})();
