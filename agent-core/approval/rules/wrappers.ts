/** Rules for programs that run another program: wrappers, and xargs and its like, which run it for each word. */
import {
  ask,
  CHANGE,
  type CommandEffect,
  type Input,
  type Program,
  reads,
  readsSecrets,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, UNKNOWN, UNKNOWN_ARGS } from "../shell/arg.ts";
import { has, valuesOf } from "./options.ts";
import { type Rule, ruleTable, UNLISTED } from "./rule.ts";
import { sensitiveVariable } from "./sensitive-variables.ts";

/** Takes other rights, which leads out of every sandbox. */
const OTHER_USER: readonly CommandEffect[] = [
  ask("Runs with the rights of another user ({name})"),
  { kind: "reach", reach: "outside" },
];

/** `env` sets variables for the command; without a command it prints them. */
const env: Rule = {
  posix: true,
  long: "ignore-environment null unset= chdir= split-string= block-signal=? default-signal=? ignore-signal=? debug argv0=",
  options: { "P:": ask("Looks for programs in other folders") },
  short: "i0u:C:vS:",
  unlisted: UNLISTED,
  effects: (_, options) => [
    ...valuesOf(options, "S", "split-string").map((arg): CommandEffect => ({ kind: "shell", code: `env ${arg.text}` })),
    ...afterAssignments(options.operands, valuesOf(options, "C", "chdir").at(-1)),
  ],
};

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Variables that are set before the command, and the command. */
function afterAssignments(operands: readonly Arg[], cwd?: Arg): readonly CommandEffect[] {
  const at = operands.findIndex(({ text }) => text !== "-" && !ASSIGNMENT.test(text));
  const effects = operands.filter(({ text }) => ASSIGNMENT.test(text)).flatMap(environmentEffect);
  if (at < 0) return effects;
  const variables = operands.slice(0, at).filter(({ text }) => ASSIGNMENT.test(text));
  return [...effects, { kind: "command", words: operands.slice(at), variables, ...(cwd && { cwd }) }];
}

function environmentEffect(arg: Arg): readonly CommandEffect[] {
  const equals = arg.text.indexOf("=");
  const value = afterPrefix(arg, equals + 1);
  const reason = sensitiveVariable(arg.text.slice(0, equals), value);
  return reason === undefined ? [] : [ask(reason), ...readsSecrets([value])];
}

function privilege(short: string, long = ""): Rule {
  return {
    posix: true,
    short,
    ...(long !== "" && { long }),
    unlisted: UNLISTED,
    does: OTHER_USER,
    effects: (_, options) => [
      ...(has(options, "e", "edit") ? writes(options.operands) : []),
      ...afterAssignments(options.operands),
    ],
  };
}

/** More words than this count as unknown. */
const MAX_WORDS = 200;

const xargs: Rule = {
  posix: true,
  short: "0a:d:E:e::I:i::L:l::n:oP:prs:txJ:R:S:",
  long: "null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty max-procs= interactive no-run-if-empty max-chars= verbose exit show-limits process-slot-var=",
  unlisted: UNLISTED,
  effects: ({ input }, options) => {
    const files = valuesOf(options, "a", "arg-file");
    const delimiter = valuesOf(options, "d", "delimiter")[0]?.text ?? (has(options, "0", "null") ? "\0" : undefined);
    const mark = replaceMark(valuesOf(options, "I", "i", "replace", "J"));
    // With a mark each line is one word.
    const added =
      files.length > 0 ? [UNKNOWN_ARGS] : wordsOf(input, delimiter ?? (mark === undefined ? undefined : "\n"));
    const command = options.operands.length > 0 ? options.operands : [knownArg("echo")];
    const lines = mark === undefined ? [[...command, ...added]] : added.map((word) => replaced(command, mark, word));
    return [
      ...reads(files),
      ...lines.map((words): CommandEffect => ({ kind: "command", words, input: { kind: "none" } })),
    ];
  },
};

function wordsOf(input: Input, delimiter: string | undefined): readonly Arg[] {
  if (input.kind !== "text" || input.text.includes(UNKNOWN)) return [UNKNOWN_ARGS];
  const pieces = delimiter === undefined ? input.text.split(/\s+/) : input.text.split(delimiter.replace(/^\\n$/, "\n"));
  const words = pieces.map((piece) => piece.replace(/["'\\]/g, "")).filter((piece) => piece !== "");
  return words.length > MAX_WORDS ? [UNKNOWN_ARGS] : words.map((word) => knownArg(word));
}

function replaceMark(values: readonly Arg[]): string | undefined {
  const [value] = values;
  return value && (value.text === "" ? "{}" : value.text);
}

function replaced(command: readonly Arg[], mark: string, word: Arg): readonly Arg[] {
  const value = isKnown(word) ? word.text : UNKNOWN;
  return command.map((part) => {
    if (!part.text.includes(mark)) return part;
    return { text: part.text.replaceAll(mark, () => value), glob: false, splits: false };
  });
}

/** watch joins its words and hands them to a shell. */
const watch: Rule = {
  posix: true,
  short: "bcCd::egn:pq:rtxhv",
  long: "beep color no-color differences=? errexit chgexit interval= precise equexit= no-rerun no-title no-wrap exec",
  unlisted: UNLISTED,
  effects: (_, options) => {
    if (has(options, "x", "exec")) return [{ kind: "command", words: options.operands }];
    return [{ kind: "shell", code: options.operands.map(({ text }) => text).join(" ") }];
  },
};

export const wrappers: ReadonlyMap<string, Program> = ruleTable({
  env,
  sudo: privilege(
    "AbBC:D:EeKkg:Hh:iklNnPp:R:r:SsT:t:U:u:Vv",
    "askpass background bell close-from= chdir= preserve-env=? edit group= help set-home host= login list non-interactive preserve-groups prompt= chroot= remove-timestamp reset-timestamp role= stdin shell type= command-timeout= other-user= user= validate version",
  ),
  doas: privilege("C:Lnsu:a:"),
  pkexec: privilege("u:", "user= disable-internal-agent keep-cwd"),
  run0: privilege("u:g:D:", "user= group= chdir= unit= property= setenv="),
  "su runuser": {
    short: "ls:mpPg:",
    long: "login shell= group=",
    does: OTHER_USER,
    options: { "c: command=": "shell" },
  },
  nice: { short: "n:0123456789", long: "adjustment=", wraps: 0 },
  "nohup caffeinate eatmydata unbuffer": { short: "disumegv", wraps: 0, does: CHANGE },
  setsid: { short: "cfw", long: "ctty fork wait", wraps: 0 },
  time: {
    short: "apqvf:V",
    long: "append portability quiet verbose format=",
    options: { "o: output=": "write" },
    wraps: 0,
  },
  "timeout gtimeout": { short: "fk:s:vp", long: "foreground kill-after= preserve-status signal= verbose", wraps: 1 },
  stdbuf: { short: "i:o:e:", long: "input= output= error=", wraps: 0 },
  "xvfb-run": { short: "ahn:s:", long: "auto-servernum server-args= server-num=", wraps: 0 },
  "nyc c8 bear": { open: true, short: "r:n:x:t:", long: "reporter= include= exclude=", does: CHANGE, wraps: 0 },
  "cross-env": { posix: true, unlisted: UNLISTED, effects: (_, { operands }) => afterAssignments(operands) },
  "xargs gxargs": xargs,
  watch,
});
