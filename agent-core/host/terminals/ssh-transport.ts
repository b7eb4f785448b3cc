/** Runs commands on another machine through the system's `ssh`, with the user's configuration, keys and agent. */
import { rm } from "node:fs/promises";
import { messageOf } from "../../platform/errors.ts";
import { makeSocketFolder } from "../../platform/make-folder.ts";
import { placeProblem, type ScriptProgram, type Transport } from "./remote-backend.ts";
import { runProgram } from "./run-program.ts";

/** Life of the shared connection after its last use, and timeout of connecting. Seconds. */
const PERSIST_SECONDS = 600;
const CONNECT_SECONDS = 15;

export type SshOptions = {
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
      const { program, args } = ssh([], "exit 0");
      const result = await runProgram(program, args, { signal }).catch((error: unknown) => {
        throw new Error(`ssh could not be started: ${messageOf(error)}`);
      });
      if (result.exitCode !== 0) throw new Error(placeProblem(place, result));
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
