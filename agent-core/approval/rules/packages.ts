/** Package managers of other languages and of the system: looking is reading, installing asks. */
import { ask, CHANGE, type CommandEffect, type Program } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown } from "../shell/arg.ts";

type Rule = {
  /** First words that only look. */
  readonly looks: RegExp;
  /** First words after which the rest is a command of the project. */
  readonly runs?: RegExp;
};

function manager({ looks, runs }: Rule): Program {
  return ({ name, args }) => {
    const at = args.findIndex(({ text }) => !text.startsWith("-"));
    const verb = args[at];
    if (!verb) return args.every(({ text }) => /^-(?:v|V|h|-version|-help)$/.test(text)) ? [] : [ask(`Runs ${name}`)];
    const python = args.find(({ text }) => /^--(?:python|config-setting|index-url|extra-index-url)/.test(text));
    if (looks.test(verb.text) && !python) return [CHANGE];
    if (runs?.test(verb.text)) return runsRest(name, args.slice(at + 1));
    return [
      ask(
        `Runs ${name} ${args
          .slice(at, at + 3)
          .map(shown)
          .join(" ")}, which installs or changes packages`,
        "prefix",
      ),
    ];
  };
}

function runsRest(name: string, args: readonly Arg[]): readonly CommandEffect[] {
  const at = args.findIndex(
    ({ text }) => text !== "--" && !/^--(?:frozen|locked|no-sync|quiet|offline|isolated)$|^-q$/.test(text),
  );
  const rest = at < 0 ? [] : args.slice(at);
  if (rest[0]?.text.startsWith("-")) return [ask(`Runs ${name} run with ${shown(rest[0])}`), ...nested(rest)];
  return [CHANGE, ...nested(rest)];
}

function nested(words: readonly Arg[]): readonly CommandEffect[] {
  const command = words.filter((_, at) => at > 0 || !words[0]?.text.startsWith("-"));
  return command.length > 0 ? [{ kind: "command", words: command }] : [];
}

/** System package managers are run as root or change the machine. */
const system = (looks: RegExp): Program => {
  return ({ name, args }) => {
    const verbs = args.filter(({ text }) => !text.startsWith("-"));
    const [verb] = verbs;
    // Some options are a hook: a shell command.
    const hooks = args.flatMap((arg, at): CommandEffect[] => {
      const text = arg.text === "-o" ? args[at + 1]?.text : arg.text.replace(/^-o/, "");
      const code = /(?:Pre|Post)-Invoke(?:-\w+)?(?:::)?=(.*)$/i.exec(text ?? "")?.[1];
      return code === undefined ? [] : [{ kind: "shell", code, raises: true }];
    });
    if (verb && looks.test(verb.text) && hooks.length === 0 && !args.some(({ text }) => /^-(?:o|c)/.test(text)))
      return [CHANGE];
    return [
      ask(
        `Runs ${name} ${verbs.slice(0, 3).map(shown).join(" ")}, which changes the software of this machine`,
        "prefix",
      ),
      ...hooks,
    ];
  };
};

/** Queries of rpm, dpkg and pacman are letters. */
const letters = (looks: RegExp): Program => {
  return ({ name, args }) =>
    looks.test(args[0]?.text ?? "") ? [] : [ask(`Runs ${name}, which changes the software of this machine`, "prefix")];
};

const pip: Program = (call) => {
  const base = manager({ looks: /^(?:list|show|freeze|check|help|index|config|debug|inspect|hash)$/ });
  const writes = call.args.find(({ text }) => /^--(?:log|target|prefix|root)=/.test(text));
  const verb = call.args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
  if (verb[0] === "config" && !/^(?:list|get|debug)$/.test(verb[1] ?? "")) return [ask("Changes pip's settings")];
  return [
    ...base(call),
    ...(writes ? [{ kind: "write", path: afterPrefix(writes, writes.text.indexOf("=") + 1) } as const] : []),
  ];
};

const uv: Program = (call) => {
  const [first, ...rest] = call.args;
  if (first?.text === "pip") return pip({ ...call, name: "uv pip", args: rest });
  if (first?.text === "tool" && rest[0]?.text === "list") return [];
  if (first?.text === "version" || first?.text === "tree") return [CHANGE];
  return manager({ looks: /^(?:help|lock)$/, runs: /^run$/ })(call);
};

const bundle: Program = manager({ looks: /^(?:list|show|info|check|outdated|version|help|doctor)$/, runs: /^exec$/ });

/** Version managers: switching is for this shell only. */
const versions: Program = ({ name, args }) => {
  const [verb] = args;
  if (
    !verb ||
    /^(?:ls|list|current|which|version|versions|--version|where|use|doctor|root|prefix|alias|env|activate|info)$/.test(
      verb.text,
    )
  )
    return [CHANGE];
  if (/^(?:exec|run)$/.test(verb.text)) {
    const rest = args.slice(1).filter(({ text }) => text !== "--");
    return [CHANGE, { kind: "command", words: isKnown(rest[0] ?? knownArg("")) ? rest : [] }];
  }
  return [ask(`Runs ${name} ${shown(verb)}, which installs or changes software`, "prefix")];
};

export const packageManagers: ReadonlyMap<string, Program> = new Map<string, Program>([
  ["pip", pip],
  ["pip3", pip],
  ["uv", uv],
  [
    "uvx",
    ({ args }) => [
      ask(`Downloads and runs ${args[0] ? shown(args[0]) : "a package"}`, "prefix"),
      { kind: "command", words: args },
    ],
  ],
  ["pipx", manager({ looks: /^(?:list|environment)$/ })],
  ["poetry", manager({ looks: /^(?:show|check|env|version|about|search|config)$/, runs: /^run$/ })],
  ["pdm", manager({ looks: /^(?:list|info|show|outdated)$/, runs: /^run$/ })],
  ["pipenv", manager({ looks: /^(?:graph|check|verify)$/, runs: /^run$/ })],
  ["hatch", manager({ looks: /^(?:status|version|build|test|fmt)$/, runs: /^run$/ })],
  ["rye", manager({ looks: /^(?:show|list|test|lint|fmt|version)$/, runs: /^run$/ })],
  ["conda", manager({ looks: /^(?:list|info|search|env)$/ })],
  ["mamba", manager({ looks: /^(?:list|info|search)$/ })],
  ["gem", manager({ looks: /^(?:list|search|info|which|environment|env|contents|outdated|specification|help)$/ })],
  ["bundle", bundle],
  ["bundler", bundle],
  [
    "composer",
    manager({
      looks:
        /^(?:show|validate|outdated|licenses|diagnose|why|depends|check-platform-reqs|test|dump-autoload|about|status|audit)$/,
    }),
  ],
  ["luarocks", manager({ looks: /^(?:list|show|search|which|lint|test)$/ })],
  ["cpan", manager({ looks: /^$/ })],
  ["nuget", manager({ looks: /^(?:list|locals|search)$/ })],
  ["opam", manager({ looks: /^(?:list|show|info|env|var|search)$/, runs: /^exec$/ })],
  [
    "brew",
    system(/^(?:list|ls|info|search|outdated|deps|leaves|config|doctor|home|desc|uses|cat|log|--prefix|--cellar)$/),
  ],
  ["apt", system(/^(?:list|show|search|policy|depends|rdepends)$/)],
  ["apt-get", system(/^(?:check|changelog)$/)],
  ["apt-cache", system(/^(?:show|search|policy|depends|rdepends|madison|pkgnames|stats)$/)],
  ["yum", system(/^(?:list|info|search|provides|repolist|deplist|check-update)$/)],
  ["dnf", system(/^(?:list|info|search|provides|repolist|repoquery|check-update)$/)],
  ["zypper", system(/^(?:search|se|info|if|list-updates|lu|repos|lr)$/)],
  ["apk", system(/^(?:info|search|list|policy|version)$/)],
  ["snap", system(/^(?:list|info|find|version)$/)],
  ["flatpak", system(/^(?:list|info|search|remotes)$/)],
  ["port", system(/^(?:list|info|search|installed|outdated)$/)],
  ["pkg", system(/^(?:info|search|query|version)$/)],
  ["nix", system(/^(?:eval|search|show-config|why-depends|path-info)$/)],
  ["winget", system(/^(?:list|search|show)$/)],
  ["choco", system(/^(?:list|search|info|outdated)$/)],
  [
    "dpkg",
    letters(
      /^(?:-[lLsSpIcC]|--(?:list|listfiles|status|search|print-avail|get-selections|info|contents|audit|compare-versions|print-architecture))$/,
    ),
  ],
  ["dpkg-query", letters(/^(?:-[lLsSW]|--(?:list|listfiles|status|search|show)).*$/)],
  ["rpm", letters(/^(?:-q\w*|--(?:query|version))$/)],
  ["pacman", letters(/^(?:-Q\w*|-Ss|-Si|-F\w*)$/)],
  ...[
    "nvm",
    "fnm",
    "volta",
    "asdf",
    "mise",
    "pyenv",
    "rbenv",
    "nodenv",
    "goenv",
    "jenv",
    "sdk",
    "rvm",
    "n",
    "direnv",
  ].map((name): [string, Program] => [name, versions]),
]);
