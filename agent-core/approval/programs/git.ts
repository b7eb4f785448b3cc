/** git: what precedes the subcommand, then the subcommand's own rules. */
import { ask, type Call, type CommandEffect, opaque, type Program } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, shown } from "../shell/arg.ts";
import { subcommands } from "./git-subcommands.ts";

const WITH_VALUE = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
  "--list-cmds",
]);
const PLAIN =
  /^(?:-p|-P|--paginate|--no-pager|--no-replace-objects|--bare|--literal-pathspecs|--glob-pathspecs|--noglob-pathspecs|--icase-pathspecs|--no-optional-locks|--no-lazy-fetch|--html-path|--man-path|--info-path|--exec-path|-h|--help|-v|--version)$/;
/** Settings that only change how something looks or whom a commit names. */
const PLAIN_SETTING =
  /^(?:color\.[\w.]+|core\.(?:quotepath|pager|autocrlf|abbrev)|advice\.\w+|user\.(?:name|email)|commit\.gpgsign|tag\.gpgsign|log\.\w+|diff\.(?:renames|renamelimit|algorithm|context|noprefix|mnemonicprefix)|init\.defaultbranch|pager\.\w+|gc\.auto|protocol\.version|core\.fsmonitor|column\.\w+|status\.\w+|push\.default|pull\.(?:rebase|ff)|rebase\.autostash|safe\.directory)=(?:[^!]*)$/i;
const PAGER_SETTING = /^(?:core\.pager|pager\.\w+|core\.fsmonitor)=(?!(?:cat|less|more|true|false|)$)/i;

type Start = {
  /** Position of the subcommand. */
  readonly at: number;
  /** Folder that `-C` goes to. */
  readonly cwd: Arg | undefined;
  readonly effects: readonly CommandEffect[];
};

export const git: Program = (call) => {
  const { at, cwd, effects } = readStart(call.args);
  const [subcommand, ...rest] = call.args.slice(at);
  if (cwd) return [...effects, { kind: "command", words: [NAME, ...call.args.slice(at)], cwd }];
  if (!subcommand) return effects;
  return [...effects, ...runSubcommand(subcommand, { ...call, name: subcommand.text, args: rest })];
};

function readStart(args: readonly Arg[]): Start {
  const effects: CommandEffect[] = [];
  let cwd: Arg | undefined;
  let at = 0;
  for (let arg = args[at]; arg?.text.startsWith("-"); arg = args[at]) {
    const equals = arg.text.indexOf("=");
    const name = equals > 0 ? arg.text.slice(0, equals) : arg.text;
    const apart = equals < 0 && WITH_VALUE.has(name);
    const value = apart ? args[at + 1] : afterPrefix(arg, equals + 1);
    if (name === "-C") cwd = value && joined(cwd, value);
    else effects.push(...globalOption(name, arg, value));
    at += apart ? 2 : 1;
  }
  return { at, cwd, effects };
}

/** Several `-C` lead one from the other. */
function joined(before: Arg | undefined, next: Arg): Arg {
  return before && !next.text.startsWith("/") ? { ...next, text: `${before.text}/${next.text}` } : next;
}

const NAME: Arg = { text: "git", glob: false, splits: false };

function globalOption(name: string, arg: Arg, value: Arg | undefined): readonly CommandEffect[] {
  if (PLAIN.test(arg.text)) return [];
  const text = value?.text ?? "";
  if (name === "-c" && value && isKnown(value) && PLAIN_SETTING.test(text) && !PAGER_SETTING.test(text)) return [];
  if (name === "-c" || name === "--config-env") {
    const alias = /^alias\.[^=]*=!([\s\S]*)$/i.exec(text)?.[1] ?? /=!?([\s\S]*)$/.exec(text)?.[1];
    const raised: CommandEffect[] = alias === undefined ? [] : [{ kind: "shell", code: alias, raises: true }];
    return [
      opaque(`Runs git with the setting ${shown(value ?? arg)}, which can make it run other programs`),
      ...raised,
    ];
  }
  return [ask(`Runs git with ${shown(arg)}, which makes it use another repository or other programs`)];
}

function runSubcommand(word: Arg, call: Call): readonly CommandEffect[] {
  if (!isKnown(word)) return [opaque(`Runs a git command that is not known before it runs: ${shown(word)}`)];
  const subcommand = subcommands.get(word.text);
  if (!subcommand) return [ask(`Runs git ${word.text}, which is not known here to be harmless`, "prefix")];
  return subcommand(call);
}

export const gits: ReadonlyMap<string, Program> = new Map([["git", git]]);
