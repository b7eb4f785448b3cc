/** The search after `@`: files, symbols, editors, problems, terminals, changes and sessions in one ranked list. */
import * as vscode from "vscode";
import { distinctNames } from "../../agent-core/platform/names.ts";
import type { Attachment, MentionItem } from "../../agent-core/protocol/attachments.ts";
import type { HistoryItem } from "../../agent-core/protocol/panel-events.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ChatPanel, Panels } from "../chat/panels.ts";
import type { SessionHistory } from "../chat/session-history.ts";
import { textTabs } from "../documents/read-text.ts";
import { bestMentions, type FileMatch, matchItems, type ScoredMention } from "./rank-mentions.ts";
import type { TerminalOutputs } from "./terminal-outputs.ts";
import { nameOf, WorkspaceFiles } from "./workspace-files.ts";

/** Limit of entries of one source before anything is typed. */
const SHOWN_FIRST = 5;
/** Limit of remembered files that the user opened last. */
const MAX_RECENT = 100;
/** Shortest query for symbols: nearly every symbol matches a shorter one. Characters. */
const LEAST_SYMBOL_QUERY = 2;
/** Shortest query for texts of sessions: a shorter one is in nearly every session. Characters. */
const LEAST_TEXT_QUERY = 3;

/** Factors of the scores, by source. */
const WEIGHTS = { place: 1.1, symbol: 0.9, session: 0.85 } as const;
/** Score of a session with the text in a message: below every match of a title. */
const TEXT_SCORE = 0.25;

type Parts = { readonly panels: Panels; readonly worker: AgentWorker; readonly history: SessionHistory };

export class MentionSearch implements vscode.Disposable {
  readonly #parts: Parts;
  readonly #terminals: TerminalOutputs;
  readonly #workspaceFiles = new WorkspaceFiles();
  /** The latest search of each panel; a new one aborts it. */
  readonly #running = new Map<ChatPanel, AbortController>();
  #recent: readonly string[] = [];
  readonly #subscription: vscode.Disposable;

  constructor(parts: Parts, terminals: TerminalOutputs) {
    this.#parts = parts;
    this.#terminals = terminals;
    const remember = (editor: vscode.TextEditor | undefined): void => {
      if (editor === undefined) return;
      const uri = editor.document.uri.toString();
      this.#recent = [uri, ...this.#recent.filter((other) => other !== uri)].slice(0, MAX_RECENT);
    };
    remember(vscode.window.activeTextEditor);
    this.#subscription = vscode.window.onDidChangeActiveTextEditor(remember);
  }

  /** Posts what is known at once, the files when they are indexed (complete), and the rest as its sources answer. */
  async search(panel: ChatPanel, id: number, query: string): Promise<void> {
    this.#running.get(panel)?.abort();
    const running = new AbortController();
    this.#running.set(panel, running);
    const { signal } = running;
    const [, file, symbol] = /^([^#]*)#(.*)$/s.exec(query.trim()) ?? [];
    const found =
      symbol === undefined ? this.#everything(query.trim(), signal) : this.#symbolsIn(file ?? "", symbol, signal);
    try {
      for await (const { items, isComplete } of found)
        if (!signal.aborted) panel.post({ type: "mentions", id, items, isComplete });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      if (this.#running.get(panel) === running) this.#running.delete(panel);
    }
  }

  dispose(): void {
    for (const running of this.#running.values()) running.abort();
    this.#subscription.dispose();
    this.#workspaceFiles.dispose();
  }

  async *#everything(query: string, signal: AbortSignal) {
    const sessions = this.#sessions();
    if (query === "") {
      const first = [...this.#suggested(), ...this.#editors().slice(0, SHOWN_FIRST), ...this.#places()];
      yield { items: first, isComplete: false };
      yield { items: [...first, ...(await sessions).slice(0, SHOWN_FIRST)], isComplete: true };
      return;
    }
    const files = this.#workspaceFiles;
    const texts = query.length < LEAST_TEXT_QUERY ? Promise.resolve([]) : this.#sessionsWith(query);
    const symbols = query.length < LEAST_SYMBOL_QUERY ? Promise.resolve([]) : workspaceSymbols(query);
    const refreshed = files.refresh();
    const suggested = this.#suggested();
    const places = [
      ...selectionItems(query, suggested),
      ...matchItems(query, [...suggested, ...this.#editors(), ...this.#places()], WEIGHTS.place),
    ];
    const inFiles = async () => distinct([...places, ...(await this.#files(query, signal))]);
    if (files.index.size > 0) yield { items: bestMentions(await inFiles()), isComplete: false };
    await refreshed;
    const matches = await inFiles();
    yield { items: bestMentions(matches), isComplete: true };
    const [symbolItems, titles, said] = await Promise.all([symbols, sessions, texts]);
    const items = bestMentions(
      matches,
      matchItems(query, symbolItems, WEIGHTS.symbol),
      distinct([...matchItems(query, titles, WEIGHTS.session), ...said]),
    );
    yield { items, isComplete: true };
  }

  async #files(query: string, signal: AbortSignal): Promise<readonly ScoredMention[]> {
    const { index, placeOf } = this.#workspaceFiles;
    const recent = new Set(
      this.#recent.flatMap((uri) => {
        const place = placeOf(vscode.Uri.parse(uri));
        return place === undefined ? [] : [`${place.root}:${place.path}`];
      }),
    );
    const found = await index.search(query, ({ root, path }) => recent.has(`${root}:${path}`), signal);
    return found.flatMap((match) => fileItem(match));
  }

  /** Symbols of a file, by the start of its name; without a name, of the active file and the workspace. */
  async *#symbolsIn(file: string, query: string, signal: AbortSignal) {
    const files = this.#workspaceFiles;
    const active = vscode.window.activeTextEditor?.document.uri;
    if (file !== "") await files.refresh();
    const match =
      file === "" ? undefined : (await this.#files(file, signal)).find(({ item }) => item.attachment.kind === "file");
    const attachment = match?.item.attachment;
    const uri = attachment?.kind === "file" ? vscode.Uri.parse(attachment.uri) : active;
    const own = uri === undefined ? [] : await documentSymbols(uri);
    const others = file === "" && query.length >= LEAST_SYMBOL_QUERY ? workspaceSymbols(query) : Promise.resolve([]);
    const inFile = query === "" ? own.map((item) => ({ item, score: 1 })) : matchItems(query, own, WEIGHTS.place);
    yield { items: bestMentions(inFile), isComplete: false };
    yield {
      items: bestMentions(distinct([...inFile, ...matchItems(query, await others, WEIGHTS.symbol)])),
      isComplete: true,
    };
  }

  #suggested(): readonly MentionItem[] {
    return this.#parts.panels.facts.suggested.map((attachment) => ({
      attachment,
      detail: attachment.kind === "lines" ? vscode.l10n.t("Selection") : vscode.l10n.t("Current File"),
      marks: [],
    }));
  }

  /** Files in tabs, used last first. */
  #editors(): readonly MentionItem[] {
    const uris = textTabs().flatMap(({ uri }) => (uri.scheme === "file" ? [uri] : []));
    const age = (uri: vscode.Uri): number => {
      const index = this.#recent.indexOf(uri.toString());
      return index < 0 ? MAX_RECENT : index;
    };
    const known = new Map(uris.map((uri) => [uri.toString(), uri]));
    const suggested = new Set(
      this.#parts.panels.facts.suggested.flatMap((attachment) => ("uri" in attachment ? [attachment.uri] : [])),
    );
    return [...known.values()]
      .filter((uri) => !suggested.has(uri.toString()))
      .sort((one, other) => age(one) - age(other))
      .map((uri) =>
        placeItem({ kind: "file", uri: uri.toString(), label: nameOf(uri) }, vscode.workspace.asRelativePath(uri)),
      );
  }

  /** Problems, terminals and changes. */
  #places(): readonly MentionItem[] {
    const problems = vscode.languages.getDiagnostics().reduce((sum, [, list]) => sum + list.length, 0);
    const editor = vscode.window.activeTextEditor?.document.uri;
    const ofFile = editor === undefined ? 0 : vscode.languages.getDiagnostics(editor).length;
    const places: [Attachment, string][] = [];
    if (problems > 0) {
      const detail = vscode.l10n.t("{0} in the workspace", problems);
      places.push([{ kind: "problems", label: vscode.l10n.t("Problems") }, detail]);
    }
    if (editor !== undefined && ofFile > 0) {
      const label = vscode.l10n.t("Problems in {0}", nameOf(editor));
      places.push([{ kind: "problems", label, uri: editor.toString() }, String(ofFile)]);
    }
    for (const name of this.#terminals.names) {
      const label = vscode.l10n.t("Terminal: {0}", name);
      places.push([{ kind: "terminal", label, name }, vscode.l10n.t("Output of the last command")]);
    }
    places.push([{ kind: "changes", label: vscode.l10n.t("Git changes") }, vscode.l10n.t("Since the last commit")]);
    return places.map(([attachment, detail]) => placeItem(attachment, detail));
  }

  async #sessionsWith(text: string): Promise<readonly ScoredMention[]> {
    const items = await this.#otherSessions(
      (history) => history.withText(text),
      ({ snippet }) => snippet?.text ?? "",
    );
    return items.map((item) => ({ item, score: TEXT_SCORE }));
  }

  #sessions(): Promise<readonly MentionItem[]> {
    const dateOf = ({ updatedAt }: HistoryItem) => new Date(updatedAt).toLocaleDateString(vscode.env.language);
    return this.#otherSessions((history) => history.recent(), dateOf);
  }

  /** Those that the panel does not show; none where the agent fails. A search does not start the agent. */
  async #otherSessions(
    find: (history: Parts["history"]) => Promise<readonly HistoryItem[]>,
    detailOf: (item: HistoryItem) => string,
  ): Promise<readonly MentionItem[]> {
    const { worker, history } = this.#parts;
    const found = worker.isStarted ? await find(history).catch(() => []) : [];
    return found
      .filter(({ isCurrent }) => !isCurrent)
      .map((one) => placeItem({ kind: "session", sessionId: one.sessionId, label: one.title }, detailOf(one)));
  }
}

/** The selected lines for a query such as `selection`: their label is the name of their file. */
function selectionItems(query: string, suggested: readonly MentionItem[]): readonly ScoredMention[] {
  const isNamed = query.length >= LEAST_TEXT_QUERY && "selection".startsWith(query.toLowerCase());
  const lines = isNamed ? suggested.filter(({ attachment }) => attachment.kind === "lines") : [];
  return lines.map((item) => ({ item, score: WEIGHTS.place }));
}

function fileItem({ root, path, isFolder, score, marks }: FileMatch): readonly ScoredMention[] {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const folder = folders[root];
  if (folder === undefined) return [];
  const uri = vscode.Uri.joinPath(folder.uri, path);
  const kind = isFolder ? "folder" : "file";
  const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const top = folders.length > 1 ? folderName(folder, folders) : "";
  const detail = [top, above].filter((part) => part !== "").join("/");
  const attachment: Attachment = { kind, uri: uri.toString(), label: nameOf(uri) };
  return [{ item: { attachment, ...(detail !== "" && { detail }), marks }, score }];
}

/** Name of a workspace folder; with its parents when another folder has the same one. */
function folderName({ name, index }: vscode.WorkspaceFolder, folders: readonly vscode.WorkspaceFolder[]): string {
  if (folders.every((other) => other.index === index || other.name !== name)) return name;
  return distinctNames(folders.map(({ uri }) => uri.path))[index] ?? name;
}

function placeItem(attachment: Attachment, detail: string): MentionItem {
  // A file at the top of its folder has no path to tell.
  return { attachment, ...(detail !== attachment.label && { detail }), marks: [] };
}

/** Each item once, with its best score. */
function distinct(found: readonly ScoredMention[]): readonly ScoredMention[] {
  const seen = new Map<string, ScoredMention>();
  for (const one of found) {
    const key = JSON.stringify(one.item.attachment);
    const earlier = seen.get(key);
    if (earlier === undefined || earlier.score < one.score) seen.set(key, one);
  }
  return [...seen.values()];
}

async function workspaceSymbols(query: string): Promise<readonly MentionItem[]> {
  const found = await symbolsBy<vscode.SymbolInformation>("vscode.executeWorkspaceSymbolProvider", query);
  return found
    .filter(({ location }) => location.uri.scheme === "file")
    .map(({ name, kind, location: { uri, range } }) => symbolItem(name, kind, uri, range));
}

/** None where the language server fails. */
async function symbolsBy<Found>(command: string, about: unknown): Promise<readonly Found[]> {
  const answer = vscode.commands.executeCommand<readonly Found[] | undefined>(command, about);
  return (await answer.then(undefined, () => undefined)) ?? [];
}

type FoundSymbol = vscode.DocumentSymbol | vscode.SymbolInformation;

async function documentSymbols(uri: vscode.Uri): Promise<readonly MentionItem[]> {
  const found = await symbolsBy<FoundSymbol>("vscode.executeDocumentSymbolProvider", uri);
  const flat = (symbols: readonly FoundSymbol[]): readonly FoundSymbol[] =>
    symbols.flatMap((symbol) => [symbol, ...("children" in symbol ? flat(symbol.children) : [])]);
  return flat(found).map((symbol) =>
    symbolItem(symbol.name, symbol.kind, uri, "range" in symbol ? symbol.range : symbol.location.range),
  );
}

function symbolItem(name: string, kind: vscode.SymbolKind, uri: vscode.Uri, range: vscode.Range): MentionItem {
  const [start, end] = [range.start.line + 1, range.end.line + 1];
  return {
    attachment: { kind: "lines", uri: uri.toString(), label: name, start, end },
    detail: `${vscode.workspace.asRelativePath(uri)}:${start}`,
    icon: symbolIcon(kind),
    marks: [],
  };
}

/** Codicons are named after the kinds: `EnumMember` is `symbol-enum-member`. */
function symbolIcon(kind: vscode.SymbolKind): string {
  const name = vscode.SymbolKind[kind] ?? "Misc";
  return `symbol-${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}`;
}
