#!/usr/bin/env node
/** `hermes-acp`: the agent over standard input and output. */
import { runOnNode } from "./run-on-node.ts";

await runOnNode("hermes-acp", async () => (await import("./stdio.ts")).runStdio);
