/** Optional programs of this machine: tests that need a missing one are skipped, but fail in CI. */
import { globSync } from "node:fs";
import { findBrowser } from "../../agent-core/browser/find-browser.ts";
import { findSandbox } from "../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import { vscodeRipgrep } from "../../extension/agent/vscode-ripgrep.ts";
import { vscodeTestFolder } from "../../scripts/project.ts";
import { isCI, missingTestPrograms, type TestProgram } from "../../scripts/system-programs.ts";

const missing = missingTestPrograms();

/**
 * Condition for `test.runIf`. The missing programs are printed once a run, by the global setup or scripts/test.ts.
 * @throws in CI when a program is missing.
 */
export function hasPrograms(...programs: readonly TestProgram[]): boolean {
  const absent = programs.filter((program) => missing.includes(program));
  if (absent.length > 0 && isCI) throw new Error(`Not installed: ${absent.join(", ")}. In CI no test is skipped.`);
  return absent.length === 0;
}

/** True when a browser for the browser tools is installed. @throws in CI when there is none. */
export function hasBrowser(): boolean {
  if (findBrowser() !== undefined) return true;
  if (isCI) throw new Error("No browser: install chromium. In CI no test is skipped.");
  // biome-ignore lint/suspicious/noConsole: a reader of the report must know why the tests are skipped.
  console.warn("Skipping the tests that need a browser: no Chrome, Chromium or Edge is installed.");
  return false;
}

/** True when bubblewrap can start a sandbox; the reason is printed if it is installed and cannot. */
export function hasSandbox(): boolean {
  if (!hasPrograms("bwrap")) return false;
  const found = findSandbox();
  if (found.ok) return true;
  if (isCI) throw new Error(found.reason);
  // biome-ignore lint/suspicious/noConsole: a reader of the report must know why the tests are skipped.
  console.warn(`Skipping the tests that need a sandbox: ${found.reason}`);
  return false;
}

const servers = globSync(`${vscodeTestFolder}/code-server-*/lib/vscode`);

/** Path of a real ripgrep: the one of the VS Code that the tests run in, or else the one on PATH. */
export const ripgrep = servers.map(vscodeRipgrep).find((path) => path !== undefined) ?? findProgram("rg");

/** Condition for `test.runIf`. @throws in CI when there is no ripgrep. */
export function hasRipgrep(): boolean {
  if (ripgrep !== undefined) return true;
  const reason = "neither VS Code's server is in .vscode-test nor rg on the PATH";
  if (isCI) throw new Error(`No ripgrep: ${reason}.`);
  // biome-ignore lint/suspicious/noConsole: a reader of the report must know why the tests are skipped.
  console.warn(`Skipping the tests that need rg: ${reason}.`);
  return false;
}
