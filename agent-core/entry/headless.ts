/** The headless chat: an ACP client in the same process, so that it gets exactly what every editor gets. */
import { text } from "node:stream/consumers";
import { type ClientContext, client, methods, type SessionNotification } from "@zed-industries/agent-client-protocol";
import { agentApp } from "../acp/serve.ts";
import { nodeHost } from "../host/node-host.ts";
import { messageOf } from "../platform/errors.ts";
import { findSession } from "./find-session.ts";
import { HELP, type HeadlessOptions, parseCommandLine } from "./headless-options.ts";
import { updatePrinter } from "./print-updates.ts";
import { VERSION } from "./version.ts";

const INTERRUPTED = 130;

/** Runs one prompt to its end; gives the exit code. */
export async function runHeadless(args: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(args);
  switch (parsed.kind) {
    case "help":
      process.stdout.write(HELP);
      return 0;
    case "version":
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case "wrong":
      process.stderr.write(`hermes: ${parsed.message}\n`);
      return 1;
    case "run":
      return runPrompt(parsed.options);
  }
}

async function runPrompt(options: HeadlessOptions): Promise<number> {
  const prompt = options.prompt === "" ? (await text(process.stdin)).trim() : options.prompt;
  if (prompt === "") {
    process.stderr.write(`hermes: there is no prompt.\n${HELP}`);
    return 1;
  }
  const local = nodeHost();
  const { app, dispose } = agentApp({
    version: VERSION,
    environment: process.env,
    local,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  const print = updatePrinter(options.json);
  try {
    return await client({ name: "hermes-cli" })
      .onNotification(methods.client.session.update, asSent, ({ params }) => print.update(params))
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        const allowed = options.allowAll ? params.options.find(({ kind }) => kind === "allow_once") : undefined;
        if (allowed) return { outcome: { outcome: "selected", optionId: allowed.optionId } };
        print.refused(params.toolCall.title ?? "a tool call");
        return { outcome: { outcome: "cancelled" } };
      })
      .connectWith(app, (agent) => converse(agent, options, prompt, print.end));
  } catch (error) {
    process.stderr.write(`hermes: ${messageOf(error)}\n`);
    return 1;
  } finally {
    await dispose();
  }
}

/** The agent of this process sent it: there is nothing to check, which would take as long as printing it. */
function asSent(params: unknown): SessionNotification {
  return params as SessionNotification;
}

async function converse(
  agent: ClientContext,
  { cwd, resume }: HeadlessOptions,
  prompt: string,
  end: () => void,
): Promise<number> {
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientInfo: { name: "hermes-cli", title: "the command line", version: VERSION },
    clientCapabilities: { session: { notices: {} } },
  });
  const sessionId = resume === undefined ? await newSession(agent, cwd) : await resumed(agent, resume, cwd);
  const cancel = (): void => void agent.notify(methods.agent.session.cancel, { sessionId });
  process.on("SIGINT", cancel);
  try {
    const { stopReason } = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "text", text: prompt }],
    });
    end();
    return stopReason === "cancelled" ? INTERRUPTED : 0;
  } finally {
    process.off("SIGINT", cancel);
  }
}

async function newSession(agent: ClientContext, cwd: string): Promise<string> {
  return (await agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
}

async function resumed(agent: ClientContext, wanted: string, cwd: string): Promise<string> {
  const sessionId = await findSession(agent, wanted, cwd);
  await agent.request(methods.agent.session.resume, { sessionId, cwd, mcpServers: [] });
  return sessionId;
}
