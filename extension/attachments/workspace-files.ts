/** Files and folders of the workspace that no ignore file excludes. The list is made at the first search. */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import * as vscode from "vscode";
import { vscodeRipgrep } from "../agent/vscode-ripgrep.ts";
import { type FileEntry, FileIndex, withFolders } from "./rank-mentions.ts";

/** Limit of the files of a folder; a larger one is searched in part. */
const MAX_FILES = 200_000;

export class WorkspaceFiles implements vscode.Disposable {
  readonly index = new FileIndex();
  /** Changes that the list does not have. */
  #isOutdated: boolean = true;
  #listing: Promise<void> | undefined;
  #watcher: vscode.Disposable | undefined;
  readonly #ending = new AbortController();

  /** Lists the files again if some were created or deleted. */
  async refresh(): Promise<void> {
    if (this.#isOutdated) {
      this.#watcher ??= this.#watch();
      this.#listing ??= this.#list().finally(() => {
        this.#listing = undefined;
      });
    }
    // Every search waits for a list in the making: without it, the last letters of a word would find nothing.
    await this.#listing;
  }

  /** Place of a file in the index; undefined outside the workspace. */
  placeOf(uri: vscode.Uri): Pick<FileEntry, "root" | "path"> | undefined {
    const folder = vscode.workspace.getWorkspaceFolder(uri);
    if (folder === undefined || folder.uri.path.length >= uri.path.length) return undefined;
    return { root: folder.index, path: uri.path.slice(folder.uri.path.length + 1) };
  }

  dispose(): void {
    this.#ending.abort();
    this.#watcher?.dispose();
  }

  #watch(): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher("**/*", false, true, false);
    const change = (): void => {
      this.#isOutdated = true;
    };
    const subscriptions = [
      watcher.onDidCreate(change),
      watcher.onDidDelete(change),
      vscode.workspace.onDidChangeWorkspaceFolders(change),
    ];
    return vscode.Disposable.from(watcher, ...subscriptions);
  }

  async #list(): Promise<void> {
    this.#isOutdated = false;
    const folders = vscode.workspace.workspaceFolders ?? [];
    const program = vscodeRipgrep(vscode.env.appRoot);
    const lists = await Promise.all(
      folders.map(async ({ uri, index }) => {
        const paths = program === undefined ? undefined : await this.#listWith(program, uri.fsPath);
        return (paths ?? (await foundFiles(uri))).map((path) => ({ root: index, path }));
      }),
    );
    await this.index.replace(withFolders(lists.flat()));
  }

  /** Paths that ripgrep lists, with slashes; undefined when it fails. */
  async #listWith(program: string, folder: string): Promise<readonly string[] | undefined> {
    const args = ["--files", "--null", "--hidden", "--no-require-git", "--no-messages", "--glob", "!**/.git"];
    const { signal } = this.#ending;
    const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"], windowsHide: true, signal });
    child.on("error", () => undefined); // the empty output leads to VS Code's own search
    child.stdout.setEncoding("utf8");
    const paths: string[] = [];
    let rest = "";
    for await (const text of child.stdout) {
      const parts = `${rest}${String(text)}`.split("\0");
      rest = parts.pop() ?? "";
      for (const path of parts) paths.push(process.platform === "win32" ? path.replaceAll("\\", "/") : path);
      if (paths.length > MAX_FILES) child.kill();
    }
    return paths.length === 0 ? undefined : paths.slice(0, MAX_FILES);
  }
}

/** Files that VS Code's search finds, which knows its own settings and no ignore file. */
async function foundFiles(folder: vscode.Uri): Promise<readonly string[]> {
  const found = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, "**/*"), undefined, MAX_FILES);
  return found.map(({ path }) => path.slice(folder.path.length + 1));
}

/** Name of a folder or a file, as its chip shows it. */
export function nameOf({ path }: vscode.Uri): string {
  return basename(path) || path;
}
