/** Stopping processes, services and the machine. */
import { ask, block, CHANGE, type CommandEffect, type Program } from "../command-effect.ts";
import { type Arg, knownArg, shown } from "../shell/arg.ts";

const EVERYTHING = "Ends every process of this machine or of yours";

const kill: Program = ({ args }) => {
  const words = args.map(({ text }) => text);
  if (/^(?:-l|-L|--list|--table)$/.test(words[0] ?? "")) return [];
  const targets: Arg[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const { text } = args[at] ?? knownArg("");
    if (/^(?:-s|-n|--signal|-q|--queue)$/.test(text)) at += 1;
    else if (text === "--") {
      targets.push(...args.slice(at + 1));
      break;
    } else if (!text.startsWith("-") || targets.length > 0 || at > 0) targets.push(args[at] ?? knownArg(""));
  }
  const all = targets.some(({ text }) => text === "-1") || (words.length === 1 && words[0] === "-1");
  if (all) return [block(EVERYTHING)];
  if (targets.some(({ text }) => text === "1")) return [ask("Sends a signal to the first process of the system")];
  if (words[0] === "-0") return [];
  return [ask(`Ends the process ${targets.map(shown).join(", ")}`)];
};

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
