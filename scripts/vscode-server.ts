// Starts a real VS Code on the loopback interface, to be opened in a browser.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { hasCode } from "../agent-core/platform/errors.ts";
import { runLogged } from "./run-program.ts";
import { ensureVSCodeServer } from "./vscode-server-install.ts";

const HOST = "127.0.0.1";
const START_LIMIT_MS = 60_000;
const leash = fileURLToPath(new URL("leash.ts", import.meta.url));

/** Nothing opens by itself, nothing is sent, and the built-in chat leaves the side bar to Hermes. */
export const calmSettings = {
  "workbench.startupEditor": "none",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "extensions.autoCheckUpdates": false,
  "update.mode": "none",
  "hermes.sessionTitles": "words", // a title by the model is one more request
};

/** Options of a VS Code server. Folders are absolute, and created when missing. */
export type VSCodeServerOptions = {
  readonly userDataFolder: string;
  readonly extensionsFolder: string;
  /** Port, or a range such as "9137-9146" of which a free one is taken; 0, the default, is any free port. */
  readonly port?: number | string;
  /** VS Code asks for trust in folders, unless the user's settings forbid it. Default false: all folders are trusted. */
  readonly askForTrust?: boolean;
  /** A window's address may load an extension from its folder, or run tests. Default false. */
  readonly automation?: boolean;
  /** User settings in addition to `calmSettings`; written only when the user data has no settings yet. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Added to the environment; extensions see it. */
  readonly env?: Readonly<Record<string, string>>;
  /** File for the server's output. Default: `server.log` in the user data. */
  readonly logFile?: string;
};

/** A running VS Code. */
export type VSCodeServer = {
  readonly port: number;
  /** Address of the server, without a final slash. */
  readonly url: string;
  /** `host:port`, as in `vscode-remote://` addresses. */
  readonly authority: string;
  readonly logFile: string;
  /** Address that opens `folder` in a window, with `payload` handed to the workbench (needs `automation`). */
  readonly windowUrl: (folder: string, payload?: ReadonlyArray<readonly [string, string]>) => string;
  /** Resolves when the server's process has ended, for any reason. */
  readonly ended: Promise<void>;
  /** Ends the server, its extension hosts and their terminals, and waits for it. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts VS Code's server (installing it first when needed) and resolves when it listens. It ends with this process.
 * @throws when it exits before it listens, or does not listen in 60 s; the message ends with what it printed.
 */
export async function startVSCodeServer(options: VSCodeServerOptions): Promise<VSCodeServer> {
  const folder = await ensureVSCodeServer();
  const logFile = options.logFile ?? join(options.userDataFolder, "server.log");
  prepareFolders(options, logFile);
  const command = [process.execPath, join(folder, "out", "server-main.js"), ...serverArguments(options)];
  const child = spawn(process.execPath, [leash, ...command], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...withoutEditorVariables(process.env), ...options.env },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = await listeningPort(child, logFile);
  const authority = `${HOST}:${port}`;
  return {
    port,
    url: `http://${authority}`,
    authority,
    logFile,
    windowUrl: (workspace, payload) => windowUrl(authority, workspace, payload),
    ended,
    stop: () => {
      child.stdin.end();
      return ended;
    },
  };
}

/** Installs the packaged extension `vsix` into `extensionsFolder`; an older one of the same name is replaced. */
export async function installExtension(
  vsix: string,
  folders: Pick<VSCodeServerOptions, "userDataFolder" | "extensionsFolder">,
): Promise<void> {
  const folder = await ensureVSCodeServer();
  mkdirSync(folders.userDataFolder, { recursive: true });
  const args = [
    join(folder, "out", "server-main.js"),
    ...["--install-extension", vsix, "--force"],
    ...["--user-data-dir", folders.userDataFolder, "--extensions-dir", folders.extensionsFolder],
    "--accept-server-license-terms",
  ];
  await runLogged({ command: process.execPath, args }, join(folders.userDataFolder, "install-extension.log"));
}

function prepareFolders(options: VSCodeServerOptions, logFile: string): void {
  const userFolder = join(options.userDataFolder, "User");
  for (const folder of [userFolder, options.extensionsFolder, dirname(logFile)]) mkdirSync(folder, { recursive: true });
  const settings = JSON.stringify({ ...calmSettings, ...options.settings }, null, 2);
  try {
    writeFileSync(join(userFolder, "settings.json"), `${settings}\n`, { flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

function serverArguments({ port, userDataFolder, extensionsFolder, askForTrust, automation }: VSCodeServerOptions) {
  return [
    ...["--host", HOST, "--port", String(port ?? 0)],
    ...["--user-data-dir", userDataFolder, "--extensions-dir", extensionsFolder],
    ...["--telemetry-level", "off"],
    "--without-connection-token",
    "--accept-server-license-terms",
    ...(askForTrust === true ? [] : ["--disable-workspace-trust"]),
    ...(automation === true ? ["--enable-smoke-test-driver"] : []),
  ];
}

/** Started from a terminal of VS Code, the server would take that window's variables for its own. */
function withoutEditorVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$)/.test(name)));
}

function listeningPort(child: ChildProcess, logFile: string): Promise<number> {
  const log = createWriteStream(logFile, { flags: "a" });
  const printed: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (what: string) =>
      reject(new Error(`VS Code's server ${what}. It printed (${logFile}):\n${printed.slice(-30).join("\n")}`));
    const limit = setTimeout(() => {
      child.stdin?.end();
      fail(`did not listen within ${START_LIMIT_MS / 1000} s`);
    }, START_LIMIT_MS);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        log.write(`${line}\n`);
        printed.push(line);
        if (printed.length > 200) printed.shift();
        const port = /^Extension host agent listening on (\d+)/.exec(line)?.[1];
        if (port === undefined) return;
        clearTimeout(limit);
        resolve(Number(port));
      });
    }
    child.once("error", (error) => fail(`could not be started: ${error.message}`));
    child.once("close", (code) => {
      clearTimeout(limit);
      log.end();
      fail(`exited with code ${code} before it listened`);
    });
  });
}

/** Address that opens `folder` in a window of the server at `authority`, with `payload` for the workbench. */
export function windowUrl(
  authority: string,
  folder: string,
  payload: ReadonlyArray<readonly [string, string]> = [],
): string {
  const url = new URL(`http://${authority}/`);
  url.searchParams.set("folder", folder);
  if (payload.length > 0) url.searchParams.set("payload", JSON.stringify(payload));
  return url.href.replaceAll("%2F", "/");
}
