/**
 * Checks of a session's calls against what was learnt: rules and values of facts, and steps of learnt skills in the order in
 * which earlier sessions ran them. A model may have read neither.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { judgeCommand } from "../approval/command-verdict.ts";
import { learningFolder } from "../config/home.ts";
import { readJsonFile } from "../config/home-file.ts";
import { HOOK_OF_RULES, type Hook, type HookVerdict } from "../hooks/hook.ts";
import { lostCitation } from "../memory/cited-file.ts";
import { contentWords, holdsValue } from "../memory/statement.ts";
import { type Fact, isWithin, lineOf } from "./facts.ts";
import { isInTenth } from "./receipts.ts";
import { breaks, type CheckedPart, partsOf, programOf, readBy, spansIn } from "./rule-checks.ts";

const MEND = "Change the call so that it does not. If the user asks for this now, repeat it.";
const ORDER = "Run these, in this order. If they do not fit here, repeat the call.";
const HOOK_MS = 1_000;
/** Shorter values stand in many calls by chance. Characters. */
const MIN_VALUE_CHARS = 3;
/** Share of words from which a skill is about a request. */
const MIN_SHARE = 0.5;
/** Words by which a request surely is for a skill. */
const MIN_NAMING = 2;

type CheckOptions = {
  readonly facts: readonly Fact[];
  readonly procedures: readonly Procedure[];
  /** First message of the session. */
  readonly request: () => string;
  /** False once the user has sent another message: it may be about something else. */
  readonly isFirstTurn: () => boolean;
  /** Shows the line that the agent follows, once a session, with its id. */
  readonly onUse?: ((message: string, id: string) => void) | undefined;
};

export class CallChecks {
  /** None without anything to check. */
  readonly hooks: readonly Hook[];
  readonly #options: CheckOptions;
  readonly #rules: readonly Fact[];
  /** Rules with the files for which a call was refused, and for which it was repeated. */
  readonly #refused = new Set<string>();
  readonly #insisted = new Set<string>();
  /** Lines whose use the user has seen. */
  readonly #used = new Set<string>();
  /** Programs that the session ran. */
  readonly #ran = new Set<string>();

  constructor(options: CheckOptions) {
    this.#options = options;
    this.#rules = options.facts.filter(({ check, value }) => check !== undefined || value !== undefined);
    const run: Hook["run"] = async ({ tool_input: input, cwd }) => Promise.resolve(this.#judge(input, cwd));
    const hook = { event: "pre_tool_call", label: HOOK_OF_RULES, origin: "home", failClosed: false } as const;
    const isNeeded = this.#rules.length > 0 || options.procedures.length > 0;
    this.hooks = isNeeded ? [{ ...hook, timeoutMs: HOOK_MS, run }] : [];
  }

  #judge(input: unknown, cwd: string): HookVerdict {
    const parts = partsOf(input, cwd, (path) => !existsSync(path));
    for (const rule of this.#rules) if (follows(rule, parts)) this.#showUse(rule);
    const broken = this.#rules.filter((rule) => this.#isRefused(rule, parts));
    if (broken.length === 0) return this.#judgeSteps(parts, cwd);
    const lines = broken.map((rule) => lineOf(rule)).join("\n");
    return { decision: "block", reason: `It breaks what the user wants:\n${lines}\n${MEND}` };
  }

  /** True for a call that breaks the rule, until the model repeats one: the user may ask for it now. */
  #isRefused({ id, check }: Fact, parts: readonly CheckedPart[]): boolean {
    const verdict = check && breaks(check, parts);
    if (check === undefined || verdict === undefined) return false;
    const key = [id, ...readBy(check, parts).map(({ path = "" }) => path)].join("\n");
    const isNew = verdict && !this.#refused.has(key);
    if (isNew) this.#refused.add(key);
    else if (verdict) this.#insisted.add(key);
    else this.#refused.delete(key);
    return isNew && !this.#insisted.has(key);
  }

  /** A step before its time, or another command in place of all steps of a skill for this request. Once a session and skill. */
  #judgeSteps(parts: readonly CheckedPart[], cwd: string): HookVerdict {
    const commands = parts.flatMap(({ on, text }) => (on === "run" ? [text] : []));
    const fitting = this.#options.procedures.filter(({ words }) => isAbout(words, this.#options.request()));
    // An older skill for the same request may no longer hold.
    const newest = fitting.filter(({ name }) => name === fitting[0]?.name && !this.#refused.has(name));
    const isOther = this.#isOther(newest, commands, cwd);
    const skipped = newest.find((procedure) => isOther || skipsSteps(procedure, commands, this.#ran));
    if (skipped === undefined) {
      for (const command of commands) this.#ran.add(stepOf(command));
      return {};
    }
    this.#refused.add(skipped.name);
    const steps = skipped.steps.map((step) => `\`${step}\``).join(", ");
    return { decision: "block", reason: `Earlier sessions for such a request ran:\n${steps}\n${ORDER}` };
  }

  /** True when steps are left, no command is one, and the user has just asked for what the skill is for. */
  #isOther(lists: readonly Procedure[], commands: readonly string[], cwd: string): boolean {
    const { request, isFirstTurn } = this.#options;
    const steps = lists.map((list) => list.steps.map(stepOf));
    const isOpen = isFirstTurn() && steps.every((list) => list.some((step) => !this.#ran.has(step)));
    if (!isOpen || commands.some((command) => steps.flat().includes(stepOf(command)))) return false;
    return lists.every((list) => names(list, request())) && commands.some((command) => !onlyReads(command, cwd));
  }

  #showUse(rule: Fact): void {
    if (this.#used.has(rule.id)) return;
    this.#used.add(rule.id);
    this.#options.onUse?.(`Used: ${lineOf(rule).slice(2)}`, rule.id);
  }
}

/** True for a call that does what the line says: it has the line's value, and breaks no check of it. */
export function follows({ check, value }: Pick<Fact, "check" | "value">, parts: readonly CheckedPart[]): boolean {
  if (check !== undefined) return "require" in check && breaks(check, parts) === false;
  return value !== undefined && value.length >= MIN_VALUE_CHARS && parts.some(({ text }) => holdsValue(text, value));
}

/** Records of the learnt skills, which their loop writes. */
export function skillRecords(home: string): string {
  return join(learningFolder(home), "distillation.json");
}

const recordsSchema = z.object({
  skills: z.array(
    z.object({
      name: z.string(),
      project: z.string(),
      state: z.string(),
      description: z.string(),
      applicableWhen: z.array(z.string()),
      bullets: z.array(z.object({ text: z.string(), kind: z.string().default("step") })),
      cites: z.array(z.string()).default([]),
      doubt: z.object({ byHarm: z.boolean().default(false) }).optional(),
      changedAt: z.number(),
    }),
  ),
});

export type Procedure = {
  readonly name: string;
  /** Words of the requests that it is for. */
  readonly words: ReadonlySet<string>;
  /** Commands in their order. */
  readonly steps: readonly string[];
};

/**
 * Procedures of the projects in these folders (absolute), newest first. A tenth of the sessions tries one again that did harm. A
 * check of all fields would take long.
 */
export async function readProcedures(
  home: string,
  roots: readonly string[],
  sessionId: string,
): Promise<readonly Procedure[]> {
  const stored = recordsSchema.safeParse(await readJsonFile(skillRecords(home))).data;
  const skills = stored?.skills.toSorted((one, other) => other.changedAt - one.changedAt) ?? [];
  const used = skills.filter(({ name, project, state, doubt }) => {
    const isTried = doubt === undefined || (doubt.byHarm && isInTenth(sessionId, name));
    return isTried && (state === "active" || state === "trial") && roots.some((root) => isWithin(root, project));
  });
  const lost = await Promise.all(used.map(({ cites, project }) => lostCitation(cites, project)));
  return used.flatMap(({ name, description, applicableWhen, bullets }, at) => {
    const words = wordsOf({ description, applicableWhen });
    const lists = bullets.flatMap(({ text, kind }) => (kind === "step" ? [spansIn(text)] : []));
    return lost[at] === undefined
      ? lists.filter((steps) => steps.length > 1).map((steps) => ({ name, words, steps }))
      : [];
  });
}

type Described = { readonly description: string; readonly applicableWhen: readonly string[] };

/** Words of the requests that a skill is for. */
export function wordsOf({ description, applicableWhen }: Described): ReadonlySet<string> {
  return new Set(contentWords([description, ...applicableWhen].join(" ")));
}

/** True for a request with half of a skill's words, or whose own words are the skill's by half. */
export function isAbout(words: ReadonlySet<string>, request: string): boolean {
  const own = new Set(contentWords(request));
  const shared = [...own].filter((word) => words.has(word)).length;
  return shared > 0 && shared >= Math.min(own.size, words.size) * MIN_SHARE;
}

/** True for a request with several of the skill's longer words: words of grammar are short in most languages. */
function names({ words }: Procedure, request: string): boolean {
  const isNaming = (word: string): boolean => word.length >= (word > "\u2e7f" ? 2 : 4);
  return [...new Set(contentWords(request))].filter((word) => words.has(word) && isNaming(word)).length >= MIN_NAMING;
}

/** True when these commands run a step while one before it did not run. `ran`: steps of the session. */
export function skipsSteps(
  { steps }: Pick<Procedure, "steps">,
  commands: readonly string[],
  ran: ReadonlySet<string>,
): boolean {
  const order = steps.map(stepOf);
  const run = new Set(ran);
  return commands.map(stepOf).some((step) => {
    const isEarly = order.slice(0, Math.max(0, order.indexOf(step))).some((before) => !run.has(before));
    run.add(step);
    return isEarly;
  });
}

/** Words before the program of a command, and the folder in which it is. */
const AROUND = /^(?:(?:sudo|env|nice|time|(?:ba)?sh|timeout\s+\S+|\w+=\S*)\s+)*(?:\.\/)?/;

/** Program of a command, without words before it. */
export function stepOf(command: string): string {
  return programOf(command.trim().replace(AROUND, ""));
}

function onlyReads(command: string, cwd: string): boolean {
  const scope = { cwd, roots: [cwd], home: homedir(), hermesHome: cwd, resolvePath: (path: string) => path };
  return judgeCommand(command, scope).readOnly;
}
