/** Losses that no sandbox brings back: processes, services and disks of the machine. */
import {
  ask,
  askAlways,
  block,
  CHANGE,
  type CommandEffect,
  LOOK,
  OUTSIDE,
  opaque,
  type Program,
  writes,
} from "../command-effect.ts";
import { isKnown, shown } from "../shell/arg.ts";
import { byLine, ruleTable } from "./rule.ts";

const ENDS_ALL = block("Ends every process of this machine or of your account ({line})");
const STOPS = block("Stops this machine ({line})");

const asks = (does: string): readonly CommandEffect[] => [OUTSIDE, ask(does)];
const hides = (does: string): readonly CommandEffect[] => [OUTSIDE, opaque(`${does} ({line})`)];

/** A job is a process that this shell started. Signal 0 only tests for the process. */
const kill = byLine(
  [/^(?:$|(?:-l|-L|--list|--table)(?: |$))/, []],
  [/(?:^| )␣*-1␣*$| ␣*-1␣* /, ENDS_ALL],
  [/^(?:%(?:\d+|[+%-])?(?: |$))+$/, CHANGE],
  [/^-0 /, []],
  [/^/, asks("Ends a process ({line})")],
);

/** By pattern: one that matches every name, or every process of a user. */
const killByName: Program = ({ name, args }) => {
  const patterns = args.filter(
    ({ text }, at) =>
      !text.startsWith("-") && !/^(?:-[uUGPgst]|--signal|--user|--euid|--uid)$/.test(args[at - 1]?.text ?? ""),
  );
  const everything = patterns.some(({ text }) => /^(?:\.?[*+]?|\^|\$|\.\*|\^\.\*\$?)$/.test(text));
  const users = args.some(({ text }) => /^-\w*[uU]|^--(?:user|euid|uid)/.test(text));
  const line = [name, ...args.map(shown)].join(" ");
  if (everything || (users && patterns.length === 0))
    return [block(`Ends every process of this machine or of your account (${line})`)];
  return [OUTSIDE, ask(`Ends processes by name (${line})`)];
};

const POWER =
  /^(?:-\S* )*(?:poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue|exit|isolate|switch-root|terminate\S*|kill-user)(?: |$)/;
const LISTS = /^(?:status|show|cat|is-\S+|list\S*|get-default|print|session-status|user-status|help|show-environment)$/;

/** Looks at services of this machine: `at` says which word is the verb. Options may name another machine, or a path. */
const looksAt =
  (at: number): Program =>
  ({ name, args }) => {
    const words = args.filter(({ text }) => !text.startsWith("-"));
    const isPlain = args.every((arg) => isKnown(arg) && !/\/|^-\w*[HM]|^--(?:ho|ma|full-restart)/.test(arg.text));
    if (isPlain && (words.length === 0 || LISTS.test(words[at]?.text ?? ""))) return [OUTSIDE, LOOK];
    return asks(`Changes services of this machine (${[name, ...args.slice(0, 3).map(shown)].join(" ")})`);
  };

const PLANS = "Runs {line}, which can plan jobs, change settings or start another agent";
const HERMES_LOOKS = /^(?:doctor|cron(?: list| status)?|(?:skills|plugins)(?: list)?|learning(?: state| report)?)$/;

/** A tool for disks and file systems always asks, and a line that wipes a disk is blocked. */
const disk = (wipes = /^(?!)/): Program =>
  byLine([wipes, block("Wipes a disk ({line})")], [/^/, hides("Changes or shows disks or file systems")]);

/** A tool that makes a file system: it wipes what is there, except in the file of an image. */
const formats: Program = ({ name, args }) => {
  const targets = args.filter(({ text }) => !text.startsWith("-"));
  const files = targets.filter((arg) => isKnown(arg) && /\.(?:img|raw|iso|qcow2|ext[234]|v?fat)$/.test(arg.text));
  if (files.length > 0 && !targets.some(({ text }) => text.startsWith("/dev/")))
    return [ask(`Makes a file system in ${files.map(shown).join(", ")}`), ...writes(targets)];
  return [block(`Makes a new file system and wipes the old one (${[name, ...targets.map(shown)].join(" ")})`)];
};

export const machinePrograms: ReadonlyMap<string, Program> = ruleTable({
  kill,
  "pkill killall skill xkill": killByName,
  killall5: { does: ENDS_ALL },
  "shutdown reboot halt poweroff": { does: STOPS },
  "init telinit": byLine([/(?:^| )[016sS](?: |$)/, STOPS], [/^/, asks("Changes the run level ({line})")]),
  "systemctl loginctl launchctl": byLine([POWER, STOPS], [/^/, looksAt(0)]),
  "service rc-service": looksAt(1),
  crontab: byLine([/^-l$/, OUTSIDE], [/^/, hides("Changes scheduled commands")]),
  /** Our own command line plans jobs, changes settings, and sends prompts that may run unasked: `hermes --yes`. */
  "hermes hermes-acp": byLine([HERMES_LOOKS, [OUTSIDE, LOOK]], [/^/, [OUTSIDE, askAlways(PLANS)]]),
  "at batch tmux screen systemd-run": { does: hides("Runs commands beyond this one") },
  "mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs": formats,
  "mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mkdosfs mkntfs newfs newfs_apfs newfs_hfs newfs_msdos": formats,
  "mkswap mkfs.jfs mkfs.reiserfs mkreiserfs": formats,
  "ddrescue dd_rescue": { open: true, operands: "write", does: ask("Copies raw data") },
  "blkdiscard lvremove vgremove pvremove pvcreate": { does: block("Wipes a disk ({line})") },
  "cfdisk umount swapoff grub-install resize2fs modprobe swapon losetup fsck fdisk gdisk tune2fs mount": disk(),
  wipefs: disk(/(?:^| )(?:-\w*[ao]|--[ao])/),
  sgdisk: disk(
    /(?:^| )-(?:\w*[Zzo]|-(?:zap|clear|load|mbrtogpt|gpttombr|randomize|sort|move|transform|recompute|typecode))/,
  ),
  sfdisk: disk(/--(?:delete|wipe)/),
  efibootmgr: disk(/(?:^| )(?:-\w*B|--delete)/),
  hdparm: disk(/--(?:security-erase|trim|make-bad|write-sector|yes-i-know)/),
  badblocks: disk(/(?:^| )-\w*w/),
  debugfs: disk(/(?:^| )(?:-\w*w|--write)/),
  flashrom: disk(/(?:^| )(?:-\w*[wE]|--(?:write|erase))/),
  mdadm: disk(/--(?:zero-superblock|create|stop)/),
  parted: disk(/mklabel|mktable|mkpart|(?:^|[ ␣])rm[ ␣]/),
  nvme: disk(/^(?:format|sanitize|write|delete-ns)/),
  cryptsetup: disk(/luksFormat|luksErase|erase|reencrypt|luksKillSlot/),
  zpool: disk(/^(?:destroy|create|labelclear|remove)/),
  zfs: disk(/^destroy/),
  btrfs: disk(/(?:^| )(?:delete|replace|device remove)/),
  diskutil: disk(/erase|partition|zero|random|secure|deleteVolume|deleteContainer|reformat/i),
});
