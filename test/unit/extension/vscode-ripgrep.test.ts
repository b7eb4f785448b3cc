import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { vscodeRipgrep } from "../../../extension/agent/vscode-ripgrep.ts";

const file = process.platform === "win32" ? "rg.exe" : "rg";
const target = `${process.platform}-${process.arch}`;

function appWith(path: string, mode = 0o755): { readonly root: string; readonly program: string } {
  const root = mkdtempSync(join(tmpdir(), "hermes-app-"));
  const program = join(root, path, file);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, "");
  chmodSync(program, mode);
  return { root, program };
}

test.each([
  ["VS Code 1.109", "node_modules.asar.unpacked/@vscode/ripgrep/bin"],
  ["a server of it", "node_modules/@vscode/ripgrep/bin"],
  ["VS Code 1.139", `node_modules.asar.unpacked/@vscode/ripgrep-universal/bin/${target}`],
  ["a server of it", `node_modules/@vscode/ripgrep-universal/bin/${target}`],
])("the extension finds ripgrep in %s: %s", (_, path) => {
  const { root, program } = appWith(path);
  expect(vscodeRipgrep(root)).toBe(program);
});

test("the extension finds none in a build without it, or when it cannot run", () => {
  expect(vscodeRipgrep(mkdtempSync(join(tmpdir(), "hermes-app-")))).toBeUndefined();
  expect(vscodeRipgrep(appWith("node_modules/@vscode/ripgrep/bin", 0o644).root)).toBeUndefined();
});
