import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Consents, contentHash } from "../../../agent-core/approval/consents.ts";

const newHome = (): string => mkdtempSync(join(tmpdir(), "hermes-consents-"));
const open = (home: string, defects: string[] = []): Consents => new Consents(home, (line) => defects.push(line));
const fileOf = (home: string, name: string): string => join(home, "vscode", "consents", name);

test("a consent holds for its kind and its exact content, in every process", () => {
  const home = newHome();
  const [one, other] = [open(home), open(home)];
  const hash = contentHash({ command: "npx", args: ["server"], env: {} });
  expect(one.isAllowed("mcp", hash)).toBe(false);
  one.allow("mcp", hash, "npx server");
  expect(other.isAllowed("mcp", hash)).toBe(true);
  expect(other.isAllowed("hook", hash)).toBe(false);
  expect(other.isAllowed("mcp", contentHash({ command: "npx", args: ["server", "--all"], env: {} }))).toBe(false);
});

test("a revoked consent ends in every process, also where it was given", () => {
  const home = newHome();
  const [one, other] = [open(home), open(home)];
  one.allow("hook", "h1", "npm run lint");
  expect(other.revoke("hook", "h1")).toBe(true);
  expect(one.isAllowed("hook", "h1")).toBe(false);
  expect(one.revoke("hook", "h1")).toBe(false);
});

test("the order of keys does not change a hash, the order of arguments does", () => {
  expect(contentHash({ env: { A: "1", B: "2" }, command: "x" })).toBe(
    contentHash({ command: "x", env: { B: "2", A: "1" } }),
  );
  expect(contentHash(["a", "b"])).not.toBe(contentHash(["b", "a"]));
});

test("only the owner may read the file", () => {
  const home = newHome();
  open(home).allow("mcp", "m1", "npx server");
  expect(statSync(fileOf(home, "mcp-m1")).mode & 0o777).toBe(0o600);
});

test("each consent is a file of its own, with its content for people, so that none overwrites another", () => {
  const home = newHome();
  const all = Array.from({ length: 20 }, (_, at) => `h${at}`);
  for (const hash of all) open(home).allow("hook", hash, hash);
  expect(all.every((hash) => open(home).isAllowed("hook", hash))).toBe(true);
  expect(readFileSync(fileOf(home, "hook-h7"), "utf8")).toBe("h7\n");
});

test("a home that cannot be written keeps the consent in this process and says so", () => {
  const home = newHome();
  writeFileSync(join(home, "vscode"), "a file where the folder belongs");
  const defects: string[] = [];
  const consents = open(home, defects);
  consents.allow("mcp", "m1", "npx server");
  expect(consents.isAllowed("mcp", "m1")).toBe(true);
  expect(defects).toEqual([expect.stringContaining("cannot be changed")]);
});
