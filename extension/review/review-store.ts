/** Reviews across a reload of the window: one record per file, guarded by a hash. */
import { hash } from "node:crypto";
import * as vscode from "vscode";
import * as z from "zod";
import { type ReviewedText, reviewedText } from "./reviewed-text.ts";

const FOLDER = "review";

const recordSchema = z.object({
  path: z.string(),
  baseline: z.string().nullable(),
  present: z.string(),
  isGone: z.literal(true).exactOptional(),
  hasMark: z.literal(true).exactOptional(),
  hash: z.string(),
});

export class ReviewStore {
  readonly #folder: vscode.Uri | undefined;
  readonly #report: (problem: string) => void;
  /** Records to write, by path; undefined removes the record. */
  readonly #wanted = new Map<string, ReviewedText | undefined>();
  #writing: Promise<void> | undefined;

  /** `storage` is the workspace's; without a workspace nothing is stored. `report` gets messages about failures. */
  constructor(storage: vscode.Uri | undefined, report: (problem: string) => void) {
    this.#folder = storage && vscode.Uri.joinPath(storage, FOLDER);
    this.#report = report;
  }

  /** All valid records. Damaged ones are reported and left out; their files are untouched. */
  async load(): Promise<readonly ReviewedText[]> {
    const folder = this.#folder;
    if (folder === undefined) return [];
    const entries = await vscode.workspace.fs.readDirectory(folder).then(undefined, () => []); // none kept yet
    const names = entries.map(([name]) => name).filter((name) => name.endsWith(".json"));
    const records = await Promise.all(names.map((name) => this.#read(vscode.Uri.joinPath(folder, name))));
    return records.filter((record) => record !== undefined);
  }

  /** Keeps a review; undefined removes its record. */
  keep(path: string, text: ReviewedText | undefined): void {
    if (this.#folder === undefined) return;
    this.#wanted.set(path, text);
    this.#writing ??= this.#writeWanted(this.#folder);
  }

  /** Resolves when all saved records are on the disk. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Writes only the last of several states of a file in quick succession. */
  async #writeWanted(folder: vscode.Uri): Promise<void> {
    for (let next = this.#takeWanted(); next !== undefined; next = this.#takeWanted()) {
      const [path, text] = next;
      try {
        await writeRecord(folder, path, text);
      } catch (error) {
        this.#report(`could not store the review of ${path}; it will be lost with a reload: ${String(error)}`);
      }
    }
    this.#writing = undefined;
  }

  #takeWanted(): [string, ReviewedText | undefined] | undefined {
    const [next] = this.#wanted;
    if (next !== undefined) this.#wanted.delete(next[0]);
    return next;
  }

  async #read(uri: vscode.Uri): Promise<ReviewedText | undefined> {
    try {
      const bytes = await vscode.workspace.fs.readFile(uri);
      const { hash, ...text } = recordSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
      if (hash === hashOf(text)) return reviewedText(text);
      this.#report(`${uri.fsPath} is damaged, so its file is no longer under review.`);
    } catch (error) {
      this.#report(`could not read ${uri.fsPath}, so its file is no longer under review: ${String(error)}`);
    }
    return undefined;
  }
}

/** Writes a temporary file and renames it, so that a crash leaves the old record or the new one. */
async function writeRecord(folder: vscode.Uri, path: string, text: ReviewedText | undefined): Promise<void> {
  const record = vscode.Uri.joinPath(folder, `${hash("sha256", path)}.json`);
  if (text === undefined) {
    await vscode.workspace.fs.delete(record).then(undefined, ignoreMissing);
    return;
  }
  const aside = record.with({ path: `${record.path}.tmp` });
  const { hunks: _comparedAgain, ...kept } = text;
  const bytes = new TextEncoder().encode(JSON.stringify({ ...kept, hash: hashOf(text) }));
  await vscode.workspace.fs.createDirectory(folder);
  await vscode.workspace.fs.writeFile(aside, bytes);
  await vscode.workspace.fs.rename(aside, record, { overwrite: true });
}

function ignoreMissing(error: unknown): void {
  if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return;
  throw error;
}

function hashOf({ path, baseline, present }: Omit<ReviewedText, "hunks">): string {
  return hash("sha256", JSON.stringify([path, baseline, present]));
}
