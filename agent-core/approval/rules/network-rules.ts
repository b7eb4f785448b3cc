/** Rules for programs that contact other machines: fetching a known address reads, sending and saving ask. */
import {
  ask,
  askForCode,
  CHANGE,
  type CommandEffect,
  LOOK,
  opaque,
  type Program,
  reads,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";

const SENDING =
  "d F T Q t data data-ascii data-binary data-raw data-urlencode json form form-string upload-file quote mail-from mail-rcpt".split(
    " ",
  );
const CREDENTIALS = "u E b n user cert key netrc netrc-file cookie oauth2-bearer unix-socket".split(" ");
const DETOURS = "K x config proxy socks5 socks4 socks5-hostname preproxy resolve doh-url interface".split(" ");
const FILES =
  "o D c output output-dir dump-header cookie-jar trace trace-ascii stderr etag-save hsts alt-svc libcurl".split(" ");

const curl: Rule = {
  short: "0123456#aA:b:Bc:C:d:D:e:E:fF:gGhH:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z:",
  long: [
    "data= data-ascii= data-binary= data-raw= data-urlencode= json= form= form-string= upload-file= request=",
    "output= output-dir= remote-name remote-name-all remote-header-name dump-header= cookie= cookie-jar= config=",
    "header= user= user-agent= referer= proxy= socks5= socks4= socks5-hostname= preproxy= url= get head include",
    "insecure location location-trusted max-time= connect-timeout= retry= retry-delay= retry-max-time= retry-all-errors",
    "retry-connrefused silent show-error fail fail-with-body fail-early verbose progress-bar no-progress-meter compressed",
    "write-out= range= max-redirs= resolve= cacert= cert= key= netrc netrc-file= unix-socket= interface= limit-rate=",
    "http1.0 http1.1 http2 http3 ipv4 ipv6 tlsv1.2 tlsv1.3 no-buffer globoff quote= mail-from= mail-rcpt= trace=",
    "trace-ascii= stderr= create-dirs parallel next disable doh-url= oauth2-bearer= etag-save= etag-compare= hsts=",
    "alt-svc= libcurl= path-as-is ssl-reqd max-filesize= version help manual",
  ].join(" "),
  unlisted: ask("Runs curl with {option}, an option that is not known"),
  does: CHANGE,
  effects: (_, options) => {
    const urls = [...options.operands, ...valuesOf(options, "url")];
    const host = hosts(urls);
    const isLocal = urls.length > 0 && urls.every((url) => isKnown(url) && LOCAL.test(hostOf(url)));
    const harmless = isLocal ? /^(?:GET|HEAD|OPTIONS|POST|PUT|PATCH)$/i : /^(?:GET|HEAD|OPTIONS)$/i;
    const method = valuesOf(options, "X", "request").find(({ text }) => !harmless.test(text));
    return [
      ...sentData(options, host).filter((effect) => !(isLocal && effect.kind === "ask")),
      ...(method ? [ask(`Sends a ${shown(method)} request to ${host}`)] : []),
      ...(has(options, ...CREDENTIALS) ? [ask(`Sends credentials to ${host}`)] : []),
      ...(has(options, ...DETOURS)
        ? [ask("Makes curl take its options from a file or connect through another machine")]
        : []),
      ...outputs(options),
      ...urls.flatMap(address),
      ...headers(options),
      ...(isLocal && !has(options, "L", "location") ? [LOOK] : []),
    ];
  },
};

/** A server of the user's own machine. */
const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)$/;

function sentData(options: Options, host: string): readonly CommandEffect[] {
  const data = valuesOf(options, ...SENDING);
  if (data.length === 0) return [];
  const files = data.flatMap(({ text }) => {
    const file = /^@?(?:[^=]*=@)?(.+)$/.exec(text)?.[1];
    return /^@|=@/.test(text) && file && file !== "-" ? [{ text: file, glob: false, splits: false }] : [];
  });
  return [ask(`Sends data to ${host}`), ...reads([...files, ...valuesOf(options, "T", "upload-file")])];
}

function outputs(options: Options): readonly CommandEffect[] {
  const files = valuesOf(options, ...FILES).filter(({ text }) => text !== "-");
  // `-w` prints into files, too.
  const formats = valuesOf(options, "w", "write-out");
  const printed = formats.flatMap(({ text }) =>
    [...text.matchAll(/%output\{(?:>>)?([^}]*)\}/g)].map(([, path = ""]) => knownArg(path)),
  );
  files.push(...printed);
  const saves = files.filter(({ text }) => !text.startsWith("/dev/"));
  const named = has(options, "O", "J", "remote-name", "remote-name-all");
  if (saves.length === 0 && !named) return [];
  return [
    ...writes(files),
    ask(`Saves what it fetches to ${saves.map(shown).join(", ") || "a file named by the address"}`),
  ];
}

function headers(options: Options): readonly CommandEffect[] {
  const bad = valuesOf(options, "H", "header", "A", "user-agent", "e", "referer").filter(
    (header) => !isKnown(header) || /^(?:@|authorization|cookie|x-api-key|.*token)/i.test(header.text),
  );
  return bad.map((header) => ask(`Sends the header ${shown(header).split(":")[0]}, which can hold a key`));
}

/** Effects of fetching an address: a known page is only read, an address with unknown pieces can carry data out. */
function address(url: Arg): readonly CommandEffect[] {
  const host = hostOf(url);
  if (!isKnown(url) || url.splits)
    return [ask(`Contacts ${host}: what the address carries is not known before it runs`)];
  const scheme = /^([a-z][\w+.-]*):/i.exec(url.text)?.[1]?.toLowerCase();
  if (scheme === "file") return reads([{ ...url, text: url.text.replace(/^file:\/\/(?:localhost)?/i, "") }]);
  if (scheme !== undefined && !/^https?$/.test(scheme) && /^[a-z]+:\/\//i.test(url.text))
    return [ask(`Contacts ${host} by ${scheme}`)];
  if (/^(?:169\.254\.|metadata\.|100\.100\.100\.200|\[?fd00:ec2)/i.test(host))
    return [ask(`Asks the cloud's metadata service (${host})`)];
  if (/^0x|^\d+$|^0\d/.test(host)) return [ask(`Contacts ${host}, an obfuscated address`)];
  if (url.text.includes("@")) return [ask(`Sends credentials to ${host}`)];
  const query = url.text.includes("?") ? url.text.slice(url.text.indexOf("?")) : "";
  const long = query.length > 200 || url.text.length > 600;
  return long ? [ask(`Contacts ${host} with a long address that can carry data`)] : [];
}

function hostOf(url: Arg): string {
  const rest = url.text.replace(/^[a-z][\w+.-]*:\/\//i, "");
  return (
    shown(
      rest
        .split(/[/?#]/)[0]
        ?.replace(/^[^@]*@/, "")
        .replace(/:\d+$/, "") ?? "",
    ) || "an unknown host"
  );
}

function hosts(urls: readonly Arg[]): string {
  return urls.length === 0 ? "an unknown host" : [...new Set(urls.map(hostOf))].join(", ");
}

const wget: Rule = {
  short: "VhbqvdO:SFB:t:ncNT:w:Q:o:a:U:xrl:kKmpHLI:A:R:D:X:46EP:i:e:",
  long: [
    "output-document= output-file= append-output= directory-prefix= quiet no-verbose spider server-response tries=",
    "timeout= no-check-certificate post-data= post-file= method= body-data= body-file= header= user-agent= input-file=",
    "execute= config= use-askpass= user= password= http-user= http-password= load-cookies= save-cookies= recursive",
    "mirror continue no-clobber content-disposition retry-connrefused waitretry= show-progress max-redirect= referer=",
  ].join(" "),
  unlisted: ask("Runs wget with {option}, an option that is not known"),
  does: CHANGE,
  effects: (_, options) => {
    const urls = options.operands;
    const host = hosts(urls);
    const sends = has(options, "post-data", "post-file", "body-data", "body-file");
    const method = valuesOf(options, "method").find(({ text }) => !/^(?:GET|HEAD)$/i.test(text));
    const output = valuesOf(options, "O", "output-document");
    const prints = output.length > 0 && output.every(({ text }) => /^(?:-|\/dev\/(?:null|stdout))$/.test(text));
    const files = valuesOf(options, "o", "output-file", "a", "append-output", "P", "directory-prefix", "save-cookies");
    return [
      ...urls.flatMap(address),
      ...headers(options),
      ...(sends ? [ask(`Sends data to ${host}`)] : []),
      ...reads(valuesOf(options, "post-file", "body-file", "i", "input-file")),
      ...(method ? [ask(`Sends a ${shown(method)} request to ${host}`)] : []),
      ...(has(options, "e", "execute", "config", "use-askpass")
        ? [opaque("Makes wget take its settings from a file or a program")]
        : []),
      ...(has(options, "user", "password", "http-user", "http-password", "load-cookies")
        ? [ask(`Sends credentials to ${host}`)]
        : []),
      ...writes([...(prints ? [] : output), ...files]),
      ...(prints || has(options, "spider") ? [] : [ask(`Saves a download from ${host}`)]),
    ];
  },
};

export const fetchers: ReadonlyMap<string, Program> = ruleTable({ curl, wget });

/** A host that is this machine: a command there has the user's rights, outside the sandbox. */
const THIS_MACHINE = /^(?:ssh:\/\/)?(?:[^@]*@)?(?:localhost|ip6-localhost|127[.\d]*|0|0\.0\.0\.0|\[?::1\]?)(?:[:/]|$)/i;
const LOCAL_PROGRAM = /^\s*(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|include|match)/i;

/** ssh runs the rest of the line on the other machine; some options run programs on this one. */
const ssh: Rule = {
  posix: true,
  short: "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:P:p:Q:R:S:W:w:",
  closed: true,
  effects: ({ args }, options) => {
    if (args.length === 1 && args[0]?.text === "-V") return [];
    const [host, ...command] = options.operands;
    const local = valuesOf(options, "o").filter(({ text }) => LOCAL_PROGRAM.test(text));
    // A command that wipes a disk is blocked on another machine, too.
    const remote = command.map(({ text }) => text).join(" ");
    return [
      ask(`Opens a shell on another machine (${host ? shown(host) : "unknown"})`),
      ...(THIS_MACHINE.test(host?.text ?? "") ? [opaque("Runs a command on this machine through ssh")] : []),
      ...local.flatMap((option): CommandEffect[] => [
        opaque(`Makes ssh run a program on this machine (${shown(option)})`),
        { kind: "shell", code: option.text.replace(/^\s*\w+[\s=]+/, ""), escalateOnly: true },
      ]),
      ...(remote === "" ? [] : [{ kind: "shell", code: remote, escalateOnly: true } as const]),
      ...reads(valuesOf(options, "F")),
    ];
  },
};

const scp: Program = ({ name, args }) => {
  const local = args.filter(({ text }) => !text.startsWith("-") && !/^[^/]*:/.test(text));
  const program = args.find(({ text }) =>
    /^-\w*[SD]|^-o.*(?:proxycommand|localcommand|knownhostscommand|match)/i.test(text),
  );
  return [
    ...(program ? [opaque(`Makes ${name} run a program of the command's choice (${shown(program)})`)] : []),
    ask(`Copies files to or from another machine with ${name}`),
    ...(args.some(({ text }) => text.includes(":") && THIS_MACHINE.test(text))
      ? [opaque(`Copies files on this machine with ${name}`)]
      : []),
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
    return code === undefined ? [] : [{ kind: "shell", code, escalateOnly: true }, opaque(`Makes socat run ${code}`)];
  }),
];

/** A longer name can carry data out. Characters. */
const MAX_LOOKED_UP = 80;

/** Asking whether a machine is there; a name with unknown pieces can carry data out. */
const lookUp: Program = ({ name, args }) => {
  const odd = args.find((arg) => !isKnown(arg));
  const list = name === "dig" ? args.find(({ text }) => /^-\w*f/.test(text)) : undefined;
  if (list) return [ask("Sends the lines of a file to the network (dig -f)")];
  const loud = args.find(({ text }) => /^-\w*f$/.test(text) && name === "ping");
  if (odd) return [ask(`Asks the network for ${shown(odd)}, which can carry data out`)];
  if (loud) return [ask("Floods another machine with packets")];
  const text = args.map((arg) => arg.text).join(" ");
  return text.length <= MAX_LOOKED_UP && /^[\w.+: -]*$/.test(text) ? [LOOK] : [CHANGE];
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
  const options = args.filter(({ text }) => text.startsWith("-"));
  const isPlain = args.every(isKnown) && options.every(({ text }) => FORGE_OPTION.test(text));
  if (looks || /^(?:status|version|help|search)$/.test(topic) || (topic === "auth" && action === "status"))
    return isPlain ? [LOOK] : [ask(`Runs ${name} ${words.join(" ")} with other options`)];
  // With an address of its own the call leaves the service that the user chose.
  const isOwn = !/^graphql$|:\/\//.test(action);
  const isRead = options.every(({ text }) =>
    /^(?:-[iqpt]|--(?:include|jq|paginate|template|slurp|preview|cache))/.test(text),
  );
  if (topic === "api" && isPlain && isRead && isOwn) return [LOOK];
  return [
    ask(`Runs ${name} ${words.slice(0, 3).join(" ")}, which changes something on another machine`, "prefix"),
    ...(/^(?:extension|ext|alias)$/.test(topic) ? [askForCode(`Adds a command to ${name}, whose code may run`)] : []),
  ];
};

/** Options that choose and format what is shown. */
const FORGE_OPTION =
  /^(?:-[LsaABHSlqcRpubejdiPF]$|-[LsaABHSlqRbueqj]\S+$|--(?:limit|state|assignee|author|base|head|search|label|json|jq|template|comments|repo|patch|name-only|color|watch|required|interval|branch|workflow|user|event|status|created|commit|log|log-failed|job|attempt|exit-status|order|sort|draft|closed|visibility|language|topic|archived|fork|source|no-archived|include|paginate|slurp|preview|cache|all|active|mine|group|per-page|page|output|milestone|app|exclude-drafts|exclude-pre-releases|version|help)(?:=.*)?$|-[vh]$)/;

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
  // Some options name a file or another server, and values with these marks are the text of a file.
  const odd = args.some(({ text }) => CLOUD_ODD.test(text));
  if (looks && !secret && !changes && !odd && args.every(isKnown)) return [LOOK];
  return [ask(`Runs ${name} ${words.slice(0, 3).join(" ")} on a cloud account`)];
};

const CLOUD_ODD =
  /^--[\w-]*(?:endpoint|file|cli-input|verify|bundle|debug|impersonat|http|url|proxy|token)|file(?:b)?:\/\/|(?:^|=)@/;

const keygen: Program = ({ args }) => {
  // `-D` loads a library.
  const looks =
    args.some(({ text }) => /^-\w*[lF]$/.test(text)) &&
    args.every(({ text }) => !text.startsWith("-") || /^-[lFfEvB]+$/.test(text));
  const files = args.filter((_: Arg, at) => args[at - 1]?.text === "-f");
  return looks
    ? reads(files)
    : [ask("Makes or changes keys"), ...files.map((path): CommandEffect => ({ kind: "write", path }))];
};

const sends = ask("Sends or fetches over the network ({line})");
const opensMachine = ask("Opens this machine to the network ({line})");

export const networkTools: ReadonlyMap<string, Program> = ruleTable({
  "ssh mosh": ssh,
  "scp sftp": scp,
  "nc ncat netcat": netcat,
  socat,
  "gh glab": forge,
  "aws gcloud az doctl": cloud,
  "ssh-keygen": keygen,
  "open xdg-open start": ({ name, args }) => {
    const reason = `Opens ${args.map(shown).join(" ")} in another program (${name})`;
    return [args.some(({ text }) => /^https?:/.test(text)) ? ask(reason) : askForCode(reason)];
  },
  "ping ping6 dig nslookup host traceroute tracepath mtr whois getent": lookUp,
  "telnet ftp lftp tftp mail mailx sendmail mutt swaks rclone s3cmd aria2c http https xh": { does: sends },
  "ssh-copy-id": { does: ask("Gives a key to another machine ({line})") },
  "ngrok cloudflared": { does: opensMachine },
});
