/** Commands over a real OpenSSH server on this machine, whatever the login shell of the user there. */
import { mkdtempSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { terminalSection } from "../../../agent-core/config/terminal-config.ts";
import { childRunner } from "../../../agent-core/host/terminals/child-runner.ts";
import { configuredBackend } from "../../../agent-core/host/terminals/configured-backend.ts";
import { sessionTerminals } from "../../../agent-core/host/terminals/session-terminals.ts";
import { tool as processTool } from "../../../agent-core/tools/process.ts";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import { type SshServer, startSshServer } from "../../support/ssh-server.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

/** A command that no other test on this machine runs. */
const NAP = `sleep 9${process.pid}`;
/** All that a shell could take for something of its own. */
const AWKWARD = `it's "two"  $HOME \\ \\\\ \\' !history \`tick\` *? [a] {b,c} ~ # % ^ & | ; < > ( ) äöü € 𝄞 end\\`;

describe.each([
  ["the user's own shell", undefined],
  ["fish", "fish"],
  ["zsh", "zsh"],
])("with %s as the login shell", (_, loginShell) => {
  const pathBefore = process.env["PATH"] ?? "";
  const benches: Bench[] = [];
  let server: SshServer;

  beforeAll(async () => {
    server = await startSshServer(loginShell);
    process.env["PATH"] = `${server.programs}${delimiter}${pathBefore}`;
  });

  afterEach(async () => {
    for (const { context } of benches.splice(0)) {
      await context.processes.dispose();
      await context.host.terminals.dispose();
    }
  });

  afterAll(async () => {
    process.env["PATH"] = pathBefore;
    await server.stop();
  });

  async function bench(passed: Readonly<Record<string, string>> = {}): Promise<Bench> {
    const plain = toolBench();
    const there = realpathSync(mkdtempSync(join(tmpdir(), "hermes-there-")));
    const section = {
      backend: "ssh",
      ...{ ssh_host: "127.0.0.1", ssh_user: server.user, ssh_port: server.port, ssh_key: server.key, cwd: there },
    };
    const backend = configuredBackend(terminalSection.parse(section), [plain.folder], { withheld: [], passed });
    const made = toolBench({ kind: "unavailable" }, sessionTerminals(backend, childRunner()), plain.folder);
    benches.push(made);
    made.context.shell.begin(await made.context.host.terminals.open(plain.folder, made.cancel.signal));
    return made;
  }

  async function run({ run: call }: Bench, command: string, more: object = {}): Promise<string> {
    return (await call(terminal, { command, ...more })).text;
  }

  test("the exit code, both streams, the folder and variables are those of the command there", async () => {
    const it = await bench();
    const text = await run(it, "pwd; echo err >&2; export A=\"it's \\$A\"; mkdir 'sub dir'; cd 'sub dir'; (exit 7)");
    expect(text).toMatch(/^\/tmp\/hermes-there-\w+\nerr\n\[exit code 7, .*the shell is in \/\S+\/sub dir now/);
    expect(await run(it, 'pwd; echo "$A"; echo "$SSH_CONNECTION" | wc -w')).toMatch(
      /^\/tmp\/\S+\/sub dir\nit's \$A\n4\n\[exit code 0/,
    );
  });

  test("no character is lost or taken for something else on the way", async () => {
    const it = await bench();
    expect(await run(it, `cat <<'END'\n${AWKWARD}\nEND`)).toContain(`${AWKWARD}\n[exit code 0`);
  });

  test("a variable that is passed on arrives as it is, and is on no command line", async () => {
    const it = await bench({ PASSED_ON: AWKWARD });
    expect(await run(it, 'printf "%s\\n" "$PASSED_ON"; ps -eo args | grep -c "[{]b,c} ~ #"')).toContain(
      `${AWKWARD}\n0\n`,
    );
  });

  test("a stop ends what runs there, also what left its session", async () => {
    const it = await bench();
    await run(it, `setsid -f ${NAP}; trap '' TERM; ${NAP}; ${NAP}`, { timeout: 1 });
    expect(napping()).toEqual([]);
  });

  test("a background command takes input, and ends with the session", async () => {
    const it = await bench();
    expect(await run(it, `while read x; do echo got $x; done; ${NAP}`, { background: true })).toContain("as p1");
    expect((await it.run(processTool, { action: "write", id: "p1", data: "one\n" })).text).toContain("got one");
    await it.context.processes.dispose();
    await it.context.host.terminals.dispose();
    expect(napping()).toEqual([]);
  });

  test("a pseudo-terminal is one of the other machine", async () => {
    const it = await bench();
    expect(await run(it, "[ -t 0 ] && [ -t 1 ] && tty; exit 3", { pty: true })).toMatch(
      /^\/dev\/pts\/\d+\n(?:.*\n)?\[exit code 3/,
    );
  });
});

test("a command that is too long to be sent is refused in words", async () => {
  const server = await startSshServer();
  const pathBefore = process.env["PATH"] ?? "";
  process.env["PATH"] = `${server.programs}${delimiter}${pathBefore}`;
  const section = { backend: "ssh", ssh_host: "127.0.0.1", ssh_port: server.port, ssh_key: server.key, cwd: "/tmp" };
  const backend = configuredBackend(terminalSection.parse(section), ["/tmp"], { withheld: [], passed: {} });
  const it = toolBench({ kind: "unavailable" }, sessionTerminals(backend, childRunner()));
  it.context.shell.begin("/tmp");
  try {
    await expect(it.run(terminal, { command: `: ${"x".repeat(200_000)}` })).rejects.toThrow(
      "The command is too long to be sent to 127.0.0.1 (ssh) (200002 bytes).",
    );
  } finally {
    await it.context.host.terminals.dispose();
    process.env["PATH"] = pathBefore;
    await server.stop();
  }
});

function napping(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(NAP.replace(" ", "\u0000"));
    } catch {
      return false; // it ended meanwhile
    }
  });
}
