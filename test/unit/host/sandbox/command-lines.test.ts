import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { findSandbox } from "../../../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import {
  type Bind,
  bwrapArguments,
  type SandboxedRun,
  seatbeltProfile,
} from "../../../../agent-core/host/terminals/sandbox/sandboxed-run.ts";
import { hasSandbox } from "../../../support/programs.ts";

const binds: readonly Bind[] = [
  { kind: "writable", path: "/private/tmp", from: "/private/var/folders/x/hermes/tmp" },
  { kind: "hidden", path: "/Users/me", what: "folder" },
  { kind: "read-only", path: "/Users/me/.cargo" },
  { kind: "hidden", path: "/Users/me/.cargo/credentials.toml", what: "file" },
  { kind: "writable", path: '/Users/me/my "work"' },
  { kind: "read-only", path: '/Users/me/my "work"/.git/hooks' },
];
const run: SandboxedRun = { binds, folder: "/Users/me/my", outlivesShell: false, hasNetwork: false };

/** Lines of the profile that name the path. */
function rulesFor(path: string): string[] {
  return seatbeltProfile(run)
    .split("\n")
    .filter((line) => line.includes(`(subpath "${path}")`));
}

test("macOS: everything is denied at first, and of two rules for a path the later one holds", () => {
  const lines = seatbeltProfile(run).split("\n");
  expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  const place = (text: string): number => lines.findIndex((line) => line.includes(text));
  expect(place('(subpath "/Users/me")')).toBeLessThan(place('(subpath "/Users/me/.cargo")'));
  expect(place('my \\"work\\"")')).toBeLessThan(place('my \\"work\\"/.git/hooks")'));
});

test("macOS: each kind of path gets its rules, and quotes in a path end no rule", () => {
  expect(rulesFor("/Users/me")).toEqual(['(deny file-read* file-write* (subpath "/Users/me"))']);
  expect(rulesFor("/Users/me/.cargo")).toEqual([
    '(allow file-read* (subpath "/Users/me/.cargo"))',
    '(deny file-write* (subpath "/Users/me/.cargo"))',
  ]);
  expect(rulesFor('/Users/me/my \\"work\\"')).toEqual([
    '(allow file-read* file-write* (subpath "/Users/me/my \\"work\\""))',
  ]);
  // A profile mounts nothing: the private folder is writable where it is.
  expect(rulesFor("/private/tmp")).toEqual([]);
  expect(rulesFor("/private/var/folders/x/hermes/tmp")).toHaveLength(1);
});

test("macOS: the socket of a script's folder can be reached without the network", () => {
  const folder: Bind = { kind: "read-only", path: "/private/tmp/code", connects: true };
  const profile = seatbeltProfile({ ...run, binds: [...binds, folder] });
  expect(profile).toContain('(allow network-outbound (remote unix-socket (subpath "/private/tmp/code")))');
  expect(seatbeltProfile(run)).not.toContain("network-outbound");
});

test("macOS: git writes only its own names in a git folder, also those that come later", () => {
  const git: Bind = { kind: "writable", path: '/w/a+"b/.git', names: "(?:HEAD|refs)" };
  const lines = seatbeltProfile({ ...run, binds: [git] })
    .split("\n")
    .filter((line) => line.includes(".git"));
  expect(lines.map((line) => line.slice(1, 17))).toEqual(["allow file-read*", "deny file-write*", "allow file-write"]);
  const allowed = new RegExp(/regex #"(.*)"\)\)$/.exec(lines[2] ?? "")?.[1] ?? "x^");
  const names = ["HEAD", "refs/heads/main", "commondir", "HEADS", "config"];
  expect(names.filter((name) => allowed.test(`/w/a+"b/.git/${name}`))).toEqual(["HEAD", "refs/heads/main"]);
});

test("macOS: the network is allowed only when the command has it", () => {
  expect(seatbeltProfile(run)).not.toContain("(allow network*)");
  expect(seatbeltProfile({ ...run, hasNetwork: true })).toContain("(allow network*)");
});

test("Linux: empty folders become read-only after all mounts, unless something is mounted over them", () => {
  const args = bwrapArguments({ ...run, binds: [...binds, { kind: "writable", path: "/Users/me" }] }, "true", []);
  expect(args).not.toContain("--remount-ro");
  const plain = bwrapArguments(run, "true", []).join(" ");
  expect(plain).toMatch(/hooks --remount-ro \/Users\/me --chdir/);
  expect(plain).not.toContain("--share-net");
  expect(bwrapArguments({ ...run, hasNetwork: true }, "true", [])).toContain("--share-net");
});

test("Linux: a link is made where its folder is hidden, and nowhere else", () => {
  const links: readonly Bind[] = [
    { kind: "link", path: "/Users/me/link", target: "/data/work" },
    { kind: "link", path: "/Users/me/.cargo/bin", target: "/data/bin" },
    { kind: "link", path: "/srv/link", target: "/data/work" },
  ];
  const args = bwrapArguments({ ...run, binds: [...binds, ...links] }, "true", []).join(" ");
  expect(args.match(/--symlink \S+ \S+/g)).toEqual(["--symlink /data/work /Users/me/link"]);
});

test.runIf(hasSandbox())("Linux: a command that starts more and more processes gets no more at its limit", async () => {
  // Each waits for input. Without a limit the loop ends at 4,000. The kernel never limits root, whose test runs as nobody.
  const grow = "exec 3<&0; i=0; while [ $i -lt 4000 ]; do (read x <&3) & i=$((i+1)); echo $i; done";
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const args = bwrapArguments({ ...run, binds: [], folder: "/" }, "sh", ["-c", grow]);
  const child = spawn("bwrap", args, { ...nobody, stdio: "pipe" });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toContain("fork");
  expect(Number(stdout.trimEnd().split("\n").at(-1))).toBeGreaterThan(2_000);
  expect(Number(stdout.trimEnd().split("\n").at(-1))).toBeLessThan(2_048);
});

test("a bwrap that may make no namespaces, and one that is too old, are no sandbox, and their words are the reason", () => {
  for (const words of ["No permissions to create new namespace", "Unknown option --cap-drop"]) {
    const folder = mkdtempSync(join(tmpdir(), "hermes-bwrap-"));
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\necho "bwrap: ${words}" >&2\nexit 1\n`, { mode: 0o755 });
    const reason = `${join(folder, "bwrap")} cannot create a sandbox on this machine (bwrap: ${words})`;
    expect(findSandbox(folder)).toMatchObject({ ok: false, reason });
    rmSync(folder, { recursive: true });
  }
});
