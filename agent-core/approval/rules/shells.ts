/** Shells: the code that they are given is walked like any other. */
import { ask, askForCode, type Call, type CommandEffect, opaque, type Program, reads } from "../command-effect.ts";
import { type Arg, isKnown, shown, UNKNOWN } from "../shell/arg.ts";

type Start = {
  /** Position of the first word that is no option. */
  readonly at: number;
  readonly code: boolean;
  readonly input: boolean;
  readonly effects: readonly CommandEffect[];
};

const shell: Program = (call) => {
  const { args, name } = call;
  if (args.length === 1 && args[0]?.text === "-V") return [];
  const start = readStart(name, args);
  const [first, ...rest] = args.slice(start.at);
  if (start.code) return [...start.effects, ...code(name, first, rest)];
  const open = first?.text.startsWith(UNKNOWN) ? [opaque(`Runs ${name} with words that are not known`)] : [];
  const effects = [...start.effects, ...open];
  return first && !start.input ? [...effects, ...script(name, first)] : [...effects, ...input(call)];
};

function readStart(name: string, args: readonly Arg[]): Start {
  const effects: CommandEffect[] = [];
  const letters: string[] = [];
  let at = 0;
  for (let text = args[0]?.text ?? ""; /^[-+]/.test(text); text = args[at]?.text ?? "") {
    at += 1;
    if (text === "--" || text === "-") break;
    if (/^--(?:rcfile|init-file)/.test(text)) effects.push(opaque(`Makes ${name} start with another script`));
    if (/^(?:--(?:rcfile|init-file)|[-+][oO])$/.test(text)) at += 1;
    else if (/^-[a-zA-Z]+$/.test(text)) letters.push(...text.slice(1));
    else if (text.includes(UNKNOWN))
      effects.push(opaque(`Runs ${name} with options that are not known before it runs`));
  }
  return { at, code: letters.includes("c"), input: letters.includes("s"), effects };
}

function code(name: string, text: Arg | undefined, rest: readonly Arg[]): readonly CommandEffect[] {
  if (!text || text.splits) return [opaque(`Runs ${name} code that is not known before it runs`)];
  // The first word after the code is the name that it knows itself by.
  const [zero, ...positional] = rest;
  const guess = text.guess === undefined ? [] : [{ kind: "shell", code: text.guess, raises: true } as const];
  return [{ kind: "shell", code: text.text, positional, ...(zero && { zero }) }, ...guess];
}

function script(name: string, file: Arg): readonly CommandEffect[] {
  if (file.content !== undefined) return [{ kind: "shell", code: file.content }];
  if (!isKnown(file)) return [opaque(`Runs a ${name} script that is not known before it runs (${shown(file)})`)];
  return [askForCode(`Runs the ${name} script ${shown(file)}`), ...reads([file])];
}

function input({ name, input: given }: Call): readonly CommandEffect[] {
  if (given.kind === "text") return [{ kind: "shell", code: given.text }];
  if (given.kind === "data") return [opaque(`Runs what ${given.from} prints as shell commands`)];
  return [ask(`Starts an interactive ${name}`)];
}

/** busybox and toybox: the first word is the program. */
const busybox: Program = ({ args }) => {
  const [first] = args;
  if (!first || first.text.startsWith("-")) return [];
  return [{ kind: "command", words: args }];
};

export const shells: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "rbash",
    "yash",
    "csh",
    "tcsh",
    "elvish",
    "nu",
    "xonsh",
    "rksh",
  ].map((name): [string, Program] => [name, shell]),
  ["busybox", busybox],
  ["toybox", busybox],
]);
