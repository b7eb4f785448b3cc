/** Commands in a container that lives as long as the session, by Docker's command line. */

import { messageOf } from "../../platform/errors.ts";
import { type ScriptProgram, type Transport, whyNot } from "./remote-backend.ts";
import { runProgram } from "./run-program.ts";

/** Processes in the container at most, as the original has it. */
const PIDS_LIMIT = 256;

export type DockerOptions = {
  readonly image: string;
  /** Workspace folders, absolute; they are the same files in the container, under the same paths. */
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
      if (result.exitCode !== 0) throw new Error(whyNot(place, result));
      container = result.stdout.trim().split("\n").at(-1);
    },
    script: (script, { input }): ScriptProgram => ({
      program: "docker",
      args: ["exec", ...(input ? ["--interactive"] : []), container ?? "", "sh", "-c", script],
    }),
    pty: undefined,
    // Removed by the user, or gone with its engine: the next command gets another.
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
  // Files that are made in the workspace belong to the user; such a user has no home of its own in there.
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
