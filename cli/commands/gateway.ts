/** `hermes gateway`. */
import { localAgent } from "../../agent-core/entry/local-agent.ts";
import { terminalDialog } from "../../agent-core/entry/terminal-dialog.ts";
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { systemClock } from "../../agent-core/platform/clock.ts";
import { runGateway, statusLines } from "../../gateway/run-gateway.ts";
import { gatewaySettings } from "../../gateway/settings.ts";
import { say } from "../output.ts";
import { EXIT, subcommand } from "../subcommand.ts";

const codes = { ended: EXIT.done, taken: EXIT.tryAgain, lost: EXIT.failed } as const;

export const command = subcommand({
  verbs: {
    run: { summary: "serve the platforms that are set up, until Ctrl+C" },
    status: { summary: "show the platforms, and whether the gateway runs" },
    setup: { summary: "set up a platform, in questions" },
    install: { summary: "run the gateway as a service of yours (systemd, launchd)" },
    uninstall: { summary: "stop and remove the service" },
  },
  examples: [
    ["gateway setup", "enter a token, and who may write"],
    ["gateway run", "serve chats from this terminal"],
  ],
  async run({ verb }) {
    const environment = takeEnvironment();
    const settings = await gatewaySettings(environment);
    switch (verb) {
      case "run":
        return run(environment, settings);
      case "status":
        for (const line of await statusLines(settings)) say(line);
        return EXIT.done;
      case "setup": {
        const dialog = terminalDialog(process.stdin, process.stdout);
        const { setUpGateway } = await import("../../gateway/setup.ts");
        const isDone = await setUpGateway(settings, dialog).finally(() => dialog.close());
        return isDone ? EXIT.done : EXIT.failed;
      }
      case "install":
      case "uninstall": {
        const { installService, uninstallService } = await import("../../gateway/service.ts");
        const [node, program = ""] = [process.execPath, process.argv[1]];
        const { platform } = process;
        const facts = { node, program, home: settings.home, platform, path: environment["PATH"] ?? "" };
        for (const line of await (verb === "install" ? installService : uninstallService)(facts)) say(line);
        return EXIT.done;
      }
    }
  },
});

async function run(
  environment: ReturnType<typeof takeEnvironment>,
  settings: Awaited<ReturnType<typeof gatewaySettings>>,
) {
  const ending = new AbortController();
  const end = (): void => {
    if (ending.signal.aborted) process.exit(EXIT.interrupted); // does not wait for turns
    ending.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, end);
  const log = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const service = localAgent(environment);
  try {
    return codes[await runGateway({ settings, service, clock: systemClock, log, signal: ending.signal })];
  } finally {
    await service.dispose();
  }
}
