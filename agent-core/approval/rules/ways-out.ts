/**
 * Ways out of the sandbox, one row each: services of this machine, accounts, other machines, where looking is told by
 * allow-lists. Processes, services and disks of the machine, whose losses no sandbox brings back.
 */
import {
  ask,
  askAlways,
  askForCode,
  block,
  CHANGE,
  type CommandEffect,
  deletes,
  LOOK,
  NETWORK,
  OUTSIDE,
  opaque,
  type Program,
  project,
  type Reach,
  reads,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { has, type Options, readOptions, valuesOf } from "./options.ts";
import { byLine, lineOf, type Rule, ruleTable } from "./rule.ts";

type Way = {
  readonly reach: Reach;
  /** First words, or first two, of calls that only look; separated by commas. Default: none. */
  readonly looks?: string;
  /** Options of these calls, which choose and format. Any other one may read a file, write one or run a program. */
  readonly options?: string;
  /** A call with such words does not only look. */
  readonly odd?: RegExp;
  /** Clause about every other call. */
  readonly does: string;
};

const CHOOSING =
  "a q n l t f p c v A L R w d r m o all quiet last latest size tail since until timestamps follow details filter format output no-trunc no-stream no-color no-log-prefix services images volumes profiles hash human digests depth index protocol status orphans file project-name profile namespace all-namespaces selector field-selector watch recursive show-labels sort-by no-headers container previous all-containers prefix since-time client short ignore-not-found show-kind containers sum api-group namespaced verbs categories revision timeout max deployed failed pending versions version devel reverse date type";
const FORGE =
  "L s a A B H S l q c p u b e j d i P F t v limit state assignee author base head search label json jq template comments patch name-only color watch required interval branch workflow user event status created commit log log-failed job attempt exit-status order sort draft closed visibility language topic archived fork source include paginate slurp cache all active mine group per-page page milestone app version help";

/** Options whose value is no word of the command. */
const VALUES = {
  open: true,
  short: "H:c:l:n:s:f:p:",
  long: "host= context= config= log-level= namespace= kubeconfig= cluster= user= server= file= project-name= profile= env-file= project-directory=".split(
    " ",
  ),
} as const;

function pairs(first: string, second: string): string {
  return first
    .split(" ")
    .flatMap((one) => second.split(" ").map((other) => `${one} ${other}`))
    .join(",");
}

function way({ reach, looks = "", options = "", odd = /^(?!)/, does }: Way): Program {
  const looking = new Set(looks.split(",").filter(Boolean));
  const listed = new Set(options.split(" "));
  return ({ name, args, input }) => {
    const { operands, written } = readOptions(args, VALUES);
    const [first = "", second = ""] = operands.map(({ text }) => text);
    const isPlain = args.every(isKnown) && !odd.test(args.map(({ text }) => text).join(" ")) && !written.has("--");
    const isLook = looking.has(first) || looking.has(`${first} ${second}`);
    const to: CommandEffect = { kind: "reach", reach };
    if (isLook && isPlain && [...written.keys()].every((each) => listed.has(each))) return [to, LOOK];
    // Statements, and what it sends, may come from the input.
    const isFed = input.kind === "data" && input.from !== "/dev/null";
    const line = [name, ...operands.slice(0, 3).map(shown)].join(" ");
    return [to, ask(`Runs ${line}, which ${does}`, isFed ? "never" : "exact")];
  };
}

const always = (reach: Reach, does: string): Program => way({ reach, does });

const OBJECTS =
  "container image volume network context config node plugin service stack builder buildx manifest system";
const docker = way({
  reach: "outside",
  looks: [
    "ps,images,logs,inspect,version,info,stats,top,port,history,diff,events,search",
    pairs(OBJECTS, "ls list ps inspect logs top stats port diff history df info events version du"),
    pairs("compose", "ps logs ls images top port version events stats"),
  ].join(","),
  options: CHOOSING.replace(/ (?:o|output|file) /g, " "),
  // Other options before a verb of compose choose another project.
  odd: /^compose (?!(?:(?:-p|--project-name|--profile)[ =][\w.-]+ |(?:-f|--file)[ =](?:\.\/)?(?:docker-)?compose[\w.-]*\.ya?ml )*\w)/,
  does: "can change containers, or give one this machine's files",
});

/** The settings of a container hold the values of its variables, but not the fields that a template may have here. */
const SHOWS_VARIABLES =
  /(?:^|(?<!(?:^| )(?:network|volume|image|context|node|builder|buildx|manifest|stack|system)) )inspect(?!(?: --type[ =]\w+| (?!-)[\w.:/@-]+)*(?: -f| --format)[ =](?:[^ {}]*\{\{-?␣*(?:end|(?:(?:json|range|len)␣)?\.(?:State|NetworkSettings|Name|Id|Created|Image|Mounts|RestartCount|IPAddress|Gateway|Source|Destination)[.\w]*)␣*-?\}\})+(?: (?!-)[\w.:/@-]+)*$)(?: |$)/;
/** `compose config` prints the values of `env_file`; with these options it prints names. */
const COMPOSE_NAMES = /^config(?: -q| --(?:quiet|services|images|volumes|profiles))+$/;
const ofProject: CommandEffect = { kind: "look", of: "compose" };
const compose: Program = ({ name, args, ...call }) => {
  if (COMPOSE_NAMES.test(lineOf(args))) return [OUTSIDE, ofProject];
  const effects = docker({ ...call, name: name.replace("-compose", ""), args: [knownArg("compose"), ...args] });
  return effects.map((effect) => (effect.kind === "look" ? ofProject : effect));
};

const forge = way({
  reach: "outside",
  looks: `${pairs("pr mr issue run repo release workflow label gist ci pipeline cache project ruleset milestone variable", "list view status diff checks ls show watch")},status,version,help,search,auth status`,
  options: FORGE,
  does: "may change something on another machine",
});

/** With an address of its own, or data, the call does more than read what the chosen service knows. */
const API =
  /^api (?!-|graphql\b|\S*:\/\/)[^\0 ]+(?: (?!-)[^\0 ]+| -[iqpt][^\0 ]*| --(?:include|jq|paginate|template|slurp|preview|cache)[^\0 ]*)*$/;

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)$/;
const HARMLESS_METHOD = /^(?:GET|HEAD|OPTIONS|POST|PUT|PATCH)$/i;

const curl: Rule = {
  short: "sSfgIiLvkN#46X:H:d:o:w:m:A:e:O",
  long: "silent show-error fail fail-with-body globoff head include location verbose insecure no-buffer get compressed request= header= data= data-raw= json= output= write-out= max-time= connect-timeout= retry= retry-delay= retry-connrefused user-agent= referer= url= no-progress-meter",
  unlisted: CHANGE,
  effects: (_, options) => {
    const urls = [...options.operands, ...valuesOf(options, "url")];
    const data = valuesOf(options, "d", "data", "data-raw", "json");
    const outputs = valuesOf(options, "o", "output");
    const files = [...data, ...valuesOf(options, "H", "header")].filter(({ text }) => text.startsWith("@"));
    const named = urls.filter(({ text }) => /^file:/i.test(text)).map((url) => ({ ...url, text: url.text.slice(7) }));
    const reached = [...reads(files.map((file) => ({ ...file, text: file.text.slice(1) }))), ...reads(named)];
    const isLocal = urls.length > 0 && urls.every((url) => isKnown(url) && LOCAL.test(hostOf(url)));
    if (isLocal && reached.length === 0 && isPlain(options)) return [NETWORK, LOOK, ...writes(outputs)];
    const what = data.length > 0 ? "Sends data to" : "Contacts";
    const hosts = [...new Set(urls.map(hostOf))].join(", ") || "a host that is not known";
    return [NETWORK, ask(`${what} ${hosts}`), ...reached, ...writes(outputs)];
  },
};

/** Only chooses what a server of this machine is asked for: no file, no redirection, no other machine. */
function isPlain(options: Options): boolean {
  const outputs = valuesOf(options, "o", "output").every(({ text }) => /^(?:-|\/dev\/null)$/.test(text));
  const formats = valuesOf(options, "w", "write-out").every((arg) => isKnown(arg) && !/^@|%output/.test(arg.text));
  const methods = valuesOf(options, "X", "request").every(({ text }) => HARMLESS_METHOD.test(text));
  return options.strange.length === 0 && outputs && formats && methods && !has(options, "L", "location", "O");
}

function hostOf(url: Arg): string {
  const [place = ""] = url.text.replace(/^[a-z][\w+.-]*:\/\//i, "").split(/[/?#]/);
  return shown(place.replace(/^[^@]*@/, "").replace(/:\d+$/, ""));
}

const helm = way({
  reach: "outside",
  looks: "list,ls,status,history,search,version,env,repo list,dependency list",
  options: CHOOSING,
  does: "may change a cluster",
});

const RENDERS = askForCode("Renders a chart, which may come from elsewhere or run programs", "prefix");

const copies = always("network", "copies whole folders");

const rsync: Program = (call) => {
  const operands = call.args.filter(({ text }) => !text.startsWith("-"));
  const isDeleting = call.args.some(({ text }) => /^--(?:del|remove-source)/.test(text));
  return [...copies(call), ...writes(operands.slice(-1)), ...deletes(isDeleting ? operands : [])];
};

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

export const waysOut: ReadonlyMap<string, Program> = ruleTable({
  "docker podman nerdctl": byLine(
    [/^compose /, (call) => compose({ ...call, args: call.args.slice(1) })],
    [SHOWS_VARIABLES, [OUTSIDE, ask("Runs {line}, which shows the variables of a container")]],
    [/^/, docker],
  ),
  "docker-compose": compose,
  "kubectl oc k": way({
    reach: "outside",
    looks: `get,describe,logs,top,version,api-resources,api-versions,explain,cluster-info,events,${pairs("config", "current-context get-contexts get-clusters get-users")},auth can-i,rollout status,rollout history`,
    options: CHOOSING,
    odd: /(?:^| )--raw|(?:^|[ ,])secrets?(?:$|[ ./,])|-file(?:=| |$)|^(?!logs\b).* (?:-f|--filename)/i,
    does: "may change a cluster or show its secrets",
  }),
  /** A chart of the workspace is rendered or checked without a cluster; options may name another chart, or a program. */
  helm: byLine([/^(?:template|lint)(?: |$)/, ({ args }) => [project(args), RENDERS]], [/^/, helm]),
  "gh glab": byLine([API, [OUTSIDE, LOOK]], [/^/, forge]),
  "aws gcloud az doctl": always("outside", "works on a cloud account"),
  "psql mysql mariadb redis-cli mongosh mongo clickhouse-client dropdb dropuser createdb mysqladmin pg_dump mysqldump":
    always("outside", "reads or changes a database"),
  pg_isready: byLine([/^(?:-q ?|-[pt] ?\d+ ?)*$/, [OUTSIDE, LOOK]], [/^/, [OUTSIDE, ask("Asks a database ({line})")]]),
  curl,
  wget: {
    options: { "O: output-document= o: output-file= a: append-output= P: directory-prefix=": "write" },
    does: [NETWORK, ask("Downloads with {line}")],
  },
  "ping ping6 dig nslookup host traceroute tracepath mtr whois getent": always("network", "sends a name out"),
  "nc ncat netcat socat telnet ftp lftp tftp mail mailx sendmail mutt aria2c http https xh": always(
    "network",
    "opens a network connection",
  ),
  "ssh mosh scp sftp ssh-copy-id ssh-keygen rclone s3cmd swaks": always("outside", "works on another machine"),
  "ngrok cloudflared": always("outside", "opens this machine to the network"),
  "open xdg-open start": always("outside", "opens it in another program"),
  rsync,
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
