/**
 * Checks of a session's calls against what was learnt: rules and values of facts, and steps of learnt skills in the order in
 * which earlier sessions ran them. A model may have read neither.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { learningFolder } from "../config/home.ts";
import { readJsonFile } from "../config/home-file.ts";
import { HOOK_OF_RULES, type Hook, type HookVerdict } from "../hooks/hook.ts";
import { lostCitation } from "../memory/cited-file.ts";
import { contentWords, holdsValue } from "../memory/statement.ts";
import { type Fact, isWithin, lineOf } from "./facts.ts";
import { breaks, type CheckedPart, partsOf, programOf, readBy } from "./rule-checks.ts";

const MEND = "Change the call so that it does not. If the user asks for this now, repeat it.";
const ORDER = "Run them in this order. If they do not fit here, repeat the call.";
const INSTEAD = "Run these instead. If they do not fit here, repeat the call.";
const HOOK_MS = 1_000;
/** Shorter values stand in many calls by chance. Characters. */
const MIN_VALUE_CHARS = 3;
/** Share of words from which a skill is about a request. */
const MIN_SHARE = 0.5;

type CheckOptions = {
  readonly facts: readonly Fact[];
  readonly procedures: readonly Procedure[];
  /** First message of the session. */
  readonly request: () => string;
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
    const run: Hook["run"] = async ({ tool_name: tool, tool_input: input, cwd }) =>
      Promise.resolve(tool === "skill_view" ? this.#judgeSkill(input) : this.#judge(input, cwd));
    const hook = { event: "pre_tool_call", label: HOOK_OF_RULES, origin: "home", failClosed: false } as const;
    const isNeeded = this.#rules.length > 0 || options.procedures.length > 0;
    this.hooks = isNeeded ? [{ ...hook, timeoutMs: HOOK_MS, run }] : [];
  }

  #judge(input: unknown, cwd: string): HookVerdict {
    const parts = partsOf(input, cwd, (path) => !existsSync(path));
    for (const rule of this.#rules) if (follows(rule, parts)) this.#showUse(rule);
    const broken = this.#rules.filter((rule) => this.#isRefused(rule, parts));
    if (broken.length === 0) return this.#judgeSteps(parts);
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

  /** A command before its time: a skill for this request lists others first. Once a session and skill. */
  #judgeSteps(parts: readonly CheckedPart[]): HookVerdict {
    const commands = parts.flatMap(({ on, text }) => (on === "run" ? [text] : []));
    const fitting = this.#options.procedures.filter(({ words }) => isAbout(words, this.#options.request()));
    const skipped = fitting.find((procedure) => {
      // An older skill for the same request may no longer hold.
      const isNew = procedure.name === fitting[0]?.name && !this.#refused.has(procedure.name);
      return isNew && commands.some((command) => skipsSteps(procedure, command, this.#ran));
    });
    if (skipped === undefined) {
      for (const command of commands) this.#ran.add(programOf(command));
      return {};
    }
    this.#refused.add(skipped.name);
    const steps = skipped.steps.map((step) => `\`${step}\``).join(", ");
    return { decision: "block", reason: `Earlier sessions ran this in another order:\n${steps}\n${ORDER}` };
  }

  /** A skill with which each session of such a request had a failure, once a session. */
  #judgeSkill(input: unknown): HookVerdict {
    const { name = "" } = viewSchema.safeParse(input).data ?? {};
    const better = this.#options.procedures.find(({ words, rivals = [] }) => {
      return rivals.includes(name) && isAbout(words, this.#options.request());
    });
    if (better === undefined || this.#refused.has(name)) return {};
    this.#refused.add(name);
    const steps = better.steps.map((step) => `\`${step}\``).join(", ");
    return { decision: "block", reason: `Each session with ${name} had a failure. Others ran:\n${steps}\n${INSTEAD}` };
  }

  #showUse(rule: Fact): void {
    if (this.#used.has(rule.id)) return;
    this.#used.add(rule.id);
    this.#options.onUse?.(`Used: ${lineOf(rule).slice(2)}`, rule.id);
  }
}

const viewSchema = z.object({ name: z.string() });

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
      bullets: z.array(z.object({ text: z.string() })),
      cites: z.array(z.string()).default([]),
      rivals: z.array(z.string()).default([]),
      doubt: z.unknown().optional(),
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
  /** Skills of others for the same requests, with which each session had a failure. */
  readonly rivals?: readonly string[];
};

/** Procedures of the projects in these folders (absolute), newest first. A check of all fields would take long. */
export async function readProcedures(home: string, roots: readonly string[]): Promise<readonly Procedure[]> {
  const stored = recordsSchema.safeParse(await readJsonFile(skillRecords(home))).data;
  const skills = stored?.skills.toSorted((one, other) => other.changedAt - one.changedAt) ?? [];
  const used = skills.filter(({ project, state, doubt }) => {
    const isOffered = (state === "active" || state === "trial") && doubt === undefined;
    return isOffered && roots.some((root) => isWithin(root, project));
  });
  const lost = await Promise.all(used.map(({ cites, project }) => lostCitation(cites, project)));
  return used.flatMap(({ name, description, applicableWhen, bullets, rivals }, at) => {
    const words = wordsOf({ description, applicableWhen });
    const lists = bullets.map(({ text }) => [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span));
    return lost[at] === undefined
      ? lists.filter((steps) => steps.length > 1).map((steps) => ({ name, words, steps, rivals }))
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

/** True for a command that is a later step, while an earlier one did not run. `ran`: programs of the session. */
export function skipsSteps({ steps }: Pick<Procedure, "steps">, command: string, ran: ReadonlySet<string>): boolean {
  const programs = steps.map(programOf);
  const at = programs.indexOf(programOf(command));
  return at > 0 && programs.slice(0, at).some((program) => !ran.has(program));
}
