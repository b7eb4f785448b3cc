import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { readByItself } from "../../../agent-core/approval/workspace-file.ts";
import { readForeignHooks } from "../../../agent-core/hooks/foreign-hooks.ts";
import { WorkspaceServers } from "../../../agent-core/mcp/workspace-servers.ts";

let top: string;
let root: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "hermes-reader-")));
  root = join(top, "w");
  mkdirSync(root);
});

function put(path: string, content: string | Buffer): string {
  const file = join(top, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Text of the file, or the reason why it is not read. */
function read(name: string, isOwn = false): string | undefined {
  const limits = isOwn ? { isOwn } : { within: [root] };
  const found = readByItself(join(root, name), limits);
  return found.ok ? found.text : found.reason;
}

describe("a file that Hermes reads by itself", () => {
  it("is text in UTF-8, or in UTF-16 with a byte order mark", () => {
    put("w/plain", "grün");
    put("w/marked", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from("grün")]));
    const wide = Buffer.from("\ufeffgrün", "utf16le");
    put("w/little", wide);
    put("w/big", Buffer.from(wide).swap16());
    put("w/latin", Buffer.from("grün", "latin1"));
    put("w/binary", Buffer.from([0x7f, 0, 1]));
    expect(["plain", "marked", "little", "big"].map((name) => read(name))).toEqual(["grün", "grün", "grün", "grün"]);
    expect([read("latin"), read("binary")]).toEqual(["it is not UTF-8 text", "it is not UTF-8 text"]);
  });

  it("lies inside the workspace, links followed", () => {
    const key = put("home/.ssh/id_rsa", "KEY");
    put("w/docs/a.md", "inside");
    symlinkSync("docs/a.md", join(root, "AGENTS.md"));
    symlinkSync(key, join(root, "CLAUDE.md"));
    symlinkSync("../home/.ssh", join(root, "rules"));
    symlinkSync("/etc/passwd", join(root, "passwd"));
    symlinkSync("loop", join(root, "loop"));
    symlinkSync("nowhere", join(root, "dangling"));
    expect(read("AGENTS.md")).toBe("inside");
    for (const name of ["CLAUDE.md", "rules/id_rsa"]) expect(read(name)).toBe(`it leads to ${key}, outside ${root}`);
    expect(read("passwd")).toContain("it leads to /etc/passwd");
    expect(read("loop")).toContain("cannot be read");
    expect([read("dangling"), read("none"), read("docs")]).toEqual([undefined, undefined, undefined]);
    expect(readByItself(join(homedir(), ".ssh/none"), { within: [homedir()] })).toEqual({
      ok: false,
      reason: undefined,
    });
  });

  it("holds no secrets, and has no other name", () => {
    put("w/.env", "KEY=1");
    symlinkSync(".env", join(root, "AGENTS.md"));
    linkSync(put("home/notes", "private"), join(root, "CLAUDE.md"));
    expect(read("AGENTS.md")).toBe("such files usually hold keys or passwords");
    expect(read("CLAUDE.md")).toBe("it is a hard link to a file with another name");
  });

  it("is a regular file of a bounded size, and reading never waits", () => {
    execFileSync("sh", ["-c", 'mkfifo "$0"', join(root, "AGENTS.md")]);
    symlinkSync("/dev/zero", join(root, "zero"));
    truncateSync(put("w/large", ""), 50_000_000);
    expect(read("AGENTS.md")).toBe("it is not a regular file");
    expect(read("zero", true)).toBe("it is not a regular file");
    expect(read("large")).toBe("it has 50,000,000 bytes; the limit is 1,048,576");
  });

  it("may be a link when it is the user's own", () => {
    const file = put("dotfiles/SKILL.md", "mine");
    symlinkSync(file, join(root, "link"));
    linkSync(file, join(root, "hard"));
    expect([read("link", true), read("hard", true)]).toEqual(["mine", "mine"]);
  });

  it.runIf(process.getuid?.() === 0)("is refused where the user may not read it", () => {
    put("w/AGENTS.md", "x");
    process.seteuid?.(65_534);
    try {
      expect(read("AGENTS.md")).toContain("permission denied");
    } finally {
      process.seteuid?.(0);
    }
  });
});

it("lists of servers and hooks that lead out of the workspace are named, and not used", async () => {
  const servers = put("home/servers.json", '{"mcpServers":{"x":{"command":"x"}}}');
  symlinkSync(servers, join(root, ".mcp.json"));
  mkdirSync(join(root, ".vscode"));
  execFileSync("sh", ["-c", 'mkfifo "$0"', join(root, ".vscode/mcp.json")]);
  mkdirSync(join(root, ".claude"));
  symlinkSync(put("home/settings.json", "{}"), join(root, ".claude/settings.json"));
  const list = new WorkspaceServers([root], {}).read();
  expect(list.servers).toEqual([]);
  expect(list.problems).toEqual([
    expect.stringContaining(`.mcp.json are not used: it leads to ${servers}`),
    expect.stringContaining("not a regular file"),
  ]);
  const hooks = await readForeignHooks(root);
  expect(hooks.problems).toEqual([expect.stringContaining("because it leads to")]);
});
