/** Every wrapper, one grammar each. */
import { ask, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, afterPrefix, knownArg, shown } from "../shell/arg.ts";
import { parallel, watch, xargs } from "./appending.ts";
import { has, readOptions, valuesOf } from "./options.ts";
import { sensitiveVariable } from "./sensitive-variables.ts";
import { type Wrapper, wrapper } from "./wrapper.ts";

const SUDO_LONG =
  "askpass background bell close-from= chdir= preserve-env=? edit group= help set-home host= login list non-interactive preserve-groups prompt= chroot= remove-timestamp reset-timestamp role= stdin shell type= command-timeout= other-user= user= validate version";

/** `env` without a command prints; with assignments it sets them for the command. */
const env: Wrapper = {
  grammar: {
    short: "i0u:C:S:vP:",
    long: "ignore-environment null unset= chdir= split-string= block-signal=? default-signal=? ignore-signal=? debug argv0=".split(
      " ",
    ),
  },
  effects: (options) => [
    ...options.operands.filter(({ text }) => /^[A-Za-z_]\w*=/.test(text)).flatMap(environmentEffect),
    ...(has(options, "P") ? [ask("Looks for programs in other folders")] : []),
    ...valuesOf(options, "S", "split-string").map((arg): CommandEffect => ({ kind: "shell", code: `env ${arg.text}` })),
  ],
  command: (rest) => afterAssignments(rest),
};

function afterAssignments(rest: readonly Arg[]): readonly Arg[] {
  const at = rest.findIndex(({ text }) => text !== "-" && !/^[A-Za-z_]\w*=/.test(text));
  return at < 0 ? [] : rest.slice(at);
}

function environmentEffect(arg: Arg): readonly CommandEffect[] {
  const equals = arg.text.indexOf("=");
  const reason = sensitiveVariable(arg.text.slice(0, equals), afterPrefix(arg, equals + 1));
  return reason === undefined ? [] : [ask(reason)];
}

const privilege = (name: string, short: string, long: string): Wrapper => ({
  grammar: { short, long: long.split(" ") },
  effects: (options) => [
    ask(`Runs with the rights of another user (${name})`),
    ...(has(options, "e", "edit") ? writes(options.operands) : []),
    ...options.operands.filter(({ text }) => /^[A-Za-z_]\w*=/.test(text)).flatMap(environmentEffect),
  ],
  command: afterAssignments,
});

/** `su -c code`: its operands and options mix; runuser takes a command too. */
const substitute: Program = ({ name, args }) => {
  const options = readOptions(args, {
    short: "c:flmPps:g:G:u:T:w:",
    long: "command= session-command= fast login preserve-environment pty shell= group= user= supp-group=".split(" "),
  });
  const codes = valuesOf(options, "c", "command", "session-command");
  const command = has(options, "u", "user") ? options.operands : [];
  return [
    ask(`Runs with the rights of another user or group (${name})`),
    ...codes.map(({ text }): CommandEffect => ({ kind: "shell", code: text })),
    ...(command.length > 0 ? [{ kind: "command", words: command } as const] : []),
  ];
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

const flock: Program = ({ args }) => {
  const at = args.findIndex(({ text }) => /^(?:-c|--command)$/.test(text));
  if (at >= 0)
    return [...writes(args.slice(Math.max(at - 1, 0), at)), { kind: "shell", code: args[at + 1]?.text ?? "" }];
  return wrapper("flock", {
    grammar: {
      short: "snuexoFw:E:v",
      long: "shared exclusive nonblock nb wait= timeout= unlock close no-fork conflict-exit-code= verbose".split(" "),
    },
    own: 1,
    effects: (_, own) => writes(own.filter(({ text }) => !/^\d+$/.test(text))),
  })({ name: "flock", args, input: { kind: "none" } });
};

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env,
  sudo: privilege("sudo", "AbBC:D:EeKkg:Hh:iklNnPp:R:r:SsT:t:U:u:Vv", SUDO_LONG),
  doas: privilege("doas", "C:Lnsu:a:", ""),
  pkexec: privilege("pkexec", "u:", "user= disable-internal-agent keep-cwd"),
  run0: privilege("run0", "u:g:D:", "user= group= chdir= unit= property= setenv="),
  nice: { grammar: { short: "n:0123456789", long: ["adjustment="] } },
  ionice: { grammar: { short: "c:n:p:P:u:t", long: "class= classdata= pid= pgid= uid= ignore".split(" ") } },
  chrt: {
    grammar: {
      short: "abdfiormpRT:P:D:v",
      long: "all-tasks batch deadline fifo idle other rr max pid reset-on-fork verbose".split(" "),
    },
    own: 1,
  },
  taskset: { grammar: { short: "apc", long: "all-tasks pid cpu-list".split(" ") }, own: 1 },
  nohup: { grammar: {}, effects: () => [{ kind: "change" }] },
  setsid: { grammar: { short: "cfw", long: "ctty fork wait".split(" ") } },
  time: {
    grammar: { short: "apqvf:o:V", long: "append portability quiet verbose format= output=".split(" ") },
    effects: (options) => writes(valuesOf(options, "o", "output")),
  },
  timeout: {
    grammar: { short: "fk:s:vp", long: "foreground kill-after= preserve-status signal= verbose".split(" ") },
    own: 1,
  },
  gtimeout: {
    grammar: { short: "fk:s:vp", long: "foreground kill-after= preserve-status signal= verbose".split(" ") },
    own: 1,
  },
  stdbuf: { grammar: { short: "i:o:e:", long: "input= output= error=".split(" ") } },
  unbuffer: { grammar: { short: "p" } },
  caffeinate: { grammar: { short: "disumt:w:" } },
  setarch: { grammar: { short: "vRFZLXBIS3T", long: "uname-2.6 addr-no-randomize 32bit verbose".split(" ") }, own: 1 },
  linux32: { grammar: { short: "vRFZLXBIS3T" } },
  strace: {
    grammar: {
      short: "acdfFhiknqrtTvVxyYCDwzZo:e:p:s:u:E:P:I:O:S:b:X:U:",
      long: "follow-forks output= trace= summary".split(" "),
    },
    effects: (options) => writes(valuesOf(options, "o", "output")),
  },
  ltrace: { grammar: { short: "fcSrtTio:e:p:s:l:n:" }, effects: (options) => writes(valuesOf(options, "o")) },
  valgrind: {
    grammar: {
      long: "tool= leak-check= show-leak-kinds= track-origins= error-exitcode= log-file= quiet suppressions= gen-suppressions= trace-children=".split(
        " ",
      ),
      short: "qv",
    },
    effects: (options) => writes(valuesOf(options, "log-file")),
  },
  perf: { grammar: { short: "" }, effects: () => [ask("Profiles programs with perf")] },
  chroot: {
    grammar: { long: "groups= userspec= skip-chdir".split(" ") },
    own: 1,
    effects: () => [ask("Runs in another root folder")],
  },
  unshare: {
    grammar: {
      short: "imnpuUCTfrcR:S:G:w:",
      long: "mount uts ipc net pid user cgroup time fork map-root-user map-current-user mount-proc=? root= wd= kill-child=?".split(
        " ",
      ),
    },
    effects: () => [ask("Runs in namespaces of its own")],
  },
  nsenter: {
    grammar: {
      short: "at:m::u::i::n::p::C::U::T::S:G:r::w::F",
      long: "all target= mount=? uts=? ipc=? net=? pid=? user=? cgroup=? root=? wd=?".split(" "),
    },
    effects: () => [opaque("Runs in the namespaces of another process")],
  },
  fakeroot: { grammar: { short: "ul:s:i:", long: ["lib=", "faked="] } },
  proot: { grammar: { short: "r:b:q:w:0S:" }, effects: () => [ask("Runs in another root folder")] },
  bwrap: { grammar: {}, effects: () => [opaque("Runs in a sandbox with options that are not known here")] },
  "systemd-run": {
    grammar: {
      short: "Gtpdqu:r",
      long: "user system scope unit= property= pty pipe wait collect slice= on-calendar= on-active= uid= gid= setenv= shell quiet".split(
        " ",
      ),
    },
    effects: () => [ask("Hands the command to the system's service manager")],
  },
  "systemd-inhibit": { grammar: { long: "what= who= why= mode=".split(" ") } },
  "dbus-run-session": { grammar: { long: ["config-file=", "dbus-daemon="] } },
  "xvfb-run": {
    grammar: {
      short: "ae:f:hn:lp:s:w:",
      long: "auto-servernum server-args= server-num= error-file= auth-file=".split(" "),
    },
  },
  eatmydata: { grammar: {} },
  cpulimit: { grammar: { short: "l:p:e:zfiv", long: "limit= pid= exe= lazy".split(" ") } },
  prlimit: { grammar: { short: "p:", long: "pid= nofile= nproc= as= cpu= core=".split(" ") } },
  rlwrap: { grammar: { short: "acniH:f:" } },
  torsocks: { grammar: { short: "iu:p:" }, effects: () => [ask("Runs through another network")] },
  proxychains: { grammar: { short: "qf:" }, effects: () => [ask("Runs through another network")] },
  proxychains4: { grammar: { short: "qf:" }, effects: () => [ask("Runs through another network")] },
  tini: { grammar: { short: "sgvwp:" } },
  "dumb-init": { grammar: { short: "cvr:" } },
  chronic: { grammar: { short: "ev" } },
  ts: { grammar: { short: "irsm" }, command: () => undefined },
  "cross-env": {
    grammar: {},
    effects: (options) => options.operands.filter(({ text }) => /^[A-Za-z_]\w*=/.test(text)).flatMap(environmentEffect),
    command: afterAssignments,
  },
  dotenv: { grammar: { short: "e:", long: [] }, effects: (options) => reads(valuesOf(options, "e")) },
  at: {
    grammar: { short: "bdf:lmMq:rt:vc" },
    effects: () => [ask("Runs commands at a later time")],
    command: () => undefined,
  },
  batch: { grammar: {}, effects: () => [ask("Runs commands at a later time")], command: () => undefined },
};

/** gosu, su-exec, setpriv: user first, then the command. */
const asUser: Program = ({ name, args }) => [
  ask(`Runs with the rights of ${args[0] ? shown(args[0]) : "another user"} (${name})`),
  { kind: "command", words: args.slice(1) },
];

export const wrappers: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...Object.entries(WRAPPERS).map(([name, rule]): [string, Program] => [name, wrapper(name, rule)]),
  ["xargs", xargs],
  ["gxargs", xargs],
  ["parallel", parallel],
  ["watch", watch],
  ["su", substitute],
  ["runuser", substitute],
  ["sg", substitute],
  ["script", script],
  ["flock", flock],
  ["gosu", asUser],
  ["su-exec", asUser],
]);
