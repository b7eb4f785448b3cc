/** Streams to other agents: the standard streams of a program, or the socket of a server with its token. */
import { Readable, Writable } from "node:stream";
import { ndJsonStream, type Stream } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { type GroupStart, startGroup } from "../../agent-core/platform/children/group-process.ts";

export type AgentTransport = {
  readonly stream: Stream;
  /** Resolves to the way in which the agent ended by itself. */
  readonly ended: Promise<string>;
  end(): Promise<void>;
};

/** Rejects with the system's error when the program cannot be started. */
export async function openProgram(start: GroupStart, onStderr: (text: string) => void): Promise<AgentTransport> {
  const { stdin, stdout, stderr, ended, end } = await startGroup(start);
  stderr.setEncoding("utf8").on("data", onStderr);
  return { stream: ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream), ended, end };
}

/** A shorter loss of the connection has no line in the conversation. Milliseconds. */
const SHORT_LOSS_MS = 3_000;

/** VS Code's secret storage. */
export type TokenStore = Pick<vscode.SecretStorage, "get" | "store" | "delete">;

export type ServerPlace = {
  /** Of the agent, for people. */
  readonly title: string;
  readonly url: string;
  readonly tokens: TokenStore;
  /** Called with a line when the connection was lost, and when it is back. */
  readonly report: (text: string) => void;
};

/** Asks for the token once. Rejects with an Error in one line when the user cancels, or the address is none. */
export async function openServer({ title, url: text, tokens, report }: ServerPlace): Promise<AgentTransport> {
  const { remoteStream, remoteUrl } = await import("../../agent-core/protocol/remote-stream.ts");
  const url = remoteUrl(text);
  const key = `hermes.agent-token.${url.origin}${url.pathname}`;
  const token = (await tokens.get(key)) ?? (await askToken(title, url));
  if (token === undefined) throw new Error(vscode.l10n.t("{0} needs its token. Send a message to try again.", title));
  await tokens.store(key, token);
  const ended = Promise.withResolvers<string>();
  const ending = new AbortController();
  let waiting: NodeJS.Timeout | undefined;
  let isReported = false;
  const stream = remoteStream(
    { url, token: token === "" ? undefined : token },
    {
      signal: ending.signal,
      changed(change) {
        if (change.state === "lost") {
          const text = vscode.l10n.t(
            "The connection to {0} was lost, and is opened again. A running turn goes on. ({1})",
            title,
            change.reason,
          );
          waiting ??= setTimeout(() => {
            isReported = true;
            report(text);
          }, SHORT_LOSS_MS);
          return;
        }
        clearTimeout(waiting);
        if (isReported) report(vscode.l10n.t("Connected to {0} again.", title));
        [waiting, isReported] = [undefined, false];
      },
      failed: (reason, isRefused) => {
        if (isRefused) void tokens.delete(key);
        ended.resolve(reason);
      },
    },
  );
  const end = (): Promise<void> => {
    clearTimeout(waiting);
    ending.abort();
    return Promise.resolve();
  };
  return { stream, ended: ended.promise, end };
}

function askToken(title: string, url: URL): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t("Hermes: Connect to {0}", title),
    prompt: vscode.l10n.t("Token of {0}: `hermes serve` prints its place. It is kept in the secret storage.", url.host),
    password: true,
    ignoreFocusOut: true,
  });
}
