/** Rules for processes, services, disks and the machine itself, on Unix and on Windows. */
import {
  ask,
  askForCode,
  block,
  CHANGE,
  type CommandEffect,
  LOOK,
  opaque,
  type Program,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, shown } from "../shell/arg.ts";
import { has } from "./options.ts";
import { LOOKS, type Rule, ruleTable } from "./rule.ts";

const EVERYTHING = "Ends every process of this machine or of your account";

const kill: Program = ({ args }) => {
  const [first] = args.map(({ text }) => text);
  if (first === undefined || /^(?:-l|-L|--list|--table)$/.test(first)) return [];
  const targets = killTargets(args);
  const all = targets.some(({ text }) => text === "-1") || (args.length === 1 && first === "-1");
  if (all) return [block(EVERYTHING)];
  if (targets.some(({ text }) => text === "1")) return [ask("Sends a signal to the first process of the system")];
  // A job is a process that this shell started. Signal 0 only tests for the process.
  if (targets.length > 0 && targets.every(({ text }) => /^%(?:\d+|[+%-])?$/.test(text))) return [CHANGE];
  return first === "-0" ? [] : [ask(`Ends the process ${targets.map(shown).join(", ")}`)];
};

/** The words after the signal. A negative number is a signal in the first place, and a process group in any other. */
function killTargets(args: readonly Arg[]): readonly Arg[] {
  const dashes = args.findIndex(({ text }) => text === "--");
  if (dashes >= 0) return args.slice(dashes + 1);
  const named = args.findIndex(({ text }) => /^(?:-s|-n|--signal|-q|--queue)$/.test(text));
  if (named >= 0) return args.filter((_, at) => at !== named && at !== named + 1);
  return args[0]?.text.startsWith("-") ? args.slice(1) : args;
}

/** By pattern: one that matches every name, or every process of a user. */
const killByName: Program = ({ name, args }) => {
  const patterns = args.filter(
    ({ text }, at) =>
      !text.startsWith("-") && !/^(?:-[uUGPgst]|--signal|--user|--euid|--uid)$/.test(args[at - 1]?.text ?? ""),
  );
  const everything = patterns.some(({ text }) => /^(?:\.?[*+]?|\^|\$|\.\*|\^\.\*\$?)$/.test(text));
  const users = args.some(({ text }) => /^-\w*[uU]|^--(?:user|euid|uid)/.test(text));
  if (everything || (users && patterns.length === 0)) return [block(EVERYTHING)];
  return [ask(`Ends processes by name (${[name, ...args.map(shown)].join(" ")})`)];
};

const stops: Program = ({ name, args }) =>
  args.some(({ text }) => /^(?:-c|--help|--show|--version)$/.test(text))
    ? [ask(`Runs ${name}, which can stop this machine`)]
    : [block(`Stops this machine (${name})`)];

/** `launchctl` has its verb first, the others behind the service's name, which is a script in a folder of the system. */
const service: Program = ({ name, args }) =>
  args
    .slice(0, name === "launchctl" ? 1 : 2)
    .some(({ text }) => /^(?:status|list|print|--status-all|blame|managerpid)$/.test(text)) &&
  !args.some(({ text }) => text.includes("..") || (name !== "launchctl" && text.includes("/")))
    ? []
    : [
        ask(`Changes services of this machine (${[name, ...args.slice(0, 3).map(shown)].join(" ")})`),
        ...args.filter(({ text }) => text.includes("/")).map((arg) => askForCode(`Runs ${shown(arg)} as a service`)),
      ];

/** Commands of a crontab run later and unseen. */
const crontab: Rule = {
  short: "u:lreisn",
  closed: true,
  effects: ({ args }, options) => {
    const lists =
      has(options, "l") && options.given.size <= (has(options, "u") ? 2 : 1) && options.operands.length === 0;
    return lists && args.every(isKnown) ? [] : [opaque("Changes scheduled commands (crontab)")];
  },
};

const HERMES_LOOKS = /^(?:doctor|cron(?: list| status)?|(?:skills|plugins)(?: list)?|learning(?: state| report)?)$/;

/** Our own command line plans jobs, changes settings, and sends prompts that may run unasked: `hermes --yes`. */
const hermes: Program = ({ args }) => {
  const line = args.map(({ text }) => text).join(" ");
  if (args.every(isKnown) && HERMES_LOOKS.test(line)) return [LOOK];
  const reason = `Runs hermes ${shown(line)}, which can plan jobs, change settings or start another agent`;
  return [{ kind: "ask", reason, grant: "never", always: true }];
};

const terminals: Program = ({ name, args }) => {
  const [verb] = args;
  const looks = /^(?:ls|list-\S+|has-session|has|display-message|show-\S+|capture-pane|info|-V|-ls)$/;
  // A `;` begins another command, and `#(…)` in a format runs one.
  if (verb && looks.test(verb.text) && !args.some(({ text }) => /;$|#\(/.test(text))) return [CHANGE];
  const codes = args
    .filter(({ text }) => /\s/.test(text))
    .map(({ text }): CommandEffect => ({ kind: "shell", code: text, escalateOnly: true }));
  return [askForCode(`Runs commands in a terminal of its own (${name})`), ...codes];
};

export const processTools: ReadonlyMap<string, Program> = ruleTable({
  kill,
  "pkill killall skill xkill": killByName,
  killall5: { does: block(EVERYTHING) },
  "shutdown reboot halt poweroff": stops,
  "init telinit": {
    verbs: { "0 1 6 s S": { does: block("Stops this machine ({name})") } },
    otherwise: { does: ask("Changes the run level of this machine") },
    effects: (_, { operands }) =>
      operands.every(({ text }) => text.startsWith("-")) ? [ask("Changes the run level of this machine")] : [],
  },
  systemctl: {
    verbs: {
      "status show cat is-active is-enabled is-failed is-system-running get-default help show-environment": LOOKS,
      "poweroff reboot halt kexec soft-reboot emergency rescue exit isolate switch-root": {
        does: block("Stops this machine ({name})"),
      },
    },
    otherwise: {
      effects: ({ args, name }, { operands }) =>
        operands[0]?.text.startsWith("list-")
          ? []
          : [ask(`Changes services of this machine (${[name, ...args.slice(0, 3).map(shown)].join(" ")})`)],
    },
  },
  loginctl: ({ args }) => {
    const verb = args.find(({ text }) => !text.startsWith("-"))?.text ?? "list";
    if (/^(?:list|show|status|session-status|user-status|seat-status)/.test(verb)) return [];
    const ends = /^(?:terminate|kill|poweroff|reboot|halt|kexec)/.test(verb);
    return [ends ? block(EVERYTHING) : ask("Changes the login sessions of this machine")];
  },
  "service launchctl rc-service": service,
  crontab,
  "hermes hermes-acp": hermes,
  fuser: { does: CHANGE, options: { k: ask("Ends the processes that use a file") } },
  "tmux screen": terminals,
});

/** Words of a disk tool's line that wipe a disk. */
const WIPING: Readonly<Record<string, RegExp>> = {
  wipefs: /(?:^| )(?:-\w*[ao]|--[ao])/,
  sgdisk: /(?:^| )-(?:\w*[Zzo]|-(?:zap|clear|load|mbrtogpt|gpttombr|randomize|sort|move|transform|recompute|typecode))/,
  sfdisk: /--(?:delete|wipe)/,
  efibootmgr: /(?:^| )(?:-\w*B|--delete)/,
  hdparm: /--(?:security-erase|trim|make-bad|write-sector|yes-i-know)/,
  badblocks: /(?:^| )-\w*w/,
  debugfs: /(?:^| )(?:-\w*w|--write)/,
  flashrom: /(?:^| )(?:-\w*[wE]|--(?:write|erase))/,
  mdadm: /--(?:zero-superblock|create|stop)/,
  parted: /mklabel|mktable|mkpart|(?:^| )rm /,
  nvme: /^(?:format|sanitize|write|delete-ns)/,
  cryptsetup: /luksFormat|luksErase|erase|reencrypt|luksKillSlot/,
  zpool: /^(?:destroy|create|labelclear|remove)/,
  zfs: /^destroy/,
  btrfs: /(?:^| )(?:delete|replace|device remove)/,
  diskutil: /erase|partition|zero|random|secure|deleteVolume|deleteContainer|reformat/i,
};
/** A line that only lists, with or without disks. */
const LISTING =
  /^(?:-l|-s|-p|-n|-d|-D|-a|-v|--list|--show|--print|--no-act|--detail|list|status|info|show|print|get|df|usage|isLuks|luksDump|smart-log)(?: \/[\w./-]*)*$|^(?:\/[\w./-]+ print|(?:subvolume|filesystem) (?:list|show|df) \S+)$|^-[iItTgC]+ \S+$/;

/** A tool for disks and file systems: it asks in every mode, and a line that wipes a disk is blocked. */
const disk: Program = ({ name, args }) => {
  const line = args.map(({ text }) => text).join(" ");
  if (WIPING[name]?.test(line)) return [block(`Wipes a disk (${name} ${shown(line)})`)];
  if (args.every(isKnown) && LISTING.test(line)) return [];
  return [opaque(`Changes disks or file systems (${name} ${shown(line)})`)];
};

/** A tool that makes a file system: it wipes what is there, except in the file of an image. */
const formats: Program = ({ name, args }) => {
  const targets = args.filter(({ text }) => !text.startsWith("-"));
  const files = targets.filter(
    (arg) => isKnown(arg) && /\.(?:img|raw|iso|qcow2|ext[234]|fat|vfat|squashfs)$/.test(arg.text),
  );
  if (files.length > 0 && !targets.some(({ text }) => text.startsWith("/dev/")))
    return [ask(`Makes a file system in ${files.map(shown).join(", ")}`), ...writes(files)];
  return [block(`Makes a new file system and wipes the old one (${[name, ...targets.map(shown)].join(" ")})`)];
};

const copiesRaw: Program = ({ name, args }) => [
  ask(`Copies raw data with ${name}`),
  ...writes(args.filter(({ text }) => !text.startsWith("-")).slice(-1)),
  ...writes(args.filter(({ text }) => text.startsWith("of=")).map((arg) => afterPrefix(arg, 3))),
];

export const diskTools: ReadonlyMap<string, Program> = ruleTable({
  "mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs": formats,
  "mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mkdosfs mkntfs newfs newfs_apfs newfs_hfs newfs_msdos": formats,
  "mkswap mkfs.jfs mkfs.reiserfs mkreiserfs": formats,
  "ddrescue dcfldd dc3dd dd_rescue partclone.ext4": copiesRaw,
  "blkdiscard lvremove vgremove pvremove pvcreate diskpart": { does: block("Wipes a disk ({line})") },
  "cfdisk umount swapoff grub-install resize2fs modprobe swapon losetup fsck fdisk gdisk tune2fs": disk,
  [Object.keys(WIPING).join(" ")]: disk,
});

/** A drive, the Windows folder or the profiles; bash may have taken a backslash away. */
const WHOLE =
  /^["']?(?:[a-z]:[\\/]?(?:\*(?:\.\*)?|windows[\\/]?.*|users[\\/]?(?:\*|[^\\/]*)?)?|[\\/]|~[\\/]?\*?|\$(?:home|env:userprofile|env:systemroot)\S*|%(?:userprofile|systemroot|systemdrive)%.*)["']?$/i;

/** Deletes, wipes or changes something on Windows. Of a whole drive, of the backups and of a disk it is a catastrophe. */
const windowsTool: Program = ({ name, args }) => {
  const line = [name, ...args.slice(0, 4).map(shown)].join(" ");
  const wipes =
    /^(?:clear-disk|initialize-disk|stop-computer|restart-computer)$/.test(name) ||
    (/^(?:vssadmin|wbadmin)$/.test(name) && args.some(({ text }) => /^delete/i.test(text))) ||
    (/^(?:format|format-volume|cipher)$/.test(name) && args.some(({ text }) => /^[a-z]:|drive|disk/i.test(text))) ||
    (/^(?:del|erase|rd|remove-item|ri)$/.test(name) && args.some(({ text }) => WHOLE.test(text)));
  return [wipes ? block(`Wipes or stops this machine (${line})`) : ask(`Changes this machine (${line})`)];
};

/** Commands of Windows' shells. Names are looked up in lower case. */
export const windowsTools: ReadonlyMap<string, Program> = ruleTable({
  "del erase rd remove-item ri format format-volume cipher clear-disk initialize-disk vssadmin wbadmin": windowsTool,
  "stop-computer restart-computer clear-recyclebin reg bcdedit icacls takeown taskkill sc net netsh": windowsTool,
  "schtasks set-executionpolicy invoke-expression iex invoke-webrequest iwr start-process stop-process": windowsTool,
  "new-item set-content move-item copy-item": windowsTool,
});
