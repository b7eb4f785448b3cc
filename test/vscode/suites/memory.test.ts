import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";

// The memory's files in the editor.
suite("memory", () => {
  const folder = join(process.env["HERMES_HOME"] ?? "", "memories");
  const shown = () => vscode.window.activeTextEditor?.document;

  suiteSetup(() => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "MEMORY.md"), "tests run with vitest\n§\nlikes tabs\nand short names\n");
  });
  suiteTeardown(async () => {
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    await vscode.commands.executeCommand("workbench.action.closeAllEditors");
    rmSync(folder, { recursive: true });
  });

  test("a command opens MEMORY.md, which shows the origin of an entry on hover", async () => {
    await vscode.commands.executeCommand("hermes.openMemory");
    const document = shown();
    assert.equal(document?.uri.fsPath, join(folder, "MEMORY.md"));
    assert.deepEqual(await hover(document.uri, 3), ["Hermes: written by hand or by another program"]);
    assert.deepEqual(await hover(document.uri, 1), []);
  });

  test("another one opens USER.md, also before it exists", async () => {
    await vscode.commands.executeCommand("hermes.openUserProfile");
    assert.equal(shown()?.uri.fsPath, join(folder, "USER.md"));
    assert.equal(shown()?.isUntitled, true);
  });

  test("two commands open the page of what was learnt, in one tab", async () => {
    const pages = () =>
      vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .filter(({ label, input }) => label === "Hermes: Learning" && input instanceof vscode.TabInputWebview);
    const opened = new Promise<void>((resolve) => {
      const subscription = vscode.window.tabGroups.onDidChangeTabs(() => {
        if (pages().length === 0) return;
        subscription.dispose();
        resolve();
      });
    });
    await vscode.commands.executeCommand("hermes.showLearnt");
    await opened;
    await vscode.commands.executeCommand("hermes.showHealthReport");
    assert.equal(pages().length, 1);
    await vscode.window.tabGroups.close(pages());
  });

  test("a tool of VS Code's own chat reads the memory, and another one searches past sessions", async () => {
    assert.match(await toolText("hermes_memory", {}), /^# Notes of Hermes\n- tests run with vitest\n- likes tabs/);
    assert.equal(
      await toolText("hermes_past_sessions", { query: "flibbertigibbet" }),
      "No past session of this folder matches.",
    );
    await assert.rejects(toolText("hermes_past_sessions", { query: " " }), /needs a query/);
  });
});

async function toolText(name: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
}

async function hover(uri: vscode.Uri, line: number): Promise<readonly string[]> {
  const place = new vscode.Position(line, 0);
  const hovers: readonly vscode.Hover[] = await vscode.commands.executeCommand(
    "vscode.executeHoverProvider",
    uri,
    place,
  );
  return hovers.flatMap(({ contents }) =>
    contents.map((part) => (part instanceof vscode.MarkdownString ? part.value : String(part))),
  );
}
