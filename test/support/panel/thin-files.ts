/** Files and documents of the thin VS Code: the disk is what counts, a document is open only while it is unsaved. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Disposable, EventEmitter } from "./thin-events.ts";

const MISSING = "ENOENT";

/** Address of a file or of a document, as extensions see it. */
export class Uri {
  readonly scheme: string;
  readonly authority = "";
  readonly path: string;
  readonly query: string;
  readonly fragment: string;

  constructor({ scheme, path, query = "", fragment = "" }: UriParts) {
    this.scheme = scheme;
    this.path = path;
    this.query = query;
    this.fragment = fragment;
  }

  static file(path: string): Uri {
    return new Uri({ scheme: "file", path });
  }

  static parse(text: string): Uri {
    const { protocol, pathname, search, hash } = new URL(text);
    const path = decodeURIComponent(pathname);
    return new Uri({ scheme: protocol.slice(0, -1), path, query: search.slice(1), fragment: hash.slice(1) });
  }

  static joinPath(uri: Uri, ...parts: readonly string[]): Uri {
    return uri.with({ path: join(uri.path, ...parts) });
  }

  static from(parts: UriParts): Uri {
    return new Uri(parts);
  }

  get fsPath(): string {
    return this.path;
  }

  with(change: Partial<UriParts>): Uri {
    const { scheme, path, query, fragment } = this;
    return new Uri({ scheme, path, query, fragment, ...change });
  }

  toString(): string {
    const address = `${this.scheme}:${pathToFileURL(this.path).href.slice("file:".length)}`;
    return `${address}${this.query && `?${this.query}`}${this.fragment && `#${this.fragment}`}`;
  }
}

type UriParts = { scheme: string; path: string; query?: string; fragment?: string };

export class Position {
  readonly line: number;
  readonly character: number;

  constructor(line: number, character: number) {
    this.line = line;
    this.character = character;
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;

  constructor(...ends: readonly [Position, Position] | readonly [number, number, number, number]) {
    const [from, to, endLine, endCharacter] = ends;
    this.start = typeof from === "number" ? new Position(from, Number(to)) : from;
    this.end = endLine === undefined ? (to as Position) : new Position(endLine, Number(endCharacter));
  }
}

export class Selection extends Range {
  get active(): Position {
    return this.end;
  }
}

/** Error class of VS Code's file system. */
export class FileSystemError extends Error {
  readonly code: string;

  constructor(path: string, code: string) {
    super(`${path}: ${code}`);
    this.code = code;
  }
}

type Change = { readonly uri: Uri; readonly range: Range; readonly text: string };

export class WorkspaceEdit {
  readonly changes: Change[] = [];
  readonly deleted: Uri[] = [];
  readonly renamed: (readonly [from: Uri, to: Uri])[] = [];

  replace(uri: Uri, range: Range, text: string): void {
    this.changes.push({ uri, range, text });
  }

  deleteFile(uri: Uri): void {
    this.deleted.push(uri);
  }

  renameFile(from: Uri, to: Uri): void {
    this.renamed.push([from, to]);
  }
}

/** An unsaved text; it closes when it is saved. */
export class ThinDocument {
  readonly uri: Uri;
  readonly fileName: string;
  readonly isUntitled = false;
  readonly languageId = "plaintext";
  version = 1;
  isDirty = false;
  #text: string;
  readonly #save: (document: ThinDocument) => Promise<void>;

  constructor(uri: Uri, text: string, save: (document: ThinDocument) => Promise<void>) {
    this.uri = uri;
    this.fileName = uri.fsPath;
    this.#text = text;
    this.#save = save;
  }

  get eol(): number {
    return this.#text.includes("\r\n") ? 2 : 1;
  }

  get lineCount(): number {
    return this.#text.split("\n").length;
  }

  getText(range?: Range): string {
    return range === undefined ? this.#text : this.#text.slice(this.offsetAt(range.start), this.offsetAt(range.end));
  }

  positionAt(offset: number): Position {
    const before = this.#text.slice(0, offset).split("\n");
    return new Position(before.length - 1, before.at(-1)?.length ?? 0);
  }

  offsetAt({ line, character }: Position): number {
    const before = this.#text.split("\n").slice(0, line);
    return Math.min(
      before.reduce((sum, text) => sum + text.length + 1, character),
      this.#text.length,
    );
  }

  lineAt(line: number): { readonly text: string; readonly range: Range } {
    const text = this.#text.split("\n")[line]?.replace(/\r$/, "") ?? "";
    return { text, range: new Range(line, 0, line, text.length) };
  }

  /** Replaces a range. Returns the change as VS Code reports it. */
  change({ range, text }: Change) {
    const rangeOffset = this.offsetAt(range.start);
    const rangeLength = this.offsetAt(range.end) - rangeOffset;
    this.#text = this.#text.slice(0, rangeOffset) + text + this.#text.slice(rangeOffset + rangeLength);
    this.version += 1;
    this.isDirty = true;
    return { range, rangeOffset, rangeLength, text };
  }

  async save(): Promise<boolean> {
    await this.#save(this);
    return true;
  }
}

/** The part of `vscode.workspace` that deals with files and documents. */
export class ThinFiles {
  readonly #unsaved = new Map<string, ThinDocument>();
  /** The last document of each file that the extension has opened: an edit changes that one. */
  readonly #opened = new Map<string, ThinDocument>();
  readonly #changed = new EventEmitter<object>();
  readonly #saved = new EventEmitter<ThinDocument>();
  readonly #renamed = new EventEmitter<object>();
  readonly #deleted = new EventEmitter<object>();

  readonly fs = {
    stat: (uri: Uri) => reading(uri, stat).then(({ mtimeMs, size }) => ({ type: 1, mtime: mtimeMs, ctime: 0, size })),
    readFile: async (uri: Uri) => new Uint8Array(await reading(uri, (path) => readFile(path))),
    writeFile: async (uri: Uri, bytes: Uint8Array) => {
      await mkdir(dirname(uri.fsPath), { recursive: true });
      await writeFile(uri.fsPath, bytes);
    },
    createDirectory: async (uri: Uri) => void (await mkdir(uri.fsPath, { recursive: true })),
    rename: (from: Uri, to: Uri) => reading(from, (path) => rename(path, to.fsPath)),
    delete: (uri: Uri) => reading(uri, (path) => rm(path, { recursive: true })),
    readDirectory: async (uri: Uri) =>
      (await reading(uri, (path) => readdir(path, { withFileTypes: true }))).map((entry) => [
        entry.name,
        entry.isDirectory() ? 2 : 1,
      ]),
  };

  readonly workspace = {
    fs: this.fs,
    onDidChangeTextDocument: this.#changed.event,
    onDidSaveTextDocument: this.#saved.event,
    onDidCloseTextDocument: () => new Disposable(),
    onDidRenameFiles: this.#renamed.event,
    onDidDeleteFiles: this.#deleted.event,
    registerTextDocumentContentProvider: () => new Disposable(),
    registerFileSystemProvider: () => new Disposable(),
    onDidChangeNotebookDocument: () => new Disposable(),
    decode: (bytes: Uint8Array) => Promise.resolve(new TextDecoder().decode(bytes)),
    openTextDocument: (what: Uri | string | { readonly content: string }) => {
      if (typeof what === "object" && "content" in what) return this.#openNew(what.content);
      return this.open(typeof what === "string" ? Uri.file(what) : what);
    },
    applyEdit: (edit: WorkspaceEdit) => this.#apply(edit),
  };

  get unsaved(): readonly ThinDocument[] {
    return [...this.#unsaved.values()];
  }

  /** Texts of new files that were opened without a place. */
  readonly newTexts: string[] = [];

  async #openNew(content: string): Promise<ThinDocument> {
    this.newTexts.push(content);
    return new ThinDocument(Uri.parse(`untitled:Untitled-${this.newTexts.length}`), content, () => Promise.resolve());
  }

  async open(uri: Uri): Promise<ThinDocument> {
    const text = this.#unsaved.get(uri.toString());
    if (text !== undefined) return text;
    if (uri.scheme !== "file") return new ThinDocument(uri, "", () => Promise.resolve());
    const bytes = await this.fs.readFile(uri);
    const opened = new ThinDocument(uri, new TextDecoder().decode(bytes), (document) => this.#save(document));
    this.#opened.set(uri.toString(), opened);
    return opened;
  }

  async #apply({ changes, deleted, renamed }: WorkspaceEdit): Promise<boolean> {
    for (const change of changes) {
      const document = this.#opened.get(change.uri.toString()) ?? (await this.open(change.uri));
      const contentChange = document.change(change);
      this.#unsaved.set(change.uri.toString(), document);
      this.#changed.fire({ document, contentChanges: [contentChange], reason: undefined });
    }
    for (const uri of deleted) await rm(uri.fsPath, { force: true, recursive: true });
    if (deleted.length > 0) this.#deleted.fire({ files: deleted });
    for (const [from, to] of renamed) await rename(from.fsPath, to.fsPath);
    if (renamed.length > 0) this.#renamed.fire({ files: renamed.map(([oldUri, newUri]) => ({ oldUri, newUri })) });
    return true;
  }

  async #save(document: ThinDocument): Promise<void> {
    await writeFile(document.uri.fsPath, document.getText());
    document.isDirty = false;
    this.#unsaved.delete(document.uri.toString());
    this.#changed.fire({ document, contentChanges: [], reason: undefined });
    this.#saved.fire(document);
  }
}

async function reading<Result>(uri: Uri, read: (path: string) => Promise<Result>): Promise<Result> {
  try {
    return await read(uri.fsPath);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === MISSING;
    throw isMissing ? new FileSystemError(basename(uri.fsPath), "FileNotFound") : error;
  }
}
