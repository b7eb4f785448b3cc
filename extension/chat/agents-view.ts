/**
 * The tree of agents: all sessions of all folders by folder, those that need the user first. The list is the stored
 * sessions' own; open sessions of this window add their step and their edits.
 */
import * as vscode from "vscode";
import * as z from "zod";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { truncate } from "../../agent-core/platform/one-line.ts";
import type { Services } from "../services.ts";
import type { ChatSession } from "./chat-session.ts";
import { currentFolder, type ListedSession } from "./session-history.ts";

/** Sessions in the tree. */
const MAX_SESSIONS = 500;
/** Time within which changes are shown together. Milliseconds. */
const SETTLE_MS = 200;
/** Ages, and turns of other windows, are read again this often while the tree is visible. Milliseconds. */
const REFRESH_MS = 10_000;

/** Longest title of a row: the state and the step after it stay in sight in a narrow side bar. Characters. */
const TITLE_CHARS = 18;

/** In the order of the tree. `review`: edits wait for the user. `done`: the turn ended out of sight. */
const STATES = ["asks", "working", "review", "done", "earlier"] as const;

/** `isHere`: open in this window. */
export type AgentRow = {
  readonly id: string;
  readonly title: string;
  readonly folder: string;
  readonly state: (typeof STATES)[number];
  readonly isHere: boolean;
  readonly at: number;
  /** State, step, branch, changed lines, cost and age. */
  readonly facts: readonly string[];
};

export type AgentGroup = { readonly folder: string; readonly rows: readonly AgentRow[] };

type Parts = Pick<Services, "sessions" | "review" | "history" | "sessionListChanges">;

export class AgentsView implements vscode.TreeDataProvider<AgentGroup | AgentRow>, vscode.Disposable {
  readonly #services: () => Promise<Services>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #view: vscode.TreeView<AgentGroup | AgentRow>;
  #parts: Parts | undefined;
  #follows: vscode.Disposable | undefined;
  #listed: Promise<readonly ListedSession[]> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #clock: NodeJS.Timeout | undefined;
  /** The tree as VS Code has it, as JSON. */
  #shown = "";
  /** The newer tree that VS Code fetches next. */
  #next: AgentGroup[] | undefined;

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(services: () => Promise<Services>) {
    this.#services = services;
    this.#view = vscode.window.createTreeView("hermes.agents", { treeDataProvider: this, showCollapseAll: true });
    this.#view.onDidChangeVisibility(({ visible }) => {
      clearInterval(this.#clock);
      if (!visible) return;
      this.#clock = setInterval(() => this.#reload(), REFRESH_MS).unref();
      this.#reload();
    });
  }

  async getChildren(parent?: AgentGroup | AgentRow): Promise<(AgentGroup | AgentRow)[]> {
    if (parent !== undefined) return "rows" in parent ? [...parent.rows] : [];
    const groups = this.#next ?? (await this.#groups());
    this.#next = undefined;
    this.#shown = JSON.stringify(groups);
    return groups;
  }

  async #groups(): Promise<AgentGroup[]> {
    const parts = await this.#follow();
    this.#listed ??= parts.history.everywhere(MAX_SESSIONS);
    try {
      const rows = agentRows(await this.#listed, parts);
      this.#view.message = "";
      return groupsOf(rows);
    } catch (error) {
      this.#listed = undefined;
      this.#view.message = vscode.l10n.t("The sessions cannot be listed. {0}", messageOf(error));
      return [];
    }
  }

  readonly getTreeItem = itemOf;

  dispose(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#clock);
    for (const one of [this.#view, this.#changed, this.#follows]) one?.dispose();
  }

  async #follow(): Promise<Parts> {
    if (this.#parts !== undefined) return this.#parts;
    const parts = await this.#services();
    this.#parts ??= parts;
    const { sessions, review, sessionListChanges } = parts;
    this.#follows ??= vscode.Disposable.from(
      sessions.onDidChangeStates(() => this.#redraw()),
      review.onDidChange(() => this.#redraw()),
      sessionListChanges.onDidChange(() => this.#reload()),
    );
    return parts;
  }

  #reload(): void {
    this.#listed = undefined;
    this.#redraw();
  }

  #redraw(): void {
    if (!this.#view.visible || this.#timer !== undefined) return;
    this.#timer = setTimeout(async () => {
      this.#timer = undefined;
      // VS Code loses a click on a row that it draws again.
      const groups = await this.#groups().catch(() => undefined); // the next change tries again
      if (groups === undefined || JSON.stringify(groups) === this.#shown) return;
      this.#next = groups;
      this.#changed.fire();
    }, SETTLE_MS);
  }
}

/** A session that began a moment ago is open and not listed yet. */
export function agentRows(
  listed: readonly ListedSession[],
  { sessions, review }: Pick<Parts, "sessions" | "review">,
): readonly AgentRow[] {
  const { open } = sessions;
  const known = new Set(listed.map(({ sessionId }) => sessionId));
  const fresh = [...open].flatMap(([sessionId, session]): ListedSession[] => {
    if (known.has(sessionId) || sessions.stateOf(session) === undefined) return [];
    const title = session.title ?? vscode.l10n.t("New session");
    return [{ sessionId, title, updatedAt: Date.now(), cwd: currentFolder(), branch: undefined, isCurrent: false }];
  });
  const edits = Map.groupBy(review.files, ({ path }) => sessions.editorOf(path));
  return [...fresh, ...listed].map((one) =>
    rowOf(one, open.get(one.sessionId), { sessions, edits: edits.get(one.sessionId) ?? [] }),
  );
}

function rowOf(
  { sessionId: id, title, cwd: folder, updatedAt: at, state: stored, branch, costUsd }: ListedSession,
  session: ChatSession | undefined,
  { sessions, edits }: Pick<Parts, "sessions"> & { readonly edits: Parts["review"]["files"] },
): AgentRow {
  const live = session === undefined ? undefined : sessions.stateOf(session);
  const state = live === "done" && edits.length > 0 ? "review" : (live ?? (edits.length > 0 ? "review" : stored));
  const sum = (of: "added" | "removed"): number => edits.reduce((count, edit) => count + edit[of], 0);
  const facts = [
    LOOKS[state ?? "earlier"].text,
    state === "asks" || state === "working" ? session?.step : undefined,
    branch,
    edits.length > 0 ? `+${sum("added")} −${sum("removed")}` : undefined,
    costUsd === undefined || costUsd === 0 ? undefined : `$${costUsd.toFixed(2)}`,
    ageOf(at),
  ].flatMap((fact) => fact || []);
  return { id, title, folder, state: state ?? "earlier", isHere: session !== undefined, at, facts };
}

/** The window's folder first, then folders with a running session, then the others by their last use. */
export function groupsOf(rows: readonly AgentRow[]): AgentGroup[] {
  const urgency = ({ state }: AgentRow): number => STATES.indexOf(state);
  const sorted = rows.toSorted((left, right) => urgency(left) - urgency(right) || right.at - left.at);
  const groups = [...Map.groupBy(sorted, ({ folder }) => folder)].map(([folder, own]) => ({ folder, rows: own }));
  const here = currentFolder();
  // A stable sort keeps the order of the most urgent rows among the others.
  return groups.toSorted((left, right) => Number(right.folder === here) - Number(left.folder === here));
}

export function itemOf(element: AgentGroup | AgentRow): vscode.TreeItem {
  return "rows" in element ? groupItem(element) : rowItem(element);
}

/** VS Code keeps a known id as folded as it was, so a folder has a new one each time that a session in it begins to ask. */
const asked = new Map<string, { readonly asks: boolean; readonly times: number }>();

function groupItem({ folder, rows }: AgentGroup): vscode.TreeItem {
  const isOpen = folder === currentFolder() || rows.some(({ state, isHere }) => isHere || state !== "earlier");
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(vscode.Uri.file(folder), isOpen ? Expanded : Collapsed);
  const asks = rows[0]?.state === "asks";
  const was = asked.get(folder) ?? { asks: false, times: 0 };
  const times = was.times + Number(asks && !was.asks);
  asked.set(folder, { asks, times });
  item.id = `${times} ${folder}`;
  item.description = [rows.length, LOOKS[rows[0]?.state ?? "earlier"].text].filter(Boolean).join(" · ");
  item.tooltip = folder;
  item.iconPath = new vscode.ThemeIcon("root-folder");
  return item;
}

const LOOKS: Readonly<Record<AgentRow["state"], { readonly icon: vscode.ThemeIcon; readonly text: string }>> = {
  asks: {
    icon: new vscode.ThemeIcon("bell-dot", new vscode.ThemeColor("notificationsWarningIcon.foreground")),
    text: vscode.l10n.t("asks"),
  },
  working: { icon: new vscode.ThemeIcon("loading~spin"), text: vscode.l10n.t("works") },
  review: { icon: new vscode.ThemeIcon("git-compare"), text: vscode.l10n.t("to review") },
  done: { icon: new vscode.ThemeIcon("pass"), text: vscode.l10n.t("done") },
  earlier: { icon: new vscode.ThemeIcon("comment"), text: "" },
};

function rowItem(row: AgentRow): vscode.TreeItem {
  const { id, title, state, isHere, facts, folder } = row;
  const item = new vscode.TreeItem(truncate(title, TITLE_CHARS), vscode.TreeItemCollapsibleState.None);
  item.id = id;
  item.description = facts.join(" · ");
  item.tooltip = [title, ...facts, folder].join("\n");
  item.accessibilityInformation = { label: [title, ...facts].join(", ") };
  item.iconPath = LOOKS[state].icon;
  item.contextValue = isHere || state === "review" ? state : "elsewhere";
  item.command = { title: vscode.l10n.t("Open"), command: "hermes.showSession", arguments: [row] };
  return item;
}

/** Made once: it takes longer than all else of a row. */
let ages: Intl.RelativeTimeFormat | undefined;

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

function ageOf(at: number): string {
  const age = Date.now() - at;
  const [unit, length] = UNITS.find(([, ms]) => age >= ms) ?? ["minute", 60_000];
  ages ??= new Intl.RelativeTimeFormat(vscode.env.language, { style: "narrow", numeric: "auto" });
  return age < 60_000 ? vscode.l10n.t("now") : ages.format(-Math.floor(age / length), unit);
}

/** Argument of the commands on a row: the row, or the id of a session. */
const target = z.union([
  z.string().transform((id) => ({ id, isHere: true, state: "earlier", folder: "" })),
  z.object({ id: z.string(), isHere: z.boolean(), state: z.string(), folder: z.string() }),
]);

/** Shows a session by its row or its id. One that runs elsewhere is in its own window. */
export async function showAgent({ sessions }: Services, row: unknown): Promise<void> {
  const { id, isHere, state, folder } = target.parse(row);
  const runsElsewhere = !isHere && (state === "working" || state === "asks") && folder !== currentFolder();
  if (!runsElsewhere) sessions.reveal(id);
  else await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(folder), { forceNewWindow: true });
}

/** Id of a row's session. VS Code gives no row for a click while it draws the tree anew: the only candidate counts then. */
function idOf(row: unknown, candidates: Iterable<string>): string | undefined {
  const ids = [...new Set(candidates)];
  return target.safeParse(row).data?.id ?? (ids.length === 1 ? ids[0] : undefined);
}

function sessionsThat({ sessions }: Pick<Services, "sessions">, state: AgentRow["state"]): readonly string[] {
  return [...sessions.open].filter(([, session]) => sessions.stateOf(session) === state).map(([id]) => id);
}

/** Ends the turn of a row. */
export function stopAgent(services: Services, row: unknown): void {
  const id = idOf(row, sessionsThat(services, "working"));
  services.sessions.open.get(id ?? "")?.dispatch({ type: "cancel" });
}

/** Offers the answers to the request of a row. */
export async function answerAgent(services: Services, row: unknown): Promise<void> {
  const id = idOf(row, sessionsThat(services, "asks"));
  if (id !== undefined) await services.requests.choose(id);
}

/** Keeps or undoes all edits of a row's session. */
export async function decideAgent({ sessions, review }: Services, row: unknown, keeps: boolean): Promise<void> {
  const editors = review.documents.flatMap(({ fsPath }) => sessions.editorOf(fsPath) ?? []);
  const id = idOf(row, editors);
  if (id === undefined) return;
  for (const uri of review.documents.filter(({ fsPath }) => sessions.editorOf(fsPath) === id)) {
    if (keeps) review.keep(uri);
    else await review.undo(uri);
  }
}
