/**
 * Runs commands on another machine or in a container. A transport runs scripts there. A private folder there keeps the
 * shell's folder and variables, and a mark in their environment identifies the processes.
 */
import { randomUUID } from "node:crypto";
import { homedir } from "node:os";
import { MARKER_VARIABLE } from "../../platform/children/process-tree.ts";
import type { Backend, CommandVariables, Plan } from "./backend.ts";
import { quote, SAVE_TO, START_FROM, shellPreamble } from "./preamble.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";
import type { CommandRequest, ShellState } from "./terminals.ts";

/** Limit of one argument of a program (Linux: MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 131_072;

/** Last line of every error message of docker. */
const HELP_HINT = /^(Run|See) '.* --help'/;

/** Program on this machine that runs a script with `sh` on the other one. */
export type ScriptProgram = { readonly program: string; readonly args: readonly string[] };

export type Transport = {
  /** See `HostTerminals.place`. */
  readonly place: string;
  /** Connects or starts the container; rejects with a sentence for people. */
  open(signal: AbortSignal): Promise<void>;
  script(script: string, how: { readonly input: boolean }): ScriptProgram;
  /** The same on a pseudo-terminal; undefined for a transport without any. */
  readonly pty: ((script: string) => ScriptProgram) | undefined;
  /** Absolute folder of the first command; default: the user's home on that machine. */
  readonly firstFolder: string | undefined;
  /** True for the error of a container or machine that is gone; the next command opens it again. */
  isGone?(result: ProgramResult): boolean;
  /** Ends the connection, and removes the container. */
  close(): Promise<void>;
};

/** Facts about the other machine. */
type Site = {
  /** Private folder, absolute. */
  readonly folder: string;
  readonly home: string;
  /** Absolute path; undefined on a machine without bash. */
  readonly bash: string | undefined;
};

// Prints the private folder, the home folder and the path of bash, a line each.
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
    language: "sh",
    open: async (_, signal) => transport.firstFolder ?? (await remote.site(signal)).home,
    plan: (request, _, signal) => remote.plan(request, signal),
    dispose: () => remote.dispose(),
  };
}

class Remote {
  readonly #transport: Transport;
  /** Travel in the preamble's file, because every user can read a command line. */
  readonly #passed: CommandVariables["passed"];
  /** Prefix of the marks of all commands. */
  readonly #id = randomUUID();
  #site: Promise<Site> | undefined;
  #count = 0;

  constructor(transport: Transport, passed: CommandVariables["passed"]) {
    this.#transport = transport;
    this.#passed = passed;
  }

  /** Sets the machine up once; after a failure the next command tries again. */
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
    // The final dot keeps the mark of command 1 from being a prefix of the mark of command 10.
    const marker = `${this.#id}.${this.#count}.`;
    const script = commandScript(command, shell, site, { marker, to: keepsShell ? to : undefined });
    const launched = this.#program(script, pty, input === "open");
    if (launched.args.some((word) => Buffer.byteLength(word) >= MAX_ARGUMENT_BYTES)) {
      throw new Error(
        `The command is too long for ${this.#transport.place} (${Buffer.byteLength(command)} bytes). Write it to a file there in parts, and run the file.`,
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
    // Processes may outlive their commands. A machine that is gone needs no cleaning.
    const cleaning = site && `${killScript(`${this.#id}.`)}\nrm -rf ${quote(site.folder)}`;
    if (cleaning !== undefined) await this.#run(cleaning).catch(() => undefined);
    await this.#transport.close();
  }

  #program(script: string, pty: boolean, input: boolean): ScriptProgram {
    if (!pty) return this.#transport.script(script, { input });
    if (this.#transport.pty !== undefined) return this.#transport.pty(script);
    throw new Error(`No pseudo-terminal is available in ${this.#transport.place}. Run the command without pty.`);
  }

  async #setUp(signal: AbortSignal): Promise<Site> {
    await this.#transport.open(signal);
    const { program, args } = this.#transport.script(SET_UP, { input: true });
    const preamble = shellPreamble(MARKER_VARIABLE, { withheld: [], passed: this.#passed });
    const result = await runProgram(program, args, { input: preamble, signal });
    const [folder, home, bash] = result.stdout.split("\n");
    if (result.exitCode !== 0 || !folder?.startsWith("/")) throw new Error(placeProblem(this.#transport.place, result));
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

/** Reason why the place cannot run commands, in one line. */
export function placeProblem(place: string, { exitCode, stderr }: ProgramResult): string {
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
  const gone = quote(`The folder ${folder} does not exist: nothing was run.`);
  return `cd -- ${quote(folder)} 2>/dev/null || { echo ${gone} >&2; ${back}exit 1; }\nexport ${variablesSet.join(" ")}\nexec ${shell}`;
}

/** Prints the folder, then `same` or `changed` for the variables without those of the folder. */
function stateScript(to: string): string {
  return `cd ${quote(to.slice(0, to.lastIndexOf("/")))} || exit 1
n=${to.slice(to.lastIndexOf("/") + 1)}
plain() { grep -v -E '^(declare -x|export) (PWD|OLDPWD|_)(=|$)' "$1"; }
cat "$n.folder" || exit 1
if [ "$(plain "$n.before")" = "$(plain "$n.variables")" ]; then echo same; rm -f "$n.variables"; else echo changed; fi
rm -f "$n.folder" "$n.before"`;
}

/**
 * Terminates all processes with a mark that begins with `mark`, then kills them. Most greps search all environments at
 * once; busybox's stops at a NUL and reads them line by line; without /proc, `ps` finds the mark.
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
