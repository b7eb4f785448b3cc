/** Containers and clusters: looking is reading; running, stopping and removing ask. */
import { ask, CHANGE, type CommandEffect, opaque, type Program } from "../command-effect.ts";
import { type Arg, isKnown, shown } from "../shell/arg.ts";
import { MAX_CODE } from "../shell/recorder.ts";

const GLOBAL_VALUE =
  /^(?:-H|--host|--context|-c|--config|-l|--log-level|--tlscacert|--tlscert|--tlskey|-n|--namespace|--kubeconfig|--cluster|--user|-s|--server|-f|--file|-p|--project-name|--profile|--env-file|--project-directory)$/;
const ELSEWHERE =
  /^(?:-H|--host|--tls|--kubeconfig|--server|-s$|--as|--token|--config$|--config=|--username|--insecure)/;

type Parsed = { readonly words: readonly Arg[]; readonly elsewhere: Arg | undefined };

function parse(args: readonly Arg[]): Parsed {
  const words: Arg[] = [];
  let elsewhere: Arg | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (!arg) break;
    if (!arg.text.startsWith("-")) words.push(arg);
    else {
      if (words.length === 0 && ELSEWHERE.test(arg.text)) elsewhere = arg;
      if (
        GLOBAL_VALUE.test(arg.text) &&
        (words.length === 0 || /^(?:-n|-f|-p|--namespace|--file|--project-name|--profile)$/.test(arg.text))
      )
        at += 1;
    }
  }
  return { words, elsewhere };
}

const DOCKER_LOOKS =
  /^(?:ps|images|logs|inspect|version|info|stats|top|port|history|diff|events|search|(?:container|image|volume|network|context|config|node|plugin|service|stack|builder|buildx|manifest|system) (?:ls|list|ps|inspect|logs|top|stats|port|diff|history|df|info|events|show|version|du)|compose (?:ps|logs|config|ls|images|top|port|version|events|stats|convert)|scout quickview)(?: |$)/;

const docker: Program = ({ name, args }) => {
  const { words, elsewhere } = parse(args);
  const line = words.map(({ text }) => text).join(" ");
  if (words.length === 0) return [];
  if (elsewhere) return [ask(`Runs ${name} against another machine (${shown(elsewhere)})`)];
  if (DOCKER_LOOKS.test(`${line} `) && words.every(isKnown)) return [CHANGE];
  const mounts = args.filter(({ text }) =>
    /^\/(?::|$)|^(?:-v|--volume=?)\/:|source=\/,|^\/(?:etc|root|home|var\/run\/docker\.sock)?:|--privileged|--pid=host/.test(
      text,
    ),
  );
  return [
    ask(
      `Runs ${name} ${words.slice(0, 3).map(shown).join(" ")}`,
      words[0]?.text === "run" || words[0]?.text === "exec" ? "exact" : "prefix",
    ),
    ...mounts.map((arg) => opaque(`Gives a container the run of this machine (${shown(arg)})`)),
    ...(mounts.length > 0 ? inner(args, mounts) : []),
  ];
};

/**
 * What runs in a container that has this machine's files is no better than here; elsewhere a block would be too much.
 * Where the command starts among the options is not worth knowing: every start is tried.
 */
function inner(args: readonly Arg[], mounts: readonly Arg[]): readonly CommandEffect[] {
  const targets = mounts.flatMap(({ text }) => /(?:^|[=,])\/:(\/[\w./-]+)/.exec(text)?.[1] ?? []);
  const onHost = (text: string) => {
    const target = targets.find((folder) => text === folder || text.startsWith(`${folder}/`));
    return target === undefined ? text : text.slice(target.length) || "/";
  };
  const words = args.map(({ text }) => onHost(text)).map((text) => (/\s/.test(text) ? quoted(text, targets) : text));
  const starts: CommandEffect[] = [];
  // Where there are too many starts to read, one more than is read says so.
  for (let at = 0, length = 0; at < words.length && length <= MAX_CODE; at += 1) {
    const code = words.slice(at).join(" ");
    length += code.length;
    starts.push({ kind: "shell", code, raises: true });
  }
  return starts;
}

function quoted(text: string, targets: readonly string[]): string {
  return `'${targets.reduce(toRoot, text)}'`;
}

function toRoot(text: string, target: string): string {
  return text.replaceAll(target, "/");
}

const KUBE_LOOKS =
  /^(?:get|describe|logs|top|version|api-resources|api-versions|explain|cluster-info|events|diff|auth can-i|config (?:view|current-context|get-contexts|get-clusters|get-users)|rollout (?:status|history))(?: |$)/;

const kubectl: Program = ({ name, args }) => {
  const { words, elsewhere } = parse(args);
  const line = words.map(({ text }) => text).join(" ");
  if (words.length === 0) return [];
  if (elsewhere) return [ask(`Runs ${name} against another cluster (${shown(elsewhere)})`)];
  const secret =
    words.some(({ text }) => /^secrets?(?:\/|$)/.test(text)) ||
    args.some(({ text }) => text === "--raw" || text.startsWith("--raw="));
  if (KUBE_LOOKS.test(`${line} `) && !secret && words.every(isKnown)) return [CHANGE];
  return [ask(`Runs ${name} ${words.slice(0, 3).map(shown).join(" ")} on a cluster`, "prefix")];
};

const helm: Program = ({ name, args }) => {
  const { words } = parse(args);
  const line = words.map(({ text }) => text).join(" ");
  const renders = args.some(({ text }) => /^--post-renderer/.test(text));
  if (
    !renders &&
    /^(?:list|ls|status|get|history|show|search|version|lint|template|env|repo list|dependency list)(?: |$)/.test(
      `${line} `,
    )
  )
    return [CHANGE];
  return [ask(`Runs ${name} ${words.slice(0, 2).map(shown).join(" ")} on a cluster`, "prefix")];
};

export const containers: ReadonlyMap<string, Program> = new Map([
  ["docker", docker],
  ["podman", docker],
  ["nerdctl", docker],
  [
    "docker-compose",
    (call) => docker({ ...call, args: [{ text: "compose", glob: false, splits: false }, ...call.args] }),
  ],
  ["kubectl", kubectl],
  ["oc", kubectl],
  ["k", kubectl],
  ["helm", helm],
]);
