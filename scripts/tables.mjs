// A folder is a registry: writes table.gen.ts next to the files that export the table's entry, and bundled.gen.ts with the
// front matter of the bundled skills; docs/config.md and config.schema.json have the settings. `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSkill } from "../agent-core/skills/skill.ts";
import { configReference, configSchema } from "./config-reference.ts";

/** Folder, exported name in each file, type of an entry and the module that declares it. `lazy`: loaded when used. */
const tables = [
  { folder: "agent-core/tools", entry: "tool", type: "Tool", from: "./tool.ts" },
  { folder: "agent-core/providers/wire", entry: "wire", type: "Wire", from: "./wire.ts", lazy: true },
];

const snake = (name) => name.replaceAll("-", "_");
const camel = (name) => name.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** Names of the files in `folder` that export `entry`. */
function filesWith(folder, entry) {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".gen.ts"))
    .filter((file) => new RegExp(`^export const ${entry}\\b`, "m").test(readFileSync(join(folder, file), "utf8")))
    .map((file) => file.slice(0, -3))
    .sort();
}

function render({ folder, entry, type, from, lazy = false }) {
  const members = filesWith(folder, entry);
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
  // A file with a family of small entries exports a list of them.
  const families = filesWith(folder, `${entry}s`);
  const entries = [...members.map(camel), ...families.map((name) => `...${camel(name)}`)];
  const lines = [
    ...head,
    ...members.map((name) => `import { ${entry} as ${camel(name)} } from "./${name}.ts";`),
    ...families.map((name) => `import { ${entry}s as ${camel(name)} } from "./${name}.ts";`),
    "",
    `export const table: readonly ${type}[] = [${entries.join(", ")}];`,
    "",
  ];
  return lines.join("\n");
}

/** The agent knows these skills without reading a file or loading the YAML parser. */
async function renderSkills(folder) {
  const skills = [];
  for (const name of readdirSync(folder).sort()) {
    const parsed = await parseSkill(readFileSync(join(folder, name, "SKILL.md"), "utf8"), name);
    if (!parsed.ok) throw new Error(`The bundled skill ${name} is not valid: ${parsed.reason}`);
    skills.push(parsed.facts);
  }
  return [
    "// Written by scripts/tables.mjs; do not edit. Run `npm run tables` after a change of a bundled skill.",
    'import type { SkillFacts } from "./skill.ts";',
    "",
    `export const bundled: readonly Omit<SkillFacts, "author">[] = [`,
    ...skills.map((facts) => `  ${JSON.stringify(facts)},`),
    "];",
    "",
  ].join("\n");
}

const wantedFiles = tables
  .filter(({ folder }) => existsSync(folder))
  .map((table) => ({ path: join(table.folder, "table.gen.ts"), wanted: render(table) }));
const skills = "agent-core/skills";
wantedFiles.push({ path: join(skills, "bundled.gen.ts"), wanted: await renderSkills(join(skills, "bundled")) });

wantedFiles.push({ path: "docs/config.md", wanted: configReference() });
wantedFiles.push({ path: "config.schema.json", wanted: configSchema() });

const check = process.argv.includes("--check");
let stale = 0;
for (const { path, wanted } of wantedFiles) {
  if (existsSync(path) && readFileSync(path, "utf8") === wanted) continue;
  stale += 1;
  if (check) console.error(`${path} is stale: run npm run tables`);
  else writeFileSync(path, wanted);
}
process.exitCode = check && stale > 0 ? 1 : 0;
