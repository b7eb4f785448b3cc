/** Losses that no sandbox brings back: processes, services and disks of the machine. */
import { ask, block, CHANGE, LOOK, OUTSIDE, opaque, type Program, writes } from "../command-effect.ts";
import { isKnown, shown } from "../shell/arg.ts";
import { ruleTable } from "./rule.ts";

const EVERYTHING = "Ends every process of this machine or of your account";

const kill: Program = ({ args }) => {
  const words = args.map(({ text }) => text);
  const [first = "-l", ...others] = words;
  if (/^(?:-l|-L|--list|--table)$/.test(first)) return [];
  if (others.includes("-1") || (first === "-1" && others.length === 0)) return [block(EVERYTHING)];
  // A job is a process that this shell started. Signal 0 only tests for the process.
  if (words.every((word) => /^%(?:\d+|[+%-])?$/.test(word))) return [CHANGE];
  return first === "-0" ? [] : [OUTSIDE, ask(`Ends the process ${args.map(shown).join(", ")}`)];
};

/** By pattern: one that matches every name, or every process of a user. */
const killByName: Program = ({ name, args }) => {
  const patterns = args.filter(
    ({ text }, at) =>
      !text.startsWith("-") && !/^(?:-[uUGPgst]|--signal|--user|--euid|--uid)$/.test(args[at - 1]?.text ?? ""),
  );
  const everything = patterns.some(({ text }) => /^(?:\.?[*+]?|\^|\$|\.\*|\^\.\*\$?)$/.test(text));
  const users = args.some(({ text }) => /^-\w*[uU]|^--(?:user|euid|uid)/.test(text));
  if (everything || (users && patterns.length === 0)) return [block(EVERYTHING)];
  return [OUTSIDE, ask(`Ends processes by name (${[name, ...args.map(shown)].join(" ")})`)];
};

const ENDS_ALL =
  /^(?:poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue|exit|isolate|switch-root|terminate\S*|kill-user)$/;
const LISTS = /^(?:status|show|cat|is-\S+|list\S*|get-default|print|session-status|user-status|help|show-environment)$/;

const services: Program = ({ name, args }) => {
  const words = args.filter(({ text }) => !text.startsWith("-"));
  const verb = (name === "service" || name === "rc-service" ? words[1] : words[0])?.text ?? "";
  if (/^(?:systemctl|loginctl)$/.test(name) && ENDS_ALL.test(verb))
    return [block(`Stops this machine (${name} ${verb})`)];
  const isPlain = args.every((arg) => isKnown(arg) && !arg.text.includes("/"));
  if (isPlain && (LISTS.test(verb) || words.length === 0)) return [OUTSIDE, LOOK];
  return [OUTSIDE, ask(`Changes services of this machine (${[name, ...args.slice(0, 3).map(shown)].join(" ")})`)];
};

const HERMES_LOOKS = /^(?:doctor|cron(?: list| status)?|(?:skills|plugins)(?: list)?|learning(?: state| report)?)$/;

/** Our own command line plans jobs, changes settings, and sends prompts that may run unasked: `hermes --yes`. */
const hermes: Program = ({ args }) => {
  const line = args.map(({ text }) => text).join(" ");
  if (args.every(isKnown) && HERMES_LOOKS.test(line)) return [OUTSIDE, LOOK];
  const reason = `Runs hermes ${shown(line)}, which can plan jobs, change settings or start another agent`;
  return [OUTSIDE, { kind: "ask", reason, grant: "never", always: true }];
};

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

/** A tool for disks and file systems always asks, and a line that wipes a disk is blocked. */
const disk: Program = ({ name, args }) => {
  const line = args.map(({ text }) => text).join(" ");
  if (WIPING[name]?.test(line)) return [block(`Wipes a disk (${name} ${shown(line)})`)];
  return [OUTSIDE, opaque(`Changes or shows disks or file systems (${name} ${shown(line)})`)];
};

/** A tool that makes a file system: it wipes what is there, except in the file of an image. */
const formats: Program = ({ name, args }) => {
  const targets = args.filter(({ text }) => !text.startsWith("-"));
  const files = targets.filter((arg) => isKnown(arg) && /\.(?:img|raw|iso|qcow2|ext[234]|v?fat)$/.test(arg.text));
  if (files.length > 0 && !targets.some(({ text }) => text.startsWith("/dev/")))
    return [ask(`Makes a file system in ${files.map(shown).join(", ")}`), ...writes(files)];
  return [block(`Makes a new file system and wipes the old one (${[name, ...targets.map(shown)].join(" ")})`)];
};

export const machinePrograms: ReadonlyMap<string, Program> = ruleTable({
  kill,
  "pkill killall skill xkill": killByName,
  killall5: { does: block(EVERYTHING) },
  "shutdown reboot halt poweroff": { does: block("Stops this machine ({name})") },
  "init telinit": ({ name, args }) => [
    OUTSIDE,
    args.some(({ text }) => /^[016sS]$/.test(text))
      ? block(`Stops this machine (${name})`)
      : ask("Changes the run level"),
  ],
  "systemctl loginctl launchctl service rc-service": services,
  crontab: ({ args }) =>
    args.length === 1 && args[0]?.text === "-l" ? [OUTSIDE] : [OUTSIDE, opaque("Changes scheduled commands (crontab)")],
  "hermes hermes-acp": hermes,
  "at batch tmux screen systemd-run": { does: [OUTSIDE, opaque("Runs commands beyond this one ({line})")] },
  "mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs": formats,
  "mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mkdosfs mkntfs newfs newfs_apfs newfs_hfs newfs_msdos": formats,
  "mkswap mkfs.jfs mkfs.reiserfs mkreiserfs": formats,
  "ddrescue dcfldd dc3dd dd_rescue": ({ args }) => [
    ask("Copies raw data"),
    ...writes(
      args.filter(({ text }) => !/^-|^if=/.test(text)).map((arg) => ({ ...arg, text: arg.text.replace(/^of=/, "") })),
    ),
  ],
  "blkdiscard lvremove vgremove pvremove pvcreate": { does: block("Wipes a disk ({line})") },
  "cfdisk umount swapoff grub-install resize2fs modprobe swapon losetup fsck fdisk gdisk tune2fs mount": disk,
  [Object.keys(WIPING).join(" ")]: disk,
});
