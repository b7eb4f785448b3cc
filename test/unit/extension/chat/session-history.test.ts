import { expect, test, vi } from "vitest";

vi.mock("vscode", () => ({
  l10n: { t: (text: string) => text },
  workspace: { workspaceFolders: undefined },
  Disposable: { from: () => ({ dispose: () => undefined }) },
}));
// Another test of this worker may have loaded the notifications with its own module `vscode`.
vi.mock("../../../../extension/notifications.ts", () => ({
  withErrorMessage: (_: string, action: () => Promise<void>) => action().catch(() => undefined),
}));
const { sessionActions } = await import("../../../../extension/chat/actions/session-actions.ts");
const { SessionHistory } = await import("../../../../extension/chat/session-history.ts");
const { SessionRestores } = await import("../../../../extension/chat/session-restores.ts");

/** A list whose agent answers each request by `answer`. */
function list(answer: () => Promise<unknown>) {
  const commands: unknown[] = [];
  type Page = { readonly error?: string; readonly sessions: readonly { readonly state?: string }[] };
  const updates: { page?: Page }[] = [];
  const panel = {
    command: (command: unknown) => commands.push(command),
    post: ({ update }: { update: { page?: Page } }) => updates.push(update),
    shown: { sessionId: "s1" },
  };
  const forgotten: string[] = [];
  const sessions = { open: new Map([["s1", {}]]), panelOf: () => panel, forget: (id: string) => forgotten.push(id) };
  const worker = { agent: async () => ({ request: answer }) };
  const changes = { onDidBuild: () => undefined, onDidChange: () => undefined };
  const parts = [{ worker, agents: { listing: [] } }, panel, sessions, changes];
  const history = new SessionHistory(...(parts as unknown as ConstructorParameters<typeof SessionHistory>));
  return { history, commands, forgotten, updates };
}

test("a session that cannot be deleted stays in its panel, and the list says why", async () => {
  let isBusy = false as boolean;
  const { history, commands, forgotten, updates } = list(async () => {
    if (isBusy) throw new Error("another window writes it");
    return { sessions: [] };
  });
  await history.search({ query: "", everywhere: false, isArchive: false });
  isBusy = true;
  await history.remove("s1");
  expect(updates.at(-1)?.page?.error).toBe("another window writes it");
  expect([commands, forgotten]).toEqual([[], []]);
  isBusy = false;
  await history.remove("s1");
  expect([commands, forgotten]).toEqual([[{ kind: "replace-session" }], ["s1"]]);
});

test("the list has the states of sessions that are not open in this window", async () => {
  const { history, updates } = list(async () => ({
    sessions: ["s1", "s2"].map((sessionId) => ({
      sessionId,
      cwd: "/w",
      _meta: { hermes: { messages: 2, state: "working" } },
    })),
  }));
  await history.search({ query: "", everywhere: false, isArchive: true });
  expect(updates.at(-1)?.page?.sessions.map(({ state }) => state)).toEqual([undefined, "working"]);
});

const resend = { type: "resend", position: 2, text: "other", files: true } as const;

/** Actions of a panel whose files are restored before a message is sent again. */
function resending() {
  const restoring = Promise.withResolvers<undefined>();
  const shown = () => ({ dispatch: vi.fn(), worktree: { check: () => undefined } });
  const [first, second] = [shown(), shown()];
  const panel = { shown: first, giveDraft: vi.fn() };
  const parts = { panel, restores: { forResend: () => restoring.promise } };
  const actions = sessionActions(parts as unknown as Parameters<typeof sessionActions>[0]);
  return { actions, panel, first, second, restoring };
}

test("a message is sent again in its own session, also when the panel shows another one meanwhile", async () => {
  const { actions, panel, first, second, restoring } = resending();
  const sent = actions.resend(resend);
  panel.shown = second;
  restoring.resolve(undefined);
  await sent;
  expect([first, second].map(({ dispatch }) => dispatch.mock.calls.length)).toEqual([1, 0]);
});

test("a message whose files cannot be restored returns to the composer", async () => {
  const { actions, panel, first, restoring } = resending();
  restoring.reject(new Error("another window restores them"));
  await actions.resend(resend);
  expect(panel.giveDraft.mock.calls).toMatchObject([[{ text: "other" }]]);
  expect(first.dispatch).not.toHaveBeenCalled();
});

test("a preview that is closed before the agent answers is not shown", async () => {
  const previewed = Promise.withResolvers<unknown>();
  const log = { push: vi.fn() };
  const worker = { agent: async () => ({ request: () => previewed.promise }) };
  const parts = [worker, { shown: { log }, openSessionId: "s1" }, {}];
  const restores = new SessionRestores(...(parts as unknown as ConstructorParameters<typeof SessionRestores>));
  const shown = restores.preview(2, true);
  restores.close();
  previewed.resolve({ files: [], messages: 1, prompt: "one" });
  await shown;
  expect(log.push.mock.calls).toEqual([[{ kind: "restore-preview", position: 2, preview: null }]]);
});
