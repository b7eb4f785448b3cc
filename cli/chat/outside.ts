/** Programs that the session starts for the user: an editor, a pager, a shell line. */
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../agent-core/platform/errors.ts";

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Runs a program on the terminal itself. Resolves with its exit code; 127 when it cannot start. */
export function runOnTerminal(program: string, args: readonly string[], cwd: string): Promise<number> {
  return new Promise((resolve) => {
    const ignore = (): void => undefined; // Ctrl+C is the program's
    process.on("SIGINT", ignore);
    const end = (code: number): void => {
      process.off("SIGINT", ignore);
      resolve(code);
    };
    const child = spawn(program, args, { cwd, stdio: "inherit" });
    child.once("error", () => end(127));
    child.once("close", (code) => end(code ?? 1));
  });
}

/** Runs a line of the user's own shell on the terminal. */
export function runShellLine(line: string, cwd: string): Promise<number> {
  if (process.platform === "win32") return runOnTerminal("cmd.exe", ["/d", "/c", line], cwd);
  return runOnTerminal(process.env["SHELL"] || "/bin/sh", ["-c", line], cwd);
}

/** Opens a file in the user's editor, as `runOnTerminal`. The editor is a line for a shell, as git has it. */
export function openInEditor(file: string, cwd: string): Promise<number> {
  const editor = process.env["VISUAL"] || process.env["EDITOR"] || "vi";
  if (process.platform === "win32") return runOnTerminal("cmd.exe", ["/d", "/c", editor, file], cwd);
  return runOnTerminal("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], cwd);
}

/** The text after the user's editor. */
export async function editText(text: string, cwd: string): Promise<string> {
  return inFile("message.md", text, async (file) => {
    const code = await openInEditor(file, cwd);
    return code === 0 ? readFileSync(file, "utf8").trimEnd() : text;
  });
}

/** Shows a text in the user's pager. */
export async function pageText(text: string, cwd: string): Promise<void> {
  await inFile("session.md", text, (file) => {
    const [program = "less", ...args] = (process.env["PAGER"] || "less -R").split(/\s+/);
    return runOnTerminal(program, [...args, file], cwd);
  });
}

async function inFile<T>(name: string, text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-"));
  const file = join(folder, name);
  try {
    writeFileSync(file, text, { mode: 0o600 });
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Output of a program without a terminal, or the first line of its failure. Never rejects. */
export async function captured(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly ok: boolean; readonly output: string }> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { cwd, maxBuffer: MAX_OUTPUT_BYTES });
    return { ok: true, output: stdout };
  } catch (error) {
    const { stderr }: { stderr?: unknown } = Object(error);
    const [line] = typeof stderr === "string" ? stderr.trim().split("\n", 1) : [];
    return { ok: false, output: line || messageOf(error) };
  }
}
