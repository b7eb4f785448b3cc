/** The gateway as a service of the user: a systemd unit on Linux, a launch agent on macOS. */
import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { makeFolder } from "../agent-core/platform/make-folder.ts";

const UNIT = "hermes-gateway.service";
const LABEL = "org.hermes-agent.gateway";

export type ServiceFacts = {
  /** Absolute paths of Node.js and of the command line. */
  readonly node: string;
  readonly program: string;
  /** Hermes' home folder. */
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** PATH of the agent's commands. */
  readonly path: string;
};

type Service = {
  readonly file: string;
  readonly text: string;
  readonly start: readonly string[][];
  readonly stop: readonly string[][];
};

/** Writes and starts the service. Resolves to lines for the user. Throws a UsageError on other systems. */
export async function installService(facts: ServiceFacts): Promise<readonly string[]> {
  const { file, text, start } = serviceOf(facts);
  makeFolder(dirname(file));
  await writeFile(file, text);
  const notes = await runAll(start);
  const logs =
    facts.platform === "darwin"
      ? "Its log is in ~/Library/Logs/hermes-gateway.log."
      : "Its log: journalctl --user -u hermes-gateway";
  const linger =
    facts.platform === "darwin" ? [] : ["It ends when you log out, unless you run: loginctl enable-linger"];
  return [`Wrote ${file}.`, ...notes, logs, ...linger];
}

/** Stops and removes the service. */
export async function uninstallService(facts: ServiceFacts): Promise<readonly string[]> {
  const { file, stop } = serviceOf(facts);
  const notes = await runAll(stop);
  await rm(file, { force: true });
  return [...notes, `Removed ${file}.`];
}

/** Text and place of the service. Tokens stay in the home's `.env`. */
function serviceOf({ node, program, home, platform, path }: ServiceFacts): Service {
  if (platform === "linux") {
    const file = join(homedir(), ".config", "systemd", "user", UNIT);
    return {
      file,
      text: unit([quote(node), quote(program), "gateway", "run"].join(" "), home, path),
      start: [
        ["systemctl", "--user", "daemon-reload"],
        ["systemctl", "--user", "enable", "--now", UNIT],
      ],
      stop: [["systemctl", "--user", "disable", "--now", UNIT]],
    };
  }
  if (platform === "darwin") {
    const file = join(homedir(), "Library", "LaunchAgents", `${LABEL}.plist`);
    return {
      file,
      text: plist([node, program, "gateway", "run"], home, path),
      start: [["launchctl", "load", "-w", file]],
      stop: [["launchctl", "unload", "-w", file]],
    };
  }
  throw new UsageError(
    "A service can be installed on Linux and macOS. Elsewhere, start `hermes gateway run` yourself.",
  );
}

function quote(word: string): string {
  return `"${word.replaceAll(/["\\%]/g, (mark) => (mark === "%" ? "%%" : `\\${mark}`))}"`;
}

/** 75: another process serves the token; 2: the set-up is missing. A restart helps neither. */
function unit(command: string, home: string, path: string): string {
  return `[Unit]
Description=Hermes gateway to chats
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${command}
Environment=${quote(`HERMES_HOME=${home}`)} ${quote(`PATH=${path}`)}
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2 75
TimeoutStopSec=40

[Install]
WantedBy=default.target
`;
}

function plist(words: readonly string[], home: string, path: string): string {
  const xml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const log = xml(join(homedir(), "Library", "Logs", "hermes-gateway.log"));
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>${LABEL}</string>
<key>ProgramArguments</key><array>${words.map((word) => `<string>${xml(word)}</string>`).join("")}</array>
<key>EnvironmentVariables</key><dict>
<key>HERMES_HOME</key><string>${xml(home)}</string>
<key>PATH</key><string>${xml(path)}</string>
</dict>
<key>RunAtLoad</key><true/>
<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
<key>StandardErrorPath</key><string>${log}</string>
</dict></plist>
`;
}

/** Runs the commands. A failure becomes a line that names the command, so that the user can run it. */
async function runAll(commands: readonly (readonly string[])[]): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const [program = "", ...args] of commands) {
    try {
      await promisify(execFile)(program, args, { timeout: 30_000 });
    } catch (error) {
      const [reason = ""] = messageOf(error).split("\n");
      notes.push(`This did not work; run it yourself: ${[program, ...args].join(" ")} (${reason})`);
    }
  }
  return notes;
}
