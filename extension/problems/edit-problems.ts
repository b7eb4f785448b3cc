/**
 * What language servers and linters find wrong because of an edit. They tell by events, each in its own time: an edit is
 * watched from just before it is written until nothing more comes.
 */
import * as vscode from "vscode";
import { waitForEvent } from "../../agent-core/platform/waiting.ts";
import type { HermesFileProblems } from "../../agent-core/protocol/problems.ts";
import { DiagnosticTimeouts } from "./diagnostic-timeouts.ts";
import { problemsOf } from "./problems-of.ts";

/** Nothing more has come for so long: it has settled. */
const QUIET_MS = 300;
/** Longer than this no edit waits, whatever still comes. */
const LIMIT_MS = 4_000;
/** Watches that are kept; whose edit failed is never asked about. */
const KEPT = 16;

type Diagnostics = ReadonlyMap<string, readonly vscode.Diagnostic[]>;

type Watch = {
  /** Undefined until the edit is about to be written. */
  before: Diagnostics | undefined;
  /** When that was, and when each file's problems were last told since. Milliseconds. */
  since: number;
  readonly told: Map<string, number>;
};

export class EditProblems implements vscode.Disposable {
  readonly #watches = new Map<string, Watch>();
  readonly #timeouts = new DiagnosticTimeouts();
  readonly #changes = new vscode.EventEmitter<void>();
  readonly #subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => this.#note(uris));

  dispose(): void {
    this.#subscription.dispose();
    this.#changes.dispose();
  }

  /** An edit is going to be made; `id` is the agent's name for it. */
  watch(id: string): void {
    this.#watches.set(id, { before: undefined, since: 0, told: new Map() });
    for (const old of [...this.#watches.keys()].slice(0, -KEPT)) this.#watches.delete(old);
  }

  /** A file is written now. What is wrong at this moment is not the edit's doing. */
  writing(): void {
    for (const watch of this.#watches.values()) {
      if (watch.before !== undefined) continue;
      watch.before = new Map(vscode.languages.getDiagnostics().map(([uri, found]) => [uri.toString(), found]));
      watch.since = Date.now();
    }
  }

  /**
   * What was found before and after an edit of these files: in them, and in others that were told of since. Rejects with
   * the signal's reason when it is aborted. Empty for an edit that was not written.
   */
  async settled(id: string, paths: readonly string[], signal: AbortSignal): Promise<readonly HermesFileProblems[]> {
    const watch = this.#watches.get(id);
    this.#watches.delete(id);
    if (watch?.before === undefined) return [];
    const { before } = watch;
    this.#watches.set(id, watch);
    try {
      const documents = await openAll(paths);
      await this.#settle(watch, documents, signal);
      // Also what a file had that is gone by now: it may have moved.
      const edited = [...paths.map((path) => vscode.Uri.file(path)), ...documents.map(({ uri }) => uri)];
      const uris = new Map(edited.map((uri) => [uri.toString(), uri]));
      for (const told of watch.told.keys()) uris.set(told, vscode.Uri.parse(told));
      return [...uris]
        .filter(([, { scheme }]) => scheme === "file")
        .map(([key, uri]) => ({
          path: uri.fsPath,
          before: problemsOf(before.get(key) ?? []),
          after: problemsOf(vscode.languages.getDiagnostics(uri)),
        }));
    } finally {
      this.#watches.delete(id);
    }
  }

  #note(uris: readonly vscode.Uri[]): void {
    const now = Date.now();
    for (const { before, since, told } of this.#watches.values()) {
      if (before === undefined) continue;
      for (const uri of uris) {
        const key = uri.toString();
        const document = told.has(key) ? undefined : findByUri(key);
        if (document !== undefined) this.#timeouts.recordAnswer(document.languageId, now - since);
        told.set(key, now);
      }
    }
    this.#changes.fire();
  }

  /** Waits for word on each edited file, then until it is quiet. */
  async #settle({ told }: Watch, documents: readonly vscode.TextDocument[], signal: AbortSignal): Promise<void> {
    // The edit has landed by now: to write and save it may have taken its own time.
    const landed = Date.now();
    const end = landed + LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      const now = Date.now();
      const due = documents.map(({ uri, languageId }) => {
        const last = told.get(uri.toString());
        return last === undefined ? landed + this.#timeouts.get(languageId) : last + QUIET_MS;
      });
      const others = [...told.values()].map((last) => last + QUIET_MS);
      const wake = Math.min(end, Math.max(now, ...due, ...others));
      if (wake <= now) break;
      await this.#changeOr(wake - now, signal);
    }
    for (const { uri, languageId } of documents) {
      if (!told.has(uri.toString())) this.#timeouts.recordSilence(languageId);
    }
  }

  /** Resolves with the next event, after so many milliseconds, or when the signal is aborted. */
  #changeOr(limitMs: number, signal: AbortSignal): Promise<boolean> {
    return waitForEvent(limitMs, (done) => {
      signal.addEventListener("abort", done);
      return [this.#changes.event(done), { dispose: () => signal.removeEventListener("abort", done) }];
    });
  }
}

/** Only open documents are looked at by language servers. Files that are gone, or no text, are left out. */
async function openAll(paths: readonly string[]): Promise<readonly vscode.TextDocument[]> {
  const opened = await Promise.allSettled(
    paths.map((path) => vscode.workspace.openTextDocument(vscode.Uri.file(path))),
  );
  return opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

function findByUri(key: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === key);
}
