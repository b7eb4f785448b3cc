import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test.for([
  ["dist/acp.js", "hermes-acp"],
  ["dist/cli.js", "hermes"],
] as const)("%s says in one line that it needs a newer Node", ([file, name]) => {
  const { status, stdout, stderr } = spawnSync("node", ["--import", "./test/support/older-node.mjs", file], {
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: "",
    stderr: `${name} needs Node 22 or newer; this is v20.20.2.\n`,
  });
});
