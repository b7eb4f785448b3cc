/**
 * Problems that language servers and linters find after an edit. They report by events, each at its own pace: an edit is
 * watched from the moment before its write until no more events arrive.
 */
import * as vscode from "vscode";
import { waitForEvent } from "../../agent-core/platform/deadline.ts";
import type { HermesFileProblems, HermesProblem } from "../../agent-core/protocol/editor.ts";

/** Without an event for this time, the problems have settled. */
const IDLE_MS = 300;
/** An edit waits at most this long, even when events still arrive. */
const LIMIT_MS = 4_000;
/** Watches at the same time; the watch of a failed edit is never closed. */
const MAX_WATCHES = 16;

type Diagnostics = ReadonlyMap<string, readonly vscode.Diagnostic[]>;

type Watch = {
  /** Undefined until right before the write. */
  before: Diagnostics | undefined;
  /** Time of `before`. Milliseconds. */
  since: number;
  /** Time of each file's last event since then. Milliseconds. */
  readonly reported: Map<string, number>;
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

  /** Prepares the watch of an edit; `id` is the agent's name for it. */
  watch(id: string): void {
    this.#watches.set(id, { before: undefined, since: 0, reported: new Map() });
    for (const old of [...this.#watches.keys()].slice(0, -MAX_WATCHES)) this.#watches.delete(old);
  }

  /** Records the problems right before a write: the edit did not cause them. */
  writing(): void {
    for (const watch of this.#watches.values()) {
      if (watch.before !== undefined) continue;
      watch.before = new Map(vscode.languages.getDiagnostics().map(([uri, found]) => [uri.toString(), found]));
      watch.since = Date.now();
    }
  }

  /**
   * Problems before and after an edit of these files, in them and in other files with events since. Rejects with the
   * signal's reason when it is aborted. Empty for an edit that was not written.
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
      // Includes files that no longer exist: they may have moved.
      const edited = [...paths.map((path) => vscode.Uri.file(path)), ...documents.map(({ uri }) => uri)];
      const uris = new Map(edited.map((uri) => [uri.toString(), uri]));
      for (const uri of watch.reported.keys()) uris.set(uri, vscode.Uri.parse(uri));
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
    for (const { before, since, reported } of this.#watches.values()) {
      if (before === undefined) continue;
      for (const uri of uris) {
        const key = uri.toString();
        const document = reported.has(key)
          ? undefined
          : vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === key);
        if (document !== undefined) this.#timeouts.recordAnswer(document.languageId, now - since);
        reported.set(key, now);
      }
    }
    this.#changes.fire();
  }

  /** Waits for an event of each edited file, then until no more events arrive. */
  async #settle({ reported }: Watch, documents: readonly vscode.TextDocument[], signal: AbortSignal): Promise<void> {
    // Writing and saving took time, so the timeouts start after the edit.
    const applied = Date.now();
    const end = applied + LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      const now = Date.now();
      const due = documents.map(({ uri, languageId }) => {
        const last = reported.get(uri.toString());
        return last === undefined ? applied + this.#timeouts.get(languageId) : last + IDLE_MS;
      });
      const others = [...reported.values()].map((last) => last + IDLE_MS);
      const wake = Math.min(end, Math.max(now, ...due, ...others));
      if (wake <= now) break;
      await this.#changeOr(wake - now, signal);
    }
    for (const { uri, languageId } of documents) {
      if (!reported.has(uri.toString())) this.#timeouts.recordSilence(languageId);
    }
  }

  /** Resolves with the next event, after `limitMs`, or when the signal is aborted. */
  #changeOr(limitMs: number, signal: AbortSignal): Promise<boolean> {
    return waitForEvent(limitMs, (done) => {
      signal.addEventListener("abort", done);
      return [this.#changes.event(done), { dispose: () => signal.removeEventListener("abort", done) }];
    });
  }
}

/** Language servers check open documents only. Files that no longer exist or are not text are left out. */
async function openAll(paths: readonly string[]): Promise<readonly vscode.TextDocument[]> {
  const opened = await Promise.allSettled(
    paths.map((path) => vscode.workspace.openTextDocument(vscode.Uri.file(path))),
  );
  return opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/** Errors and warnings of VS Code in the agent's form; hints are left out. */
function problemsOf(diagnostics: readonly vscode.Diagnostic[]): HermesProblem[] {
  return diagnostics.flatMap(({ severity, range: { start }, message, source, code }) => {
    if (severity > vscode.DiagnosticSeverity.Warning) return [];
    const name = typeof code === "object" ? code.value : code;
    return {
      line: start.line + 1,
      column: start.character + 1,
      severity: severity === vscode.DiagnosticSeverity.Warning ? "warning" : "error",
      message,
      ...(source !== undefined && { source }),
      ...(name !== undefined && { code: String(name) }),
    };
  });
}

/** For a language without earlier answers. Milliseconds. */
const UNKNOWN_MS = 1_000;
/** Limits for a language that answers: the next edit may take longer. */
const LEAST_MS = 400;
const MOST_MS = 2_500;
/** For a language that has never answered. */
const SILENT_MS = 150;
/** Later diagnostics do not concern the edit. */
const LATE_MS = 10_000;
/** Factor over the slowest answer so far. */
const MARGIN = 2;

export class DiagnosticTimeouts {
  /** Slowest answer by language; null for a language that never answered. */
  readonly #slowest = new Map<string, number | null>();

  /** Timeout in milliseconds after the edit. */
  get(language: string): number {
    const slowest = this.#slowest.get(language);
    if (slowest === undefined) return UNKNOWN_MS;
    return slowest === null ? SILENT_MS : Math.min(MOST_MS, Math.max(LEAST_MS, slowest * MARGIN));
  }

  /** Records the time from an edit to the first diagnostics. Milliseconds. */
  recordAnswer(language: string, delay: number): void {
    if (delay > LATE_MS) return;
    this.#slowest.set(language, Math.max(delay, this.#slowest.get(language) ?? 0));
  }

  /** Records that no diagnostics came in time. A language that has answered before had no news. */
  recordSilence(language: string): void {
    if (!this.#slowest.has(language)) this.#slowest.set(language, null);
  }
}
