import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const olderNode = fileURLToPath(new URL("../support/older-node.mjs", import.meta.url));

test.for([
  ["dist/acp.js", "hermes-acp"],
  ["dist/cli.js", "hermes"],
] as const)("%s says in one line that it needs a newer Node", ([file, name]) => {
  const { status, stdout, stderr } = spawnSync("node", ["--import", olderNode, file], { encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: `${name} needs Node 22 or newer; this is v20.20.2.\n`,
  });
});
