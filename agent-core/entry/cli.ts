#!/usr/bin/env node
/** `hermes`: the headless chat. */
import { runOnNode } from "./run-on-node.ts";

await runOnNode("hermes", async () => (await import("./headless.ts")).runHeadless);
