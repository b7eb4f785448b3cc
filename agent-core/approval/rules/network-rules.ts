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
import { mayRun } from "./wrapper-rules.ts";

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
  const saves = files.filter(({ text }) => !/^\/dev\/(?:null|std\w+|fd\/\d+|tty)$/.test(text));
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

/** A known page that wget prints is read; every other use saves, sends or takes options from elsewhere. */
const wget: Rule = {
  short: "VhqvdSO:t:T:U:",
  long: "output-document= quiet no-verbose spider server-response tries= timeout= no-check-certificate user-agent= method= max-redirect=",
  unlisted: ask("Runs wget with {option}, which may save, send or run something"),
  options: {
    "o: output-file= a: append-output= P: directory-prefix= save-cookies=": "write",
    "i: input-file= post-file= body-file=": "read",
  },
  does: CHANGE,
  effects: (call, options) => {
    const output = valuesOf(options, "O", "output-document");
    const prints = output.length > 0 && output.every(({ text }) => /^(?:-|\/dev\/(?:null|stdout))$/.test(text));
    const method = valuesOf(options, "method").find(({ text }) => !/^(?:GET|HEAD)$/i.test(text));
    const isOdd = call.args.some(({ text }) =>
      /^(?:-\w*e|--(?:execute|config|use-askpass|post|body|header|user|http|load))/.test(text),
    );
    return [
      ...options.operands.flatMap(address),
      ...(prints ? [] : writes(output)),
      ...(method ? [ask(`Sends a ${shown(method)} request to ${hosts(options.operands)}`)] : []),
      ...(isOdd ? [opaque("Makes wget send data, or take its settings from a file or a program")] : []),
      ...(prints || has(options, "spider") ? [] : [ask(`Saves a download from ${hosts(options.operands)}`)]),
    ];
  },
};

export const fetchers: ReadonlyMap<string, Program> = ruleTable({ curl, wget });

/** A host that is this machine: a command there has the user's rights, outside the sandbox. */
const THIS_MACHINE = /^(?:ssh:\/\/)?(?:[^@]*@)?(?:localhost|ip6-localhost|127[.\d]*|0|0\.0\.0\.0|\[?::1\]?)(?:[:/]|$)/i;
/** Options with which ssh and its like run a program of this machine. */
const LOCAL_PROGRAM = /^\s*(?:-o)?\s*(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|include|match)/i;

/** ssh runs the rest of the line on the other machine. A command that wipes a disk is blocked there, too. */
const remote: Program = ({ name, args }) => {
  if (args.length === 1 && args[0]?.text === "-V") return [];
  const own = args.filter(({ text }) => LOCAL_PROGRAM.test(text) || (name !== "ssh" && /^-\w*[SD]/.test(text)));
  const places = args.filter(({ text }) => !text.startsWith("-") && !/\s/.test(text));
  const isHere = places.some(({ text }) => THIS_MACHINE.test(text) && (name === "ssh" || text.includes(":")));
  const local = /^(?:scp|sftp)$/.test(name) ? places.filter(({ text }) => !/^[^/]*:/.test(text)) : [];
  return [
    ask(
      `Opens a shell on another machine, or copies files to or from it (${[name, ...places.slice(0, 3).map(shown)].join(" ")})`,
    ),
    ...(isHere ? [opaque(`Runs a command or copies files on this machine through ${name}`)] : []),
    ...own.flatMap((option): CommandEffect[] => [
      opaque(`Makes ${name} run a program of the command's choice (${shown(option)})`),
      { kind: "shell", code: option.text.replace(/^\s*(?:-o)?\s*\w+[\s=]+/, ""), escalateOnly: true },
    ]),
    ...reads(args.filter((_, at) => args[at - 1]?.text === "-F")),
    ...writes(local),
    ...mayRun(args),
  ];
};

/** netcat and socat: a listener or a connection, which may get a shell. */
const connection: Program = ({ name, args }) => {
  const isScan = args.some(({ text }) => /^-\w*z/.test(text)) && args.some(({ text }) => THIS_MACHINE.test(text));
  if (isScan && name !== "socat") return [CHANGE];
  const shell = args.find(({ text }) => /^-\w*[ec]|^--(?:exec|sh-exec)|^(?:exec|system):/i.test(text));
  const codes = args.flatMap(({ text }) => /^(?:exec|system):"?([^",]*)/i.exec(text)?.[1] ?? []);
  return [
    ask(`Opens a network connection with ${name}`),
    ...(shell ? [opaque(`Hands a program to the network through ${name} (${shown(shell)})`)] : []),
    ...codes.map((code): CommandEffect => ({ kind: "shell", code, escalateOnly: true })),
  ];
};

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

const sends = ask("Sends or fetches over the network ({line})");
const opensMachine = ask("Opens this machine to the network ({line})");

export const networkTools: ReadonlyMap<string, Program> = ruleTable({
  "ssh mosh scp sftp": remote,
  "nc ncat netcat socat": connection,
  "ssh-keygen": { options: { "f:": "write" }, does: ask("Makes or changes keys ({line})") },
  "open xdg-open start": ({ name, args }) => {
    const reason = `Opens ${args.map(shown).join(" ")} in another program (${name})`;
    return [args.some(({ text }) => /^https?:/.test(text)) ? ask(reason) : askForCode(reason)];
  },
  "ping ping6 dig nslookup host traceroute tracepath mtr whois getent": lookUp,
  "telnet ftp lftp tftp mail mailx sendmail mutt swaks rclone s3cmd aria2c http https xh": { does: sends },
  "ssh-copy-id": { does: ask("Gives a key to another machine ({line})") },
  "ngrok cloudflared": { does: opensMachine },
});
