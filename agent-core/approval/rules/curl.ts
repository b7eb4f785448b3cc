/** curl, wget and httpie: fetching a known address reads; sending anything, or writing a file, asks. */
import { ask, CHANGE, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, isKnown, shown } from "../shell/arg.ts";
import { type Grammar, has, type Options, readOptions, valuesOf } from "./options.ts";

const CURL: Grammar = {
  short: "0123456#aA:b:Bc:C:d:D:e:E:fF:gGhH:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z:",
  long: [
    ..."data= data-ascii= data-binary= data-raw= data-urlencode= json= form= form-string= upload-file= request=".split(
      " ",
    ),
    ..."output= output-dir= remote-name remote-name-all remote-header-name dump-header= cookie= cookie-jar= config=".split(
      " ",
    ),
    ..."header= user= user-agent= referer= proxy= socks5= socks4= socks5-hostname= preproxy= url= get head include".split(
      " ",
    ),
    ..."insecure location location-trusted max-time= connect-timeout= retry= retry-delay= retry-max-time= retry-all-errors".split(
      " ",
    ),
    ..."retry-connrefused silent show-error fail fail-with-body fail-early verbose progress-bar no-progress-meter compressed".split(
      " ",
    ),
    ..."write-out= range= max-redirs= resolve= cacert= cert= key= netrc netrc-file= unix-socket= interface= limit-rate=".split(
      " ",
    ),
    ..."http1.0 http1.1 http2 http3 ipv4 ipv6 tlsv1.2 tlsv1.3 no-buffer globoff quote= mail-from= mail-rcpt= trace=".split(
      " ",
    ),
    ..."trace-ascii= stderr= create-dirs parallel next disable doh-url= oauth2-bearer= etag-save= etag-compare= hsts= alt-svc= libcurl= path-as-is ssl-reqd max-filesize= version help manual".split(
      " ",
    ),
  ],
};
const SENDING = [
  ..."d F T Q t data data-ascii data-binary data-raw data-urlencode json form form-string upload-file quote".split(" "),
  ..."mail-from mail-rcpt".split(" "),
];
const CREDENTIALS = "u E b n user cert key netrc netrc-file cookie oauth2-bearer unix-socket".split(" ");
const DETOURS = "K x config proxy socks5 socks4 socks5-hostname preproxy resolve doh-url interface".split(" ");
const FILES =
  "o D c output output-dir dump-header cookie-jar trace trace-ascii stderr etag-save hsts alt-svc libcurl".split(" ");

const curl: Program = ({ args }) => {
  const options = readOptions(args, CURL);
  const urls = [...options.operands, ...valuesOf(options, "url")];
  const effects: CommandEffect[] = [CHANGE];
  const data = valuesOf(options, ...SENDING);
  if (data.length > 0) effects.push(ask(`Sends data to ${hosts(urls)}`));
  for (const { text } of data) {
    const file = /^@?(?:[^=]*=@)?(.+)$/.exec(text)?.[1];
    if (/^@|=@/.test(text) && file && file !== "-")
      effects.push(...reads([{ text: file, glob: false, splits: false }]));
  }
  effects.push(...reads(valuesOf(options, "T", "upload-file")));
  const method = valuesOf(options, "X", "request").find(({ text }) => !/^(?:GET|HEAD|OPTIONS)$/i.test(text));
  if (method) effects.push(ask(`Sends a ${shown(method)} request to ${hosts(urls)}`));
  if (has(options, ...CREDENTIALS)) effects.push(ask(`Sends credentials to ${hosts(urls)}`));
  if (has(options, ...DETOURS)) effects.push(ask("Makes curl take its options or its connection from elsewhere"));
  return [...effects, ...outputs(options), ...urls.flatMap(address), ...headers(options), ...unclear("curl", options)];
};

function outputs(options: Options): readonly CommandEffect[] {
  const files = valuesOf(options, ...FILES).filter(({ text }) => text !== "-");
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

/** Why fetching an address asks. Reading a known page does not; an address with unknown pieces can carry data out. */
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
  if (/^0x|^\d+$|^0\d/.test(host)) return [ask(`Contacts ${host}, an address in disguise`)];
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

function unclear(name: string, options: Options): readonly CommandEffect[] {
  const odd = options.strange.filter(
    ({ text }) => text.startsWith("-") || !options.operands.some((operand) => operand.text === text),
  );
  return odd.map((arg) => ask(`Runs ${name} with ${shown(arg)}, an option that is not known here`));
}

const wget: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "VhbqvdO:Si:FB:t:ncNT:w:Q:P:e:o:a:U:xrl:kKmpHLI:A:R:D:X:46E",
    long: [
      ..."output-document= output-file= append-output= directory-prefix= quiet no-verbose spider server-response tries=".split(
        " ",
      ),
      ..."timeout= no-check-certificate post-data= post-file= method= body-data= body-file= header= user-agent= input-file=".split(
        " ",
      ),
      ..."execute= config= use-askpass= user= password= http-user= http-password= load-cookies= save-cookies= recursive".split(
        " ",
      ),
      ..."mirror continue no-clobber content-disposition retry-connrefused waitretry= show-progress max-redirect= referer=".split(
        " ",
      ),
    ],
  });
  const effects: CommandEffect[] = [CHANGE, ...options.operands.flatMap(address), ...headers(options)];
  if (has(options, "post-data", "post-file", "body-data", "body-file"))
    effects.push(ask(`Sends data to ${hosts(options.operands)}`));
  effects.push(...reads(valuesOf(options, "post-file", "body-file", "i", "input-file")));
  if (valuesOf(options, "method").some(({ text }) => !/^(?:GET|HEAD)$/i.test(text)))
    effects.push(ask(`Sends a request to ${hosts(options.operands)}`));
  if (has(options, "e", "execute", "config", "use-askpass"))
    effects.push(opaque("Makes wget take its settings from elsewhere"));
  if (has(options, "user", "password", "http-user", "http-password", "load-cookies"))
    effects.push(ask("Sends credentials"));
  const output = valuesOf(options, "O", "output-document");
  const prints = output.length > 0 && output.every(({ text }) => /^(?:-|\/dev\/(?:null|stdout))$/.test(text));
  const files = valuesOf(options, "o", "output-file", "a", "append-output", "P", "directory-prefix", "save-cookies");
  effects.push(...writes([...(prints ? [] : output), ...files]));
  if (!prints && !has(options, "spider")) effects.push(ask(`Saves what it fetches from ${hosts(options.operands)}`));
  return [...effects, ...unclear("wget", options)];
};

export const fetchers: ReadonlyMap<string, Program> = new Map([
  ["curl", curl],
  ["wget", wget],
]);
