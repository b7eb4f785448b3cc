import assert from "node:assert/strict";
import { join } from "node:path";
import * as vscode from "vscode";
import { type AgentRow, agentRows, groupsOf, itemOf } from "../../../extension/chat/agents-view.ts";
import type { ListedSession } from "../../../extension/chat/session-history.ts";
import type { Services } from "../../../extension/services.ts";
import { workspaceFolder } from "../support/agent-side.ts";

const SESSIONS = 500;
const FOLDERS = 20;
const ROUNDS = 5;
/** For the whole tree on a quiet machine. Milliseconds. */
const LIMIT_MS = 50;

suite("tree of agents", () => {
  const folder = (index: number): string => (index === 0 ? workspaceFolder() : join("/projects", `p${index}`));
  const listed = Array.from(
    { length: SESSIONS },
    (_, index): ListedSession => ({
      sessionId: `s${index}`,
      title: `Session ${index} about a subject that is longer than a row`,
      updatedAt: Date.now() - index * 60_000,
      cwd: folder(index % FOLDERS),
      isCurrent: false,
      ...(index % 50 === 0 && { state: "working" }),
      branch: index % 3 === 0 ? `hermes/task-${index}` : undefined,
      costUsd: 0.25,
    }),
  );
  const files = Array.from({ length: 400 }, (_, index) => {
    const path = join(workspaceFolder(), `file-${index}.ts`);
    return { path, label: path, isWaiting: false, pendingHunks: 1, added: 3, removed: 1 };
  });
  const editorOf = (path: string): string => `s${Number(/(\d+)\.ts$/.exec(path)?.[1]) % 40}`;
  // Of the parts, the tree reads only these.
  const parts = {
    sessions: { open: new Map(), stateOf: () => undefined, editorOf },
    review: { files },
  } as unknown as Pick<Services, "sessions" | "review">;

  test("takes no longer than 50 ms for 500 sessions with 400 edits to review", () => {
    const times = Array.from({ length: ROUNDS }, () => {
      const { user, system } = process.cpuUsage();
      const groups = groupsOf(agentRows(listed, parts));
      JSON.stringify(groups);
      const items = groups.flatMap((group) => [group, ...group.rows]).map(itemOf);
      assert.equal(items.length, SESSIONS + FOLDERS);
      const after = process.cpuUsage();
      return (after.user - user + (after.system - system)) / 1_000;
    });
    console.log(`[suite]     the tree of ${SESSIONS} sessions: ${times.map((time) => time.toFixed(1)).join(", ")} ms`);
    const [best = Number.POSITIVE_INFINITY] = times.toSorted((one, other) => one - other);
    assert.ok(best <= LIMIT_MS, `${best} ms`);
  });

  test("has the window's folder first, and in each folder what waits for the user before what is done", () => {
    const groups = groupsOf(agentRows(listed, parts));
    assert.equal(groups[0]?.folder, workspaceFolder());
    const order: readonly AgentRow["state"][] = ["asks", "working", "review", "done", "earlier"];
    for (const { rows } of groups) {
      const places = rows.map(({ state }) => order.indexOf(state));
      assert.deepEqual(
        places,
        places.toSorted((one, other) => one - other),
      );
    }
    const [first] = groups[0]?.rows ?? [];
    assert.ok(first?.facts.includes("works"));
  });

  // VS Code keeps the fold of an item whose id it knows.
  test("unfolds a folder when a session in it begins to ask, says so beside its name, and does not fold it again", () => {
    const row = { id: "s", title: "t", folder: "/p", isHere: false, at: 0, facts: [] };
    const [quiet, asking, ended, again] = (["earlier", "asks", "earlier", "asks"] as const).map((state) =>
      itemOf({ folder: "/p", rows: [{ ...row, state }] }),
    );
    const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    assert.deepEqual([quiet?.collapsibleState, asking?.collapsibleState], [Collapsed, Expanded]);
    assert.equal(ended?.id, asking?.id);
    assert.equal(new Set([quiet, asking, again].map((item) => item?.id)).size, 3);
    assert.deepEqual([quiet?.description, asking?.description], ["1", "1 · asks"]);
  });
});
