/** Makes sure that the bundles are there before tests that start them. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

export function setup(): void {
  if (!existsSync("dist/acp.js"))
    execFileSync("node", ["esbuild.mjs", "--only=core,plugin,gateway"], { stdio: "inherit" });
}
