// A folder is a registry: writes table.gen.ts next to the files that export the table's entry. `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Folder, exported name in each file, type of an entry and the module that declares it. `lazy`: loaded when used. */
const tables = [
  { folder: "agent-core/tools", entry: "tool", type: "Tool", from: "./tool.ts" },
  { folder: "agent-core/providers/wire", entry: "wire", type: "Wire", from: "./wire.ts", lazy: true },
];

const snake = (name) => name.replaceAll("-", "_");
const camel = (name) => name.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());

function render({ folder, entry, type, from, lazy = false }) {
  const members = readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".gen.ts"))
    .filter((file) => new RegExp(`^export const ${entry}\\b`, "m").test(readFileSync(join(folder, file), "utf8")))
    .map((file) => file.slice(0, -3))
    .sort();
  const head = [
    "// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after adding a file to this folder.",
    `import type { ${type} } from "${from}";`,
  ];
  if (lazy) {
    const loaders = members.map((name) => `  ${snake(name)}: async () => (await import("./${name}.ts")).${entry},`);
    return [
      ...head,
      "",
      `export const table: Readonly<Record<string, () => Promise<${type}>>> = {`,
      ...loaders,
      "};",
      "",
    ].join("\n");
  }
  const lines = [
    ...head,
    ...members.map((name) => `import { ${entry} as ${camel(name)} } from "./${name}.ts";`),
    "",
    `export const table: readonly ${type}[] = [${members.map(camel).join(", ")}];`,
    "",
  ];
  return lines.join("\n");
}

const check = process.argv.includes("--check");
let stale = 0;
for (const table of tables) {
  if (!existsSync(table.folder)) continue;
  const path = join(table.folder, "table.gen.ts");
  const wanted = render(table);
  if (existsSync(path) && readFileSync(path, "utf8") === wanted) continue;
  stale += 1;
  if (check) console.error(`${path} is stale: run npm run tables`);
  else writeFileSync(path, wanted);
}
process.exitCode = check && stale > 0 ? 1 : 0;
