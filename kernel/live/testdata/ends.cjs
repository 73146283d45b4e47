// Runs a program in Node: ends.cjs machine.js wasm_exec.js PROGRAM. It prints the exit status.
"use strict";
const disk = require("fs");
const vm = require("vm");
const [machineScript, startScript, program] = process.argv.slice(2).map((file) => disk.readFileSync(file));
const outside = process;
const fail = (error) => { disk.writeSync(2, String(error.stack) + "\n"); outside.exit(1); };
process.on("uncaughtException", fail);
vm.runInThisContext(machineScript + "\nglobalThis.machine = machine;");
vm.runInThisContext(String(startScript));
(async () => {
  const status = await machine.start(await WebAssembly.compile(program), ["cell"], {}, () => {});
  disk.writeSync(1, String(status));
  outside.exit(0);
})().catch(fail);
