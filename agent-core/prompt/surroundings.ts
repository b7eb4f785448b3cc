/**
 * Text about the workspace at the start of a session: git, the top-level layout, the shell and the files in the editor.
 * Nothing of it is read before the user trusts the workspace.
 */
import { join } from "node:path";
import { branchIn, headOf, repositoryOf } from "../host/git-layout.ts";
import type { Host } from "../host/host.ts";
import { changedFiles } from "../host/read-git.ts";
import { Deadline } from "../platform/deadline.ts";
import { pathBelow } from "../platform/paths.ts";
import { visibleText } from "../platform/visible-text.ts";
import { findThreat } from "./injection-scan.ts";

/** Longest wait of the first prompt. Milliseconds. */
const WAIT_MS = 30;
/** Older facts are gathered again for the prompt. Milliseconds. */
const FRESH_MS = 60_000;
/** Lengths of the lines; with the heading at most 600 bytes, so that the prompt stays small. */
const BYTES = { git: 215, layout: 160, editor: 140, name: 60 } as const;

/** Names of the top level that are looked up, so that folders come first. */
const MAX_NAMES = 100;

type Files = Pick<Host["files"], "list" | "stat">;

/** Files that the user has open, as absolute paths. */
export type EditorFiles = { readonly active: string | undefined; readonly open: readonly string[] };

export type SurroundingsOptions = {
  /** Working folder, absolute. */
  readonly cwd: string;
  readonly files: Files;
  /** Path of the shell. */
  readonly shell: string;
  readonly trusted: () => boolean;
  /** Undefined without an editor. */
  readonly editorFiles: (() => Promise<EditorFiles>) | undefined;
};

type Facts = { branch?: string; changes?: string; layout?: string; editor?: string };

export class Surroundings {
  readonly #options: SurroundingsOptions;
  readonly #facts: Facts = {};
  #gathering: Promise<unknown> = Promise.resolve();
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(options: SurroundingsOptions) {
    this.#options = options;
  }

  /** Gathers the facts in the background, while the user types. */
  begin(): void {
    const { cwd, files, trusted } = this.#options;
    if (!trusted() || performance.now() - this.#begunAt < FRESH_MS) return;
    this.#begunAt = performance.now();
    const root = repositoryOf(cwd);
    const branch = this.#gather("branch", root === undefined ? undefined : Promise.resolve(branchText(root)));
    const known = Promise.all([branch, this.#gather("layout", layoutText(cwd, files))]);
    // Starting a process blocks this one for some milliseconds, so it comes last.
    this.#gathering = known.then(() => this.#gather("changes", root === undefined ? undefined : changesText(root)));
  }

  /** Text for the prompt; waits at most 30 ms, and leaves out what takes longer. Never rejects. */
  async text(): Promise<string | undefined> {
    const { cwd, trusted, editorFiles, shell } = this.#options;
    if (!trusted()) return undefined;
    this.begin();
    const asked = editorFiles?.().then((files) => editorLine(files, cwd));
    await new Deadline(WAIT_MS).waitFor(Promise.all([this.#gathering, this.#gather("editor", asked)]));
    const { branch, changes, layout, editor } = this.#facts;
    const git = branch && `Git branch: ${[branch, changes].filter(Boolean).join("; ")}`;
    const lines = [git, layout, `Shell: ${shell.slice(-BYTES.name)}`, editor].filter(Boolean);
    const text = ["At the start of this session:", ...lines].join("\n");
    return findThreat(text) === undefined ? text : undefined; // names of files are data of the workspace
  }

  async #gather(fact: keyof Facts, value: Promise<string | undefined> | undefined): Promise<void> {
    const found = await value?.catch(() => undefined);
    if (found !== undefined) this.#facts[fact] = found;
  }
}

function branchText(root: string): string | undefined {
  const branch = branchIn(root);
  return branch === undefined ? headOf(root)?.replace(/^(.{8}).*/s, "none, at $1") : shownName(branch);
}

async function changesText(root: string): Promise<string | undefined> {
  const changes = await changedFiles(root);
  if (changes === undefined) return undefined;
  if (changes.length === 0) return "no changes";
  const names = changes.map(({ status, path }) => `${status} ${shownName(path)}`);
  return listed("changed files: ", names, BYTES.git - BYTES.name);
}

async function layoutText(cwd: string, files: Files): Promise<string> {
  const names = (await files.list(cwd)).filter((name) => !name.startsWith(".")).sort();
  const first = await Promise.all(
    names.slice(0, MAX_NAMES).map(async (name) => {
      const isFolder = (await files.stat(join(cwd, name)))?.kind === "directory";
      return shownName(name) + (isFolder ? "/" : "");
    }),
  );
  if (names.length === 0) return "Top level: empty";
  const folders = first.filter((name) => name.endsWith("/"));
  const others = first.filter((name) => !name.endsWith("/"));
  return listed("Top level: ", [...folders, ...others, ...names.slice(MAX_NAMES)], BYTES.layout);
}

/** Only files of the workspace. */
function editorLine({ active, open }: EditorFiles, cwd: string): string | undefined {
  const inside = (path: string): readonly string[] => {
    const name = pathBelow(cwd, path);
    return name === undefined || name === "" ? [] : [shownName(name)];
  };
  const [first] = active === undefined ? [] : inside(active);
  const others = open.flatMap(inside).filter((name) => name !== first);
  const names = [...(first === undefined ? [] : [`${first} (active)`]), ...new Set(others)];
  return names.length === 0 ? undefined : listed("Open in the editor: ", names, BYTES.editor);
}

/** A name in one line; the end of a long path says most. */
function shownName(name: string): string {
  const visible = visibleText(name).replaceAll(/\s+/g, " ").trim();
  return visible.length <= BYTES.name ? visible : `…${visible.slice(1 - BYTES.name)}`;
}

/** As many names as fit into `bytes`, and the number of the others. */
function listed(start: string, names: readonly string[], bytes: number): string {
  const more = (count: number): string => (count === 0 ? "" : `, … and ${count} more`);
  let count = names.length;
  const text = (): string => start + names.slice(0, count).join(", ") + more(names.length - count);
  while (count > 1 && Buffer.byteLength(text()) > bytes) count -= 1;
  return text();
}
