/** Shells: the code that they are given is walked like any other. */
import { ask, type Call, type CommandEffect, opaque, type Program, reads } from "../command-effect.ts";
import { type Arg, isKnown, shown, UNKNOWN } from "../shell/arg.ts";

const shell: Program = (call) => {
  const { args, name } = call;
  if (args.length === 1 && args[0]?.text === "-V") return [];
  const effects: CommandEffect[] = [];
  let at = 0;
  let takesCode = false;
  let takesInput = false;
  for (; at < args.length; at += 1) {
    const { text } = args[at] ?? { text: "" };
    if (text === "--" || text === "-") {
      at += 1;
      break;
    }
    if (!/^[-+]/.test(text)) break;
    if (/^--(?:rcfile|init-file)$/.test(text)) {
      effects.push(opaque(`Makes ${name} start with another script`));
      at += 1;
    } else if (/^[-+]o$|^[-+]O$/.test(text)) at += 1;
    else if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(text)) takesCode = true;
    else if (/^-[a-zA-Z]*s[a-zA-Z]*$/.test(text)) takesInput = true;
    else if (text.includes(UNKNOWN))
      effects.push(opaque(`Runs ${name} with options that are not known before it runs`));
  }
  const [first, ...rest] = args.slice(at);
  if (first?.text.startsWith(UNKNOWN) && !takesCode)
    effects.push(opaque(`Runs ${name} with words that are not known before it runs`));
  if (takesCode) return [...effects, ...code(name, first, rest)];
  if (first && !takesInput) return [...effects, ...script(name, first)];
  return [...effects, ...input(call)];
};

function code(name: string, text: Arg | undefined, rest: readonly Arg[]): readonly CommandEffect[] {
  if (!text || text.splits) return [opaque(`Runs ${name} code that is not known before it runs`)];
  // The first word after the code is the name that it knows itself by.
  const [, ...positional] = rest;
  const guess = text.guess === undefined ? [] : [{ kind: "shell", code: text.guess, raises: true } as const];
  return [{ kind: "shell", code: text.text, positional }, ...guess];
}

function script(name: string, file: Arg): readonly CommandEffect[] {
  if (file.content !== undefined) return [{ kind: "shell", code: file.content }];
  if (!isKnown(file)) return [opaque(`Runs a ${name} script that is not known before it runs (${shown(file)})`)];
  return [ask(`Runs the ${name} script ${shown(file)}`), ...reads([file])];
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
