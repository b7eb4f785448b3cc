/** Repositories of VS Code's git extension, and the changes that the next commit takes. */
import * as vscode from "vscode";
import { Deadline } from "../../agent-core/platform/deadline.ts";

/** `status`: a number of the API's `Status`. */
type Change = { readonly uri: vscode.Uri; readonly status: number };

/** `Status.UNTRACKED` of the API. */
const UNTRACKED = 7;

/** The part of the git extension's API that Hermes uses. */
export type GitRepository = {
  readonly rootUri: vscode.Uri;
  readonly inputBox: { value: string };
  readonly state: {
    readonly HEAD: { readonly name?: string } | undefined;
    /** With the new files, unless `git.untrackedChanges` is `separate`. */
    readonly workingTreeChanges: readonly Change[];
    readonly indexChanges: readonly Change[];
    /** Missing in older versions. */
    readonly untrackedChanges?: readonly Change[];
  };
  status(): Promise<void>;
  /** `cached`: the staged changes. */
  diff(cached: boolean): Promise<string>;
  getBranches(query: { readonly remote: boolean }): Promise<readonly { readonly name?: string }[]>;
  log(options: { readonly maxEntries: number }): Promise<readonly { readonly message: string }[]>;
};

type GitApi = {
  readonly state: "uninitialized" | "initialized";
  readonly onDidChangeState: vscode.Event<unknown>;
  readonly repositories: readonly GitRepository[];
  getRepository(uri: vscode.Uri): GitRepository | null;
};

type GitExtension = { readonly enabled: boolean; getAPI(version: 1): GitApi };

/** Undefined while VS Code's git extension is disabled. */
export async function gitApi(): Promise<GitApi | undefined> {
  const git = await vscode.extensions.getExtension<GitExtension>("vscode.git")?.activate();
  return git?.enabled === true ? git.getAPI(1) : undefined;
}

/**
 * The repository of a Source Control view, else that of the active file, else the only one, else the user's choice.
 * Undefined when the user chose none. Rejects with an Error in one line when there is no repository.
 */
export async function chooseRepository(view: unknown): Promise<GitRepository | undefined> {
  const api = await gitApi();
  if (api === undefined)
    throw new Error(vscode.l10n.t("VS Code's Git extension is disabled. Enable it and the setting git.enabled."));
  const { repositories } = api;
  const place = rootOf(view) ?? vscode.window.activeTextEditor?.document.uri;
  const here = place && api.getRepository(place);
  if (here) return here;
  if (repositories.length === 0)
    throw new Error(vscode.l10n.t("No git repository is open. Open a folder that has one."));
  if (repositories.length === 1) return repositories[0];
  const items = repositories.map((repository) => ({
    label: vscode.workspace.asRelativePath(repository.rootUri, true),
    repository,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t("Repository of the commit") }))
    ?.repository;
}

function rootOf(view: unknown): vscode.Uri | undefined {
  if (typeof view !== "object" || view === null || !("rootUri" in view)) return undefined;
  return view.rootUri instanceof vscode.Uri ? view.rootUri : undefined;
}

/** All open repositories; none while VS Code's git extension is disabled. */
export async function openRepositories(): Promise<readonly GitRepository[]> {
  return (await gitApi())?.repositories ?? [];
}

/** Staged and other changes, and new files, of all repositories. Rejects with an Error in one line if there are none. */
export async function changesSinceCommit(): Promise<string> {
  const repositories = await openRepositories();
  if (repositories.length === 0) throw new Error(vscode.l10n.t("no git repository is open"));
  const diffs = repositories.flatMap((repository) => [repository.diff(true), otherChanges(repository)]);
  return (await Promise.all(diffs)).join("");
}

/** Diff of the staged changes; when nothing is staged, of all changes and new files. Empty when there are none. */
export async function commitDiff(repository: GitRepository): Promise<string> {
  const staged = await repository.diff(true);
  if (staged !== "") return staged;
  await new Deadline(STATUS_MS).waitFor(repository.status());
  return otherChanges(repository);
}

/** Time for a fresh status, which only new files need; afterwards the last known one counts. Milliseconds. */
const STATUS_MS = 3_000;

/** Diff of the changes that are not staged, and new files. */
async function otherChanges(repository: GitRepository): Promise<string> {
  const { workingTreeChanges, untrackedChanges = [] } = repository.state;
  const files = [...workingTreeChanges.filter(({ status }) => status === UNTRACKED), ...untrackedChanges];
  const more = files.length - MAX_NEW_FILES;
  const [changes, ...added] = await Promise.all([
    repository.diff(false),
    ...files.slice(0, MAX_NEW_FILES).map(({ uri }) => newFileDiff(repository, uri)),
  ]);
  return [changes, ...added, ...(more > 0 ? [`[${more} more new files]\n`] : [])].join("");
}

/** Limits for new files, which `git diff` leaves out. */
const MAX_NEW_FILES = 200;
const MAX_NEW_FILE_BYTES = 100_000;

async function newFileDiff({ rootUri }: GitRepository, uri: vscode.Uri): Promise<string> {
  const path = uri.path.slice(rootUri.path.length + 1);
  const header = `diff --git a/${path} b/${path}\nnew file\n`;
  try {
    const { size, type } = await vscode.workspace.fs.stat(uri);
    // A link may lead out of the repository, and git itself stores only its target.
    if ((type & vscode.FileType.SymbolicLink) !== 0) return `${header}[symbolic link]\n`;
    if (size > MAX_NEW_FILE_BYTES) return `${header}[${size} bytes]\n`;
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    return text.includes("\0") ? `${header}[binary file]\n` : `${header}${text.replace(/^/gm, "+")}\n`;
  } catch {
    return header; // the file is gone, or a folder with a repository of its own
  }
}
