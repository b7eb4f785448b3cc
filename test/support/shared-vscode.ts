/** One VS Code server with the packaged extension for a whole run of browser tests. */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { packageFile, resultsFolder } from "../../scripts/project.ts";
import { installExtension, startVSCodeServer, type VSCodeServer } from "../../scripts/vscode-server.ts";

/** Address and folders of the running server, for the test files. */
export type SharedVSCode = {
  /** Folder of the run; everything below it is removed at the end. */
  readonly root: string;
  /** `host:port` of the server. */
  readonly authority: string;
  /** User data of the server. Its settings apply to every window that is opened after they are written. */
  readonly userDataFolder: string;
};

declare module "vitest" {
  interface ProvidedContext {
    readonly vscode: SharedVSCode;
  }
}

/** Vitest calls this before the first test file, and the result after the last one. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  if (!existsSync(packageFile)) throw new Error(`${packageFile} is missing: npm run package makes it.`);
  const root = mkdtempSync(join(tmpdir(), "hermes-vscode-"));
  const userDataFolder = join(root, "user-data");
  let server: VSCodeServer | undefined;
  const stop = async (): Promise<void> => {
    await server?.stop();
    keepLogs(join(userDataFolder, "logs"));
    rmSync(root, { recursive: true, force: true });
  };
  try {
    const folders = { userDataFolder, extensionsFolder: join(root, "extensions") };
    await installExtension(packageFile, folders);
    server = await startVSCodeServer({
      ...folders,
      askForTrust: true,
      env: { HERMES_LOCAL_SERVERS: "off", OPENAI_BASE_URL: "" },
      logFile: join(resultsFolder, "logs", "server.log"),
    });
    provide("vscode", { root, userDataFolder, authority: server.authority });
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Logs of the extension hosts stay in test-results/logs for the reader of a failure. */
function keepLogs(logs: string): void {
  const kept = join(resultsFolder, "logs", "vscode");
  rmSync(kept, { recursive: true, force: true });
  if (existsSync(logs)) cpSync(logs, kept, { recursive: true });
}
