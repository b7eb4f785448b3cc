/** Runs commands in an instance of a container image, through the command line of Apptainer or its forerunner Singularity. */
import { randomUUID } from "node:crypto";
import { messageOf } from "../../platform/errors.ts";
import { findProgram } from "../../platform/find-program.ts";
import { placeProblem, type ScriptProgram, type Transport } from "./remote-backend.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

/** Limit of processes in the instance; stops a fork bomb. */
const PIDS_LIMIT = 256;

export type SingularityOptions = {
  /** Path of an image, or an address such as `docker://debian:12`. */
  readonly image: string;
  /** Absolute workspace folders; the instance has them under the same paths. */
  readonly roots: readonly [string, ...string[]];
  /** Processors, and memory in megabytes. */
  readonly cpus: number;
  readonly memoryMb: number;
};

export function singularityTransport(options: SingularityOptions): Transport {
  const place = `an instance of ${options.image} (singularity)`;
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
  return ["--cpus", String(cpus), "--memory", `${memoryMb}M`, "--pids-limit", String(PIDS_LIMIT)];
}
