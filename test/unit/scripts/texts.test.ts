import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectFolder } from "../../../scripts/project.ts";

const TITLES = {
  "Go to the file": "Go to the file",
  "Go to the {0}": "Go to the {0}",
  "Stops it at once.": "Stops it at once.",
};

const FILES = {
  "package.json": {
    contributes: {
      commands: [{ title: "%a%" }, { title: "%b%" }, { title: "%command.c%" }, { title: "Plain" }, { title: "Hermes" }],
    },
  },
  "package.nls.json": { a: "A", b: "B", "command.c": "Open the file" },
  "package.nls.de.json": { a: "A", unused: "C", "command.c": "Datei öffnen" },
  "l10n/bundle.l10n.json": { Stop: "Stop", ...TITLES, "{0} files": "{0} files", New: "New" },
  "l10n/bundle.l10n.de.json": { Stop: "Anhalten", ...TITLES, "{0} files": "Dateien", Old: "Alt" },
  "webview/a.tsx": `const a = [t("Stop"), t("{0} files", 2), t(other), "Not translated"];
const view = <button title={on ? t("New") : "Off"} class="big one">Go on {"Hermes"}</button>;
const titled = [<button>{t("Go to the file")}</button>, <button title={t("Stops it at once.")}>{t("Go to the {0}", 1)}</button>];`,
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

test("the check lists each text that has no key, no call of `t`, no German, no use, or no capitals on a button", async () => {
  const script = join(projectFolder, "scripts", "texts.mjs");
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, [script], { cwd: folder }, (_error, _stdout, stderr) => resolve(stderr)),
  );
  expect(output.trim().split("\n")).toEqual([
    "package.json: contributes.commands.3.title needs a key of package.nls.json",
    "package.nls.json: command.c is a command, in Title Case",
    "package.nls.de.json: there is no b",
    "package.nls*.json: package.json does not use unused",
    "extension/a.ts:1 shows a text without `vscode.l10n.t`: `Cannot open ${file}`",
    'extension/a.ts:2 shows a text without `vscode.l10n.t`: "$(check) Open"',
    "webview/a.tsx:1 the text of `t` is no string literal: other",
    'webview/a.tsx:1 shows a text without `t`: "Not translated"',
    'webview/a.tsx:2 shows a text without `t`: "Off"',
    "webview/a.tsx:2 shows a text without `t`: Go on",
    'webview/a.tsx:3 a button is in Title Case: "Go to the file"',
    'l10n/bundle.l10n.de.json: add a translation of "New"',
    'l10n/bundle.l10n.de.json: no code uses "Old": run `npm run texts`',
    'l10n/bundle.l10n.de.json: the translation of "{0} files" has other placeholders',
  ]);
});
