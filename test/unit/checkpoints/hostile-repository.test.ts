import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitBlobs } from "../../../agent-core/checkpoints/git-blobs.ts";

test("reading a repository runs none of its programs: filters, monitors, fetches of missing objects", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-hostile-")));
  const git = (...args: string[]): string => execFileSync("git", ["-C", root, ...args], { encoding: "utf8" });
  git("init", "-q");
  writeFileSync(join(root, ".gitattributes"), "*.txt filter=evil\n*.log filter=a=b\n");
  for (const name of ["a.txt", "b.log", "plain.ts"]) writeFileSync(join(root, name), "text\n");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one");
  const ran = join(root, "RAN");
  const program = `touch ${ran}; cat`;
  for (const key of [
    "filter.evil.clean",
    "filter.a=b.clean",
    "filter.evil.process",
    "core.fsmonitor",
    "core.sshCommand",
  ]) {
    git("config", key, program);
  }
  for (const [key, value] of [
    ["filter.evil.required", "true"],
    ["extensions.partialClone", "origin"],
    ["remote.origin.promisor", "true"],
    ["remote.origin.url", `ext::sh -c 'touch ${ran}'`],
    ["protocol.ext.allow", "always"],
  ] as const) {
    git("config", key, value);
  }
  // Another time of change makes git compare the contents, through the filters.
  for (const name of ["a.txt", "b.log"]) utimesSync(join(root, name), 1, 1);
  const blobs = gitBlobs([root]);
  const unchanged = await blobs.unchanged();
  const missing = { git: "0123456789012345678901234567890123456789", gitFolder: join(root, ".git") };
  for await (const [, content] of blobs.read([missing])) expect(content).toBeUndefined();
  expect([...unchanged.keys()]).toContain(join(root, "plain.ts"));
  expect(existsSync(ran)).toBe(false);
});
