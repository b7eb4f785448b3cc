import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, test as anyTest, beforeEach, describe, expect } from "vitest";
import { Processes } from "../../../../agent-core/tools/terminal/processes.ts";
import { hasSandbox } from "../../../support/programs.ts";
import {
  commit,
  git,
  inSandbox,
  newFolder,
  removeFolders,
  repository,
  run,
  start,
  terminalsOf,
} from "./sandboxed-workspace.ts";

const test = anyTest.runIf(hasSandbox());
let folder = "";

beforeEach(() => {
  folder = newFolder();
});

afterAll(removeFolders);

describe("objects of git beside code that nobody has read", () => {
  /** Code of node that does something to each loose object, and to each pack. */
  const toObjects = (does: string): string =>
    `git add a.txt; node -e 'for (const d of fs.readdirSync(".git/objects")) for (const f of fs.readdirSync(".git/objects/" + d)) { const p = ".git/objects/" + d + "/" + f; try { ${does} } catch {} }'`;

  test.for([
    ["deleted", toObjects("fs.rmSync(p)")],
    ["emptied", toObjects("fs.chmodSync(p, 0o644); fs.writeFileSync(p, ``)")],
    ["replaced", toObjects("fs.rmSync(p); fs.writeFileSync(p, zlib.deflateSync(`blob 5\\0evil\\n`))")],
    [
      "replaced while git runs again",
      `${toObjects("fs.rmSync(p); fs.writeFileSync(p, zlib.deflateSync(`blob 5\\0evil\\n`))")}; git add .`,
    ],
    ["moved", "git add a.txt; node -e 'fs.renameSync(`.git/objects`, `objects`); fs.mkdirSync(`.git/objects`)'"],
  ] as const)("keep all earlier commits whole when they are %s", async ([, command]) => {
    const root = repository(folder);
    writeFileSync(join(root, "b.txt"), "b\n");
    git(root, "add", ".");
    git(root, "commit", "-qm", "two");
    await inSandbox(root, command);
    expect(git(root, "fsck", "--full", "--no-dangling")).toBe("");
    expect([git(root, "log", "--format=%s"), git(root, "show", "HEAD:b.txt")]).toEqual(["two\none\n", "b\n"]);
  });

  test("are taken away when a new one is not what its name says, and those of git stay", async () => {
    const root = repository(folder);
    const id = "ab".padEnd(40, "0");
    const forge = `node -e 'fs.mkdirSync(".git/objects/ab", { recursive: true }); fs.writeFileSync(".git/objects/ab/${id.slice(2)}", zlib.deflateSync("blob 5\\0evil\\n"))'`;
    const { notes, output } = await inSandbox(root, `${commit}; ${forge}`);
    expect(output.trim().split("\n").at(-1)).toBe("2");
    expect(notes).toContain(`objects/ab/${id.slice(2)} is protected`);
    expect(existsSync(join(root, ".git/objects/ab", id.slice(2)))).toBe(false);
    expect(git(root, "fsck", "--full", "--no-dangling")).toBe("");
  });
});

describe("installed packages", () => {
  test("let tools write their caches and generated clients, which begin with any name", async () => {
    const root = repository(folder);
    writeFileSync(join(root, "package.json"), "{}");
    mkdirSync(join(root, "node_modules/a"), { recursive: true });
    await inSandbox(
      root,
      "mkdir node_modules/.vite-temp; echo 1 > node_modules/.vite-temp/x; echo 2 > node_modules/a/generated.js",
    );
    expect(readFileSync(join(root, "node_modules/.vite-temp/x"), "utf8")).toBe("1\n");
    expect(existsSync(join(root, "node_modules/a/generated.js"))).toBe(true);
  });

  test("are named when a command changes, replaces or adds one", async () => {
    const root = repository(folder);
    mkdirSync(join(root, "node_modules/a"), { recursive: true });
    mkdirSync(join(root, ".venv/bin"), { recursive: true });
    for (const path of ["node_modules/a/index.js", "node_modules/a/same.js", ".venv/bin/python"])
      writeFileSync(join(root, path), "good");
    const { notes } = await inSandbox(
      root,
      `mkdir -p node_modules/b node_modules/.cache/x .venv/lib/__pycache__; for f in node_modules/a/index.js node_modules/b/new.js node_modules/.cache/x/y .venv/lib/__pycache__/z.pyc; do echo evil > $f; done; node -e 'fs.rmSync(".venv/bin/python"); fs.writeFileSync(".venv/bin/python", "evil")'`,
    );
    const named = [...notes.matchAll(/(?:node_modules|\.venv)\/[\w./]+\w/g)].map(([path]) => path);
    expect(named.toSorted()).toEqual([".venv/bin/python", "node_modules/a/index.js", "node_modules/b/new.js"]);
  });

  test("that are new are named as one folder", async () => {
    const root = repository(folder);
    const { notes } = await inSandbox(
      root,
      "mkdir -p node_modules/a; echo 1 > node_modules/a/x; echo 2 > node_modules/y",
    );
    expect(notes).toContain(`in the sandbox: ${join(root, "node_modules")}. Your tools`);
  });

  test("are not named when an earlier command changed them, or one that may install", async () => {
    const root = repository(folder);
    mkdirSync(join(root, "node_modules/a"), { recursive: true });
    const terminals = terminalsOf(root);
    await run(terminals, root, "true");
    expect(await terminals.endTurn?.()).toEqual([]);
    writeFileSync(join(root, "node_modules/a/user.js"), "");
    const installing = await start(terminals, root, "echo x > node_modules/a/index.js", { sandbox: "networked" });
    await installing.exit;
    await installing.inspected();
    await installing.release();
    expect(await terminals.endTurn?.()).toEqual([]);
    await terminals.dispose();
  });
});

test("a command in the background is reported with the protected file that it made", async () => {
  const root = repository(folder);
  const terminals = terminalsOf(root);
  const processes = new Processes();
  const command = "sleep 0.2; mkdir .vscode; echo evil > .vscode/tasks.json";
  const running = await start(terminals, root, command, { keepsShell: false });
  const { id } = processes.add({ command, folder: root, running });
  await running.exit;
  const notices = await processes.notices();
  expect(notices).toEqual([
    expect.stringContaining(`[${id} has ended: `),
    expect.stringContaining(".vscode is protected and was made"),
  ]);
  expect(await processes.notices()).toEqual([]);
  await processes.dispose();
  await terminals.dispose();
});
