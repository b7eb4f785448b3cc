import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { attachFiles, draggedUri } from "../../../extension/attachments/attach-files.ts";
import { isMissing } from "../../../extension/attachments/prompt-blocks.ts";
import { workspaceFolder } from "../support/agent-side.ts";

// A drop names any path. Only files of the workspace are attached by it, and a link does not count as its folder.
suite("dropped files", () => {
  const folder = join(workspaceFolder(), "attach-files-suite");
  let outside: string;

  setup(() => {
    outside = mkdtempSync(join(tmpdir(), "hermes-outside-"));
    writeFileSync(join(outside, "secret.txt"), "a secret\n");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "mine.txt"), "mine\n");
    symlinkSync(join(folder, "mine.txt"), join(folder, "inner-link.txt"));
    symlinkSync(join(outside, "secret.txt"), join(folder, "file-link.txt"));
    symlinkSync(outside, join(folder, "folder-link"));
  });

  teardown(() => {
    for (const path of [folder, outside]) rmSync(path, { recursive: true, force: true });
  });

  const drop = async (...paths: readonly string[]) => {
    const uris = paths.map((path) => vscode.Uri.file(path));
    const { attachments, refused } = await attachFiles(uris, { within: true });
    return { attached: attachments.map(({ label }) => label), refused };
  };

  test("are attached from the workspace, also through a link inside it", async () => {
    const dropped = await drop(join(folder, "mine.txt"), join(folder, "inner-link.txt"), folder);
    assert.deepEqual(dropped, { attached: ["mine.txt", "inner-link.txt", "attach-files-suite"], refused: [] });
  });

  test("count as missing once they are gone, and a text that is not saved yet does not", async () => {
    const mine = vscode.Uri.file(join(folder, "mine.txt")).toString();
    assert.equal(await isMissing(mine), false);
    rmSync(join(folder, "mine.txt"));
    assert.equal(await isMissing(mine), true);
    assert.equal(await isMissing("untitled:Untitled-1"), false);
  });

  test("are refused by name outside of it, also behind a link to a file or a folder", async () => {
    const { attached, refused } = await drop(
      join(outside, "secret.txt"),
      join(folder, "file-link.txt"),
      join(folder, "folder-link"),
      join(folder, "folder-link", "secret.txt"),
      join(folder, "..", "..", "..", "etc", "hostname"),
    );
    assert.deepEqual(attached, []);
    const names = ["secret.txt", "file-link.txt", "folder-link", "secret.txt", "hostname"];
    assert.deepEqual(
      refused,
      names.map((name) => `${name} is not attached: it is outside the workspace.`),
    );
  });

  // VS Code writes `vscode-remote://` into drags of a remote window, which this window is.
  test("are found by the addresses that a remote window writes, and other machines are named", async () => {
    const panel = vscode.window.createWebviewPanel("suite", "Suite", vscode.ViewColumn.Active);
    try {
      const file = vscode.Uri.file(join(folder, "mine.txt"));
      const [own = ""] = panel.webview.asWebviewUri(file).authority.split(".vscode-");
      const authority = own.replace("vscode-remote+", "").replaceAll(/-([0-9a-f]{4})/g, (_, code) => charOf(code));
      const elsewhere = `vscode-remote://ssh-remote%2Bother${file.path}`;
      const dragged = [`vscode-remote://${authority}${file.path}`, String(file), elsewhere, "no address"].map((text) =>
        draggedUri(text, panel.webview),
      );
      assert.deepEqual(dragged.slice(0, 2).map(String), [String(file), String(file)]);
      const uris = dragged.filter((uri) => uri !== undefined);
      const { attachments, refused } = await attachFiles(uris, { within: true });
      assert.deepEqual(
        attachments.map((one) => one.kind === "file" && one.uri),
        [String(file), String(file)],
      );
      assert.deepEqual(refused, ["mine.txt is not attached: it is on another machine (ssh-remote+other)."]);
    } finally {
      panel.dispose();
    }
  });

  test("are attached as their lines before they have a file", async () => {
    const document = await vscode.workspace.openTextDocument({ content: "one\ntwo" });
    const { attachments } = await attachFiles([document.uri], { within: true });
    assert.deepEqual(attachments, [
      { kind: "lines", uri: String(document.uri), label: document.uri.path, start: 1, end: 2 },
    ]);
  });
});

function charOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}
