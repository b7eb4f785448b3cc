/** Commands of Windows' shells: they always ask, and what wipes a drive is blocked. Names are looked up in lower case. */
import { ask, block, type Program } from "../command-effect.ts";
import { shown } from "../shell/arg.ts";

/** A drive, the Windows folder or the profiles. A backslash that bash would take away may be missing. */
const WHOLE =
  /^["']?(?:[a-z]:[\\/]?(?:\*(?:\.\*)?|windows[\\/]?.*|users[\\/]?(?:\*|[^\\/]*)?)?|[\\/]|~[\\/]?\*?|\$(?:home|env:userprofile|env:systemroot)\S*|%(?:userprofile|systemroot|systemdrive)%.*)["']?$/i;

const remove: Program = ({ name, args }) => {
  const whole = args.find(({ text }) => WHOLE.test(text));
  return whole
    ? [block(`Deletes ${shown(whole)} with ${name}`)]
    : [ask(`Deletes ${args.map(shown).join(" ")} (${name})`)];
};

const drive: Program = ({ name, args }) => {
  const target = args.find(({ text }) => /^[a-z]:/i.test(text) || /drive|disk/i.test(text));
  return target ? [block(`Wipes the drive ${shown(target)} (${name})`)] : [ask(`Runs ${name}`)];
};

const changes: Program = ({ name, args }) => [
  ask(`Changes this machine (${[name, ...args.slice(0, 4).map(shown)].join(" ")})`),
];

const shadow: Program = ({ name, args }) =>
  args.some(({ text }) => /^delete/i.test(text))
    ? [block("Deletes the backups of this machine")]
    : changes({ name, args, input: { kind: "none" } });

export const windowsTools: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["del", remove],
  ["erase", remove],
  ["rd", remove],
  ["remove-item", remove],
  ["ri", remove],
  ["clear-recyclebin", changes],
  ["format", drive],
  ["format-volume", drive],
  ["clear-disk", () => [block("Wipes a disk (clear-disk)")]],
  ["initialize-disk", () => [block("Wipes a disk (initialize-disk)")]],
  ["cipher", drive],
  ["vssadmin", shadow],
  ["wbadmin", shadow],
  ["stop-computer", () => [block("Stops this machine (stop-computer)")]],
  ["restart-computer", () => [block("Stops this machine (restart-computer)")]],
  ...[
    "reg",
    "bcdedit",
    "icacls",
    "takeown",
    "taskkill",
    "sc",
    "net",
    "netsh",
    "schtasks",
    "set-executionpolicy",
    "invoke-expression",
    "iex",
    "invoke-webrequest",
    "iwr",
    "start-process",
    "stop-process",
    "new-item",
    "set-content",
    "move-item",
    "copy-item",
  ].map((name): [string, Program] => [name, changes]),
]);
