/** Skills that do not load, in the Problems view, each at its file. */
import * as vscode from "vscode";
import type { HermesExtensionsChanged } from "../../agent-core/protocol/extensions.ts";

export class SkillProblems implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection("Hermes skills");
  readonly #subscription: vscode.Disposable;
  /** An open session has reported its skills. */
  #isKnown: boolean = false;

  /** `reread`: asks the agent for the skills again, which leads to another `show`. */
  constructor(reread: () => void) {
    this.#subscription = vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (this.#isKnown && uri.path.endsWith("/SKILL.md")) reread();
    });
  }

  /** Replaces the problems: all sessions of a window read the same folders. */
  show({ items }: HermesExtensionsChanged): void {
    this.#isKnown = true;
    this.#collection.clear();
    for (const { kind, state, path, error } of items) {
      if (kind !== "skill" || state !== "failed" || path === undefined || error === undefined) continue;
      const message = vscode.l10n.t("The skill does not load: {0}", error);
      const start = new vscode.Range(0, 0, 0, 1);
      const problem = new vscode.Diagnostic(start, message, vscode.DiagnosticSeverity.Warning);
      problem.source = "Hermes";
      this.#collection.set(vscode.Uri.file(path), [problem]);
    }
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#collection.dispose();
  }
}
