/** Stopping processes, services and the machine. */
import { ask, block, CHANGE, type CommandEffect, type Program } from "../command-effect.ts";
import { type Arg, shown } from "../shell/arg.ts";

const EVERYTHING = "Ends every process of this machine or of yours";

const kill: Program = ({ args }) => {
  const [first] = args.map(({ text }) => text);
  if (first === undefined || /^(?:-l|-L|--list|--table)$/.test(first)) return [];
  const targets = killTargets(args);
  const all = targets.some(({ text }) => text === "-1") || (args.length === 1 && first === "-1");
  if (all) return [block(EVERYTHING)];
  if (targets.some(({ text }) => text === "1")) return [ask("Sends a signal to the first process of the system")];
  // Signal 0 only asks whether the process is there.
  return first === "-0" ? [] : [ask(`Ends the process ${targets.map(shown).join(", ")}`)];
};

/** Processes: all words but the signal. A negative number is a signal in the first place, a group in any other. */
function killTargets(args: readonly Arg[]): readonly Arg[] {
  const dashes = args.findIndex(({ text }) => text === "--");
  if (dashes >= 0) return args.slice(dashes + 1);
  const named = args.findIndex(({ text }) => /^(?:-s|-n|--signal|-q|--queue)$/.test(text));
  if (named >= 0) return args.filter((_, at) => at !== named && at !== named + 1);
  return args[0]?.text.startsWith("-") ? args.slice(1) : args;
}

/** By pattern: one that matches all names, or all processes of a user. */
const byName: Program = ({ name, args }) => {
  const patterns = args.filter(
    ({ text }, at) =>
      !text.startsWith("-") && !/^(?:-[uUGPgst]|--signal|--user|--euid|--uid)$/.test(args[at - 1]?.text ?? ""),
  );
  const everything = patterns.some(({ text }) => /^(?:\.?[*+]?|\^|\$|\.\*|\^\.\*\$?)$/.test(text));
  const users = args.some(({ text }) => /^-\w*[uU]|^--(?:user|euid|uid)/.test(text));
  if (everything || (users && patterns.length === 0)) return [block(EVERYTHING)];
  return [ask(`Ends processes by name (${[name, ...args.map(shown)].join(" ")})`)];
};

const stops: Program = ({ name, args }) => {
  if (args.some(({ text }) => /^(?:-c|--help|--show|--version)$/.test(text))) return [ask(`Runs ${name}`)];
  return [block(`Stops this machine (${name})`)];
};

const init: Program = ({ args }) =>
  /^[06sS1]$/.test(args[0]?.text ?? "")
    ? [block("Stops this machine (init)")]
    : [ask("Changes the run level of this machine")];

const SYSTEMD_STOPS = /^(?:poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue|exit|isolate|switch-root)$/;
const SYSTEMD_LOOKS =
  /^(?:status|show|cat|list-\S+|is-active|is-enabled|is-failed|is-system-running|get-default|help|show-environment)$/;

const systemctl: Program = ({ name, args }) => {
  const [verb] = args.filter(({ text }) => !text.startsWith("-"));
  if (!verb || SYSTEMD_LOOKS.test(verb.text)) return [];
  if (SYSTEMD_STOPS.test(verb.text)) return [block(`Stops this machine (${name} ${shown(verb)})`)];
  return [ask(`Changes services of this machine (${[name, ...args.slice(0, 3).map(shown)].join(" ")})`)];
};

const service: Program = ({ name, args }) =>
  args.some(({ text }) => /^(?:status|list|print|--status-all|blame|managerpid)$/.test(text))
    ? []
    : [ask(`Changes services of this machine (${[name, ...args.slice(0, 3).map(shown)].join(" ")})`)];

/** What cron holds runs later, unseen: its table is a protected file like any other. */
const crontab: Program = ({ args }) => {
  if (args.every(({ text }, at) => text === "-l" || text === "-u" || args[at - 1]?.text === "-u")) {
    if (args.some(({ text }) => text === "-l")) return [];
  }
  return [{ kind: "opaque", reason: "Changes the commands that run by the clock (crontab)" }];
};

const fuser: Program = ({ args }) =>
  args.some(({ text }) => /^-\w*k/.test(text)) ? [ask("Ends the processes that use a file")] : [CHANGE];

const session: Program = ({ args }) => {
  const [verb] = args.filter(({ text }) => !text.startsWith("-"));
  if (!verb || /^(?:list|show|status|session-status|user-status|seat-status|list-\S+|show-\S+)$/.test(verb.text))
    return [];
  const ends = /^(?:terminate|kill|poweroff|reboot|halt|kexec)/.test(verb.text);
  return [ends ? block(EVERYTHING) : ask("Changes the sessions of this machine")];
};

const tmux: Program = ({ name, args }) => {
  const [verb] = args;
  const looks = /^(?:ls|list-\S+|has-session|has|display-message|show-\S+|capture-pane|info|-V|-ls)$/;
  if (verb && looks.test(verb.text)) return [CHANGE];
  const codes = args
    .filter(({ text }) => /\s/.test(text))
    .map(({ text }): CommandEffect => ({ kind: "shell", code: text, raises: true }));
  return [ask(`Runs commands in a terminal of its own (${name})`), ...codes];
};

export const processTools: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["kill", kill],
  ["pkill", byName],
  ["killall", byName],
  ["skill", byName],
  ["xkill", byName],
  ["killall5", () => [block(EVERYTHING)]],
  ["shutdown", stops],
  ["reboot", stops],
  ["halt", stops],
  ["poweroff", stops],
  ["init", init],
  ["telinit", init],
  ["systemctl", systemctl],
  ["loginctl", session],
  ["service", service],
  ["launchctl", service],
  ["rc-service", service],
  ["crontab", crontab],
  ["fuser", fuser],
  ["tmux", tmux],
  ["screen", tmux],
]);
