import assert from "node:assert/strict";
import * as vscode from "vscode";

const EXTENSION_ID = "hermes-agent.hermes-vscode";

// The first suite by name, since what comes after it needs an active extension.
suite("activation", () => {
  test("VS Code knows the extension by its id", () => {
    assert.ok(vscode.extensions.getExtension(EXTENSION_ID));
  });

  test("start-up leaves it inactive", () => {
    assert.equal(extension().isActive, false);
  });

  test("a command of its own activates it", async () => {
    const began = performance.now();
    await vscode.commands.executeCommand("hermes.keepAll");
    console.log(
      `[suite]     activation by a command that does nothing else: ${Math.round(performance.now() - began)} ms`,
    );
    assert.equal(extension().isActive, true);
  });

  test("every command in its manifest is registered once it is active", async () => {
    const registered = new Set(await vscode.commands.getCommands(true));
    const manifest: { contributes: { commands: { command: string }[] } } = extension().packageJSON;
    const missing = manifest.contributes.commands.map(({ command }) => command).filter((id) => !registered.has(id));
    assert.deepEqual(missing, []);
  });
});

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension(EXTENSION_ID);
  assert.ok(found);
  return found;
}
