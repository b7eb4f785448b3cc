// Commands in package.json and files in extension/commands are the same set, or the palette offers what is not there.
import { readdirSync, readFileSync } from "node:fs";

const { contributes } = JSON.parse(readFileSync("package.json", "utf8"));
const declared = contributes.commands.map(({ command }) => command).sort();
const written = readdirSync("extension/commands")
  .flatMap((file) => [...readFileSync(`extension/commands/${file}`, "utf8").matchAll(/^ {2}"(hermes\.\w+)":/gm)])
  .map(([, id]) => id)
  .sort();
const undeclared = written.filter((id) => !declared.includes(id));
const unwritten = declared.filter((id) => !written.includes(id));
for (const id of undeclared) console.error(`${id} is not declared in package.json`);
for (const id of unwritten) console.error(`${id} is not in extension/commands`);
process.exitCode = undeclared.length + unwritten.length > 0 ? 1 : 0;
