// Carries out one tool call as a user who may not write everything, and prints its result: the superuser of a
// container may, so that nothing would be read-only to the tests themselves.
import { nodeHost } from "../../../../agent-core/host/node-host.ts";
import { tool as patch } from "../../../../agent-core/tools/patch.ts";
import { FileMemory } from "../../../../agent-core/tools/seen-files.ts";
import type { ToolContext } from "../../../../agent-core/tools/tool.ts";
import { tool as writeFile } from "../../../../agent-core/tools/write-file.ts";

const [folder = "", name, input = ""] = process.argv.slice(2);
const { signal } = new AbortController();
const context = { host: nodeHost(), cwd: folder, files: new FileMemory(), signal } as ToolContext; // all that they use
const prepared = (name === "patch" ? patch : writeFile).prepare(JSON.parse(input), folder);
if (!prepared.ok) throw new Error(prepared.text);
const staged = await prepared.call.stage(context);
const result = staged.ok ? await staged.run() : staged;
process.stdout.write(JSON.stringify({ ok: result.ok, text: "text" in result ? result.text : "" }));
