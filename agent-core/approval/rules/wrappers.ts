/** Rules for programs that run another program: wrappers, and xargs and its like, which run it for each word. */
import { ask, CHANGE, type CommandEffect, OUTSIDE, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, knownArg, UNKNOWN, UNKNOWN_ARG, UNKNOWN_ARGS } from "../shell/arg.ts";
import { has, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";

/** Takes other rights, which leads out of every sandbox. */
const OTHER_USER: readonly CommandEffect[] = [ask("Runs with the rights of another user ({name})"), OUTSIDE];

/** `env` sets variables for the command; without a command it prints them. */
const env: Rule = {
  posix: true,
  long: "ignore-environment null unset= chdir= split-string= block-signal=? default-signal=? ignore-signal=? debug argv0=",
  options: { "P:": ask("Looks for programs in other folders") },
  short: "i0u:C:vS:",
  effects: (_, options) => [
    ...valuesOf(options, "S", "split-string").map((arg): CommandEffect => ({ kind: "shell", code: `env ${arg.text}` })),
    ...afterAssignments(options.operands, valuesOf(options, "C", "chdir").at(-1)),
  ],
};

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Variables that are set before the command, and the command. */
function afterAssignments(operands: readonly Arg[], cwd?: Arg): readonly CommandEffect[] {
  const at = operands.findIndex(({ text }) => text !== "-" && !ASSIGNMENT.test(text));
  if (at < 0) return [];
  const variables = operands.slice(0, at).filter(({ text }) => ASSIGNMENT.test(text));
  return [{ kind: "command", words: operands.slice(at), variables, ...(cwd && { cwd }) }];
}

function privilege(short: string, long = ""): Rule {
  return {
    posix: true,
    short,
    ...(long !== "" && { long }),
    does: OTHER_USER,
    effects: (_, options) => [
      ...(has(options, "e", "edit") ? writes(options.operands) : []),
      ...afterAssignments(options.operands),
    ],
  };
}

/** The words of its input are not known. With a mark, each is a part of one word. */
const xargs: Rule = {
  posix: true,
  short: "0a:d:E:e::I:i::L:l::n:oP:prs:txJ:R:S:",
  long: "null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty max-procs= interactive no-run-if-empty max-chars= verbose exit show-limits process-slot-var=",
  effects: (_, options) => {
    const [mark] = valuesOf(options, "I", "i", "replace", "J").map(({ text }) => text || "{}");
    const command = options.operands.length > 0 ? options.operands : [knownArg("echo")];
    const words =
      mark === undefined
        ? [...command, UNKNOWN_ARGS]
        : command.map((word) =>
            word.text.includes(mark) ? { ...UNKNOWN_ARG, text: word.text.replaceAll(mark, UNKNOWN) } : word,
          );
    return [...reads(valuesOf(options, "a", "arg-file")), { kind: "command", words, input: { kind: "none" } }];
  },
};

const watch: Rule = {
  posix: true,
  short: "bcCd::egn:pq:rtxhv",
  long: "beep color no-color differences=? errexit chgexit interval= precise equexit= no-rerun no-title no-wrap exec",
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
  /** On macOS it starts a program; on Linux it takes no word. */
  arch: { wraps: 0 },
  stdbuf: { short: "i:o:e:", long: "input= output= error=", wraps: 0 },
  "nyc c8 bear": { short: "r:n:x:t:", long: "reporter= include= exclude= all check-coverage", does: CHANGE, wraps: 0 },
  "cross-env": { posix: true, effects: (_, { operands }) => afterAssignments(operands) },
  "xargs gxargs": xargs,
  watch,
});
