#!/usr/bin/env node
/** `hermes`: the command line. */
import { runOnNode } from "../agent-core/entry/run-on-node.ts";

await runOnNode("hermes", async () => (await import("./run.ts")).runHermes);
