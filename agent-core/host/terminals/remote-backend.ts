/**
 * Commands of another machine or a container. A transport runs scripts there; the shell's folder and variables are
 * kept in a private folder there, as on this machine. What runs is found again by the mark in its environment.
 */
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { MARKER_VARIABLE } from "../../platform/children/process-tree.ts";
import type { Backend, Plan } from "./backend.ts";
import type { CommandVariables } from "./command-variables.ts";
import { SAVE_TO, START_FROM, shellPreamble } from "./preamble.ts";
import { quote } from "./quote.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";
import type { CommandRequest, ShellState } from "./terminals.ts";

/** One argument of a program may not be longer (Linux: MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 131_072;

/** What docker says last, whatever was wrong. */
const HELP_HINT = /^(Run|See) '.* --help'/;

/** A program of this machine that runs a script for `sh` at the place. */
export type ScriptProgram = { readonly program: string; readonly args: readonly string[] };

export type Transport = {
  /** See `HostTerminals.place`. */
  readonly place: string;
  /** Connects, or starts what is needed; rejects with a sentence for people. */
  open(signal: AbortSignal): Promise<void>;
  /** `pty` is undefined when a pseudo-terminal cannot be had there. */
  script(script: string, how: { readonly input: boolean }): ScriptProgram;
  readonly pty: ((script: string) => ScriptProgram) | undefined;
  /** Absolute folder to begin with; undefined: the user's home there. */
  readonly firstFolder: string | undefined;
  /** Whether this is how a program of `script` fails when the place is no more, and has to be opened anew. */
  isGone?(result: ProgramResult): boolean;
  /** Ends the connection, and what was started. */
  close(): Promise<void>;
};

/** What was found at the place. */
type Site = {
  /** Private folder, absolute. */
  readonly folder: string;
  readonly home: string;
  /** Absolute path; undefined when there is no bash. */
  readonly bash: string | undefined;
};

// Gives the private folder, the home folder and bash, a line each.
const SET_UP = `umask 077
d=$(mktemp -d "\${TMPDIR:-/tmp}/hermes-shell-XXXXXX") || exit 1
cat > "$d/preamble" || exit 1
printf '%s\\n' "$d"
cd && pwd || echo /
command -v bash || :`;

export function remoteBackend(transport: Transport, passed: CommandVariables["passed"]): Backend {
  const remote = new Remote(transport, passed);
  return {
    place: transport.place,
    open: async (_, signal) => transport.firstFolder ?? (await remote.site(signal)).home,
    plan: (request, _, signal) => remote.plan(request, signal),
    dispose: () => remote.dispose(),
  };
}

class Remote {
  readonly #transport: Transport;
  /** They travel in the preamble's file: a command line is there for all to see. */
  readonly #passed: CommandVariables["passed"];
  /** Begins the marks of all its commands. */
  readonly #id = randomUUID();
  #site: Promise<Site> | undefined;
  #count = 0;

  constructor(transport: Transport, passed: CommandVariables["passed"]) {
    this.#transport = transport;
    this.#passed = passed;
  }

  /** Set up once; what failed is tried again by the next command. */
  async site(signal: AbortSignal): Promise<Site> {
    this.#site ??= this.#setUp(signal);
    try {
      return await this.#site;
    } catch (error) {
      this.#site = undefined;
      throw error;
    }
  }

  async plan(request: CommandRequest, signal: AbortSignal): Promise<Plan> {
    const { command, shell, keepsShell, input, pty, outputFile, onOutput } = request;
    const site = await this.site(signal);
    this.#count += 1;
    const to = `${site.folder}/${this.#count}`;
    // It ends with a dot, so that the mark of the first is not the beginning of the tenth's.
    const marker = `${this.#id}.${this.#count}.`;
    const script = commandScript(command, shell, site, { marker, to: keepsShell ? to : undefined });
    const launched = this.#program(script, pty, input === "open");
    if (launched.args.some((word) => Buffer.byteLength(word) >= MAX_ARGUMENT_BYTES)) {
      throw new Error(
        `The command is too long to be sent to ${this.#transport.place} (${Buffer.byteLength(command)} bytes). Write it to a file there in parts, and run that.`,
      );
    }
    return {
      launch: {
        ...launched,
        cwd: homedir(),
        env: {},
        title: command,
        input: pty ? "open" : input,
        hasPty: pty,
        outputFile,
        onOutput,
      },
      shellAfter: () => (keepsShell ? this.#readState(to, shell, site) : Promise.resolve(undefined)),
      killElsewhere: async () => {
        await this.#run(killScript(marker));
      },
    };
  }

  async dispose(): Promise<void> {
    const site = await this.#site?.catch(() => undefined);
    this.#site = undefined;
    // Also what commands left running there when they ended. A place that is gone has nothing to end or to remove.
    const cleaning = site && `${killScript(`${this.#id}.`)}\nrm -rf ${quote(site.folder)}`;
    if (cleaning !== undefined) await this.#run(cleaning).catch(() => undefined);
    await this.#transport.close();
  }

  #program(script: string, pty: boolean, input: boolean): ScriptProgram {
    if (!pty) return this.#transport.script(script, { input });
    if (this.#transport.pty !== undefined) return this.#transport.pty(script);
    throw new Error(`There is no pseudo-terminal to be had in ${this.#transport.place}. Run the command without pty.`);
  }

  async #setUp(signal: AbortSignal): Promise<Site> {
    await this.#transport.open(signal);
    const { program, args } = this.#transport.script(SET_UP, { input: true });
    const preamble = shellPreamble(MARKER_VARIABLE, { withheld: [], passed: this.#passed });
    const result = await runProgram(program, args, { input: preamble, signal });
    const [folder, home, bash] = result.stdout.split("\n");
    if (result.exitCode !== 0 || !folder?.startsWith("/")) throw new Error(whyNot(this.#transport.place, result));
    return { folder, home: home?.startsWith("/") ? home : "/", bash: bash?.startsWith("/") ? bash : undefined };
  }

  async #readState(to: string, before: ShellState, { home }: Site): Promise<ShellState | undefined> {
    const result = await this.#run(stateScript(to));
    if (this.#transport.isGone?.(result)) {
      this.#site = undefined;
      return { folder: this.#transport.firstFolder ?? home, variables: undefined };
    }
    const { exitCode, stdout } = result;
    const lines = stdout.trimEnd().split("\n");
    const verdict = lines.pop();
    if (exitCode !== 0 || (verdict !== "same" && verdict !== "changed")) return undefined;
    return { folder: lines.join("\n"), variables: verdict === "changed" ? `${to}.variables` : before.variables };
  }

  #run(script: string): Promise<ProgramResult> {
    const { program, args } = this.#transport.script(script, { input: false });
    return runProgram(program, args);
  }
}

/** One line of why something could not be done at a place. */
export function whyNot(place: string, { exitCode, stderr }: ProgramResult): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const reason = lines.findLast((line) => line !== "" && !HELP_HINT.test(line));
  return `Commands cannot be run in ${place}: ${reason || `exit code ${exitCode}`}. Check terminal in config.yaml.`;
}

function commandScript(
  command: string,
  { folder, variables }: ShellState,
  { bash, folder: own, home }: Site,
  { marker, to }: { readonly marker: string; readonly to: string | undefined },
): string {
  const preamble = quote(`${own}/preamble`);
  // A first-level bash that a remote login started would read .bashrc instead of BASH_ENV.
  const variablesSet = [
    "PAGER=cat GIT_PAGER=cat GIT_EDITOR=true GIT_TERMINAL_PROMPT=0 SHLVL=1",
    `${MARKER_VARIABLE}=${marker}`,
    ...(to === undefined ? [] : [`${SAVE_TO}=${quote(to)}`]),
    ...(variables === undefined ? [] : [`${START_FROM}=${quote(variables)}`]),
    ...(bash === undefined ? [] : [`BASH_ENV=${preamble}`]),
  ];
  const shell =
    bash === undefined
      ? `sh -c ${quote('. "$1"; shift; eval "$1"')} sh ${preamble} ${quote(command)}`
      : `${quote(bash)} -c ${quote(command)}`;
  const back =
    to === undefined ? "" : `: > ${to}.before; : > ${to}.variables; printf '%s\\n' ${quote(home)} > ${to}.folder; `;
  const gone = quote(`The folder ${folder} is not there: nothing was run.`);
  return `cd -- ${quote(folder)} 2>/dev/null || { echo ${gone} >&2; ${back}exit 1; }\nexport ${variablesSet.join(" ")}\nexec ${shell}`;
}

/** Gives the folder, then `same` or `changed` for the variables, place apart. */
function stateScript(to: string): string {
  return `cd ${quote(to.slice(0, to.lastIndexOf("/")))} || exit 1
n=${to.slice(to.lastIndexOf("/") + 1)}
plain() { grep -v -E '^(declare -x|export) (PWD|OLDPWD|_)(=|$)' "$1"; }
cat "$n.folder" || exit 1
if [ "$(plain "$n.before")" = "$(plain "$n.variables")" ]; then echo same; rm -f "$n.variables"; else echo changed; fi
rm -f "$n.folder" "$n.before"`;
}

/**
 * Asks everything whose mark begins so to end, then makes it. Most greps look through all environments at once; one
 * that stops at a NUL, as busybox's, is given them line by line; without /proc the mark is looked for by `ps`.
 */
function killScript(mark: string): string {
  const pattern = `${MARKER_VARIABLE}=${mark.replaceAll(".", "[.]")}`;
  return `marked() {
  if [ ! -r /proc/self/environ ]; then
    ps -E -ax -o pid=,command= 2>/dev/null | grep ${quote(`[${pattern[0]}]${pattern.slice(1)}`)} | while read -r p rest; do echo "$p"; done
  elif printf 'a\\000b' | grep -q b; then
    grep -l ${quote(pattern)} /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r none proc p rest; do echo "$p"; done
  else
    for p in /proc/[0-9]*; do
      tr '\\0' '\\n' 2>/dev/null < "$p/environ" | grep -q ${quote(`^${pattern}`)} && echo "\${p#/proc/}"
    done 2>/dev/null
  fi
}
for signal in TERM TERM TERM TERM TERM KILL KILL KILL KILL KILL; do
  found=$(marked)
  [ -z "$found" ] && break
  kill -s "$signal" $found 2>/dev/null
  sleep 0.2 2>/dev/null || sleep 1
done`;
}
