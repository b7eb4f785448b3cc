/**
 * Ways to run commands elsewhere: Docker's command line, that of Apptainer or its forerunner Singularity, and the system's
 * `ssh` with the user's configuration, keys and agent.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { messageOf } from "../../platform/errors.ts";
import { findProgram } from "../../platform/find-program.ts";
import { makeSocketFolder } from "../../platform/make-folder.ts";
import { placeProblem, type ScriptProgram, type Transport } from "./remote-backend.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

/** Limit of processes in the container; stops a fork bomb. */
const MAX_PROCESSES = 256;

type DockerOptions = {
  /** See `Transport.place`. */
  readonly place: string;
  readonly image: string;
  /** Absolute workspace folders; the container mounts them under the same paths. */
  readonly roots: readonly [string, ...string[]];
  /** Further mounts, as `docker run --volume` takes them. */
  readonly volumes: readonly string[];
  /** Processors, and memory in megabytes. */
  readonly cpus: number;
  readonly memoryMb: number;
};

/** Runs the program that opens a place. Rejects with a sentence for people. */
async function started(place: string, { program, args }: ScriptProgram, signal: AbortSignal) {
  const result = await runProgram(program, args, { signal }).catch((error: unknown) => {
    throw new Error(`${program} could not be started: ${messageOf(error)}`);
  });
  if (result.exitCode !== 0) throw new Error(placeProblem(place, result));
  return result;
}

export function dockerTransport(options: DockerOptions): Transport {
  const { place } = options;
  let container: string | undefined;
  return {
    place,
    firstFolder: options.roots[0],
    async open(signal) {
      const { stdout } = await started(place, { program: "docker", args: runArguments(options) }, signal);
      container = stdout.trim().split("\n").at(-1);
    },
    script: (script, { input }): ScriptProgram => ({
      program: "docker",
      args: ["exec", ...(input ? ["--interactive"] : []), container ?? "", "sh", "-c", script],
    }),
    pty: undefined,
    // The user or the engine removed the container: the next command starts another.
    isGone: ({ exitCode, stderr }) => exitCode !== 0 && /No such container|is not running/i.test(stderr),
    async close() {
      if (container === undefined) return;
      const { exitCode, stderr } = await runProgram("docker", ["rm", "--force", container]);
      if (exitCode !== 0) throw new Error(`The container ${container} could not be removed: ${stderr.trim()}`);
      container = undefined;
    },
  };
}

function runArguments({ image, roots, volumes, cpus, memoryMb }: DockerOptions): readonly string[] {
  const { getuid, getgid } = process;
  // New files in the workspace belong to the user, who has no home folder in the container.
  const user = getuid && getgid ? ["--user", `${getuid()}:${getgid()}`, "--env", "HOME=/tmp"] : [];
  return [
    ...["run", "--detach", "--rm", "--init", "--label", "hermes-agent"],
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", String(MAX_PROCESSES)],
    ...["--cpus", String(cpus), "--memory", `${memoryMb}m`],
    ...user,
    ...roots.flatMap((root) => ["--volume", `${root}:${root}`]),
    ...volumes.flatMap((volume) => ["--volume", volume]),
    ...["--workdir", roots[0], image, "sleep", "infinity"],
  ];
}

/** `image`: path of an image, or an address such as `docker://debian:12`. */
type SingularityOptions = Omit<DockerOptions, "volumes">;

export function singularityTransport(options: SingularityOptions): Transport {
  const { place } = options;
  const program = findProgram("apptainer") ?? findProgram("singularity") ?? "apptainer";
  let instance: string | undefined;
  const start = (name: string, limits: readonly string[], signal: AbortSignal): Promise<ProgramResult> =>
    runProgram(program, startArguments(options, name, limits), { signal }).catch((error: unknown) => {
      const advice = "Install Apptainer, or set terminal.backend in config.yaml to local, ssh or docker";
      throw new Error(`apptainer could not be started: ${messageOf(error)}. ${advice}.`);
    });
  return {
    place,
    firstFolder: options.roots[0],
    async open(signal) {
      const name = `hermes-${randomUUID()}`;
      const limits = [
        "--cpus",
        String(options.cpus),
        "--memory",
        `${options.memoryMb}M`,
        "--pids-limit",
        String(MAX_PROCESSES),
      ];
      const limited = await start(name, limits, signal);
      // Limits need control groups that the user may change; many clusters have none.
      const result = limited.exitCode !== 0 && /cgroup/i.test(limited.stderr) ? await start(name, [], signal) : limited;
      if (result.exitCode !== 0) throw new Error(placeProblem(place, result));
      instance = name;
    },
    // A standard input that nobody writes to is closed already, so no option tells the two kinds of scripts apart.
    script: (script): ScriptProgram => ({
      program,
      args: ["exec", "--cleanenv", "--pwd", "/", `instance://${instance ?? ""}`, "sh", "-c", script],
    }),
    pty: undefined,
    // The user or the system ended the instance: the next command starts another.
    isGone: ({ exitCode, stderr }) => exitCode !== 0 && /no instance found/i.test(stderr),
    async close() {
      if (instance === undefined) return;
      const { exitCode, stderr } = await runProgram(program, ["instance", "stop", "--force", instance]);
      if (exitCode !== 0 && !/no instance found/i.test(stderr)) {
        throw new Error(`The instance ${instance} could not be stopped: ${stderr.trim()}`);
      }
      instance = undefined;
    },
  };
}

/** The instance sees the workspace, and nothing else of the user's: home and temporary folders are its own. */
function startArguments(
  { image, roots }: SingularityOptions,
  name: string,
  limits: readonly string[],
): readonly string[] {
  return [
    ...["instance", "start", "--containall", "--cleanenv", "--writable-tmpfs", "--no-privs"],
    ...limits,
    ...roots.flatMap((root) => ["--bind", `${root}:${root}`]),
    ...[image, name],
  ];
}

/** Life of the shared SSH connection after its last use, and timeout of connecting. Seconds. */
const PERSIST_SECONDS = 600;
const CONNECT_SECONDS = 15;

type SshOptions = {
  /** See `Transport.place`. */
  readonly place: string;
  /** Host, or `user@host`. */
  readonly target: string;
  readonly port: number | undefined;
  /** File of the private key. */
  readonly key: string | undefined;
  /** Absolute folder on that machine. */
  readonly cwd: string | undefined;
};

export function sshTransport({ place, target, port, key, cwd }: SshOptions): Transport {
  let folder: string | undefined;
  const ssh = (options: readonly string[], script: string | undefined): ScriptProgram => ({
    program: "ssh",
    args: [
      // Nobody can answer a question here: a missing key or an unknown host is an error at once.
      ...["-o", "BatchMode=yes", "-o", `ConnectTimeout=${CONNECT_SECONDS}`, "-o", "ServerAliveInterval=15"],
      ...["-o", "ControlMaster=auto", "-o", `ControlPersist=${PERSIST_SECONDS}`, "-o", `ControlPath=${folder}/control`],
      ...(port === undefined ? [] : ["-p", String(port)]),
      ...(key === undefined ? [] : ["-i", key]),
      ...options,
      target,
      ...(script === undefined ? [] : [forAnyShell(script)]),
    ],
  });
  return {
    place,
    firstFolder: cwd,
    async open(signal) {
      folder ??= await makeSocketFolder("hermes-ssh-");
      await started(place, ssh([], "exit 0"), signal);
    },
    script: (script, { input }) => ssh(input ? [] : ["-n"], script),
    pty: (script) => ssh(["-tt"], script),
    async close() {
      if (folder === undefined) return;
      const { program, args } = ssh(["-O", "exit"], undefined);
      await runProgram(program, args).catch(() => undefined); // the connection has ended already
      await rm(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}

/**
 * Line that runs a script with `sh` from any login shell. fish reads backslashes in single quotes, csh forbids line breaks
 * there and expands `!`; so special characters travel as octal numbers.
 */
function forAnyShell(script: string): string {
  const word = script.replace(/[^\w ./:=,-]+/g, (special) =>
    Array.from(Buffer.from(special), (byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join(""),
  );
  return `exec sh -c 'eval "$(printf %b "$1")"' sh '${word}'`;
}
