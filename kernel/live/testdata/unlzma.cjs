// Unpacks files in Node: unlzma.cjs SCRIPT FOLDER. Each X.lzma of the folder has to give X. Cut short it has to be refused, and with a wrong
// byte it has to end, whatever it gives.
"use strict";
const { readFileSync, readdirSync } = require("fs");
const vm = require("vm");
const [script, folder] = process.argv.slice(2);
const unlzma = vm.runInThisContext(readFileSync(script, "utf8") + "\nlecternUnlzma;");
const outcome = (packed) => {
  try {
    return unlzma(packed);
  } catch (error) {
    if (!/^it /.test(error.message) && !/^its /.test(error.message)) throw error;
    return null;
  }
};
for (const name of readdirSync(folder).filter((name) => name.endsWith(".lzma"))) {
  const packed = new Uint8Array(readFileSync(`${folder}/${name}`)), want = readFileSync(`${folder}/${name.slice(0, -5)}`);
  const got = outcome(packed);
  if (!got || Buffer.compare(got, want) !== 0) console.log(`${name}: not what was packed`);
  const tries = Math.ceil(Math.min(200, 5e6 / (want.length + 1)));
  for (let i = 0; i < tries; i++) {
    const end = Math.floor((packed.length - 1) * i / tries);
    if (outcome(packed.slice(0, end)) !== null) console.log(`${name}: its first ${end} bytes are enough`);
    const wrong = packed.slice(), at = i < 5 ? 0 : 13 + Math.floor((packed.length - 13) * i / tries); // not the size, which is ours
    wrong[at] ^= 1 << i % 8;
    const other = outcome(wrong);
    if (other !== null && other.length !== want.length) console.log(`${name}: with a wrong byte at ${at} it gives ${other.length} bytes`);
  }
}
