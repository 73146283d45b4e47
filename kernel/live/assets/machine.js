// A machine runs Go's programs for WebAssembly one after another on files in memory. It needs Go's wasm_exec.js to be loaded after it, in a
// worker or in Node: fs, process and path are what that file asks of Node, answered from memory.
"use strict";

const machine = (() => {
  const files = new Map(); // path to { bytes, size }; bytes may be longer
  const folders = new Set(["/"]);
  const open = new Map(); // descriptor to { file, path, at }
  // touched are paths of what programs have written, made or removed. That of a folder has a slash at its end.
  const touched = new Set();
  let descriptors = 10;
  let print = () => {}; // gets (descriptor, bytes) of 1 and 2
  const typed = { path: "/input", bytes: new Uint8Array(0), wanted: null }; // lines of input, and who waits for them

  const problem = (code) => Object.assign(new Error(code), { code });
  const whole = (path) => {
    const parts = [];
    for (const part of (path.startsWith("/") ? path : "/cell/" + path).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return "/" + parts.join("/");
  };
  const parent = (path) => path.slice(0, path.lastIndexOf("/")) || "/";
  const stat = (file, folder) => ({
    dev: 1, ino: 1, mode: folder ? 0o40700 : 0o100600, nlink: 1, uid: 0, gid: 0, rdev: 0, size: file ? file.size : 0,
    blksize: 4096, blocks: file ? (file.size + 511) >> 9 : 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => folder,
  });
  const grow = (file, size) => {
    if (file.bytes.length < size) {
      const bytes = new Uint8Array(Math.max(size, 2 * file.bytes.length));
      bytes.set(file.bytes.subarray(0, file.size));
      file.bytes = bytes;
    }
    file.size = Math.max(file.size, size);
  };
  const make = (path) => { for (let p = whole(path); !folders.has(p); p = parent(p)) folders.add(p); };
  const put = (path, bytes) => {
    if (typeof bytes === "string") bytes = new TextEncoder().encode(bytes);
    if (path.endsWith("/")) return make(path);
    path = whole(path);
    make(parent(path));
    files.set(path, { bytes, size: bytes.length });
    come(path);
  };
  const remove = (path) => {
    files.delete(whole(path));
    come(whole(path));
  };
  // Whoever opens the expected file waits until it has been put there, or removed. expect promises that somebody is
  // waiting.
  let expected = null; // { path, goOn: if somebody waits, waits: tells }
  const expect = (path) => new Promise((waits) => { expected = { path: whole(path), goOn: null, waits }; });
  const come = (path) => {
    if (expected?.path !== path) return;
    const { goOn } = expected;
    expected = null;
    goOn?.();
  };
  const get = (path) => {
    const file = files.get(whole(path));
    return file && file.bytes.subarray(0, file.size);
  };

  const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  // Each of these returns its result or throws; calls gives them the form of Node's functions.
  const calls = {
    open(path, flags) {
      path = whole(path);
      if (path === typed.path) {
        open.set(++descriptors, { file: null, folder: false, path, at: 0, typed });
        return descriptors;
      }
      let file = files.get(path);
      const folder = folders.has(path);
      if (file && flags & constants.O_CREAT && flags & constants.O_EXCL) throw problem("EEXIST");
      if (!file && !folder) {
        if (!(flags & constants.O_CREAT) || !folders.has(parent(path))) throw problem("ENOENT");
        files.set(path, file = { bytes: new Uint8Array(0), size: 0 });
        touched.add(path);
      }
      if (file && flags & constants.O_TRUNC) {
        file.size = 0;
        touched.add(path);
      }
      open.set(++descriptors, { file, folder, path, at: file && flags & constants.O_APPEND ? file.size : 0 });
      return descriptors;
    },
    close(fd) { open.delete(fd); },
    read(fd, buffer, offset, length, position) {
      const h = open.get(fd);
      if (!h) return 0; // standard input is empty, unless a program is given one
      if (!h.file) throw problem("EISDIR");
      const at = position ?? h.at;
      const n = Math.max(0, Math.min(length, h.file.size - at));
      buffer.set(h.file.bytes.subarray(at, at + n), offset);
      if (position === null) h.at += n;
      return n;
    },
    write(fd, buffer, offset, length, position) {
      if (fd === 1 || fd === 2) {
        print(fd, buffer.slice(offset, offset + length));
        return length;
      }
      const h = open.get(fd);
      if (!h || !h.file) throw problem("EBADF");
      const at = position ?? h.at;
      touched.add(h.path);
      grow(h.file, at + length);
      h.file.bytes.set(buffer.subarray(offset, offset + length), at);
      if (position === null) h.at += length;
      return length;
    },
    stat(path) {
      path = whole(path);
      if (!files.has(path) && !folders.has(path)) throw problem("ENOENT");
      return stat(files.get(path), folders.has(path));
    },
    lstat(path) { return calls.stat(path); },
    fstat(fd) {
      const h = open.get(fd);
      return h ? stat(h.file, h.folder) : { ...stat(null, false), mode: 0o20600 };
    },
    mkdir(path) {
      path = whole(path);
      if (folders.has(path) || files.has(path)) throw problem("EEXIST");
      if (!folders.has(parent(path))) throw problem("ENOENT");
      folders.add(path);
      touched.add(path + "/");
    },
    readdir(path) {
      path = whole(path);
      if (!folders.has(path)) throw problem(files.has(path) ? "ENOTDIR" : "ENOENT");
      return [...files.keys(), ...folders].filter((p) => p !== "/" && parent(p) === path).map((p) => p.slice(p.lastIndexOf("/") + 1));
    },
    unlink(path) {
      if (!files.delete(whole(path))) throw problem("ENOENT");
      touched.add(whole(path));
    },
    rmdir(path) {
      if (calls.readdir(path).length) throw problem("ENOTEMPTY");
      folders.delete(whole(path));
      touched.add(whole(path) + "/");
    },
    rename(from, to) {
      const file = files.get(whole(from));
      if (!file) throw problem("ENOENT"); // folders stay where they are
      files.delete(whole(from));
      files.set(whole(to), file);
      touched.add(whole(from)).add(whole(to));
    },
    ftruncate(fd, size) {
      const { file, path } = open.get(fd);
      touched.add(path);
      grow(file, size);
      file.bytes.fill(0, size, file.size);
      file.size = size;
    },
    truncate(path, size) {
      const fd = calls.open(path, constants.O_WRONLY);
      calls.ftruncate(fd, size);
      calls.close(fd);
    },
    chmod() {}, fchmod() {}, chown() {}, fchown() {}, lchown() {}, utimes() {}, fsync() {},
    link() { throw problem("ENOSYS"); }, symlink() { throw problem("ENOSYS"); }, readlink() { throw problem("EINVAL"); },
  };
  // hand gives a program that waits for input whatever has been typed so far.
  const hand = () => {
    if (!typed.wanted || !typed.bytes.length) return;
    const { buffer, offset, length, done } = typed.wanted;
    const part = typed.bytes.subarray(0, length);
    buffer.set(part, offset);
    typed.bytes = typed.bytes.slice(part.length);
    typed.wanted = null;
    done(null, part.length);
  };
  // type takes a line of input, or null for its end, in the form that package show reads.
  const type = (line) => {
    const text = new TextEncoder().encode(line ?? "");
    const bytes = new Uint8Array(typed.bytes.length + 5 + text.length);
    bytes.set(typed.bytes);
    new DataView(bytes.buffer).setUint8(typed.bytes.length, line === null ? 0 : 1);
    new DataView(bytes.buffer).setUint32(typed.bytes.length + 1, text.length);
    bytes.set(text, typed.bytes.length + 5);
    typed.bytes = bytes;
    hand();
  };
  // input gives a program its standard input.
  const input = (text) => {
    const bytes = new TextEncoder().encode(text);
    open.set(0, { file: { bytes, size: bytes.length }, at: 0 });
  };
  const fs = { constants, writeSync: (fd, buffer) => calls.write(fd, buffer, 0, buffer.length, null) };
  for (const [name, call] of Object.entries(calls)) {
    fs[name] = (...args) => {
      const done = args.pop();
      let result;
      try {
        result = call(...args);
      } catch (error) {
        if (!error.code) throw error;
        return done(error);
      }
      done(null, result);
    };
  }
  const { open: openNow, read } = fs;
  fs.open = (path, ...more) => {
    if (expected?.path !== whole(path)) return openNow(path, ...more);
    expected.goOn = () => openNow(path, ...more);
    expected.waits();
  };
  fs.read = (fd, buffer, offset, length, position, done) => {
    if (!open.get(fd)?.typed) return read(fd, buffer, offset, length, position, done);
    typed.wanted = { buffer, offset, length, done };
    if (typed.bytes.length) setTimeout(hand);
  };
  const user = () => 0;
  globalThis.fs = fs;
  globalThis.process = {
    pid: 1, ppid: 0, umask: () => 0o77, cwd: () => "/cell", chdir() {}, getuid: user, geteuid: user, getgid: user, getegid: user, getgroups: () => [],
  };
  globalThis.path = { resolve: (...parts) => whole(parts.join("/")) };
  for (const folder of ["/cell", "/tmp", "/keep", "/pkg"]) make(folder);

  // What kernel/persist calls. bytes and put are for every program; what takes an address and a size goes straight between a file and the memory of
  // the cell's program.
  let program = null; // the cell's, as Go's script runs it
  const memory = (address, size) => new Uint8Array(program.mem.buffer, address, size);
  const words = (bytes) => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  globalThis.lecternFiles = {
    bytes: get,
    put(path, bytes) {
      put(path, bytes);
      touched.add(whole(path));
    },
    read(path, address, size) {
      const bytes = get(path);
      if (bytes?.length !== size) return false;
      memory(address, size).set(bytes);
      return true;
    },
    write(path, address, size) {
      lecternFiles.put(path, memory(address, size).slice());
      return true;
    },
    same(path, address, size) {
      let x = get(path), y = memory(address, size);
      if (x?.length !== size) return false;
      if ((x.byteOffset | y.byteOffset | size) % 4 === 0) [x, y] = [words(x), words(y)];
      for (let i = 0; i < x.length; i++) if (x[i] !== y[i]) return false;
      return true;
    },
  };

  // A program may assemble instructions that Go's compiler doesn't write, as a module that works in the program's memory: internal/cpu does, for
  // matmuls. Browsers that lack such instructions refuse the module.
  let kernels = null;
  globalThis.lecternAssemble = (bytes) => {
    try {
      kernels = new WebAssembly.Instance(new WebAssembly.Module(bytes), { lectern: { memory: program._inst.exports.mem } }).exports;
    } catch {
      return false;
    }
    return true;
  };
  const tile = (args, rows, wide) => { (wide ? kernels.tile64 : kernels.tile32)(args, rows); };

  const memories = new WeakMap(); // module to the memory that it imports
  const lend = (module, memory) => { memories.set(module, memory); };

  // What a tool does before it opens the expected file is the same each time, and for the linker it is much of the
  // work. So it is done once: from then on the tool begins from a snapshot of its memory and of what Go's script keeps
  // for it.
  const snapshots = new WeakMap(); // by module, with the key of all that they depend on
  const snapshot = (module, key, go) => {
    const { _inst: instance, _values: values, _goRefCounts: counts, _ids: ids, _idPool: pool } = go;
    const registers = Object.values(instance.exports).filter((e) => e instanceof WebAssembly.Global);
    try {
      snapshots.set(module, {
        key, go, instance, bytes: new Uint8Array(instance.exports.mem.buffer.slice()), registers: registers.map((r) => [r, r.value]),
        values: values.map((v) => (v instanceof Uint8Array ? new Uint8Array(0) : v)), // what it has read is in its memory
        counts: [...counts], ids: [...ids].filter(([v]) => !(v instanceof Uint8Array)), pool: [...pool],
        open: [...open].map(([fd, h]) => [fd, { ...h }, h.file?.size]), goOn: expected.goOn,
      });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error; // there is no room for it: the tool begins anew next time
    }
  };
  const restore = ({ go, instance, bytes, registers, values, counts, ids, pool, open: handles, goOn }) => {
    const memory = new Uint8Array(instance.exports.mem.buffer);
    memory.set(bytes);
    memory.fill(0, bytes.length);
    for (const [r, value] of registers) r.value = value;
    Object.assign(go, { _inst: instance, mem: new DataView(memory.buffer), _values: [...values], _goRefCounts: [...counts], _ids: new Map(ids), _idPool: [...pool], exited: false });
    go._exitPromise = new Promise((done) => { go._resolveExitPromise = done; });
    for (const [fd, h, size] of handles) {
      open.set(fd, { ...h });
      if (!h.file) continue;
      h.file.size = size;
      files.set(h.path, h.file);
    }
    expected.goOn = goOn;
    expected.waits();
    return go._exitPromise;
  };

  // begun is a program as Go's script holds it.
  const begun = () => {
    const go = new Go();
    // What Go itself reports, panics above all, belongs to this program, whichever program has begun since.
    go.importObject.gojs["runtime.wasmWrite"] = (sp) => {
      const at = go.mem.getUint32(sp + 16, true);
      go.output(go.mem.getUint32(sp + 8, true), new Uint8Array(go.mem.buffer.slice(at, at + go.mem.getInt32(sp + 24, true))));
    };
    // Calls into this file answer at once, so Go may run on, and end, before they have returned: then they fail to find
    // it.
    go.unlessEnded = (error) => { if (!go.exited) throw error; };
    const resume = go._resume;
    go._resume = () => {
      try {
        resume.call(go);
      } catch (error) {
        go.unlessEnded(error);
        go._resolveExitPromise();
      }
    };
    return go;
  };

  // start runs a program until its end, and returns its exit status. What it prints goes to output. A program that answers calls, as the rewriter
  // does, never ends: what it returns is ready when the program has set the variable that ready names. A tool that
  // begins only once has a key of all that it depends on up to the expected file.
  const start = async (module, argv, env, output, key = null) => {
    const shot = snapshots.get(module), again = key !== null && shot?.key === key;
    const go = again ? shot.go : begun();
    if (argv[0] === "cell") program = go;
    let status = 0;
    go.argv = argv;
    go.env = { PATH: "/", HOME: "/cell", TMPDIR: "/tmp", GOOS: "js", GOARCH: "wasm", ...env };
    go.exit = (code) => { status = code; };
    go.output = print = output;
    let ended;
    if (again) {
      ended = restore(shot);
    } else {
      const memory = memories.get(module);
      if (memory) new Uint8Array(memory.buffer).fill(0);
      ended = go.run(await WebAssembly.instantiate(module, { ...go.importObject, lectern: { memory, tile } })).catch(go.unlessEnded);
      snapshots.delete(module);
      if (key !== null && expected?.goOn && !go._scheduledTimeouts.size) snapshot(module, key, go);
    }
    // A program that waits for nothing from outside will wait forever: Go is told, and reports a deadlock. For a
    // program that can't be told, since nothing in it calls JavaScript, it is reported here.
    const watch = argv[0] !== "cell" ? 0 : setInterval(() => {
      if (go.exited || go._scheduledTimeouts.size || typed.wanted) return;
      clearInterval(watch);
      if (WebAssembly.Module.imports(module).some(({ name }) => name.startsWith("syscall/js."))) {
        go._pendingEvent = { id: 0 };
        return go._resume();
      }
      print(2, new TextEncoder().encode("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [running]:\n"));
      status = 2;
      go.exited = true;
      go._resolveExitPromise();
    }, 100);
    try {
      await ended;
    } finally {
      clearInterval(watch);
      for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // they would wake a program that no longer exists
    }
    return status;
  };

  // turn is what a program of several cells prints between two of them.
  const turn = "\x1b]lectern;page;" + btoa("\x04turn") + "\x07";
  const turns = (fd, bytes) => fd === 1 && bytes.length === turn.length && new TextDecoder().decode(bytes) === turn;

  // what returns the bytes of a file, or null if there is none. A folder, whose path ends with a slash, has no bytes.
  const what = (path) => {
    if (path.endsWith("/")) return folders.has(whole(path)) ? new Uint8Array(0) : null;
    return get(path)?.slice() ?? null;
  };
  const listed = (paths, tops) => {
    const below = paths.filter((path) => tops.some((top) => path.startsWith(top + "/")));
    return below.map((path) => [path, what(path)]);
  };
  // below lists what the folders hold, as pairs of path and bytes.
  const below = (...tops) => listed([...[...folders].map((path) => path + "/"), ...files.keys()], tops);
  // changes lists what programs have done in the folders since the last call, as pairs of path and bytes, null for what
  // is gone.
  const changes = (...tops) => {
    const list = listed([...touched], tops);
    touched.clear();
    return list;
  };
  // change makes the same changes here.
  const change = (list) => {
    for (const [path, bytes] of list) {
      if (bytes) put(path, bytes);
      else (path.endsWith("/") ? folders : files).delete(whole(path));
    }
  };
  return { put, get, make, lend, expect, remove, start, type, input, below, changes, change, turns };
})();
