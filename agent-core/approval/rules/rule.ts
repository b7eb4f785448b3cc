/** Rules as data: one record says what a program's options, operands and verbs do. */
import {
  askForCode,
  type Call,
  type CommandEffect,
  deletes,
  opaque,
  type Program,
  reads,
  writes,
} from "../command-effect.ts";
import { type Arg, shown, UNKNOWN } from "../shell/arg.ts";
import { type Grammar, type Options, readOptions } from "./options.ts";

/**
 * Meaning of an option: its value is a file that is read or written, or shell code; or fixed effects. A reason may name
 * `{name}` (program and verb), `{option}`, `{value}`, `{operands}` and `{line}` (the first words of the call).
 */
type OptionEffect = "read" | "write" | "shell" | CommandEffect | readonly CommandEffect[];

type PathsEffects = (operands: readonly Arg[]) => readonly CommandEffect[];

/** Meaning of the operands. `in-out`: the first is read, the others are written; a pattern may stand for both. */
const OPERANDS: Readonly<Record<"read" | "write" | "delete" | "in-out", PathsEffects>> = {
  read: (operands) => reads(operands),
  write: writes,
  delete: (operands) => deletes(operands),
  "in-out": ([first, ...more]) => [...reads(first ? [first] : []), ...writes(first?.glob ? [first, ...more] : more)],
};

export type Rule = {
  /** Letters of the options that have no entry in `options`; a colon marks a value. */
  readonly short?: string;
  /** Long names of the options that have no entry in `options`, without dashes; `name=` takes a value. */
  readonly long?: string;
  readonly posix?: boolean;
  /** Words with a dash that still count as operands. */
  readonly operandLike?: RegExp;
  /** Every option that the rule does not list is a harmless flag. */
  readonly open?: boolean;
  /** Effect of an option that the rule does not list. By default it asks unless the rule is `open` or asks anyway. */
  readonly unlisted?: CommandEffect | readonly [];
  /** Option names, separated by spaces → their meaning: `{ "o: output=": "write" }`. */
  readonly options?: Readonly<Record<string, OptionEffect>>;
  readonly operands?: keyof typeof OPERANDS;
  readonly does?: CommandEffect | readonly CommandEffect[];
  /** The operands are a command, after this many words of the program's own (a duration, a lock file). */
  readonly wraps?: number;
  readonly effects?: (call: Call, options: Options) => readonly CommandEffect[];
};

/** An option that is not listed may write a file or run a program. */
const UNLISTED_OPTION = askForCode("Runs {name} with {option}, an option that is not known");

/** An option that a wrapper does not list could swallow the command word. */
const UNLISTED = opaque("Runs {name} with {option}, an option that is not known");

/** The words of a call with a space between. A blank inside a word is `␣`, which is neither a blank nor part of a name. */
export function lineOf(args: readonly Arg[]): string {
  return args.map(({ text }) => text.replace(/\s/g, "␣")).join(" ");
}

/** Effects of the calls whose line matches. */
type Row = readonly [line: RegExp, does: CommandEffect | readonly CommandEffect[] | Program];

/** A program that is told by its line: the first row that matches counts. */
export function byLine(...rows: readonly Row[]): Program {
  return (call) => {
    const line = lineOf(call.args);
    const does = rows.find(([pattern]) => pattern.test(line))?.[1];
    if (typeof does === "function") return does(call);
    return listOf(does).map((effect) => fill(effect, { call, operands: call.args }));
  };
}

type Compiled = {
  readonly rule: Rule;
  readonly grammar: Grammar;
  readonly unlisted: readonly CommandEffect[];
  readonly options: readonly (readonly [names: readonly string[], effect: OptionEffect])[];
};

export function programOf(rule: Rule): Program {
  let compiled: Compiled | undefined;
  return (call) => {
    compiled ??= compile(rule);
    return effectsOf(call, compiled);
  };
}

/** Programs by name; a key may hold several names, separated by spaces. */
export function ruleTable(rules: Readonly<Record<string, Rule | Program>>): ReadonlyMap<string, Program> {
  const table = new Map<string, Program>();
  for (const [names, rule] of Object.entries(rules)) {
    const program = typeof rule === "function" ? rule : programOf(rule);
    for (const name of names.split(" ")) table.set(name, program);
  }
  return table;
}

function compile(rule: Rule): Compiled {
  const options = Object.entries(rule.options ?? {}).map(([names, effect]) => [names.split(" "), effect] as const);
  const listed = options.flatMap(([names]) => names);
  const short = listed.filter((name) => /^[^-]:{0,2}$/.test(name)).join("");
  const long = listed.filter((name) => !/^[^-]:{0,2}$/.test(name));
  const asks = listOf(rule.does).some(({ kind }) => kind === "finding");
  const byDefault = rule.wraps !== undefined || rule.posix ? UNLISTED : UNLISTED_OPTION;
  return {
    rule,
    unlisted: listOf(rule.unlisted ?? (rule.open === true || asks ? [] : byDefault)),
    grammar: {
      short: short + (rule.short ?? ""),
      long: [...long, ...(rule.long?.split(" ") ?? [])],
      posix: rule.posix === true || rule.wraps !== undefined,
      open: rule.open === true || asks,
      ...(rule.operandLike && { operandLike: rule.operandLike }),
    },
    options: options.map(([names, effect]) => [names.map(plainName), effect]),
  };
}

function plainName(name: string): string {
  return name.replace(/=\??$|(?<=^.):{1,2}$/, "");
}

function effectsOf(call: Call, { rule, grammar, unlisted, options: meanings }: Compiled) {
  const options = readOptions(call.args, grammar);
  const filled = (effects: readonly CommandEffect[], option?: Arg, value?: Arg) =>
    effects.map((effect) => fill(effect, { call, operands: options.operands, option, value }));
  const effects: CommandEffect[] = [];
  for (const [names, meaning] of meanings) effects.push(...optionEffects(names, meaning, options, filled));
  // Such an option may change what the operands mean.
  for (const arg of options.strange.filter((word) => !isPath(word, rule)))
    effects.push(...filled(unlisted, arg), ...reads(arg.text.startsWith("-") ? options.operands : [], "below"));
  effects.push(...(rule.operands ? OPERANDS[rule.operands](options.operands) : []), ...filled(listOf(rule.does)));
  if (rule.effects) effects.push(...rule.effects(call, options));
  if (rule.wraps !== undefined && options.operands.length > rule.wraps)
    effects.push({ kind: "command", words: options.operands.slice(rule.wraps) });
  return effects;
}

/** An unknown word of a rule that judges every operand is judged as one of them. */
function isPath(arg: Arg, { effects, operands }: Rule): boolean {
  return arg.text.startsWith(UNKNOWN) && !arg.splits && (effects !== undefined || operands !== undefined);
}

type Filler = (effects: readonly CommandEffect[], option?: Arg, value?: Arg) => readonly CommandEffect[];

function optionEffects(names: readonly string[], meaning: OptionEffect, options: Options, filled: Filler) {
  const name = names.find((each) => options.given.has(each));
  if (name === undefined) return [];
  const values = names.flatMap((each) => options.given.get(each) ?? []);
  if (meaning === "read") return reads(values);
  if (meaning === "write") return writes(values);
  if (meaning === "shell") return values.map(({ text }): CommandEffect => ({ kind: "shell", code: text }));
  return filled(listOf(meaning), options.written.get(name), values[0]);
}

function listOf(effects: CommandEffect | readonly CommandEffect[] | undefined): readonly CommandEffect[] {
  if (effects === undefined) return [];
  return "kind" in effects ? [effects] : effects;
}

type Filling = {
  readonly call: Call;
  readonly operands: readonly Arg[];
  readonly option?: Arg | undefined;
  readonly value?: Arg | undefined;
};

/** The effect with the call's own words in its reason. */
function fill(effect: CommandEffect, { call, operands, option, value }: Filling): CommandEffect {
  if (!("reason" in effect) || !effect.reason.includes("{")) return effect;
  const words: Readonly<Record<string, string>> = {
    name: call.name,
    option: shown(option ?? ""),
    value: shown(value ?? ""),
    operands: operands.slice(0, 4).map(shown).join(" "),
    line: [call.name, ...call.args.slice(0, 4).map(shown)].join(" "),
  };
  const reason = effect.reason.replace(/\{(\w+)\}/g, (whole, word: string) => words[word] ?? whole);
  return { ...effect, reason };
}
