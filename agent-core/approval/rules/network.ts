/** Programs that reach other machines. */
import { ask, CHANGE, type CommandEffect, opaque, type Program, reads } from "../command-effect.ts";
import { type Arg, isKnown, shown } from "../shell/arg.ts";
import { readOptions, valuesOf } from "./options.ts";

const sends = (what: string): Program => {
  return ({ name, args }) => [ask(`${what} (${[name, ...args.slice(0, 4).map(shown)].join(" ")})`)];
};

/** ssh runs the rest of the line on the other machine, and options can run programs on this one. */
const ssh: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:",
    posix: true,
  });
  if (args.length === 1 && args[0]?.text === "-V") return [];
  const [host, ...command] = options.operands;
  const local = valuesOf(options, "o").filter(({ text }) =>
    /^\s*(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|include|match)/i.test(text),
  );
  const effects: CommandEffect[] = [ask(`Opens a shell on another machine (${host ? shown(host) : "unknown"})`)];
  for (const option of local) {
    effects.push(opaque(`Makes ssh run a program on this machine (${shown(option)})`));
    effects.push({ kind: "shell", code: option.text.replace(/^\s*\w+[\s=]+/, ""), raises: true });
  }
  // What wipes a disk there is no better than here.
  if (command.length > 0)
    effects.push({ kind: "shell", code: command.map(({ text }) => text).join(" "), raises: true });
  return [...effects, ...reads(valuesOf(options, "F"))];
};

/** scp and sftp copy to or from another machine. */
const scp: Program = ({ name, args }) => {
  const local = args.filter(({ text }) => !text.startsWith("-") && !/^[^/]*:/.test(text));
  return [
    ask(`Copies files to or from another machine with ${name}`),
    ...local.map((path): CommandEffect => ({ kind: "write", path })),
  ];
};

/** netcat: a listener or a connection; -e and -c hand it a shell. */
const netcat: Program = ({ name, args }) => {
  const scan =
    args.some(({ text }) => /^-\w*z/.test(text)) &&
    args.some(({ text }) => /^(?:localhost|127\.0\.0\.1|::1)$/.test(text));
  if (scan) return [CHANGE];
  const shell = args.some(({ text }) => /^-\w*[ec]|^--(?:exec|sh-exec)/.test(text));
  return shell
    ? [opaque(`Hands a shell to the network through ${name}`)]
    : [ask(`Opens a network connection with ${name}`)];
};

const socat: Program = ({ args }) => [
  ask("Opens a network connection with socat"),
  ...args.flatMap(({ text }): CommandEffect[] => {
    const code = /^(?:exec|system):"?([^",]*)/i.exec(text)?.[1];
    return code === undefined ? [] : [{ kind: "shell", code, raises: true }, opaque(`Makes socat run ${code}`)];
  }),
];

/** Asking whether a machine is there; a name with unknown pieces can carry data out. */
const lookUp: Program = ({ name, args }) => {
  const odd = args.find((arg) => !isKnown(arg));
  const loud = args.find(({ text }) => /^-\w*f$/.test(text) && name === "ping");
  if (odd) return [ask(`Asks the network for ${shown(odd)}, which can carry data out`)];
  return loud ? [ask("Floods another machine with packets")] : [CHANGE];
};

/** GitHub's and GitLab's own tools: looking is reading. */
const forge: Program = ({ name, args }) => {
  const words = args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
  const [topic = "", action = ""] = words;
  const looks =
    /^(?:list|view|status|diff|checks|ls|show|watch)$/.test(action) &&
    /^(?:pr|mr|issue|run|repo|release|workflow|label|gist|ci|pipeline|cache|project|ruleset|milestone|variable)$/.test(
      topic,
    );
  if (looks || /^(?:status|version|help|search)$/.test(topic) || (topic === "auth" && action === "status")) {
    return args.some(({ text }) => /^--(?:show-token|web)$|^-w$|^-t$/.test(text))
      ? [ask(`Runs ${name} ${words.join(" ")}`)]
      : [CHANGE];
  }
  const changes = args.some(({ text }) => /^(?:-[fFXH]|--(?:field|raw-field|method|input|header|hostname))/.test(text));
  if (topic === "api" && !changes && args.every(isKnown) && action !== "graphql") return [CHANGE];
  return [ask(`Runs ${name} ${words.slice(0, 3).join(" ")}, which changes something on another machine`, "prefix")];
};

/** Cloud command lines: describing and listing is reading. */
const cloud: Program = ({ name, args }) => {
  const words = args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
  const verbs = words.filter((word) => /^[a-z][a-z0-9-]+$/.test(word));
  const looks = verbs.some((word) => /^(?:list|describe|show|ls)(?:-|$)/.test(word));
  const secret = verbs.some((word) => /secret|credential|token|key|password|login|ssm|kms/.test(word));
  const changes = verbs.some((word) =>
    /^(?:create|delete|put|update|rm|cp|mv|sync|run|start|stop|terminate|set|add|remove|attach|detach|deploy|invoke|exec|ssh)(?:-|$)/.test(
      word,
    ),
  );
  if (looks && !secret && !changes && args.every(isKnown)) return [CHANGE];
  return [ask(`Runs ${name} ${words.slice(0, 3).join(" ")} on a cloud account`)];
};

const openers: Program = ({ name, args }) => [ask(`Opens ${args.map(shown).join(" ")} in another program (${name})`)];

const keygen: Program = ({ args }) => {
  const looks = args.some(({ text }) => /^-\w*[lF]$/.test(text)) && !args.some(({ text }) => /^-\w*R/.test(text));
  const files = args.filter((_: Arg, at) => args[at - 1]?.text === "-f");
  return looks
    ? reads(files)
    : [ask("Makes or changes keys"), ...files.map((path): CommandEffect => ({ kind: "write", path }))];
};

export const networkTools: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["ssh", ssh],
  ["mosh", ssh],
  ["scp", scp],
  ["sftp", scp],
  ["nc", netcat],
  ["ncat", netcat],
  ["netcat", netcat],
  ["socat", socat],
  ["gh", forge],
  ["glab", forge],
  ["aws", cloud],
  ["gcloud", cloud],
  ["az", cloud],
  ["doctl", cloud],
  ["ssh-keygen", keygen],
  ["open", openers],
  ["xdg-open", openers],
  ["start", openers],
  ...["ping", "ping6", "dig", "nslookup", "host", "traceroute", "tracepath", "mtr", "whois", "getent"].map(
    (name): [string, Program] => [name, lookUp],
  ),
  ...[
    "telnet",
    "ftp",
    "lftp",
    "tftp",
    "mail",
    "mailx",
    "sendmail",
    "mutt",
    "swaks",
    "rclone",
    "s3cmd",
    "aria2c",
    "http",
    "https",
    "xh",
  ].map((name): [string, Program] => [name, sends("Sends or fetches over the network")]),
  ["ssh-copy-id", sends("Gives a key to another machine")],
  ["ngrok", sends("Opens this machine to the network")],
  ["cloudflared", sends("Opens this machine to the network")],
]);
