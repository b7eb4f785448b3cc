// Commands of every kind through the extension's terminals, as the agent runs them and as any ACP agent would.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  type CreateTerminalResponse,
  methods,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { processesSleeping } from "../../support/processes.ts";
import { sweep } from "../../support/scale.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";
import { kinds, LONG_SLEEP, type Sample } from "../support/command-kinds.ts";

const COMMANDS = sweep(1_000, 150);
const AT_ONCE = 12;
/** A thousand commands take 71 to 74 s on two busy cores. */
const LIMIT_MS = 180_000;
/** Bytes that an agent asks for at most, in turn; the last one is more than any command prints. */
const OUTPUT_LIMITS = [0, 1, 7, 1_000, 65_536, 4_194_304];
/** Commands that go by the protocol alone: one of so many, of those that can. */
const PLAIN_SHARE = 4;

suite("many commands", () => {
  const folder = join(workspaceFolder(), ".many-commands");
  const sessionId = "suite";
  let side: AgentSide;

  suiteSetup(async () => {
    side = await connectAgentSide();
  });

  suiteTeardown(async () => {
    await side.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  /** As the core's tools run it. Gives what is wrong. */
  async function throughHost(sample: Sample, index: number): Promise<readonly string[]> {
    const { command, bytes, input = "none", pty = false, once } = sample;
    const outputFile = join(folder, `${index}.log`);
    const shell = { folder: workspaceFolder(), variables: undefined };
    const keepsShell = index % 2 === 0;
    const running = await side.host.terminals.start(
      { command, shell, keepsShell, input, pty, outputFile },
      new AbortController().signal,
    );
    const { terminalId = "" } = running;
    if (once !== undefined) {
      await side.printed(terminalId, "ready");
      await once(running);
    }
    const exit = await running.exit;
    const { head, tail, totalBytes, omittedBytes } = await running.output();
    const shown = await side.client.request(methods.client.terminal.output, { sessionId, terminalId });
    if (sample.staysOn) await running.kill();
    await running.release();
    return [
      ...wrongExit(sample, exit),
      ...wrongBytes("the file", readFileSync(outputFile), bytes),
      ...wrongText("terminal/output", shown, bytes, Number.POSITIVE_INFINITY),
      ...(totalBytes === bytes.length ? [] : [`${totalBytes} bytes counted of ${bytes.length}`]),
      ...(omittedBytes === 0 ? wrongBytes("head", Buffer.from(head), Buffer.from(bytes.toString())) : []),
      ...(omittedBytes > 0 && !bytes.toString().startsWith(head) ? ["another head"] : []),
      ...(omittedBytes > 0 && !bytes.toString().endsWith(tail) ? ["another tail"] : []),
    ];
  }

  /** As an agent runs it that knows nothing of ours, with a limit to what is kept. Gives what is wrong. */
  async function throughProtocol(sample: Sample, index: number): Promise<readonly string[]> {
    const { terminal } = methods.client;
    const outputByteLimit = OUTPUT_LIMITS[index % OUTPUT_LIMITS.length] ?? 0;
    const { terminalId } = await side.client.request<CreateTerminalResponse>(terminal.create, {
      sessionId,
      command: "bash",
      args: ["-c", sample.command],
      cwd: workspaceFolder(),
      outputByteLimit,
    });
    const id = { sessionId, terminalId };
    const exit = await side.client.request<WaitForTerminalExitResponse>(terminal.waitForExit, id);
    const output = await side.client.request<TerminalOutputResponse>(terminal.output, id);
    if (sample.staysOn) await side.client.request(terminal.kill, id);
    await side.client.request(terminal.release, id);
    return [
      ...wrongExit(sample, exit),
      ...wrongText(`terminal/output of ${outputByteLimit} bytes`, output, sample.bytes, outputByteLimit),
    ];
  }

  test("commands of every kind lose no byte and report the right exit code", async () => {
    const began = performance.now();
    const wrong: string[] = [];
    let right = 0;
    let bytes = 0;
    await eachOf(COMMANDS, AT_ONCE, async (index) => {
      const kind = kinds[index % kinds.length];
      assert.ok(kind !== undefined);
      const n = Math.floor(index / kinds.length);
      const sample = kind.sample(n);
      const isPlain = n % PLAIN_SHARE === 1 && sample.pty === undefined && sample.once === undefined;
      const faults = await (isPlain
        ? throughProtocol(sample, Math.floor(n / PLAIN_SHARE) + (index % kinds.length))
        : throughHost(sample, index));
      bytes += sample.bytes.length;
      if (faults.length === 0) right += 1;
      else wrong.push(`${kind.name} ${n}: ${faults.join("; ")}`);
    });
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    console.log(
      `[suite]     ${right} of ${COMMANDS} commands right, ${AT_ONCE} at a time, ${bytes} bytes: ${seconds} s`,
    );
    assert.deepEqual(wrong, []);
    assert.equal(right, COMMANDS);
  }).timeout(LIMIT_MS);

  test("they leave no process and no terminal", async () => {
    await side.terminals.endAll();
    assert.deepEqual(processesSleeping(LONG_SLEEP), []);
    await terminalsClosed();
  }).timeout(LIMIT_MS);
});

/** Runs `work` for every number below `count`, `width` at a time. */
async function eachOf(count: number, width: number, work: (index: number) => Promise<void>): Promise<void> {
  const queue = Array.from({ length: count }, (_, index) => index).values();
  const lane = async (): Promise<void> => {
    for (const index of queue) await work(index);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** Resolves when no terminal of ours is open but the last one, which its user may still want to read. */
async function terminalsClosed(): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (vscode.window.terminals.filter(({ name }) => name.startsWith("Hermes: ")).length > 1) return;
      subscription.dispose();
      resolve();
    };
    const subscription = vscode.window.onDidCloseTerminal(look);
    look();
  });
}

function wrongExit(
  { exit }: Sample,
  found: { readonly exitCode?: number | null; readonly signal?: string | null },
): readonly string[] {
  const [exitCode, signal] = typeof exit === "number" ? [exit, null] : [null, exit];
  if (found.exitCode === exitCode && found.signal === signal) return [];
  return [`ended with ${found.exitCode ?? found.signal} instead of ${exit}`];
}

function wrongBytes(what: string, found: Buffer, wanted: Buffer): readonly string[] {
  if (hash(found) === hash(wanted)) return [];
  const shared = Math.min(found.length, wanted.length);
  let at = 0;
  while (at < shared && found[at] === wanted[at]) at += 1;
  return [`${what}: ${found.length} bytes instead of ${wanted.length}, another one at ${at}`];
}

/** The protocol's rule: the end of the output, from a whole character on. */
function wrongText(
  what: string,
  { output, truncated, exitStatus }: TerminalOutputResponse,
  bytes: Buffer,
  limit: number,
): readonly string[] {
  let start = Math.max(0, bytes.length - limit);
  const isCut = start > 0;
  for (let past = 0; isCut && past < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80; past += 1) start += 1;
  return [
    ...wrongBytes(what, Buffer.from(output), Buffer.from(bytes.subarray(start).toString())),
    ...(truncated === isCut ? [] : [`${what} says truncated: ${truncated}`]),
    ...(exitStatus ? [] : [`${what} has no exit status`]),
  ];
}

function hash(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
