// Writes ../assets/editor.js and ../assets/unlzma.js, and the licences of what is in them.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const packages = new Set();
for (const name of ["editor", "unlzma"]) {
  const made = await build({
    entryPoints: [name + ".js"], bundle: true, minify: true, format: "iife", target: "es2020", legalComments: "none", charset: "utf8",
    outfile: `../assets/${name}.js`, metafile: true,
  });
  for (const file of Object.keys(made.metafile.inputs)) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
    if (found) packages.add(found[1]);
  }
}
let text = "The editor of live pages, and what unpacks their parts, are made of these packages.\n";
for (const name of [...packages].sort()) {
  const about = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  text += `\n${"=".repeat(72)}\n${name} ${about.version} (${about.license})\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
}
writeFileSync("../assets/scripts.LICENSE.txt", text);
