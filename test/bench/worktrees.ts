/** A new session in a worktree of a large repository, up to its first request, beside git's own checkout of the same files. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AcpProcess } from "../support/acp-process.ts";
import { commit, git, newFolder } from "../support/git-repositories.ts";
import { say, startModelServer } from "../support/model-server/model-server.ts";
import { byTurns, environmentOf, type Row } from "./measuring.ts";

const FILES = 60_000;
const FILES_A_FOLDER = 200;
const ROUNDS = 2;

export async function measureWorktrees(): Promise<readonly Row[]> {
  const repository = largeRepository();
  const model = await startModelServer();
  model.respondWith(() => say("done"));
  const agent = new AcpProcess(environmentOf(model));
  await agent.initialize();
  let count = 0;
  try {
    const { ours, floor } = await byTurns(
      ROUNDS,
      async () => {
        count += 1;
        const before = model.requests.length;
        const start = performance.now();
        const made = await agent.request("_hermes/worktree/add", { cwd: repository, name: `task ${count}` });
        const cwd = String(made.result?.["path"]);
        const { result } = await agent.request("session/new", { cwd, mcpServers: [] });
        await agent.prompt(String(result?.["sessionId"]), "hello");
        const ms = (model.requests[before]?.at ?? 0) - start;
        git(repository, "worktree", "remove", "--force", cwd);
        return ms;
      },
      async () => {
        const folder = join(dirname(repository), `${basename(repository)}-floor`);
        const start = performance.now();
        git(repository, "-c", "checkout.workers=8", "worktree", "add", "--detach", folder);
        const ms = performance.now() - start;
        git(repository, "worktree", "remove", "--force", folder);
        return ms;
      },
    );
    // Git writes the files: the best round is the one that other programs disturbed least.
    const what = `new session in a worktree of ${FILES} files, to the first request`;
    return [
      { what, ours: Math.min(...ours), floor: Math.min(...floor), target: 3_000, targetFloor: 2_000, unit: "ms" },
    ];
  } finally {
    await agent.stop();
    await model.stop();
    for (const folder of [repository, `${repository}.worktrees`]) rmSync(folder, { recursive: true, force: true });
  }
}

function largeRepository(): string {
  const repository = newFolder();
  git(repository, "init", "-q");
  for (let index = 0; index < FILES; index += 1) {
    const folder = join(repository, `src/${Math.floor(index / FILES_A_FOLDER)}`);
    if (index % FILES_A_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${index}.ts`), `export const value${index} = ${index};\n`.repeat(10));
  }
  commit(repository, "first");
  return repository;
}
