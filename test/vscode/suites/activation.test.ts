import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { parse } from "jsonc-parser";
import * as vscode from "vscode";
import { vscodeRipgrep } from "../../../extension/agent/vscode-ripgrep.ts";

const EXTENSION_ID = "hermes-agent.hermes-vscode";

// The first suite by name, since what comes after it needs an active extension.
suite("activation", () => {
  test("VS Code knows the extension by its id", () => {
    assert.ok(vscode.extensions.getExtension(EXTENSION_ID));
  });

  test("start-up does not wait for it", () => {
    // VS Code restores tabs of the last window only with the other ones, which it does not derive by itself.
    const events = ["onStartupFinished", "onWebviewPanel:hermes.session", "onWebviewPanel:hermes.learning"];
    assert.deepEqual(extension().packageJSON.activationEvents, events);
  });

  test("one of its commands is there once it is active", async () => {
    const loading = performance.now();
    createRequire(__filename)(extension().extensionPath);
    console.log(`[suite]     the bundle loads: ${Math.round(performance.now() - loading)} ms`);
    const began = performance.now();
    await vscode.commands.executeCommand("hermes.keepAll");
    console.log(`[suite]     a command that does nothing else builds it: ${Math.round(performance.now() - began)} ms`);
    assert.equal(extension().isActive, true);
  });

  test("every command in its manifest is registered once it is active", async () => {
    const registered = new Set(await vscode.commands.getCommands(true));
    const manifest: { contributes: { commands: { command: string }[] } } = extension().packageJSON;
    const missing = manifest.contributes.commands.map(({ command }) => command).filter((id) => !registered.has(id));
    assert.deepEqual(missing, []);
  });

  test("its default keys are none of VS Code's own, unless both apply in different places", async () => {
    const uri = vscode.Uri.parse("vscode://defaultsettings/keybindings.json");
    const defaults: readonly Key[] = parse((await vscode.workspace.openTextDocument(uri)).getText());
    const own = defaults.filter(({ command }) => command.startsWith("hermes."));
    const others = defaults.filter(({ command, when = "" }) => !command.startsWith("hermes.") && !ELSEWHERE.test(when));
    assert.ok(own.length > 10 && others.length > 500, `${own.length} of ${defaults.length} keys`);
    const taken = own.flatMap(({ key, command }) =>
      others.filter((other) => other.key === key).map((other) => `${key} ${command}: ${other.command} ${other.when}`),
    );
    assert.deepEqual(taken, []);
  });

  test("VS Code's own ripgrep is found", () => {
    assert.match(vscodeRipgrep(vscode.env.appRoot) ?? "none", /[\\/]rg(?:\.exe)?$/);
  });
});

/** VS Code's own views and edits of its own chat, where the keys of Hermes do not apply. */
const ELSEWHERE = /accessibleView|chatEdits\.hasEditorModifications/;

/** Entry of VS Code's list of default keys. */
type Key = { readonly key: string; readonly command: string; readonly when?: string };

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension(EXTENSION_ID);
  assert.ok(found);
  return found;
}
