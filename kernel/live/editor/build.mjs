// Writes ../assets/editor.js, and the licenses of what is in it.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const packages = new Set();
const made = await build({
  entryPoints: ["editor.js"], bundle: true, minify: true, format: "iife", target: "es2020", legalComments: "none", charset: "utf8",
  outfile: "../assets/editor.js", metafile: true,
});
for (const file of Object.keys(made.metafile.inputs)) {
  const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
  if (found) packages.add(found[1]);
}
let text = "The editor of live pages is made of these packages.\n";
for (const name of [...packages].sort()) {
  const about = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  text += `\n${"=".repeat(72)}\n${name} ${about.version} (${about.license})\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
}
writeFileSync("../assets/scripts.LICENSE.txt", text);
