/** Methods about work trees of git for sessions. */
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { onClientRequest } from "../../protocol/handle.ts";
import { worktreeMethods } from "../../protocol/worktrees.ts";
import type { AgentServer } from "../agent-server.ts";
import { throwRequestError } from "../request-errors.ts";

export function registerWorktreeMethods(app: AgentApp, server: AgentServer): void {
  const requests = () => import("../worktree-requests.ts");
  onClientRequest(app, worktreeMethods.add, async ({ params: { cwd, name }, signal }) => {
    const { worktrees } = (await server.configuration.read()).config;
    const { makeWorktree } = await import("../../host/worktrees.ts");
    return makeWorktree(cwd, name, worktrees, signal).catch(throwRequestError);
  });
  onClientRequest(app, worktreeMethods.list, async ({ params: { cwd } }) => ({
    worktrees: await (await requests()).worktreesAround(cwd).catch(throwRequestError),
  }));
  onClientRequest(app, worktreeMethods.changes, async ({ params: { cwd } }) =>
    (await requests()).changesAt(cwd).catch(throwRequestError),
  );
  onClientRequest(app, worktreeMethods.end, async ({ params }) =>
    (await requests()).endAt(params, (folder) => server.stored.isBusyIn(folder)).catch(throwRequestError),
  );
}
