/**
 * Facts and preferences as Markdown: one a line, with their evidence. People read and edit the files, and what they write stays.
 */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { learningFolder } from "../config/home.ts";
import { hasCode } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { pathBelow } from "../platform/paths.ts";
import { checkSchema, type RuleCheck } from "./rule-checks.ts";

export const ENTITIES = ["person", "project", "service", "tool"] as const;
export type EntityKind = (typeof ENTITIES)[number];

/** Subject of the user's preferences. */
export const USER = "user";
/** Scope of what holds everywhere. */
export const EVERYWHERE = "user";

export type Fact = {
  /** `f-` for a fact, `p-` for a preference, and a hash of the text that the loop wrote. */
  readonly id: string;
  /** The thing that it is about; `user` for a preference. */
  readonly subject: string;
  readonly entity: EntityKind;
  readonly text: string;
  /** `user`: holds everywhere. Else the folder of a project, absolute. */
  readonly scope: string;
  /** `person`: written into the file by hand. `run`: its command passed here, and the user kept the result. */
  readonly source: "user" | "tool" | "run" | "person";
  /** The user stated it as a rule, or confirmed it. */
  readonly isExplicit: boolean;
  /** Sessions that showed it. */
  readonly seen: number;
  /** Milliseconds since 1970: validity. Undefined `until`: it holds. */
  readonly from: number;
  readonly until: number | undefined;
  /** Newer fact in its place. */
  readonly replacedBy: string | undefined;
  /** `<session id>:<position>`, oldest first; the last ones only. */
  readonly evidence: readonly string[];
  readonly isPinned: boolean;
  /** Line of the user that this one would replace, once the user accepts it. */
  readonly proposedFor: string | undefined;
  /** Property of the subject, and its value. */
  readonly attribute?: string | undefined;
  readonly value?: string | undefined;
  /** A preference as a check of tool calls. */
  readonly check?: RuleCheck | undefined;
  /** Place that shows a fact: a path below the project, with a line. */
  readonly cites?: string | undefined;
};

/** A line of a file: a fact, or anything else. */
type FileLine = { readonly fact: Fact; readonly text: string } | { readonly text: string };

export type EntityFile = {
  readonly path: string;
  readonly entity: EntityKind;
  readonly subject: string;
  readonly lines: readonly FileLine[];
};

export function isPreference({ id }: Pick<Fact, "id">): boolean {
  return id.startsWith("p-");
}

/** The same text and scope have the same id, so that a repeated write changes nothing. */
export function factId(prefix: "f" | "p", scope: string, text: string): string {
  return `${prefix}-${createHash("sha256").update(`${scope}\n${text}`).digest("hex").slice(0, 10)}`;
}

/** Id of the session in a piece of evidence, `session:position`. */
export function sessionOf(evidence: string): string {
  return evidence.replace(/:\d+$/, "");
}

/** True when a person changed the text, or wrote the line. */
export function isEdited(fact: Fact): boolean {
  return fact.source === "person" || factId(isPreference(fact) ? "p" : "f", fact.scope, fact.text) !== fact.id;
}

export function isActive({ until, proposedFor }: Fact): boolean {
  return until === undefined && proposedFor === undefined;
}

/**
 * True for a fact that only the output of a tool says, or whose witness is unknown. It is in no prompt until the user confirms
 * it: by an answer, a pin, or an edit of its line.
 */
export function waits(fact: Fact): boolean {
  const hasWitness = fact.source !== "tool" && fact.evidence.length > 0;
  return isActive(fact) && !hasWitness && !fact.isExplicit && !fact.isPinned && !isEdited(fact);
}

/** True for what is certain enough for a prompt: a preference counts from its second sighting, or when it was stated. */
export function isShown(fact: Fact): boolean {
  if (!isActive(fact) || waits(fact)) return false;
  return !isPreference(fact) || fact.isExplicit || fact.isPinned || fact.seen >= 2 || isEdited(fact);
}

/** True for a fact that holds in one of these folders. */
export function holdsIn({ scope }: Pick<Fact, "scope">, roots: readonly string[]): boolean {
  return scope === EVERYWHERE || roots.some((root) => isWithin(root, scope));
}

/** True when the folder is the project's, or below it. */
export function isWithin(folder: string, project: string): boolean {
  return project !== "" && pathBelow(project, folder) !== undefined;
}

export function entitiesFolder(home: string): string {
  return join(learningFolder(home), "entities");
}

/** Path of the file about a subject. */
export function entityPath(home: string, subject: string): string {
  return join(entitiesFolder(home), `${entitySlug(subject)}.md`);
}

/** Name of a subject in kebab case. */
export function entitySlug(subject: string): string {
  const slug = subject
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 48);
  return slug === "" ? createHash("sha256").update(subject).digest("hex").slice(0, 10) : slug;
}

/** Parsed files by path: each session of a process reads all of them. */
const cache = new Map<string, { readonly stamp: string; readonly file: EntityFile }>();

/** All files about things. Rejects when reading fails. */
export async function readEntities(home: string): Promise<readonly EntityFile[]> {
  const folder = entitiesFolder(home);
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
  const paths = names.filter((name) => name.endsWith(".md")).toSorted();
  return Promise.all(paths.map((name) => readEntity(join(folder, name))));
}

async function readEntity(path: string): Promise<EntityFile> {
  const { mtimeMs, size, ino } = await stat(path);
  const stamp = `${mtimeMs}:${size}:${ino}`;
  const known = cache.get(path);
  if (known?.stamp === stamp) return known.file;
  const file = parseEntity(path, await readFile(path, "utf8"));
  cache.set(path, { stamp, file });
  return file;
}

/** All facts, ended ones included; one for each id, as a killed process may leave a line in two files. */
export async function readFacts(home: string): Promise<readonly Fact[]> {
  return factsOf(await readEntities(home));
}

export function factsOf(files: readonly EntityFile[]): readonly Fact[] {
  const facts = files.flatMap(({ lines }) => lines.flatMap((line) => ("fact" in line ? [line.fact] : [])));
  return [...new Map(facts.map((fact) => [fact.id, fact])).values()];
}

const HEADING = /^#\s+(.+?)\s*(?:\((person|project|service|tool)\))?\s*$/;
const ITEM = /^[-*]\s+(?:\[([fp]-[0-9a-f]{6,})\]\s*)?(.+)$/;
const DIVIDER = " · ";

export function parseEntity(path: string, text: string): EntityFile {
  const rows = text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const [, subject = path.replace(/^.*[\\/]|\.md$/g, ""), kind] =
    rows.map((row) => HEADING.exec(row)).find(Boolean) ?? [];
  const entity = ENTITIES.find((each) => each === kind) ?? "project";
  const lines = rows.map((row): FileLine => {
    const [, id, rest] = ITEM.exec(row) ?? [];
    return rest === undefined ? { text: row } : { fact: parseFact({ id, rest, subject, entity }), text: row };
  });
  return { path, entity, subject, lines };
}

type FactRow = {
  readonly id: string | undefined;
  readonly rest: string;
  readonly subject: string;
  readonly entity: EntityKind;
};

/** A line without an id is of a person, and holds everywhere unless it names a folder. */
function parseFact({ id, rest, subject, entity }: FactRow): Fact {
  const parts = rest.split(DIVIDER);
  const notes = new Map<string, string>();
  while (parts.length > 1) {
    const [, key, value = ""] = NOTE.exec(parts.at(-1) ?? "") ?? [];
    if (key === undefined) break;
    notes.set(key, value);
    parts.pop();
  }
  const text = parts.join(DIVIDER).trim();
  const scope = notes.get("in")?.replaceAll("%C2%B7", "·") ?? EVERYWHERE;
  const ran = notes.has("ran here") ? "run" : "user";
  const own = notes.has("from a tool") ? "tool" : ran;
  return {
    id: id ?? factId(subject === USER ? "p" : "f", scope, text),
    subject,
    entity,
    text,
    scope,
    source: id === undefined ? "person" : own,
    isExplicit: notes.has("stated"),
    seen: Number(notes.get("seen") ?? 1) || 1,
    from: timeOf(notes.get("from")),
    until: notes.has("until") ? timeOf(notes.get("until")) : undefined,
    replacedBy: notes.get("replaced by"),
    evidence: (notes.get("evidence") ?? "").split(/[\s,]+/).filter((ref) => ref !== ""),
    isPinned: notes.has("pinned"),
    proposedFor: notes.get("proposed for"),
    ...structureOf(notes),
  };
}

function structureOf(notes: ReadonlyMap<string, string>): Pick<Fact, "attribute" | "value" | "check" | "cites"> {
  const plain = (key: string): string | undefined => notes.get(key)?.replaceAll("%C2%B7", "·");
  const check = checkSchema.safeParse(parseJson(plain("check") ?? "")).data;
  return { attribute: plain("attribute"), value: plain("value"), check, cites: plain("cites") };
}

/** 0 for a date that cannot be read. */
function timeOf(date: string | undefined): number {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? 0 : time;
}

const NOTE =
  /^(everywhere|in|stated|from a tool|ran here|seen|from|until|replaced by|evidence|pinned|proposed for|attribute|value|check|cites)(?:\s+(.+))?$/;

function formatFact(fact: Fact): string {
  const { id, text, scope, source, isExplicit, seen, from, until, replacedBy, evidence, isPinned, proposedFor } = fact;
  const notes = [
    scope === EVERYWHERE ? "everywhere" : `in ${scope.replaceAll("·", "%C2%B7")}`,
    ...(isExplicit ? ["stated"] : []),
    ...(source === "tool" ? ["from a tool"] : []),
    ...(source === "run" ? ["ran here"] : []),
    `seen ${seen}`,
    `from ${new Date(from).toISOString()}`,
    ...(until === undefined ? [] : [`until ${new Date(until).toISOString()}`]),
    ...(replacedBy === undefined ? [] : [`replaced by ${replacedBy}`]),
    ...(isPinned ? ["pinned"] : []),
    ...(proposedFor === undefined ? [] : [`proposed for ${proposedFor}`]),
    ...noted("attribute", fact.attribute),
    ...noted("value", fact.value),
    ...noted("check", fact.check && JSON.stringify(fact.check)),
    ...noted("cites", fact.cites),
    ...(evidence.length === 0 ? [] : [`evidence ${evidence.join(" ")}`]),
  ];
  return [`- [${id}] ${text}`, ...notes].join(DIVIDER);
}

function noted(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [`${name} ${value.replaceAll("·", "%C2%B7")}`];
}

/** The file with other facts: changed ones in their lines, removed ones without, new ones at the end. */
export function formatEntity({ entity, subject, lines }: Omit<EntityFile, "path">, facts: readonly Fact[]): string {
  const left = new Map(facts.map((fact) => [fact.id, fact]));
  const rows = lines.flatMap((line): readonly string[] => {
    if (!("fact" in line)) return [line.text];
    const now = left.get(line.fact.id);
    left.delete(line.fact.id);
    if (now === undefined) return [];
    return [now === line.fact ? line.text : formatFact(now)];
  });
  const head = lines.length === 0 ? [`# ${subject} (${entity})`, ""] : [];
  return `${[...head, ...rows, ...[...left.values()].map(formatFact)].join("\n")}\n`;
}

/** Preferences by weight: pinned, seen often, recent. */
export function byWeight(one: Fact, other: Fact): number {
  return (
    Number(other.isPinned) - Number(one.isPinned) ||
    Number(isEdited(other)) - Number(isEdited(one)) ||
    other.seen - one.seen ||
    other.from - one.from
  );
}

/** The items that fit together, in order; `sizeOf` in the unit of the limit. */
export function fitting<Item>(items: readonly Item[], limit: number, sizeOf: (item: Item) => number): readonly Item[] {
  let used = 0;
  return items.filter((item) => {
    const size = sizeOf(item);
    const fits = used + size <= limit;
    if (fits) used += size;
    return fits;
  });
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

/** `5 March 2026`, in the local time zone. */
export function dayText(at: number): string {
  return DAY.format(at);
}

/** The fact as a line of a prompt. A line that a person wrote by hand has no date. */
export function lineOf({ text, from, source }: Fact): string {
  return source === "person" || from === 0 ? `- ${text}` : `- ${text} (since ${dayText(from)})`;
}
