/** Runs commands in a container of the session, through Docker's command line. */
import { messageOf } from "../../platform/errors.ts";
import { placeProblem, type ScriptProgram, type Transport } from "./remote-backend.ts";
import { runProgram } from "./run-program.ts";

/** Limit of processes in the container; stops a fork bomb. */
const PIDS_LIMIT = 256;

export type DockerOptions = {
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
  const place = `a container of ${options.image} (docker)`;
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
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", String(PIDS_LIMIT)],
    ...["--cpus", String(cpus), "--memory", `${memoryMb}m`],
    ...user,
    ...roots.flatMap((root) => ["--volume", `${root}:${root}`]),
    ...volumes.flatMap((volume) => ["--volume", volume]),
    ...["--workdir", roots[0], image, "sleep", "infinity"],
  ];
}
