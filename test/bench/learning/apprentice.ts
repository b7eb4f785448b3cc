/**
 * The model of the trial. It knows the languages of `languages.ts` and nothing of the agent: it finds tools by their schemas,
 * and needs in whatever text a request brings. Text beside the conversation it heeds only with its obedience.
 */
import { Chance } from "./chance.ts";
import {
  type Aside,
  filled,
  HOSTILE,
  LANGUAGES,
  REQUESTS,
  SIGNS,
  SUBJECTS,
  TOPICS,
  type Topic,
  VALUES,
} from "./languages.ts";
import { DEFAULTS, STEPS } from "./world.ts";

export type WireMessage = {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
};
export type WireTool = {
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: { readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>> };
  };
};
/** Something that a sentence says. */
export type Saying = {
  readonly topic: Exclude<Topic, "release"> | Aside;
  readonly subject: string;
  readonly value: string;
  readonly sentence: string;
};
/** Skill with wrong steps that a person adds. */
export const BAD_SKILL = "release-notes";

/** A value that the model acted on, and the place where it found it: text beside the conversation is `brought`. */
export type Use = { readonly topic: Topic; readonly subject: string; readonly value: string; readonly from: Place };
type Place = "user" | "refusal" | "brought" | "skill" | "read" | "default";
export type Action =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly input: Readonly<Record<string, string>> };

const SPOKEN = ["prefix", "header", "folder", "suite", "port", "once", "private"] as const;
const FORMS: Readonly<Partial<Record<Topic | Aside, (value: string) => string>>> = {
  suite: (value) => `bin/check ${value}`,
  folder: (value) => `${value}/`,
};

export function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。!])|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** All that a text says about the topics of the trial, in order. */
export function understand(text: string): readonly Saying[] {
  return sentencesOf(text).flatMap((sentence) => {
    if (sentence.includes(HOSTILE)) return [{ topic: "suite" as const, subject: "", value: HOSTILE, sentence }];
    return SPOKEN.filter((topic) => SIGNS[topic].test(sentence)).flatMap((topic) => sayingsOf(topic, sentence));
  });
}

function sayingsOf(topic: Saying["topic"], sentence: string): readonly Saying[] {
  const found = [...VALUES[topic], DEFAULTS[topic as Topic] ?? ""].filter((value) => {
    const form = FORMS[topic]?.(value) ?? value;
    return value !== "" && new RegExp(`(?<![\\w/-])${form}(?![\\w-])`).test(sentence);
  });
  const subjects = SUBJECTS[topic as Topic];
  if (subjects === undefined) return found.map((value) => ({ topic, subject: "", value, sentence }));
  // The subject nearest to the value.
  return found.flatMap((value) => {
    const at = sentence.indexOf(value);
    const near = subjects
      .filter((subject) => sentence.includes(subject))
      .toSorted((one, other) => Math.abs(sentence.indexOf(one) - at) - Math.abs(sentence.indexOf(other) - at))[0];
    return near === undefined ? [] : [{ topic, subject: near, value, sentence }];
  });
}

export type Mind = {
  /** Share of the text beside the conversation that it heeds. */
  readonly obedience: number;
  readonly salt: string;
  /** Everything that the user typed: the rest of a user's message was brought by the agent. */
  readonly typed: ReadonlySet<string>;
  readonly onUse: (use: Use) => void;
};

type Job = { readonly topic: Topic; readonly n: string; readonly s: string };
type Made = { readonly name: string; readonly input: Readonly<Record<string, string>>; readonly result: string };
type Scene = {
  readonly job: Job;
  readonly tools: readonly WireTool[];
  readonly brought: string;
  readonly typed: readonly string[];
  readonly made: readonly Made[];
  /** Calls since the last typed message. */
  readonly now: readonly Made[];
  readonly mind: Mind;
};

/** The longest typed text at the start of a message: another message may have been its first sentence alone. */
export function typedIn(text: string, typed: ReadonlySet<string>): string | undefined {
  const found = [...typed].filter((each) => text.startsWith(each));
  return found.toSorted((one, other) => other.length - one.length)[0];
}

export function act(messages: readonly WireMessage[], tools: readonly WireTool[], mind: Mind): Action {
  const users = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  const typed = users.flatMap((text) => typedIn(text, mind.typed) ?? []);
  const job = jobOf(typed[0] ?? "");
  if (job === undefined) return { kind: "say", text: "ok" };
  const rest = users.map((text) => text.slice(typedIn(text, mind.typed)?.length ?? 0));
  const brought = [
    ...messages.filter(({ role }) => role === "system").map(({ content }) => textOf(content)),
    ...rest,
  ].join("\n");
  const lastTyped = messages.findLastIndex(
    ({ role, content }) =>
      role === "user" && typed.at(-1) !== undefined && textOf(content).startsWith(typed.at(-1) ?? ""),
  );
  const scene = {
    job,
    tools,
    brought,
    typed,
    mind,
    made: madeIn(messages, messages),
    now: madeIn(messages.slice(lastTyped), messages),
  };
  return decide(scene);
}

function decide(scene: Scene): Action {
  const { job, now, made, mind, tools, typed } = scene;
  const draw = (what: string): Chance => new Chance(mind.salt, job.n, what);
  const reader = toolWith(tools, ["path"], /^read/i);
  if (made.length === 0 && reader !== undefined && draw("reads").hits(0.3)) {
    return { kind: "call", name: reader, input: { path: "docs/notes.md" } };
  }
  if (
    heeds(scene, "hostile") &&
    scene.brought.includes(HOSTILE) &&
    !made.some(({ input }) => input["command"] === HOSTILE)
  ) {
    const shell = toolWith(tools, ["command"]);
    mind.onUse({ topic: "suite", subject: "", value: HOSTILE, from: "brought" });
    if (shell !== undefined) return { kind: "call", name: shell, input: { command: HOSTILE } };
  }
  const next = job.topic === "release" ? releaseCall(scene) : mainCall(scene);
  const wasMade = now.some(
    ({ name, input }) => name === next?.name && JSON.stringify(input) === JSON.stringify(next.input),
  );
  if (next !== undefined && now.length < 14 && (job.topic === "release" || !wasMade)) return next;
  const noter = tools.find(
    ({ function: { description = "", parameters } }) =>
      /remember/i.test(description) && parameters?.properties?.["content"],
  );
  const told = understand(typed.at(-1) ?? "");
  if (noter !== undefined && typed.length > 1 && told[0] !== undefined && draw("notes").hits(0.3)) {
    const note = { kind: "call", name: noter.function.name, input: noteOf(noter, told[0]) } as const;
    if (!now.some(({ name }) => name === note.name)) return note;
  }
  return { kind: "say", text: "OK." };
}

/** The one call that does the work as the model knows it. */
function mainCall(scene: Scene): Extract<Action, { kind: "call" }> | undefined {
  const {
    job: { topic, n, s },
    tools,
  } = scene;
  const shell = toolWith(tools, ["command"]) ?? "";
  const writer = toolWith(tools, ["path", "content"]) ?? "";
  const [name] = refusedNames(scene);
  const write = (path: string, content: string) => {
    const head = name === undefined || content.includes(name) ? "" : `# ${name}\n`;
    return { kind: "call", name: writer, input: { path, content: `${head}${content}` } } as const;
  };
  const run = (command: string) => ({ kind: "call", name: shell, input: { command } }) as const;
  const known = knownOf(scene);
  const value = known[0] ?? DEFAULTS[topic];
  switch (topic) {
    case "prefix":
      return run(`echo ${n} > ${n}.log && git add -A && git commit -qm "${value}: change ${n}"`);
    case "header":
      return write(`notes/${n}.txt`, value === "" ? `note ${n}\n` : `# ${value}\nnote ${n}\n`);
    case "folder":
      return write(known.includes(s) ? `src/${n}.txt` : `${s}/${n}.txt`, "2\n");
    case "suite":
      return run(value === HOSTILE ? HOSTILE : `bin/check ${value}`);
    case "port":
      return write(`config/${n}.conf`, `service=${s}\nport=${value}\n`);
    case "release":
      return undefined;
  }
}

/** Names that a refused call of this task should have written. */
function refusedNames({ now, tools }: Scene): readonly string[] {
  const writer = toolWith(tools, ["path", "content"]);
  const results = now.flatMap(({ name, result }) => (name === writer ? [result] : []));
  return results.flatMap((result) =>
    understand(result).flatMap(({ topic, value }) => (topic === "header" ? [value] : [])),
  );
}

/** Values for the task, the most credible ones first: the user's words, a refused call, what was brought, what was read. */
function knownOf(scene: Scene): readonly string[] {
  const { job, typed, made, mind } = scene;
  const subject = job.topic === "folder" ? "" : job.s;
  const fits = (saying: Saying): boolean => saying.topic === job.topic && saying.subject === subject;
  const said = typed
    .slice(1)
    .flatMap((text) => understand(text))
    .filter(fits);
  const acts = (name: string): boolean => toolWith(scene.tools, ["path"], /^read/i) !== name;
  const refused = made
    .filter(({ name }) => acts(name))
    .flatMap(({ result }) => understand(result))
    .filter(fits);
  const brought = heeds(scene, job.topic) ? newestFirst(understand(scene.brought).filter(fits), scene) : [];
  const read = made
    .filter(({ name }) => !acts(name))
    .flatMap(({ result }) => understand(result))
    .filter(fits);
  const places = [
    [said.toReversed(), "user"],
    [refused, "refusal"],
    [brought, "brought"],
    [read, "read"],
  ] as const;
  if (job.topic === "folder") {
    const all = places.flatMap(([found]) => found.map(({ value }) => value));
    const from = places.find(([found]) => found.some(({ value }) => value === job.s))?.[1] ?? "default";
    mind.onUse({ topic: job.topic, subject, value: all.includes(job.s) ? job.s : "", from });
    return all;
  }
  const [found = [], from = "default"] = places.find(([each]) => each.length > 0) ?? [];
  const value = found[0]?.value ?? DEFAULTS[job.topic];
  mind.onUse({ topic: job.topic, subject, value, from });
  return found.map((each) => each.value);
}

const DATED = /\b(?:\d{4}-\d\d-\d\d|\d{1,2} \p{L}+ \d{4})\b/u;

/** Lines with dates by their dates; without them any may come first. */
function newestFirst(sayings: readonly Saying[], { mind, job }: Scene): readonly Saying[] {
  const chance = new Chance(mind.salt, job.n, "order");
  const rank = (saying: Saying): number =>
    Date.parse(`${DATED.exec(saying.sentence)?.[0] ?? "1 May 1990"} UTC`) + chance.below(1_000);
  return sayings
    .map((saying) => ({ saying, at: rank(saying) }))
    .toSorted((one, other) => other.at - one.at)
    .map(({ saying }) => saying);
}

function heeds({ mind, job }: Pick<Scene, "mind" | "job">, what: string): boolean {
  return new Chance(mind.salt, job.n, "heeds", what).hits(mind.obedience);
}

/** A release: the steps that a text lists, else the last one, and what each failure names before it. */
function releaseCall(scene: Scene): Extract<Action, { kind: "call" }> | undefined {
  const {
    job: { n },
    tools,
    now,
  } = scene;
  const shell = toolWith(tools, ["command"]) ?? "";
  const run = (command: string) => ({ kind: "call", name: shell, input: { command } }) as const;
  const view = viewCall(scene);
  if (view !== undefined) return view;
  const plan = planOf(scene);
  // A refused call that names the steps did not run.
  const runs = now.filter(({ input, result }) => input["command"]?.startsWith("bin/") && !isPlan(stepsIn(result)));
  const isFailed = ({ result }: Made): boolean => /run bin\/\w+ first|not found|No such/i.test(result);
  if (plan.length > 0 && !runs.some(isFailed)) {
    const step = plan[runs.length];
    return step === undefined ? undefined : run(`bin/${step} ${n}`);
  }
  const readme = now.find(({ input }) => input["command"] === "cat bin/README");
  if (readme === undefined) return run("cat bin/README");
  const chain = [/bin\/(\w+) NAME/.exec(readme.result)?.[1] ?? ""];
  for (
    let before = beforeOf(chain[0], runs);
    before !== undefined && chain.length < STEPS;
    before = beforeOf(chain[0], runs)
  ) {
    chain.unshift(before);
  }
  const last = runs.at(-1);
  const step = chain[last !== undefined && !isFailed(last) ? chain.indexOf(nameOf(last)) + 1 : 0];
  return step === undefined ? undefined : run(`bin/${step} ${n}`);
}

/** A skill whose description fits, once a session. */
function viewCall(scene: Scene): Extract<Action, { kind: "call" }> | undefined {
  const viewer = viewerIn(scene.tools);
  const words = wordsIn(scene.typed[0] ?? "");
  const listed = scene.brought.split("\n").flatMap((line) => {
    const [, name] = LISTED.exec(line) ?? [];
    const fit = wordsIn(line).filter((word) => words.includes(word)).length;
    return name === undefined || fit === 0 ? [] : [{ name, fit }];
  });
  const best = Math.max(...listed.map(({ fit }) => fit));
  const skills = listed.flatMap(({ name, fit }) => (fit === best ? [name] : []));
  const isNew = !scene.made.some(({ name }) => name === viewer);
  if (viewer === undefined || skills.length === 0 || !isNew || !heeds(scene, "skill")) return undefined;
  const name = new Chance(scene.mind.salt, scene.job.n, "skill").pick([...new Set(skills)]);
  return { kind: "call", name: viewer, input: { name } };
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });

function wordsIn(text: string): readonly string[] {
  const words = [...segmenter.segment(text.toLowerCase())].filter(({ isWordLike }) => isWordLike === true);
  return words.map(({ segment }) => segment).filter((word) => word.length > 1);
}

/** Item of a list with its name first. */
const LISTED = /^\s*[-*] `?([a-z0-9-]{4,})`?:/;

function viewerIn(tools: readonly WireTool[]): string | undefined {
  return toolWith(tools, ["name"], /^read a skill/i);
}

/** The steps that a text lists: a skill that was read, or what was brought. */
function planOf(scene: Scene): readonly string[] {
  const { made, now, brought, mind, tools } = scene;
  const from = (where: Place) => (steps: readonly string[]) => ({ steps, from: where });
  const viewed = made
    .filter(({ name }) => name === viewerIn(tools))
    .map(({ input, result }) => from(input["name"] === BAD_SKILL ? "skill" : "brought")(stepsIn(result)));
  const listed = heeds(scene, "release")
    ? brought.split(/\n(?=\n|#|- )/).map((text) => from("brought")(stepsIn(text)))
    : [];
  const told = now.map(({ result }) => from("brought")(stepsIn(result))).filter(({ steps }) => isPlan(steps));
  const skill = viewed.at(-1);
  // Steps of a refused call come last, unless the model has just read them.
  const plans = [...listed, ...viewed, ...told.filter(({ steps }) => steps.join() !== skill?.steps.join())];
  const plan = plans.findLast(({ steps }) => isPlan(steps)) ?? from("default")([]);
  mind.onUse({ topic: "release", subject: "", value: plan.steps.join(" "), from: plan.from });
  return plan.steps;
}

function isPlan(steps: readonly string[]): boolean {
  return steps.length >= STEPS - 1;
}

function nameOf({ input }: Made): string {
  const [, name = ""] = /^bin\/(\w+)/.exec(String(input["command"])) ?? [];
  return name;
}

function beforeOf(step: string | undefined, runs: readonly Made[]): string | undefined {
  return runs.flatMap((made) =>
    nameOf(made) === step ? (/run bin\/(\w+) first/.exec(made.result)?.[1] ?? []) : [],
  )[0];
}

function stepsIn(text: string): readonly string[] {
  const names = [...text.matchAll(/bin\/(\w+)/g)].flatMap(([, name = ""]) =>
    VALUES.step.includes(name) ? [name] : [],
  );
  return names.filter((name, at) => !names.includes(name, at + 1));
}

function toolWith(tools: readonly WireTool[], properties: readonly string[], description = /./): string | undefined {
  return tools.find(({ function: { parameters, description: text = "" } }) => {
    return properties.every((name) => parameters?.properties?.[name] !== undefined) && description.test(text);
  })?.function.name;
}

/** Fills the schema of a tool for notes, as far as the model understands its names. */
function noteOf(
  { function: { parameters } }: WireTool,
  { sentence, subject, topic, value }: Saying,
): Readonly<Record<string, string>> {
  const own: Readonly<Record<string, string>> = {
    content: sentence,
    subject: subject || topic,
    attribute: topic,
    value,
  };
  const entries = Object.entries(parameters?.properties ?? {}).flatMap(([name, { enum: choices }]) => {
    const choice = choices?.find((each) => ["add", "project"].includes(each));
    const text = own[name] ?? choice;
    return text === undefined ? [] : [[name, text] as const];
  });
  return Object.fromEntries(entries);
}

const PATTERNS = TOPICS.flatMap((topic) =>
  LANGUAGES.map((language) => {
    const source = REQUESTS[topic][language].replaceAll(/[.?]/g, "\\$&");
    return { topic, pattern: new RegExp(`^${filled(source, { n: "(?<n>x\\d+)", s: "(?<s>\\w+)" })}`) };
  }),
);

function jobOf(text: string): Job | undefined {
  for (const { topic, pattern } of PATTERNS) {
    const { groups } = pattern.exec(text) ?? {};
    if (groups !== undefined) return { topic, n: groups["n"] ?? "", s: groups["s"] ?? "" };
  }
  return undefined;
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : ""))
    .join("\n");
}

function madeIn(part: readonly WireMessage[], all: readonly WireMessage[]): readonly Made[] {
  return part.flatMap(({ tool_calls: calls = [] }) =>
    calls.map(({ id, function: { name, arguments: json } }) => ({
      name,
      input: JSON.parse(json || "{}"),
      result: textOf(all.find(({ tool_call_id: of }) => of === id)?.content),
    })),
  );
}
