/** Commands over a real OpenSSH server on this machine, whatever the login shell of the user there. */
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import { answeredWith } from "../../support/observed.ts";
import { processesSleeping } from "../../support/processes.ts";
import { hasPrograms } from "../../support/programs.ts";
import { RemoteBenches, textOf } from "../../support/remote-benches.ts";
import { sweep } from "../../support/scale.ts";
import { type SshServer, startSshServer } from "../../support/ssh-server.ts";
import type { Bench } from "../../support/tool-context.ts";

/** A command that no other test on this machine runs. */
const NAP_SECONDS = Number(`9${process.pid}`);
const NAP = `sleep ${NAP_SECONDS}`;
/** All that a shell could take for something of its own. */
const AWKWARD = `it's "two"  $HOME \\ \\\\ \\' !history \`tick\` *? [a] {b,c} ~ # % ^ & | ; < > ( ) äöü € 𝄞 end\\`;

/** The login shell only reads the command line, so a quick run tests processes with one of them. */
const wholeShells = sweep([undefined, "fish", "zsh"], [undefined]);
const hasServer = hasPrograms("sshd");

const shells = [
  { name: "the user's own shell", loginShell: undefined, isThere: hasServer },
  { name: "fish", loginShell: "fish", isThere: hasServer && hasPrograms("fish") },
  { name: "zsh", loginShell: "zsh", isThere: hasServer && hasPrograms("zsh") },
];

for (const { name, loginShell, isThere } of shells)
  describe.runIf(isThere)(`with ${name} as the login shell`, () => {
    const pathBefore = process.env["PATH"] ?? "";
    const benches = new RemoteBenches();
    let server: SshServer;

    beforeAll(async () => {
      server = await startSshServer(loginShell);
      process.env["PATH"] = `${server.programs}${delimiter}${pathBefore}`;
    });

    afterEach(() => benches.endAll());

    afterAll(async () => {
      process.env["PATH"] = pathBefore;
      await server.stop();
    });

    function bench(passed: Readonly<Record<string, string>> = {}): Promise<Bench> {
      const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-there-")));
      const { user, port, key } = server;
      const section = { backend: "ssh", ssh_host: "127.0.0.1", ssh_user: user, ssh_port: port, ssh_key: key, cwd };
      return benches.open(section, passed);
    }

    test("exit code, both streams, folder and variables are those of the remote command", async () => {
      const it = await bench();
      const text = await textOf(
        it,
        "pwd; echo err >&2; export A=\"it's \\$A\"; mkdir 'sub dir'; cd 'sub dir'; (exit 7)",
      );
      const [folder = ""] = text.split("\n");
      expect(folder).toMatch(/\/hermes-there-\w+$/);
      expect(text).toMatch(/^\S+\nerr\n\[exit code 7, .*the shell is in \/\S+\/sub dir now/);
      expect(await textOf(it, 'pwd; echo "$A"; echo "$SSH_CONNECTION" | wc -w')).toMatch(
        new RegExp(`^${folder}/sub dir\\nit's \\$A\\n4\\n\\[exit code 0`),
      );
    });

    test("every character arrives unchanged", async () => {
      const it = await bench();
      expect(await textOf(it, `cat <<'END'\n${AWKWARD}\nEND`)).toContain(`${AWKWARD}\n[exit code 0`);
    });

    test("a passed variable arrives unchanged, and is on no command line", async () => {
      const it = await bench({ PASSED_ON: AWKWARD });
      expect(await textOf(it, 'printf "%s\\n" "$PASSED_ON"; ps -eo args | grep -c "[{]b,c} ~ #"')).toContain(
        `${AWKWARD}\n0\n`,
      );
    });

    if (!wholeShells.includes(loginShell)) return;

    test("a stop ends all processes there, also those that left their session", async () => {
      const it = await bench();
      await textOf(it, `setsid -f ${NAP}; trap '' TERM; ${NAP}; ${NAP}`, { timeout: 1 });
      expect(processesSleeping(NAP_SECONDS)).toEqual([]);
    });

    test("a background command takes input, and ends with the session", async () => {
      const it = await bench();
      expect(await textOf(it, `while read x; do echo got $x; done; ${NAP}`, { background: true })).toContain("as p1");
      expect((await answeredWith("got one", it, "p1", "one\n")).text).toContain("got one");
      await it.context.processes.dispose();
      await it.context.host.terminals.dispose();
      expect(processesSleeping(NAP_SECONDS)).toEqual([]);
    });

    test("the other machine provides the pseudo-terminal", async () => {
      const it = await bench();
      expect(await textOf(it, "[ -t 0 ] && [ -t 1 ] && tty; exit 3", { pty: true })).toMatch(
        /^\/dev\/pts\/\d+\n(?:.*\n)?\[exit code 3/,
      );
    });
  });

test.runIf(hasServer)("a command that is too long is refused with a sentence", async () => {
  const server = await startSshServer();
  const pathBefore = process.env["PATH"] ?? "";
  process.env["PATH"] = `${server.programs}${delimiter}${pathBefore}`;
  const section = { backend: "ssh", ssh_host: "127.0.0.1", ssh_port: server.port, ssh_key: server.key, cwd: "/tmp" };
  const benches = new RemoteBenches();
  const it = await benches.open(section);
  try {
    await expect(it.run(terminal, { command: `: ${"x".repeat(200_000)}` })).rejects.toThrow(
      "The command is too long for 127.0.0.1 (ssh) (200002 bytes).",
    );
  } finally {
    await benches.endAll();
    process.env["PATH"] = pathBefore;
    await server.stop();
  }
});
