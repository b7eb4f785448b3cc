/** Baselines of the files under review, kept over a reload. */
import * as vscode from "vscode";
import * as z from "zod";

const FILE = "review.json";

/** `baseline` is null for a file that the agent created. */
export type ReviewedText = { readonly path: string; readonly baseline: string | null; readonly present: string };

const schema = z.array(z.object({ path: z.string(), baseline: z.string().nullable(), present: z.string() }));

export class ReviewStore {
  readonly #folder: vscode.Uri | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** `folder` is the workspace's storage; undefined without a workspace: then nothing is kept. */
  constructor(folder: vscode.Uri | undefined) {
    this.#folder = folder;
  }

  async load(): Promise<readonly ReviewedText[]> {
    if (this.#folder === undefined) return [];
    try {
      const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.#folder, FILE));
      return schema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data ?? [];
    } catch {
      return []; // nothing was kept, or it is damaged: the files themselves are untouched
    }
  }

  /** Writes aside and renames, so that a crash leaves the old state or the new one. */
  save(reviewed: readonly ReviewedText[]): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    const write = async (): Promise<void> => {
      const temporary = vscode.Uri.joinPath(folder, `${FILE}.tmp`);
      await vscode.workspace.fs.createDirectory(folder);
      await vscode.workspace.fs.writeFile(temporary, new TextEncoder().encode(JSON.stringify(reviewed)));
      await vscode.workspace.fs.rename(temporary, vscode.Uri.joinPath(folder, FILE), { overwrite: true });
    };
    this.#writing = this.#writing.then(write).catch(() => undefined); // review goes on; it is only not kept
  }
}
