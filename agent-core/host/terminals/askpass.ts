/**
 * Passwords for commands on this machine. `sudo`, `ssh` and git run a helper (`SUDO_ASKPASS`, `SSH_ASKPASS`) that writes
 * its process id and the prompt into one named pipe, and reads the password from another. So no password is in an
 * argument, a variable or a file.
 */
import { execFile } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../platform/find-program.ts";
import { processIdentity } from "../../platform/locks/process-identity.ts";
import { makeOwnedFolder } from "../../platform/make-folder.ts";
import { quote } from "./preamble.ts";
import type { AskPassword } from "./terminals.ts";

const run = promisify(execFile);

/** The pipes' longest atomic write is 4,096 bytes on Linux and 512 elsewhere (PIPE_BUF, POSIX). */
const HELPER = `#!/bin/sh
umask 077
folder=\${0%/*}
mkfifo "$folder/$$" || exit 1
trap 'rm -f "$folder/$$"' EXIT
printf '%s %s\\n' "$$" "$(printf %s "$1" | tr '\\r\\n' '  ' | cut -c 1-400)" >"$folder/ask" || exit 1
IFS= read -r password <"$folder/$$" || exit 1
printf '%s\\n' "$password"
`;

/** `sudo` asks the helper only with `-A` where no display is set, and refuses \`-A\` beside \`-S\`. */
function sudoScript(sudo: string): string {
  return `#!/bin/sh
skip=
for word do
  [ -n "$skip" ] && skip= && continue
  case $word in
    -S|--stdin|-A|--askpass) exec ${quote(sudo)} "$@" ;;
    -[CDgGhpRrTtUu]) skip=1 ;;
    -*) ;;
    *) break ;;
  esac
done
exec ${quote(sudo)} -A "$@"
`;
}

/** A helper whose command was stopped is forgotten after this time. Milliseconds. */
const ALIVE_CHECK_MS = 500;

type Environment = Readonly<Record<string, string>>;
type Asker = { readonly pid: number; readonly command: string; readonly isPrivileged: boolean };

/** Passwords of one session. They are kept in memory only. */
export class Askpass {
  #folder: string | undefined;
  #requests: Socket | undefined;
  #ask: AskPassword | undefined;
  /** Passwords that privileged programs got, by their prompt, and the programs that got them. */
  readonly #kept = new Map<string, { readonly password: string; readonly givenTo: Set<number> }>();
  /** One question at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Variables of a command with the environment `own`, whose questions `ask` answers. Helpers of the user's own stay. Empty
   * where the system has no named pipes.
   */
  async variables(ask: AskPassword, own: Partial<Environment>): Promise<Environment> {
    const { PATH: path = "", SUDO_ASKPASS, SSH_ASKPASS } = own;
    this.#ask = ask;
    this.#folder ??= await this.#open(path).catch(() => undefined);
    if (this.#folder === undefined) return {};
    const helper = join(this.#folder, "askpass");
    return {
      SUDO_ASKPASS: SUDO_ASKPASS ?? helper,
      ...(SSH_ASKPASS === undefined && { SSH_ASKPASS: helper, SSH_ASKPASS_REQUIRE: "force" }),
      PATH: `${join(this.#folder, "bin")}:${path}`,
    };
  }

  /** Forgets all passwords; helpers that still wait get none. */
  close(): void {
    this.#kept.clear();
    this.#requests?.destroy();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  async #open(path: string): Promise<string> {
    const folder = makeOwnedFolder("hermes-askpass-");
    const pipe = join(folder, "ask");
    await run("mkfifo", ["-m", "600", pipe]);
    writeFileSync(join(folder, "askpass"), HELPER, { mode: 0o700 });
    mkdirSync(join(folder, "bin"), { mode: 0o700 });
    const sudo = findProgram("sudo", path);
    if (sudo !== undefined) writeFileSync(join(folder, "bin", "sudo"), sudoScript(sudo), { mode: 0o700 });
    // Open for writing too: the pipe then has no end while no helper runs.
    const requests = new Socket({ fd: openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
    let text = "";
    requests.setEncoding("utf8");
    requests.on("data", (piece: string) => {
      const lines = `${text}${piece}`.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.#take(folder, line);
    });
    this.#requests = requests.unref();
    return folder;
  }

  #take(folder: string, line: string): void {
    const [, helper, prompt = ""] = /^(\d+) (.*)$/.exec(line) ?? [];
    if (helper === undefined) return;
    this.#last = this.#last.then(async () => {
      const password = await this.#answer(Number(helper), prompt).catch(() => undefined);
      reply(join(folder, helper), password);
    });
  }

  async #answer(helper: number, prompt: string): Promise<string | undefined> {
    const { pid, command, isPrivileged } = await askerOf(helper);
    const kept = isPrivileged ? this.#kept.get(prompt) : undefined;
    // A program that asks again did not accept the password.
    const isRetry = kept?.givenTo.has(pid) ?? false;
    if (kept !== undefined && !isRetry) {
      kept.givenTo.add(pid);
      return kept.password;
    }
    this.#kept.delete(prompt);
    const gone = new AbortController();
    const watch = setInterval(() => processIdentity(helper) ?? gone.abort(), ALIVE_CHECK_MS).unref();
    try {
      const answer = await this.#ask?.({ prompt, command, isPrivileged, isRetry }, gone.signal);
      if (answer?.kind !== "given") return undefined;
      if (isPrivileged) this.#kept.set(prompt, { password: answer.password, givenTo: new Set([pid]) });
      return answer.password;
    } finally {
      clearInterval(watch);
    }
  }
}

/** The program that runs the helper, as the system knows it. One of root is privileged: a plain program is never given a kept password. */
async function askerOf(helper: number): Promise<Asker> {
  const { stdout: parent } = await run("ps", ["-o", "ppid=", "-p", String(helper)]);
  const pid = Number(parent);
  const { stdout } = await run("ps", ["-ww", "-o", "uid=,args=", "-p", String(pid)]);
  const [, uid, command = ""] = /^\s*(\d+)\s+(.*)$/m.exec(stdout) ?? [];
  return { pid, command, isPrivileged: uid === "0" && pid > 1 };
}

/** Opening fails at once when the helper has ended. */
function reply(pipe: string, password: string | undefined): void {
  try {
    const file = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    if (password !== undefined) writeSync(file, `${password}\n`);
    closeSync(file);
  } catch {
    rmSync(pipe, { force: true });
  }
}
