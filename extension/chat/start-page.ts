/** Contents of the page before the first message: the last sessions, and suggestions made from the workspace. */
import { join } from "node:path";
import * as vscode from "vscode";
import type { StartPage as StartPageContents, Suggestion } from "../../agent-core/protocol/panel-events.ts";
import { reviewPrompt } from "../commands/action-prompts.ts";
import { type GitRepository, openRepositories } from "../commands/git-repository.ts";
import { readText } from "../documents/read-text.ts";
import { beginFirstRun } from "../models/first-run.ts";
import type { Services } from "../services.ts";

const RECENT_SESSIONS = 3;
const MAX_SUGGESTIONS = 3;

/** Time within which changes are shown together: language servers report problems file by file. Milliseconds. */
const SETTLE_MS = 1_000;

/** Files that show how a project runs its tests. package.json counts only with a script for them. */
const TEST_FILES = ["Cargo.toml", "go.mod", "pyproject.toml", "pytest.ini", "tox.ini"];

/** Value of the script `test` that `npm init` writes. */
const NO_TESTS = /no test specified/;

type Parts = Pick<Services, "history" | "panels" | "worker" | "lastModel" | "keys">;

export class StartPage implements vscode.Disposable {
  readonly #parts: Parts;
  readonly #subscription: vscode.Disposable;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#subscription = vscode.Disposable.from(
      vscode.languages.onDidChangeDiagnostics(() => this.#schedule()),
      parts.panels.onDidChangeSight(() => this.#schedule()),
    );
  }

  /** A session has begun. Without a model the panel shows the page that sets one up, never an example before it. */
  async begin(): Promise<void> {
    await beginFirstRun(this.#parts);
    const sessions = await this.#parts.history.recent();
    const recent = sessions.filter(({ isCurrent, messages }) => !isCurrent && messages !== 0);
    this.#show({ recent: recent.slice(0, RECENT_SESSIONS), ...(await workspaceContents()) });
  }

  dispose(): void {
    this.#subscription.dispose();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#parts.panels.facts.start === null || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#refresh();
    }, SETTLE_MS);
  }

  async #refresh(): Promise<void> {
    const fresh = await workspaceContents();
    const { start } = this.#parts.panels.facts;
    if (start !== null) this.#show({ ...start, ...fresh });
  }

  #show(start: StartPageContents): void {
    if (JSON.stringify(start) !== JSON.stringify(this.#parts.panels.facts.start))
      this.#parts.panels.setFacts({ start });
  }
}

async function workspaceContents(): Promise<Omit<StartPageContents, "recent">> {
  const repositories = await openRepositories().catch(() => []); // the page has other contents
  return { hasRepository: repositories.length > 0, suggestions: await suggestions(repositories) };
}

async function suggestions(repositories: readonly GitRepository[]): Promise<readonly Suggestion[]> {
  const tests = await hasTests();
  const changes = repositories.reduce((sum, { state }) => sum + changedFiles(state), 0);
  const problems = problemFiles();
  const errors = problems.reduce((sum, { count }) => sum + count, 0);
  const made: Suggestion[] = [
    ...(changes > 0 ? [reviewOf(changes)] : []),
    ...(errors > 0 ? [fixOf(errors, problems)] : []),
    ...(tests ? [RUN_TESTS] : []),
    EXPLAIN,
  ];
  return made.slice(0, MAX_SUGGESTIONS);
}

function reviewOf(changes: number): Suggestion {
  return {
    icon: "git-compare",
    label: vscode.l10n.t("Review my changes"),
    detail:
      changes === 1
        ? vscode.l10n.t("1 changed file")
        : vscode.l10n.t("{0} changed files", changes.toLocaleString(vscode.env.language)),
    prompt: reviewPrompt,
    attachments: [{ kind: "changes", label: vscode.l10n.t("Changes") }],
  };
}

function fixOf(errors: number, files: readonly ProblemFile[]): Suggestion {
  return {
    icon: "error",
    label: errors === 1 ? vscode.l10n.t("Fix the problem") : vscode.l10n.t("Fix the {0} problems", errors),
    detail: files.length === 1 ? (files[0]?.label ?? "") : vscode.l10n.t("in {0} files", files.length),
    prompt: vscode.l10n.t("Fix the attached problems. Find the cause of each, and change no more than it needs."),
    attachments: [{ kind: "problems", label: vscode.l10n.t("Problems") }],
  };
}

const RUN_TESTS: Suggestion = {
  icon: "beaker",
  label: vscode.l10n.t("Run the tests and fix what fails"),
  detail: "",
  prompt: vscode.l10n.t("Run the tests of this project. If some fail, find the cause, fix it and run them again."),
};

const EXPLAIN: Suggestion = {
  icon: "book",
  label: vscode.l10n.t("Explain this project"),
  detail: "",
  prompt: vscode.l10n.t(
    "Explain this project: its purpose, its parts and how they work together, and where I should start reading.",
  ),
};

function changedFiles({ workingTreeChanges, indexChanges, untrackedChanges = [] }: GitRepository["state"]): number {
  return workingTreeChanges.length + indexChanges.length + untrackedChanges.length;
}

type ProblemFile = { readonly label: string; readonly count: number };

/** Files of the workspace with errors. */
function problemFiles(): readonly ProblemFile[] {
  return vscode.languages.getDiagnostics().flatMap(([uri, diagnostics]) => {
    const count = diagnostics.filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error).length;
    const isOurs = count > 0 && vscode.workspace.getWorkspaceFolder(uri) !== undefined;
    return isOurs ? [{ label: vscode.workspace.asRelativePath(uri), count }] : [];
  });
}

async function hasTests(): Promise<boolean> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) return false;
  const textOf = (name: string): Promise<string | null> => readText(join(folder.uri.fsPath, name)).catch(() => null);
  const [manifest, ...others] = await Promise.all(["package.json", ...TEST_FILES].map(textOf));
  const script = /"test"\s*:\s*"([^"]+)"/.exec(manifest ?? "")?.[1];
  return (script !== undefined && !NO_TESTS.test(script)) || others.some((text) => text !== null);
}
