/** Program for a mount namespace with a read-only home at `argv[2]`: prints what a session on it says, as JSON. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Grants } from "../../agent-core/approval/grants.ts";
import { readOutputFile } from "../../agent-core/host/terminals/output-file.ts";
import { Memory } from "../../agent-core/memory/memory.ts";
import { makeOutputFile } from "../../agent-core/platform/children/output-flow.ts";
import { writeFault } from "../../agent-core/sessions/write-fault.ts";
import type { Json } from "./acp-client.ts";
import { AcpProcess } from "./acp-process.ts";

const home = process.argv[2] ?? "";
const agent = new AcpProcess({}, home);
await agent.initialize();
const id = await agent.newSession();
const { result } = await agent.prompt(id, "list files");
const session = agent
  .of("agent_thought_chunk")
  .map(({ content }) => String((content as Json)["text"]))
  .join("");
await agent.stop();
rmSync(agent.cwd, { recursive: true });

let grants = "";
await new Grants(home, (defect) => (grants += defect)).keep([{ row: "x" }], "always");
const memory = await new Memory({ folder: join(home, "memories") })
  .change("memory", { action: "add", content: "x" })
  .then(() => "", writeFault);
const output = makeOutputFile(join(home, "sessions/x/output.log")) ?? "";
const { head } = await readOutputFile(output);
rmSync(output);
process.stdout.write(JSON.stringify({ result, session, grants, memory, output, head }));
