/** Rules for package managers of other languages and of the system: listing runs, installing and publishing ask. */
import { ask, askForCode, CHANGE, type CommandEffect, opaque, type Program } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { programOf, type Rule, ruleTable } from "./rule.ts";

/** Options with which even a verb that looks reaches another interpreter, index or settings. */
const OTHER_SOURCES = /^--(?:python|config-setting|index-url|extra-index-url)|^-[oc](?:$|=)|^--(?:option|config-file)/;
/** Words with which a verb that looks changes something. */
const SETTING = /^(?:poetry|conda) (?:env (?!list|info|path|activate|export)|config \S+ \S|config --(?!list))/;
/** A file, settings that are a file, and a hook: its code leaves the sandbox with the package manager. */
const FILE = /[/\s(]|^\.$|^-c|\.(?:deb|rpm|apk|snap|flatpak|rb|nupkg|msi)$/;

/** Verbs that look, and verbs whose rest is a command of the project; every other verb changes `what`. */
function manager(looks: string, runs = "", what = "packages"): Program {
  const [looking, running] = [new Set(looks.split(" ")), new Set(runs.split(" "))];
  return ({ name, args }) => {
    const at = args.findIndex(({ text }) => !text.startsWith("-"));
    const verb = args[at]?.text ?? "";
    if (at < 0 && args.every(({ text }) => /^-(?:v|V|h|-version|-help)$/.test(text))) return [];
    const line = [name, ...args.slice(Math.max(at, 0), at + 4).map(({ text }) => text)].join(" ");
    const odd = args.find(({ text }) => OTHER_SOURCES.test(text));
    if (looking.has(verb) && !SETTING.test(line) && !odd) return [CHANGE];
    if (running.has(verb)) return runsRest(name, args.slice(at + 1));
    const file = args.find(({ text }) => FILE.test(text) && !/^https?:/.test(text));
    return [
      ask(`Runs ${shown(line)}, which installs or changes ${what}`, "prefix"),
      ...(odd ? [opaque(`Runs ${name} with ${shown(odd)}, which can make it run other code`)] : []),
      ...(file && what !== "packages" ? [askForCode(`Runs ${name} with ${shown(file)}, whose code may run`)] : []),
    ];
  };
}

/** The first word of a package manager of the system says that it only looks. */
function system(looks: string): Program {
  return manager(looks, "", "the software of this machine");
}

function runsRest(name: string, args: readonly Arg[]): readonly CommandEffect[] {
  const at = args.findIndex(
    ({ text }) => text !== "--" && !/^--(?:frozen|locked|no-sync|quiet|offline|isolated)$|^-q$/.test(text),
  );
  const rest = at < 0 ? [] : args.slice(at);
  const odd = rest[0]?.text.startsWith("-") ? rest[0] : undefined;
  const words = odd ? rest.slice(1) : rest;
  return [
    odd ? ask(`Runs ${name} run with ${shown(odd)}, an option that is not known`) : CHANGE,
    ...(words.length > 0 ? [{ kind: "command", words } as const] : []),
  ];
}

/** A package manager whose verbs are letters: it reads when its first word and all other options match. */
const letters =
  (looks: RegExp, more = /^$/): Program =>
  (call) => {
    const [first, ...others] = call.args;
    const odd = others.find(({ text }) => text.startsWith("-") && !looks.test(text) && !more.test(text));
    if (!looks.test(first?.text ?? "")) return system("")({ ...call, args: [knownArg("install"), ...call.args] });
    return odd === undefined ? [] : [askForCode(`Runs ${call.name} with ${shown(odd)}, an option that is not known`)];
  };

const pipVerbs = manager("list show freeze check help index config debug inspect hash");
const pip: Rule = {
  open: true,
  options: { "log= target= prefix= root=": "write", "r: requirement= path= cert= client-cert= c: constraint=": "read" },
  effects: (call, { operands: [verb, action] }) =>
    verb?.text === "config" && !/^(?:list|get|debug)$/.test(action?.text ?? "")
      ? [ask("Changes pip's settings")]
      : pipVerbs(call),
};

const uvVerbs = manager("help lock version tree", "run");
const uvPip = programOf(pip);
const uv: Program = (call) => {
  const [first, ...rest] = call.args;
  if (first?.text === "pip") return uvPip({ ...call, name: "uv pip", args: rest });
  if (first?.text === "tool" && rest[0]?.text === "list") return [];
  return uvVerbs(call);
};

/** Version managers: switching is for this shell only. */
const versions: Program = ({ name, args }) => {
  const [verb, ...rest] = args;
  const looks =
    /^(?:ls|list|current|which|version|versions|--version|where|use|doctor|root|prefix|alias|env|activate|info)$/;
  // mise writes what it uses into its settings, and installs it.
  if (!verb || (looks.test(verb.text) && !(name === "mise" && verb.text === "use"))) return [CHANGE];
  if (verb.text === "exec" || verb.text === "run") {
    const words = rest.filter(({ text }) => text !== "--");
    return [CHANGE, { kind: "command", words: isKnown(words[0] ?? knownArg("")) ? words : [] }];
  }
  return [ask(`Runs ${name} ${shown(verb)}, which installs or changes software`, "prefix")];
};

export const packageManagers: ReadonlyMap<string, Program> = ruleTable({
  "pip pip3": pip,
  uv,
  uvx: ({ args }) => [
    ask(`Downloads and runs ${args[0] ? shown(args[0]) : "a package"}`, "prefix"),
    { kind: "command", words: args },
  ],
  pipx: system("list environment"),
  poetry: manager("show check env version about search config", "run"),
  pdm: manager("list info show outdated", "run"),
  pipenv: manager("graph check verify", "run"),
  hatch: manager("status version build test fmt", "run"),
  rye: manager("show list test lint fmt version", "run"),
  conda: manager("list info search env"),
  mamba: manager("list info search"),
  gem: manager("list search info which environment env contents outdated specification help"),
  "bundle bundler": manager("list show info check outdated version help doctor", "exec"),
  composer: manager(
    "show validate outdated licenses diagnose why depends check-platform-reqs test dump-autoload about status audit",
  ),
  luarocks: manager("list show search which lint test"),
  cpan: manager(""),
  nuget: manager("list locals search"),
  opam: manager("list show info env var search", "exec"),
  brew: system("list ls info search outdated deps leaves config doctor home desc uses cat log"),
  apt: system("list show search policy depends rdepends"),
  "apt-get": system("check changelog"),
  "apt-cache": system("show search policy depends rdepends madison pkgnames stats"),
  yum: system("list info search provides repolist deplist check-update"),
  dnf: system("list info search provides repolist repoquery check-update"),
  zypper: system("search se info if list-updates lu repos lr"),
  apk: system("info search list policy version"),
  snap: system("list info find version"),
  flatpak: system("list info search remotes"),
  port: system("list info search installed outdated"),
  pkg: system("info search query version"),
  nix: system("eval search show-config why-depends path-info"),
  winget: system("list search show"),
  choco: system("list search info outdated"),
  dpkg: letters(
    /^(?:-[lLsSpIcC]|--(?:list|listfiles|status|search|print-avail|get-selections|info|contents|audit|compare-versions|print-architecture))$/,
  ),
  "dpkg-query": letters(/^(?:-[lLsSWf]|--(?:list|listfiles|status|search|show|showformat)).*$/),
  rpm: letters(
    /^(?:-q\w*|--(?:query|version))$/,
    /^(?:-[acdfgilpRsv]+|--(?:all|file|list|info|changes|changelog|requires|provides|conflicts|obsoletes|what\w+|last|qf|queryformat|docfiles|configfiles|state|package|(?:qf|queryformat)=[^(]*))$/,
  ),
  pacman: letters(/^(?:-Q\w*|-Ss|-Si|-F\w*)$/),
  "nvm fnm volta asdf mise pyenv rbenv nodenv goenv jenv sdk rvm n direnv": versions,
});
