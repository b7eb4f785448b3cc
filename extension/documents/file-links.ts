/** Links to files in answers: their form, the file behind them, and the place in it. */
import { basename, isAbsolute, join, normalize, sep } from "node:path";
import * as vscode from "vscode";
import { pathBelow, resolvePath } from "../../agent-core/platform/paths.ts";
import { showWarning } from "../notifications.ts";

export type FileLink = {
  readonly path: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
};

/** `src/a.ts`, `src/a.ts:12`, `src/a.ts:12:5`, `src/a.ts:12-20`, `src/a.ts#L12` or `src/a.ts#L12-L20`. */
const PLACE = /^(.+?)(?:#L?(\d+)(?:C(\d+))?(?:-L?\d+(?:C\d+)?)?|:(\d+)(?::(\d+))?(?:-\d+(?::\d+)?)?)?$/;

/** Undefined for an address of another kind. */
export function parseFileLink(href: string): FileLink | undefined {
  const [, path, hashLine, hashColumn, line = hashLine, column = hashColumn] = PLACE.exec(href) ?? [];
  if (path === undefined || /^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  return {
    path,
    ...(line !== undefined && { line: Math.max(1, Number(line)) }),
    ...(column !== undefined && { column: Math.max(1, Number(column)) }),
  };
}

/** Paths that a link may mean, best first: below each folder, then below the folder that its first part names. */
export function candidatesOf(path: string, folders: readonly string[]): readonly string[] {
  if (isAbsolute(path)) return [normalize(path)];
  const [root, ...inner] = normalize(path).split(sep);
  return [
    ...folders.map((folder) => join(folder, path)),
    ...folders.filter((folder) => basename(folder) === root).map((folder) => join(folder, ...inner)),
  ];
}

/** Those of the links that lead to a file. `own`: see `findLinkedFile`. */
export async function existingLinks(hrefs: readonly string[], own?: string): Promise<readonly string[]> {
  const found = await Promise.all(hrefs.map(async (href) => (await findLinkedFile(href, own)).kind === "file"));
  return hrefs.filter((_, index) => found[index]);
}

type Target =
  | { readonly kind: "file"; readonly uri: vscode.Uri; readonly link: FileLink }
  | { readonly kind: "missing"; readonly uri: vscode.Uri; readonly path: string }
  | { readonly kind: "outside"; readonly path: string }
  | { readonly kind: "none" };

/** File of the workspace, or of a session's `own` folder, that a link leads to. `missing`: `uri` is its place. */
export async function findLinkedFile(href: string, own?: string): Promise<Target> {
  const link = parseFileLink(href);
  if (link === undefined) return { kind: "none" };
  const inside = candidatesOf(link.path, rootsOf(own))
    .map((path) => vscode.Uri.file(path))
    .filter((uri) => folderOf(uri, own) !== undefined);
  for (const uri of inside) {
    const stat = await vscode.workspace.fs.stat(uri).then(undefined, () => undefined); // nothing is there
    // A link to a file has both types.
    if (((stat?.type ?? 0) & vscode.FileType.File) !== 0) return { kind: "file", uri, link };
  }
  const [uri] = inside;
  return uri === undefined ? { kind: "outside", path: link.path } : { kind: "missing", uri, path: link.path };
}

function rootsOf(own: string | undefined): readonly string[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  return own === undefined ? folders : [own, ...folders];
}

/** A session's `own` folder, or the one of the workspace, that a file is in. Follows no link. */
export function folderOf(uri: vscode.Uri, own: string | undefined): string | undefined {
  const isOwn = own !== undefined && pathBelow(own, uri.fsPath) !== undefined;
  return isOwn ? own : vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
}

/** Real path of a file, links followed; `below`: its path in `own` or a workspace folder, undefined outside of all. */
export function realPlace({ fsPath }: vscode.Uri, own?: string) {
  const path = resolvePath(fsPath);
  const below = rootsOf(own).map((root) => pathBelow(resolvePath(root), path));
  return { path, below: below.find((each) => each !== undefined) };
}

/** Shows a file as a preview, in VS Code's editor for its kind, which names a failure itself. Default: the first line. */
export async function showFile(uri: vscode.Uri, { line = 1, column = 1 }: Omit<FileLink, "path">): Promise<void> {
  const start = new vscode.Position(line - 1, column - 1);
  await vscode.commands.executeCommand("vscode.open", uri, {
    preview: true,
    selection: new vscode.Range(start, start),
  });
}

/** Opens the file of a link, or says why it does not. */
export async function openFileLink(href: string, own?: string): Promise<void> {
  const target = await findLinkedFile(href, own);
  switch (target.kind) {
    case "file":
      await showFile(target.uri, target.link);
      break;
    case "outside":
      await showWarning(
        vscode.l10n.t("Hermes: {0} is outside this workspace, so the link does not open it.", target.path),
      );
      break;
    case "missing":
      await showWarning(vscode.l10n.t("Hermes: there is no file {0} in this workspace.", target.path));
      break;
    case "none":
      break;
  }
}
