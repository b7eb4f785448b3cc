import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFolder } from "../../../scripts/project.ts";

const FILES = {
  "package.json": {
    contributes: { commands: [{ title: "%a%" }, { title: "%b%" }, { title: "Plain" }, { title: "Hermes" }] },
  },
  "package.nls.json": { a: "A", b: "B" },
  "package.nls.de.json": { a: "A", unused: "C" },
  "l10n/bundle.l10n.json": { Stop: "Stop", "{0} files": "{0} files", New: "New" },
  "l10n/bundle.l10n.de.json": { Stop: "Anhalten", "{0} files": "Dateien", Old: "Alt" },
  "webview/a.tsx": `const a = [t("Stop"), t("{0} files", 2), t(other), "Not translated"];
const view = <button title={on ? t("New") : "Off"} class="big one">Go on {"Hermes"}</button>;`,
  "extension/a.ts": `vscode.window.showErrorMessage(\`Cannot open \${file}\`, vscode.l10n.t("Stop"));
pick({ title: "Hermes", label: "$(check) Open", id: "not shown" }); log.info("A line of the log");`,
};

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-texts-"));
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
});

afterAll(() => rmSync(folder, { recursive: true }));

test("the check lists each text without a key, without a call of `t`, without German, and each that is not used", async () => {
  const script = join(projectFolder, "scripts", "texts.mjs");
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, [script], { cwd: folder }, (_error, _stdout, stderr) => resolve(stderr)),
  );
  expect(output.trim().split("\n")).toEqual([
    "package.json: contributes.commands.2.title needs a key of package.nls.json",
    "package.nls.de.json: there is no b",
    "package.nls*.json: package.json does not use unused",
    "extension/a.ts:1 shows a text without `vscode.l10n.t`: `Cannot open ${file}`",
    'extension/a.ts:2 shows a text without `vscode.l10n.t`: "$(check) Open"',
    "webview/a.tsx:1 the text of `t` is no string literal: other",
    'webview/a.tsx:1 shows a text without `t`: "Not translated"',
    'webview/a.tsx:2 shows a text without `t`: "Off"',
    "webview/a.tsx:2 shows a text without `t`: Go on",
    'l10n/bundle.l10n.de.json: add a translation of "New"',
    'l10n/bundle.l10n.de.json: no code uses "Old": run `npm run texts`',
    'l10n/bundle.l10n.de.json: the translation of "{0} files" has other placeholders',
  ]);
});
