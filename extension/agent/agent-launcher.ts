import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import * as vscode from "vscode";

/** A program with a lasting path that runs the agent of this version: the extension's folder changes with each update. */
export class AgentLauncher {
  readonly #path: string;
  readonly #text: string;

  constructor({ globalStorageUri, extensionUri }: Pick<vscode.ExtensionContext, "globalStorageUri" | "extensionUri">) {
    this.#path = join(globalStorageUri.fsPath, "hermes-acp.mjs");
    const agent = pathToFileURL(vscode.Uri.joinPath(extensionUri, "dist", "acp.js").fsPath);
    this.#text = `import ${JSON.stringify(agent.href)};\n`;
  }

  /** Resolves with the path of the program. */
  async write(): Promise<string> {
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, this.#text);
    return this.#path;
  }

  /** Lets a program that exists run the agent of this version. */
  async update(): Promise<void> {
    const text = await readFile(this.#path, "utf8").catch(() => this.#text);
    if (text !== this.#text) await this.write();
  }
}
