import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

type FakeDocument = { readonly uri: { readonly path: string }; isClosed: boolean; text: string; getText(): string };

const code = vi.hoisted(() => ({
  textDocuments: [] as FakeDocument[],
  TabInputText: Object,
  close: (_document: FakeDocument): void => undefined,
  window: {
    activeTextEditor: undefined as { readonly document: FakeDocument } | undefined,
    visibleTextEditors: [],
    tabGroups: { all: [] as { readonly tabs: readonly { readonly input: Pick<FakeDocument, "uri"> }[] }[] },
    showTextDocument: () => undefined,
    showWarningMessage: vi.fn(),
    showErrorMessage: vi.fn(),
    showInformationMessage: vi.fn(),
  },
}));
vi.mock("vscode", () => ({
  l10n: { t: (text: string) => text },
  window: code.window,
  TabInputText: code.TabInputText,
  commands: { executeCommand: () => undefined },
  FileType: { File: 1 },
  Uri: { file: (fsPath: string) => ({ fsPath, toString: () => fsPath }) },
  workspace: {
    isTrusted: true,
    workspaceFolders: [],
    textDocuments: code.textDocuments,
    notebookDocuments: [],
    getWorkspaceFolder: () => undefined,
    getConfiguration: () => ({
      get: (name: string) => (name === "files.encoding" ? "utf8" : undefined),
      inspect: () => undefined,
    }),
    asRelativePath: ({ fsPath }: { fsPath: string }) => fsPath,
    fs: { stat: async () => ({ type: 1 }) },
    onDidCloseTextDocument: (closed: (document: FakeDocument) => void) => {
      code.close = closed;
    },
    openTextDocument: async ({ content }: { content: string }) => {
      const uri = { path: `${code.textDocuments.length}` };
      const document = { uri, isClosed: false, text: content, getText: () => document.text };
      code.textDocuments.push(document);
      return document;
    },
  },
}));
// Another test of this worker may have loaded them with its own module `vscode`.
vi.resetModules();
const { candidatesOf, parseFileLink } = await import("../../../extension/documents/file-links.ts");
const { codeActions } = await import("../../../extension/chat/actions/code-actions.ts");
const { carryOutPlan, keepPlans, openPlan, withEdited } = await import("../../../extension/commands/plan-document.ts");

test.each([
  ["src/a.ts", { path: "src/a.ts" }],
  ["src/prices.js:5", { path: "src/prices.js", line: 5 }],
  ["prices.js:5:12", { path: "prices.js", line: 5, column: 12 }],
  ["src/a.ts:12-20", { path: "src/a.ts", line: 12 }],
  ["src/a.ts#L12", { path: "src/a.ts", line: 12 }],
  ["src/a.ts#L12C3-L20", { path: "src/a.ts", line: 12, column: 3 }],
  ["a.ts:0", { path: "a.ts", line: 1 }],
  ["command:evil", undefined],
  ["file:///etc/passwd", undefined],
])("the link %s leads to its line and column", (href, link) => {
  expect(parseFileLink(href)).toEqual(link);
});

test("a relative link is searched in every folder, also behind the folder's name", () => {
  expect(candidatesOf("lib/a.ts", ["/w/app", "/w/lib"])).toEqual(["/w/app/lib/a.ts", "/w/lib/lib/a.ts", "/w/lib/a.ts"]);
  expect(candidatesOf("/w/app/../../etc/passwd", ["/w/app"])).toEqual(["/etc/passwd"]);
});

test("code for a file of a session's worktree goes through a link that leads out only after a question", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-links-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, "shop.worktrees/x");
  mkdirSync(folder, { recursive: true });
  for (const name of ["run.sh", "shop.worktrees/x/a.sh"]) writeFileSync(join(root, name), "ls\n");
  symlinkSync(join(root, "run.sh"), join(folder, "run.sh"));
  const written: string[] = [];
  const services = {
    editReview: { write: ({ path }: { path: string }) => written.push(path) },
    opener: { reveal: () => undefined },
  };
  const panel = { shown: { worktree: { folder } } };
  const actions = codeActions(...([services, panel] as unknown as Parameters<typeof codeActions>));
  const text = "--- a\n+++ b\n@@ -1 +1 @@\n-ls\n+ls -l\n";
  for (const path of ["a.sh", "run.sh"])
    await actions["apply-code"]({ type: "apply-code", text, language: "diff", paths: [path] });
  expect(code.window.showErrorMessage.mock.calls).toEqual([]);
  expect(code.window.showWarningMessage.mock.calls.map(([question]) => question)).toEqual([
    expect.stringContaining("out of the workspace"),
  ]);
  expect(written).toEqual([join(folder, "a.sh")]);
});

test("a plan is carried out as its own document has it, and from the chat as the active one of its documents", async () => {
  const prompt = vi.fn();
  const memory = new Map<string, unknown>();
  const memento = { get: (key: string, none: unknown) => memory.get(key) ?? none, update: memory.set.bind(memory) };
  const session = { prompt, sessionId: "s1" };
  const services = {
    sessions: { withoutPanel: (id: string) => (id === "s1" ? session : undefined), show: () => undefined },
    panels: { showing: () => session },
  } as unknown as Parameters<typeof carryOutPlan>[0];
  keepPlans(memento as unknown as Parameters<typeof keepPlans>[0]);
  for (const plan of ["PLAN ONE", "PLAN TWO", "PLAN TWO"]) await openPlan(plan, session);
  const [one, first, second] = code.textDocuments;
  if (!one || !first || !second) throw new Error("a document is missing");
  code.window.activeTextEditor = { document: one };
  const reload = (...shown: readonly FakeDocument[]): void => {
    code.window.tabGroups.all = [{ tabs: shown.map((input) => ({ input })) }];
    keepPlans(memento as unknown as Parameters<typeof keepPlans>[0]);
  };
  reload(one, first, second);
  await carryOutPlan(services);
  expect(prompt).toHaveBeenLastCalledWith({ text: "/carry-out code\nPLAN ONE" });
  one.text = "";
  await carryOutPlan(services);
  expect(prompt).toHaveBeenLastCalledWith({ text: "/carry-out code\nPLAN ONE" });
  one.text = "PLAN ONE";
  expect(withEdited("PLAN TWO", "/carry-out ask", session)).toBe("/carry-out ask");
  [first.text, second.text] = ["edit A", "edit B"];
  expect(withEdited("PLAN TWO", "/carry-out ask", session)).toBe("/carry-out ask\nedit A");
  code.window.activeTextEditor = { document: second };
  expect(withEdited("PLAN TWO", "/carry-out ask", session)).toBe("/carry-out ask\nedit B");
  expect(withEdited("PLAN TWO", "/carry-out ask", { sessionId: "s2" })).toBe("/carry-out ask");
  code.close(second); // as with a new language
  expect(Object.keys(Object(memory.get("hermes.plans")))).toEqual(["0", "1", "2"]);
  code.close({ ...second, isClosed: true });
  expect(Object.keys(Object(memory.get("hermes.plans")))).toEqual(["0", "1"]);
  reload(first); // the window has lost the other document
  expect(Object.keys(Object(memory.get("hermes.plans")))).toEqual(["1"]);
});
