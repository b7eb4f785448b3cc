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
import { type Arg, isKnown, shown } from "../shell/arg.ts";
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
  loginctl: {
    verbs: { "list show status session-status user-status seat-status": LOOKS },
    otherwise: {
      effects: (_, { operands: [verb] }) => {
        if (/^(?:list|show)-/.test(verb?.text ?? "")) return [];
        const ends = /^(?:terminate|kill|poweroff|reboot|halt|kexec)/.test(verb?.text ?? "");
        return [ends ? block(EVERYTHING) : ask("Changes the login sessions of this machine")];
      },
    },
  },
  "service launchctl rc-service": service,
  crontab,
  "hermes hermes-acp": hermes,
  fuser: { does: CHANGE, options: { k: ask("Ends the processes that use a file") } },
  "tmux screen": terminals,
});

const WIPES = block("Wipes a disk ({line})");
const CHANGES_DISK = opaque("Changes disks or file systems ({line})");

/** A disk tool: options that wipe a disk, and options that only list. */
function disk(wipes: string, lists: string, more: Rule = {}): Rule {
  return {
    ...(wipes !== "" && { options: { [wipes]: WIPES } }),
    ...(lists !== "" && { harmless: lists }),
    does: CHANGES_DISK,
    ...more,
  };
}

/** True when the call has no more than one word, and that matches. */
function only(args: readonly Arg[], word: RegExp): boolean {
  return args.length < 2 && word.test(args[0]?.text ?? "");
}

/** A disk tool with words instead of options. */
function diskVerbs(wipes: RegExp, lists: RegExp): Program {
  return ({ name, args }) => {
    const line = args.map(({ text }) => text).join(" ");
    if (wipes.test(line)) return [block(`Wipes a disk (${name} ${shown(line)})`)];
    if (lists.test(line) && args.every(isKnown)) return [];
    return [opaque(`Changes disks or file systems (${name} ${shown(line)})`)];
  };
}

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
  ...writes(args.filter(({ text }) => text.startsWith("of=")).map((arg) => ({ ...arg, text: arg.text.slice(3) }))),
];

export const diskTools: ReadonlyMap<string, Program> = ruleTable({
  "mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs": formats,
  "mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mkdosfs mkntfs newfs newfs_apfs newfs_hfs newfs_msdos": formats,
  "mkswap mkfs.jfs mkfs.reiserfs mkreiserfs": formats,
  "ddrescue dcfldd dc3dd dd_rescue partclone.ext4": copiesRaw,
  "blkdiscard lvremove vgremove pvremove pvcreate diskpart": { does: WIPES },
  "cfdisk umount swapoff grub-install resize2fs modprobe": { does: CHANGES_DISK },
  wipefs: {
    options: { "a o: all offset=": WIPES },
    harmless: "n no-act",
    effects: ({ args }, { given }) =>
      given.size === 0 && args.every((arg) => isKnown(arg) && !arg.text.includes("-"))
        ? []
        : [opaque("Changes the signatures of a disk (wipefs)")],
  },
  sgdisk: disk(
    "Z z o zap-all zap clear load-backup= mbrtogpt gpttombr randomize-guids sort move-second-header transform-bsd recompute-chs typecode=",
    "p print i",
  ),
  "gdisk tune2fs": disk("", "l"),
  fdisk: disk("", "l list x"),
  sfdisk: disk("delete wipe= wipe-partitions=", "l d list dump J"),
  swapon: disk("", "", {
    effects: ({ args }) =>
      only(args, /^(?:-s|--show)?$/) ? [] : [opaque("Changes the swap space of this machine (swapon)")],
    does: [],
  }),
  losetup: disk("", "", {
    effects: ({ args }) =>
      only(args, /^(?:-a|-l|--list|--all)?$/) ? [] : [opaque("Connects a file to a disk device (losetup)")],
    does: [],
  }),
  efibootmgr: disk("B delete-bootnum", "", {
    effects: ({ args }) =>
      only(args, /^(?:-v)?$/) ? [] : [opaque("Changes the boot entries of this machine (efibootmgr)")],
    does: [],
  }),
  hdparm: diskVerbs(/--(?:security-erase|trim|make-bad|write-sector|yes-i-know)/, /^(?:-[iItTgC]+ ?\S*)$/),
  badblocks: disk("w", ""),
  fsck: disk("", "n"),
  debugfs: disk("w write", ""),
  flashrom: disk("w: E write= erase", ""),
  mdadm: disk("zero-superblock create stop", "detail D examine"),
  parted: diskVerbs(/mklabel|mktable|mkpart|(?:^| )rm /, /(?:^| )(?:-l|--list|print)/),
  nvme: diskVerbs(/^(?:format|sanitize|write|delete-ns)/, /^(?:list|id-\S+|smart-log|error-log)/),
  cryptsetup: diskVerbs(/luksFormat|luksErase|erase|reencrypt|luksKillSlot/, /^(?:status|luksDump|isLuks)/),
  zpool: diskVerbs(/^(?:destroy|create|labelclear|remove)/, /^(?:list|status|get|history|iostat)/),
  zfs: diskVerbs(/^destroy/, /^(?:list|get)/),
  btrfs: diskVerbs(/(?:^| )(?:delete|replace|device remove)/, /(?:show|list|df|usage)/),
  diskutil: diskVerbs(
    /erase|partition|zero|random|secure|deleteVolume|deleteContainer|reformat/i,
    /^(?:list|info|activity|apfs list)/,
  ),
});

/** A drive, the Windows folder or the profiles; bash may have taken a backslash away. */
const WHOLE =
  /^["']?(?:[a-z]:[\\/]?(?:\*(?:\.\*)?|windows[\\/]?.*|users[\\/]?(?:\*|[^\\/]*)?)?|[\\/]|~[\\/]?\*?|\$(?:home|env:userprofile|env:systemroot)\S*|%(?:userprofile|systemroot|systemdrive)%.*)["']?$/i;

const removes: Program = ({ name, args }) => {
  const whole = args.find(({ text }) => WHOLE.test(text));
  return whole
    ? [block(`Deletes ${shown(whole)} with ${name}`)]
    : [ask(`Deletes ${args.map(shown).join(" ")} (${name})`)];
};

const drive: Program = ({ name, args }) => {
  const target = args.find(({ text }) => /^[a-z]:/i.test(text) || /drive|disk/i.test(text));
  return target ? [block(`Wipes the drive ${shown(target)} (${name})`)] : [ask(`Runs ${name}, which can wipe a drive`)];
};

const changesMachine = ask("Changes this machine ({line})");
const backups: Rule = {
  does: changesMachine,
  effects: ({ args }) =>
    args.some(({ text }) => /^delete/i.test(text)) ? [block("Deletes the backups of this machine")] : [],
};

/** Commands of Windows' shells. Names are looked up in lower case. */
export const windowsTools: ReadonlyMap<string, Program> = ruleTable({
  "del erase rd remove-item ri": removes,
  "format format-volume cipher": drive,
  "clear-disk initialize-disk": { does: block("Wipes a disk ({name})") },
  "vssadmin wbadmin": backups,
  "stop-computer restart-computer": { does: block("Stops this machine ({name})") },
  "clear-recyclebin reg bcdedit icacls takeown taskkill sc net netsh schtasks": { does: changesMachine },
  "set-executionpolicy invoke-expression iex invoke-webrequest iwr start-process stop-process": {
    does: changesMachine,
  },
  "new-item set-content move-item copy-item": { does: changesMachine },
});
