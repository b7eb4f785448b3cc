import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { EditedFile, FileProblems } from "../../../agent-core/host/host.ts";
import { hunksBetween } from "../../../agent-core/platform/hunks.ts";
import { newProblems } from "../../../agent-core/tools/edit-problems.ts";
import { SkillProblems } from "../../../extension/problems/skill-problems.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";
import { agentWrite } from "../support/agent-write.ts";
import { closeEditors } from "../support/editors.ts";

// Problems that the linters of a real editor find after an edit of the agent, and their timing.
suite("problems", () => {
  const folder = join(workspaceFolder(), "problems-suite");
  const { signal } = new AbortController();
  const linter = vscode.languages.createDiagnosticCollection("suite-linter");
  const subscriptions: vscode.Disposable[] = [linter];
  let side: AgentSide;
  const timers = new Set<NodeJS.Timeout>();
  let calls = 0;

  suiteSetup(async () => {
    mkdirSync(folder, { recursive: true });
    side = await connectAgentSide();
    // Like a linter: looks at a document when it is opened and a moment after each change.
    subscriptions.push(vscode.workspace.onDidOpenTextDocument(lintSoon));
    subscriptions.push(vscode.workspace.onDidChangeTextDocument(({ document }) => lintSoon(document)));
  });

  suiteTeardown(async () => {
    await closeEditors();
    for (const timer of timers) clearTimeout(timer);
    for (const subscription of subscriptions) subscription.dispose();
    await side.dispose();
    rmSync(folder, { recursive: true });
  });

  setup(() => {
    for (const timer of timers) clearTimeout(timer);
    linter.clear();
  });

  function lintSoon(document: vscode.TextDocument): void {
    if (document.uri.fsPath.startsWith(folder) && document.uri.fsPath.endsWith(".todo")) {
      timers.add(setTimeout(() => linter.set(document.uri, lint(document)), 120));
    }
  }

  /** A problem for each line that says BAD. */
  function lint(document: vscode.TextDocument): vscode.Diagnostic[] {
    return Array.from({ length: document.lineCount }, (_, index) => document.lineAt(index))
      .filter(({ text }) => text.includes("BAD"))
      .map(({ range }) => new vscode.Diagnostic(range, "do not say BAD", vscode.DiagnosticSeverity.Error));
  }

  async function edit(path: string, oldText: string | null, newText: string): Promise<readonly FileProblems[]> {
    calls += 1;
    const watch = await side.host.problems.watch(`call ${calls}`);
    const written = await agentWrite(side.host.files, path, { expected: oldText, after: newText }, signal);
    assert.ok(written.ok, written.ok ? "" : written.message);
    return watch.settled([{ path, oldText, newText }], signal);
  }

  function fresh(found: readonly FileProblems[], change: EditedFile): string[] {
    return found.flatMap((file) =>
      newProblems(file, file.path === change.path ? change : undefined, hunksBetween).map(
        ({ line, severity, message }) => `${file.path.slice(folder.length + 1)}:${line} ${severity} ${message}`,
      ),
    );
  }

  test("a new problem is found by its event, and old ones that moved are none", async () => {
    const path = join(folder, "a.todo");
    const oldText = "one\nBAD\nthree\n";
    writeFileSync(path, oldText);
    const linted = eventOf(path);
    await vscode.workspace.openTextDocument(path);
    await linted;
    const newText = "zero\none\nBAD\nthree\nBAD\n";
    const found = await edit(path, oldText, newText);
    assert.deepEqual(fresh(found, { path, oldText, newText }), ["a.todo:5 error do not say BAD"]);
  });

  test("a new file is opened for its linter", async () => {
    const path = join(folder, "new.todo");
    const found = await edit(path, null, "BAD\n");
    assert.deepEqual(fresh(found, { path, oldText: null, newText: "BAD\n" }), ["new.todo:1 error do not say BAD"]);
  });

  test("new problems in other files are reported, too", async () => {
    const path = join(folder, "cause.txt");
    writeFileSync(path, "fine\n");
    await vscode.workspace.openTextDocument(path);
    const other = vscode.Uri.file(join(folder, "effect.todo"));
    const change = vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.fsPath !== path) return;
      const range = new vscode.Range(3, 0, 3, 4);
      linter.set(other, [new vscode.Diagnostic(range, "no longer there", vscode.DiagnosticSeverity.Warning)]);
    });
    try {
      const found = await edit(path, "fine\n", "gone\n");
      assert.deepEqual(fresh(found, { path, oldText: "fine\n", newText: "gone\n" }), [
        "effect.todo:4 warning no longer there",
      ]);
    } finally {
      change.dispose();
    }
  });

  test("problems that a moved file had before are not reported as new", async () => {
    const [from, to] = [join(folder, "from.todo"), join(folder, "to.todo")];
    writeFileSync(from, "BAD\n");
    await vscode.workspace.openTextDocument(from);
    await told(() => linter.get(vscode.Uri.file(from))?.length === 1);
    const watch = await side.host.problems.watch("moved");
    assert.ok((await side.host.files.rename({ from, to, expected: "BAD\n" }, signal)).ok);
    const edits = [
      { path: from, oldText: "BAD\n", newText: null },
      { path: to, oldText: "BAD\n", newText: "BAD\n", movedFrom: from },
    ];
    const found = await watch.settled(edits, signal);
    const messages = (path: string, when: "before" | "after") =>
      found.find((file) => file.path === path)?.[when].map(({ message }) => message);
    assert.deepEqual(messages(from, "before"), ["do not say BAD"]);
    assert.deepEqual(messages(to, "after"), ["do not say BAD"]);
  });

  test("the agent waits for VS Code's own JSON server", async () => {
    const path = join(folder, "real.json");
    const oldText = '{ "a": 1, }\n';
    writeFileSync(path, oldText);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path));
    // The server has to start, which no edit waits for.
    await told(() => vscode.languages.getDiagnostics(vscode.Uri.file(path)).length > 0);
    const newText = '{ "a": 1, "a": 2 }\n';
    const problems = fresh(await edit(path, oldText, newText), { path, oldText, newText });
    // A duplicate key is no syntax error: only a language server says so.
    assert.match(problems.join("\n"), /real\.json:1 warning Duplicate object key/);
  });

  test("without a language server the wait ends, and nothing is found", async () => {
    const path = join(folder, "plain.nobody");
    assert.deepEqual(fresh(await edit(path, null, "1\n"), { path, oldText: null, newText: "1\n" }), []);
    assert.deepEqual(fresh(await edit(path, "1\n", "2\n"), { path, oldText: "1\n", newText: "2\n" }), []);
  });

  test("a stopped turn does not wait", async () => {
    const path = join(folder, "stop.todo");
    writeFileSync(path, "one\n");
    const watch = await side.host.problems.watch("stopped");
    await agentWrite(side.host.files, path, { expected: "one\n", after: "BAD\n" }, signal);
    const cancel = new AbortController();
    const settled = watch.settled([{ path, oldText: "one\n", newText: "BAD\n" }], cancel.signal);
    cancel.abort(new Error("stopped"));
    await assert.rejects(settled, /stopped/);
  });

  /** Resolves with the event of the file's problems, which VS Code emits some time after they are set. */
  async function eventOf(path: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (!uris.some(({ fsPath }) => fsPath === path)) return;
        subscription.dispose();
        resolve();
      });
    });
  }

  /** Resolves when it is so, which is looked at with each event. */
  async function told(isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve) => {
      const subscription = vscode.languages.onDidChangeDiagnostics(() => {
        if (!isSo()) return;
        subscription.dispose();
        resolve();
      });
    });
  }

  test("a skill that does not load is a problem of its file, and a save reads it again", async () => {
    const path = join(folder, "SKILL.md");
    writeFileSync(path, "no front matter");
    const reread = Promise.withResolvers<void>();
    const problems = new SkillProblems(reread.resolve);
    const failure = { id: "1", kind: "skill", name: "s", source: "home", detail: path, path, actions: [] } as const;
    problems.show({ sessionId: "s", items: [{ ...failure, state: "failed", error: "it has no front matter" }] });
    // VS Code has a linter for these files, too.
    const isOurs = ({ source }: vscode.Diagnostic): boolean => source === "Hermes";
    const found = () => vscode.languages.getDiagnostics(vscode.Uri.file(path)).filter(isOurs);
    const shown = () => found().map(({ message }) => message);
    assert.deepEqual(shown(), ["The skill does not load: it has no front matter"]);
    const document = await vscode.workspace.openTextDocument(path);
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((change) => change.insert(new vscode.Position(0, 0), "---\n"));
    await document.save();
    await reread.promise; // VS Code may report the save later
    problems.show({ sessionId: "s", items: [{ ...failure, state: "on" }] });
    assert.deepEqual(shown(), []);
    problems.dispose();
  });
});
