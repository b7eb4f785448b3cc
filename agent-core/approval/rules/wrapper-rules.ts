/** Rules for programs that run another program: wrappers, and xargs and its like, which run it for each word. */

import { quote } from "../../host/terminals/preamble.ts";
import {
  ask,
  CHANGE,
  type CommandEffect,
  type Input,
  opaque,
  type Program,
  reads,
  readsSecrets,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN, UNKNOWN_ARGS } from "../shell/arg.ts";
import { MAX_CODE } from "../shell/recorder.ts";
import { has, valuesOf } from "./options.ts";
import { type Rule, ruleTable, UNLISTED } from "./rule.ts";
import { sensitiveVariable } from "./sensitive-variables.ts";

const OTHER_USER = ask("Runs with the rights of another user ({name})");

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

/** More starts than this are only judged for catastrophes. */
const MAX_STARTS = 8;

/** Each word may begin a command, which may only escalate. */
export function mayRun(args: readonly Arg[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  const texts = args.map(({ text }) => text.replace(/^--?[\w-]+=/, ""));
  // With more starts than one verdict reads, the walk gives up and asks.
  for (let at = 0, length = 0; at < texts.length && length <= MAX_CODE; at += 1) {
    const words = texts.slice(at).map((text) => (/^[\w./=:@%+,~-]+$/.test(text) ? text : quote(text)));
    const text = texts[at] ?? "";
    for (const code of /\s/.test(text) ? [words.join(" "), text] : [words.join(" ")]) {
      length += code.length;
      effects.push({ kind: "shell", code, escalateOnly: true });
    }
  }
  return effects;
}

/** Runs a command behind options that are not read: each word may begin it, or be its code. */
const anyWord: Program = ({ name, args, input }) => {
  const line = args.slice(0, 4).map(shown).join(" ");
  const starts = [...args.keys()].filter((at) => /^[a-z][\w.+-]*$/.test(args[at]?.text ?? "")).slice(0, MAX_STARTS);
  const codes = args.filter((arg) => isKnown(arg) && /\s/.test(arg.text)).slice(0, MAX_STARTS);
  return [
    opaque(`Runs another program through ${name} (${line})`),
    ...mayRun(args),
    ...starts.map((at): CommandEffect => ({ kind: "command", words: args.slice(at) })),
    ...codes.map(({ text }): CommandEffect => ({ kind: "shell", code: text })),
    ...(input.kind === "text" ? [{ kind: "shell", code: input.text, escalateOnly: true } as const] : []),
  ];
};

function otherRights(reason: string): Program {
  return (call) => [ask(`${reason} (${call.name})`), ...anyWord(call)];
}

export const wrappers: ReadonlyMap<string, Program> = ruleTable({
  env,
  sudo: privilege(
    "AbBC:D:EeKkg:Hh:iklNnPp:R:r:SsT:t:U:u:Vv",
    "askpass background bell close-from= chdir= preserve-env=? edit group= help set-home host= login list non-interactive preserve-groups prompt= chroot= remove-timestamp reset-timestamp role= stdin shell type= command-timeout= other-user= user= validate version",
  ),
  doas: privilege("C:Lnsu:a:"),
  pkexec: privilege("u:", "user= disable-internal-agent keep-cwd"),
  run0: privilege("u:g:D:", "user= group= chdir= unit= property= setenv="),
  nice: { short: "n:0123456789", long: "adjustment=", wraps: 0 },
  ionice: { short: "c:n:p:P:u:t", long: "class= classdata= pid= pgid= uid= ignore", wraps: 0 },
  nohup: { wraps: 0, does: CHANGE },
  setsid: { short: "cfw", long: "ctty fork wait", wraps: 0 },
  time: {
    short: "apqvf:V",
    long: "append portability quiet verbose format=",
    options: { "o: output=": "write" },
    wraps: 0,
  },
  "timeout gtimeout": {
    short: "fk:s:vp",
    long: "foreground kill-after= preserve-status signal= verbose",
    wraps: 1,
    ownWord: /^(?:[\d.]+[smhd]?|inf(?:inity)?)$/i,
  },
  taskset: { short: "apc", long: "all-tasks pid cpu-list", wraps: 1, ownWord: /^(?:0x)?[\da-f,:-]+$/i },
  stdbuf: { short: "i:o:e:", long: "input= output= error=", wraps: 0 },
  "caffeinate chronic dumb-init tini eatmydata unbuffer": { short: "disumegv", wraps: 0 },
  "xvfb-run": { short: "ahn:s:", long: "auto-servernum server-args= server-num=", wraps: 0 },
  "cross-env": { posix: true, unlisted: UNLISTED, effects: (_, { operands }) => afterAssignments(operands) },
  dotenv: { options: { "e:": "read" }, wraps: 0 },
  "su runuser sg gosu su-exec": otherRights("Runs with the rights of another user or group"),
  "chroot unshare nsenter proot bwrap systemd-run": otherRights("Runs in other namespaces or another root folder"),
  "at batch": otherRights("Runs commands at a later time"),
  "torsocks proxychains proxychains4": otherRights("Runs through another network"),
  "chrt setarch linux32 linux64 i386 strace ltrace valgrind perf fakeroot cpulimit prlimit rlwrap": anyWord,
  "systemd-inhibit dbus-run-session ts script flock parallel py-spy": anyWord,
  "xargs gxargs": xargs,
  watch,
});
