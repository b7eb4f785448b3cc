/** Tools that make, wipe and change disks and file systems. */
import { ask, block, type CommandEffect, opaque, type Program, writes } from "../command-effect.ts";
import { type Arg, isKnown, shown } from "../shell/arg.ts";

const format: Program = ({ name, args }) => {
  const targets = args.filter(({ text }) => !text.startsWith("-"));
  const files = targets.filter(
    (arg) => isKnown(arg) && /\.(?:img|raw|iso|qcow2|ext[234]|fat|vfat|squashfs)$/.test(arg.text),
  );
  if (files.length > 0 && !targets.some(({ text }) => text.startsWith("/dev/")))
    return [ask(`Makes a file system in ${files.map(shown).join(", ")}`), ...writes(files)];
  return [block(`Makes a new file system, which wipes what is there (${[name, ...targets.map(shown)].join(" ")})`)];
};

/** Blocked when it does one of these things, asks otherwise, reads when asked to list. */
function disk(wipes: RegExp, lists: RegExp): Program {
  return ({ name, args }) => {
    const line = args.map(({ text }) => text).join(" ");
    if (wipes.test(line)) return [block(`Wipes a disk (${name} ${shown(line)})`)];
    if (lists.test(line) && args.every(isKnown)) return [];
    return [opaque(`Changes disks or file systems (${name} ${shown(line)})`)];
  };
}

const always = /[\s\S]/;
const never = /^(?!)/;

const TOOLS: readonly (readonly [string, Program])[] = [
  ["wipefs", disk(/(?:^| )(?:-\w*[ao]|--all|--offset)/, /^[^-]*$|--no-act|-n/)],
  ["sgdisk", disk(/-\w*[Zzo]|--zap|--clear/, /^(?:-p|--print|-i)/)],
  ["gdisk", disk(never, /^-l/)],
  ["fdisk", disk(never, /^(?:-l|--list|-x)/)],
  ["sfdisk", disk(/--(?:delete|wipe)/, /^(?:-l|-d|--list|--dump|-J)/)],
  ["cfdisk", disk(never, never)],
  ["parted", disk(/mklabel|mktable|mkpart|(?:^| )rm /, /(?:^| )(?:-l|--list|print)/)],
  ["blkdiscard", disk(always, never)],
  ["hdparm", disk(/--(?:security-erase|trim|make-bad|write-sector|yes-i-know)/, /^(?:-[iItTgC]+ ?\S*)$/)],
  ["nvme", disk(/^(?:format|sanitize|write|delete-ns)/, /^(?:list|id-\S+|smart-log|error-log)/)],
  ["badblocks", disk(/(?:^| )-\w*w/, never)],
  ["cryptsetup", disk(/luksFormat|luksErase|erase|reencrypt|luksKillSlot/, /^(?:status|luksDump|isLuks)/)],
  ["lvremove", disk(always, never)],
  ["vgremove", disk(always, never)],
  ["pvremove", disk(always, never)],
  ["pvcreate", disk(always, never)],
  ["zpool", disk(/^(?:destroy|create|labelclear|remove)/, /^(?:list|status|get|history|iostat)/)],
  ["zfs", disk(/^destroy/, /^(?:list|get)/)],
  ["btrfs", disk(/(?:^| )(?:delete|replace|device remove)/, /(?:show|list|df|usage)/)],
  ["mdadm", disk(/--(?:zero-superblock|create|stop)/, /^(?:--detail|-D|--examine)/)],
  [
    "diskutil",
    disk(
      /erase|partition|zero|random|secure|deleteVolume|deleteContainer|reformat/i,
      /^(?:list|info|activity|apfs list)/,
    ),
  ],
  ["diskpart", disk(always, never)],
  ["umount", disk(never, never)],
  ["swapoff", disk(never, never)],
  ["swapon", disk(never, /^(?:-s|--show)?$/)],
  ["losetup", disk(never, /^(?:-a|-l|--list|--all)?$/)],
  ["efibootmgr", disk(/-B|--delete/, /^(?:-v)?$/)],
  ["grub-install", disk(never, never)],
  ["flashrom", disk(/-w|-E|--write|--erase/, never)],
  ["fsck", disk(never, /-n/)],
  ["debugfs", disk(/-w/, never)],
  ["tune2fs", disk(never, /^-l/)],
  ["resize2fs", disk(never, never)],
  ["modprobe", disk(never, never)],
];

const copies: Program = ({ name, args }) => {
  const files = args.filter(({ text }: Arg) => !text.startsWith("-"));
  const effects: CommandEffect[] = [ask(`Copies raw data with ${name}`)];
  return [
    ...effects,
    ...writes(files.slice(-1)),
    ...writes(args.filter(({ text }) => /^of=/.test(text)).map((arg) => ({ ...arg, text: arg.text.slice(3) }))),
  ];
};

const MAKERS =
  "mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs mkfs.exfat mkfs.f2fs mkfs.minix mkfs.cramfs mkdosfs mkntfs newfs newfs_apfs newfs_hfs newfs_msdos mkswap mkfs.jfs mkfs.reiserfs mkreiserfs";

export const diskTools: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...MAKERS.split(" ").map((name): [string, Program] => [name, format]),
  ...TOOLS,
  ["ddrescue", copies],
  ["dcfldd", copies],
  ["dc3dd", copies],
  ["dd_rescue", copies],
  ["partclone.ext4", copies],
]);
