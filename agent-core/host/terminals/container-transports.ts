/**
 * Runs commands in a container of the session: through Docker's command line, or that of Apptainer or its forerunner
 * Singularity.
 */
import { randomUUID } from "node:crypto";
import { messageOf } from "../../platform/errors.ts";
import { findProgram } from "../../platform/find-program.ts";
import { placeProblem, type ScriptProgram, type Transport } from "./remote-backend.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

/** Limit of processes in the container; stops a fork bomb. */
const MAX_PROCESSES = 256;

export type DockerOptions = {
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

export function dockerTransport(options: DockerOptions): Transport {
  const { place } = options;
  let container: string | undefined;
  return {
    place,
    firstFolder: options.roots[0],
    async open(signal) {
      const result = await runProgram("docker", runArguments(options), { signal }).catch((error: unknown) => {
        throw new Error(`docker could not be started: ${messageOf(error)}`);
      });
      if (result.exitCode !== 0) throw new Error(placeProblem(place, result));
      container = result.stdout.trim().split("\n").at(-1);
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

export type SingularityOptions = {
  /** See `Transport.place`. */
  readonly place: string;
  /** Path of an image, or an address such as `docker://debian:12`. */
  readonly image: string;
  /** Absolute workspace folders; the instance has them under the same paths. */
  readonly roots: readonly [string, ...string[]];
  /** Processors, and memory in megabytes. */
  readonly cpus: number;
  readonly memoryMb: number;
};

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
      const limited = await start(name, limitArguments(options), signal);
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

function limitArguments({ cpus, memoryMb }: SingularityOptions): readonly string[] {
  return ["--cpus", String(cpus), "--memory", `${memoryMb}M`, "--pids-limit", String(MAX_PROCESSES)];
}
