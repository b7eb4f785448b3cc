/** The reader of the simulated model: lines of a request with the region that holds them, and the tokens in them. */

export type WireMessage = {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
};

/** Request outside the conversation, as text. */
export type AuxiliaryRequest = { readonly system: string; readonly user: string };

/** Part of a request. A heading of the system prompt or the tag of attached data names it. */
export type Region = string;

export type Line = { readonly region: Region; readonly text: string /** Index of its message. */; readonly at: number };

/** Call of the current turn with its result. */
export type MadeCall = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly ok: boolean;
};

export type View = {
  readonly system: string;
  readonly tools: ReadonlySet<string>;
  readonly lines: readonly Line[];
  /** Typed messages of the user, oldest first. */
  readonly typed: readonly string[];
  /** Calls since the last typed message. */
  readonly calls: readonly MadeCall[];
};

export const USER: Region = "user's message";
export const HISTORY: Region = "history";
/** Earlier answers of the model. */
export const OWN: Region = "own words";

/** `forgets`: the model knows only the words of the last typed message, and results since. */
export function viewOf(
  messages: readonly WireMessage[],
  tools: readonly string[],
  { forgets = false }: { readonly forgets?: boolean } = {},
): View {
  const parts = messages.map(({ role, content }) => (role === "user" ? userParts(textOf(content)) : []));
  const typedAt = parts.flatMap((found, at) => (found.some(({ region }) => region === USER) ? [at] : []));
  const last = typedAt.at(-1) ?? 0;
  const isSeen = (at: number): boolean => !forgets || at >= last;
  const lines = messages.flatMap(({ role, content }, at): readonly Line[] => {
    if (!isSeen(at)) return [];
    if (role === "system") return systemLines(textOf(content), at);
    if (role === "user") {
      const known = (parts[at] ?? []).filter(({ region }) => !forgets || region === USER);
      return userLines(known, { at, last });
    }
    if (role === "assistant") return linesIn(textOf(content), OWN, at);
    return role === "tool" ? linesIn(textOf(content), toolRegion(messages, at), at) : [];
  });
  return {
    system: textOf(messages.find(({ role }) => role === "system")?.content),
    tools: new Set(tools),
    lines,
    typed: typedAt.map((at) => typedIn(parts[at] ?? [])),
    calls: callsSince(messages, last),
  };
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : ""))
    .join("\n");
}

type Part = { readonly region: Region; readonly text: string };

/** Data between tags. */
const TAGGED = /<([a-z][\w-]*)(?: [^>]*)?>\n[\s\S]*?<\/\1>/g;
/** Line that introduces data which the agent attached to a message; the data reach to its end. */
const ATTACHED = /^(?:Earlier sessions|This skill fits|The user asked for this skill|.*\(data;)/m;

function userParts(text: string): readonly Part[] {
  const parts: Part[] = [];
  const begin = ATTACHED.exec(text)?.index ?? text.length;
  let typed = "";
  let from = 0;
  const own = text.slice(0, begin);
  for (const found of own.matchAll(TAGGED)) {
    typed += own.slice(from, found.index);
    parts.push({ region: found[1] ?? "data", text: found[0] });
    from = found.index + found[0].length;
  }
  typed += own.slice(from);
  if (typed.trim() !== "") parts.push({ region: USER, text: typed });
  const attached = text.slice(begin);
  if (attached !== "") parts.push(...attached.split(/^(?=This skill fits|Earlier sessions)/m).map(attachedPart));
  return parts;
}

function attachedPart(text: string): Part {
  const [head = ""] = text.split("\n");
  const name = ["skill", "session"].find((word) => head.toLowerCase().includes(word));
  return { region: name === undefined ? "attached" : `attached ${name}s`, text };
}

function typedIn(parts: readonly Part[]): string {
  return parts
    .filter(({ region }) => region === USER)
    .map(({ text }) => text.trim())
    .join("\n");
}

function userLines(
  parts: readonly Part[],
  { at, last }: { readonly at: number; readonly last: number },
): readonly Line[] {
  return parts.flatMap(({ region, text }) => linesIn(text, region === USER && at < last ? HISTORY : region, at));
}

function linesIn(text: string, region: Region, at: number): readonly Line[] {
  return text.split("\n").map((line) => ({ region, text: line, at }));
}

/** A heading is a line with a number sign, in capitals, or one that ends with a colon and is no item of a list. */
const HEADING = /^(?:#+ +(.+)|([A-Z]{3,}[A-Z ]*)\b.*|([A-Z][^`.]{2,60}):)$/;

function systemLines(text: string, at: number): readonly Line[] {
  let region = "system prompt";
  return text.split("\n").map((line) => {
    const [, marked, capital, colon] = HEADING.exec(line.trim()) ?? [];
    const heading = marked ?? capital ?? colon;
    if (heading !== undefined) region = heading.trim().slice(0, 40);
    return { region, text: line, at };
  });
}

function toolRegion(messages: readonly WireMessage[], at: number): Region {
  const id = messages[at]?.tool_call_id;
  const call = messages
    .slice(0, at)
    .flatMap(({ tool_calls: calls }) => calls ?? [])
    .findLast((made) => made.id === id);
  return call === undefined ? "tool output" : `result of ${call.function.name}`;
}

function callsSince(messages: readonly WireMessage[], from: number): readonly MadeCall[] {
  const later = messages.slice(from + 1);
  return later.flatMap(({ tool_calls: calls = [] }) =>
    calls.flatMap((call): readonly MadeCall[] => {
      const answer = later.find(({ tool_call_id: id }) => id === call.id);
      if (answer === undefined) return [];
      const result = textOf(answer.content);
      const isFailed = /exit code (?!0\b)\w+|was not read|HTTP [45]\d\d|^Error: /.test(
        result.slice(0, 400) + result.slice(-400),
      );
      return [{ name: call.function.name, input: inputOf(call.function.arguments), result, ok: !isFailed }];
    }),
  );
}

function inputOf(json: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(json || "{}");
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** A need as found: the text between backticks, and its place. */
export type Found = { readonly value: string; readonly region: Region; readonly line: string };

/** An ended fact names its last day. */
const UNTIL = /\buntil (\d{4}-\d\d-\d\d)/;
const DAY = /\b\d{4}-\d\d-\d\d\b/g;

/**
 * Values of the lines that have all key words, best first: the conversation before earlier knowledge, dated lines by
 * their last day, then the later line. Ended facts are left out.
 */
export function findNeeds(
  { lines, system }: Pick<View, "lines" | "system">,
  keys: readonly RegExp[],
): readonly Found[] {
  const today = /^Date: (\d{4}-\d\d-\d\d)/m.exec(system)?.[1] ?? "9999";
  const ranked = lines
    .filter(({ text }) => keys.every((key) => key.test(text)) && (UNTIL.exec(text)?.[1] ?? "9999") > today)
    .map((line, order) => ({
      line,
      rank: rankOf(line.region),
      day: line.text.match(DAY)?.toSorted().at(-1) ?? "",
      order,
    }))
    .toSorted((one, other) => {
      if (one.rank !== other.rank) return other.rank - one.rank;
      return other.day.localeCompare(one.day) * (one.day !== "" && other.day !== "" ? 1 : 0) || other.order - one.order;
    });
  return ranked.flatMap(({ line: { text, region } }) =>
    [...text.matchAll(/`([^`]+)`/g)].map(([, value = ""]) => ({ value, region, line: text })),
  );
}

function rankOf(region: Region): number {
  if (region === USER || region === HISTORY) return 3;
  if (region === OWN) return 0;
  return region.startsWith("result of") ? 2 : 1;
}
