import { expect, test, vi } from "vitest";

vi.mock("vscode", () => ({
  l10n: { t: (text: string) => text },
  workspace: { workspaceFolders: undefined },
  Disposable: { from: () => ({ dispose: () => undefined }) },
}));
const { SessionHistory } = await import("../../../../extension/chat/session-history.ts");

/** A list whose agent answers each request by `answer`. */
function list(answer: () => Promise<unknown>) {
  const commands: unknown[] = [];
  const updates: { page?: { error?: string } }[] = [];
  const connection = {
    command: (command: unknown) => commands.push(command),
    history: (update: { page?: { error?: string } }) => updates.push(update),
  };
  const panel = { connection, shown: { sessionId: "s1" } };
  const forgotten: string[] = [];
  const sessions = { panelOf: () => panel, forget: (id: string) => forgotten.push(id) };
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
