/** Rules for programs that run another program: wrappers, and xargs and its like, which run it for each word. */
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
import { has, valuesOf } from "./options.ts";
import { programOf, type Rule, ruleTable, UNLISTED } from "./rule.ts";
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

/** `su -c code`: its operands and options mix; runuser takes a command too. */
const substitute: Rule = {
  short: "flmPps:g:G:u:T:w:",
  long: "fast login preserve-environment pty shell= group= user= supp-group=",
  options: { "c: command= session-command=": "shell" },
  closed: true,
  does: ask("Runs with the rights of another user or group ({name})"),
  effects: (_, options) =>
    has(options, "u", "user") && options.operands.length > 0 ? [{ kind: "command", words: options.operands }] : [],
};

const script: Program = ({ args }) => {
  const at = args.findIndex(({ text }) => /^(?:-\w*c|--command)$/.test(text));
  const code = at >= 0 ? args[at + 1]?.text : args.find(({ text }) => text.startsWith("--command="))?.text.slice(10);
  const files = args.filter(({ text }, index) => !text.startsWith("-") && (at < 0 || index !== at + 1));
  return [
    ...writes(files.length > 0 ? files : [knownArg("typescript")]),
    ...(code === undefined ? [ask("Starts an interactive shell")] : [{ kind: "shell", code } as const]),
  ];
};

const flockRule = programOf({
  short: "snuexoFw:E:v",
  long: "shared exclusive nonblock nb wait= timeout= unlock close no-fork conflict-exit-code= verbose",
  wraps: 1,
  effects: (_, { operands }) => writes(operands.slice(0, 1).filter(({ text }) => !/^\d+$/.test(text))),
});
const flock: Program = (call) => {
  const { args } = call;
  const at = args.findIndex(({ text }) => /^(?:-c|--command)$/.test(text));
  if (at < 0) return flockRule(call);
  return [...writes(args.slice(Math.max(at - 1, 0), at)), { kind: "shell", code: args[at + 1]?.text ?? "" }];
};

/** gosu and su-exec: the user first, then the command. */
const asUser: Program = ({ name, args }) => [
  ask(`Runs with the rights of ${args[0] ? shown(args[0]) : "another user"} (${name})`),
  { kind: "command", words: args.slice(1) },
];

const ARCHITECTURE =
  /^(?:i[3-6]86|x86_64|athlon|linux(?:32|64)|uname26|(?:ppc|s390|mips|arm|aarch|riscv|sparc|alpha|ia|parisc|loongarch|la)\w*)$/;
const inArchitecture = programOf({
  short: "vRFZLXBIS3T",
  long: "uname-2.6 addr-no-randomize 32bit verbose",
  wraps: 0,
});
/** The architecture comes first, or not at all. */
const setarch: Program = (call) => {
  const [first] = call.args;
  const isNamed = first !== undefined && (!isKnown(first) || ARCHITECTURE.test(first.text));
  return inArchitecture({ ...call, args: isNamed ? call.args.slice(1) : call.args });
};

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

/** GNU parallel hands the whole line to a shell, with its marks replaced. */
const parallel: Rule = {
  posix: true,
  short: "0j:kqtvuXmn:N:L:I:a:C:d:P:",
  long: "jobs= keep-order quote dry-run verbose ungroup line-buffer bar progress eta halt= retries= timeout= delay= max-args= colsep= arg-file= null no-run-if-empty tag group will-cite pipe nice= load=",
  options: { "joblog= results=": "write" },
  unlisted: UNLISTED,
  effects: ({ args, input }, options) => {
    const texts = options.operands.map(({ text }) => text);
    const at = texts.findIndex((text) => /^:{3,4}\+?$/.test(text));
    const command = at < 0 ? texts : texts.slice(0, at);
    const values =
      at < 0
        ? wordsOf(input, "\n").map(({ text }) => text)
        : texts.slice(at + 1).filter((text) => !text.startsWith(":::"));
    const remote = args.some(({ text }) => /^(?:-S|--sshlogin|--slf|--profile|-J)/.test(text));
    const line = command.join(" ");
    const fill = (value: string) =>
      /\{[^}\s]*\}/.test(line) ? line.replace(/\{[^}\s]*\}/g, () => value) : `${line} ${value}`.trim();
    const open =
      values.length === 0 ||
      values.length > 20 ||
      values.some((value) => value.includes(UNKNOWN)) ||
      texts[at] === "::::";
    // A word from outside stays one word: parallel quotes what it fills in.
    const codes = open
      ? [fill('"$hermes_unknown"')]
      : values.map((value) => fill(command.length === 0 ? value : `'${value.replaceAll("'", "'\\''")}'`));
    if (command.length === 0 && open) return [opaque("Runs its input as shell commands (parallel)")];
    return [
      CHANGE,
      ...(remote ? [ask("Runs commands on other machines")] : []),
      ...codes.map((code): CommandEffect => ({ kind: "shell", code })),
    ];
  },
};

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
  "su runuser sg": substitute,
  "gosu su-exec": asUser,
  nice: { short: "n:0123456789", long: "adjustment=", wraps: 0 },
  ionice: { short: "c:n:p:P:u:t", long: "class= classdata= pid= pgid= uid= ignore", wraps: 0 },
  chrt: {
    short: "abdfiormpRT:P:D:v",
    long: "all-tasks batch deadline fifo idle other rr max pid reset-on-fork verbose",
    wraps: 1,
    ownWord: /^\d+$/,
  },
  taskset: { short: "apc", long: "all-tasks pid cpu-list", wraps: 1, ownWord: /^(?:0x)?[\da-f,:-]+$/i },
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
  stdbuf: { short: "i:o:e:", long: "input= output= error=", wraps: 0 },
  unbuffer: { short: "p", wraps: 0 },
  caffeinate: { short: "disumt:w:", wraps: 0 },
  setarch,
  linux32: { short: "vRFZLXBIS3T", wraps: 0 },
  strace: {
    short: "acdfFhiknqrtTvVxyYCDwzZe:p:s:u:E:P:I:O:S:b:X:U:",
    long: "follow-forks trace= summary",
    options: { "o: output=": "write" },
    wraps: 0,
    effects: (_, options) =>
      valuesOf(options, "o", "output")
        .filter(({ text }) => /^[|!]/.test(text) || !isKnown({ text, glob: false, splits: false }))
        .map((arg) => opaque(`Makes strace hand its output to another program (${shown(arg)})`)),
  },
  ltrace: { short: "fcSrtTie:p:s:l:n:", options: { "o:": "write" }, wraps: 0 },
  valgrind: {
    short: "qv",
    long: "tool= leak-check= show-leak-kinds= track-origins= error-exitcode= quiet suppressions= gen-suppressions= trace-children=",
    options: { "log-file=": "write" },
    wraps: 0,
  },
  perf: { wraps: 0, does: ask("Profiles programs with perf") },
  chroot: { long: "groups= userspec= skip-chdir", wraps: 1, does: ask("Runs in another root folder") },
  unshare: {
    short: "imnpuUCTfrcR:S:G:w:",
    long: "mount uts ipc net pid user cgroup time fork map-root-user map-current-user mount-proc=? root= wd= kill-child=?",
    wraps: 0,
    does: ask("Runs in namespaces of its own"),
  },
  nsenter: {
    short: "at:m::u::i::n::p::C::U::T::S:G:r::w::F",
    long: "all target= mount=? uts=? ipc=? net=? pid=? user=? cgroup=? root=? wd=?",
    wraps: 0,
    does: opaque("Runs in the namespaces of another process"),
  },
  fakeroot: { short: "ul:s:i:", long: "lib= faked=", wraps: 0 },
  proot: { short: "r:b:q:w:0S:", wraps: 0, does: ask("Runs in another root folder") },
  bwrap: { wraps: 0, does: opaque("Runs in a sandbox with options that are not known") },
  "systemd-run": {
    short: "Gtpdqu:r",
    long: "user system scope unit= property= pty pipe wait collect slice= on-calendar= on-active= uid= gid= setenv= shell quiet",
    wraps: 0,
    does: ask("Hands the command to the system's service manager"),
  },
  "systemd-inhibit": { long: "what= who= why= mode=", wraps: 0 },
  "dbus-run-session": {
    options: { "config-file= dbus-daemon=": opaque("Runs {name} with {option}, which can run other programs") },
    wraps: 0,
  },
  "xvfb-run": {
    short: "ae:f:hn:lp:s:w:",
    long: "auto-servernum server-args= server-num= error-file= auth-file=",
    wraps: 0,
  },
  eatmydata: { wraps: 0 },
  cpulimit: { short: "l:p:e:zfiv", long: "limit= pid= exe= lazy", wraps: 0 },
  prlimit: {
    short: "p:o:c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::",
    long: "pid= output= noheadings raw verbose core=? data=? nice=? fsize=? sigpending=? memlock=? rss=? nofile=? msgqueue=? rtprio=? stack=? cpu=? nproc=? as=? locks=? rttime=?",
    wraps: 0,
  },
  rlwrap: { short: "acniH:f:", wraps: 0 },
  torsocks: { short: "iu:p:", wraps: 0, does: ask("Runs through another network") },
  "proxychains proxychains4": { short: "qf:", wraps: 0, does: ask("Runs through another network") },
  tini: { short: "sgvwp:", wraps: 0 },
  "dumb-init": { short: "cvr:", wraps: 0 },
  chronic: { short: "ev", wraps: 0 },
  ts: { posix: true, short: "irsm", unlisted: UNLISTED },
  "cross-env": { posix: true, unlisted: UNLISTED, effects: (_, { operands }) => afterAssignments(operands) },
  dotenv: { options: { "e:": "read" }, wraps: 0 },
  "at batch": {
    posix: true,
    short: "bdf:lmMq:rt:vc",
    unlisted: UNLISTED,
    does: opaque("Runs commands at a later time"),
  },
  script,
  flock,
  "xargs gxargs": xargs,
  parallel,
  watch,
});
