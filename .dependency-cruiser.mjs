// Which room may import which: the floors of agent-core from the ground up, and the walls between the rooms.
const floors = [
  "platform",
  "protocol",
  "messages",
  "config",
  "host",
  "providers",
  "sessions",
  "approval",
  "checkpoints",
  "memory",
  "hooks",
  "context",
  "prompt",
  "web",
  "skills",
  "cron",
  "browser",
  "execute-code",
  "orchestration",
  "tools",
  "agent",
  "mcp",
  "plugins",
  "learning",
  "acp",
  "serve",
  "entry",
];

/** Rooms of clients that run the agent in their own process. Nothing imports them but the command line. */
const clients = "^(cli|gateway|batch)/";
/** The seam: ACP, an agent in this process, the home and its configuration. */
const seam =
  "protocol/|platform/|config/|entry/(account-dialog|local-agent|run-on-node|setup|terminal-dialog|version)\\.ts$";
/** Parts below the seam that commands without a session read, each with its reason. */
const below = {
  "^cli/doctor/": ".", // checks every part of the agent
  "^cli/commands/skills\\.ts$": "agent/configured-agent\\.ts$|skills/", // skills are installed without a session
  "^cli/commands/plugins\\.ts$": "plugins/find-plugins\\.ts$", // plugins are switched without a session
  "^cli/commands/mcp\\.ts$": "mcp/mcp-command\\.ts$", // the argument of a sign-in by code
  "^cli/commands/(cron|learning)\\.ts$|^cli/agent-requests\\.ts$":
    "cron/jobs-text\\.ts$|learning/stored-reports\\.ts$|acp/commands/learning-answers\\.ts$", // texts of slash commands
  "^cli/commands/acp\\.ts$": "entry/stdio\\.ts$", // the same program under another name
  "^cli/commands/(serve|connect)\\.ts$": "serve/|entry/message-lines\\.ts$", // the server itself, and the bridge's own stdio
  "^cli/chat/":
    "acp/config-options\\.ts$|host/worktrees\\.ts$|sessions/session-files\\.ts$|sessions/index/session-index\\.ts$", // names of the protocol's values, and worktrees
};

const vscodeModule = "(^|/)(@types/)?vscode(/|$)";

export default {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    ...floors.slice(0, -1).map((floor, index) => ({
      name: `floor-${floor}`,
      severity: "error",
      comment: "imports go down the list in ARCHITECTURE.md, never up",
      from: { path: `^agent-core/${floor}/` },
      to: { path: floors.slice(index + 1).map((above) => `^agent-core/${above}/`) },
    })),
    {
      name: "clients-on-top",
      severity: "error",
      from: { pathNot: [clients, "^test/"] },
      to: { path: clients },
    },
    {
      name: "command-line-on-top",
      severity: "error",
      from: { path: "^(gateway|batch)/" },
      to: { path: ["^cli/(?!subcommand\\.ts$)"] },
    },
    {
      name: "clients-speak-acp",
      severity: "error",
      from: { path: clients, pathNot: Object.keys(below) },
      to: {
        path: [
          `^agent-core/(?!${seam}|host/terminals/command-environment\\.ts$)`,
          "^extension/",
          "^webview/",
          vscodeModule,
        ],
      },
    },
    ...Object.entries(below).map(([from, to], index) => ({
      name: `clients-speak-acp-${index}`,
      severity: "error",
      from: { path: from },
      to: {
        path: [
          `^agent-core/(?!${seam}|host/terminals/command-environment\\.ts$|${to})`,
          "^extension/",
          "^webview/",
          vscodeModule,
        ],
      },
    })),
    {
      name: "core-is-editor-free",
      severity: "error",
      from: { path: "^agent-core/" },
      to: { path: ["^extension/", "^webview/", vscodeModule] },
    },
    {
      name: "extension-speaks-acp",
      severity: "error",
      from: { path: "^extension/" },
      to: { path: ["^agent-core/(?!protocol/|platform/)", "^webview/"] },
    },
    {
      name: "webview-alone",
      severity: "error",
      from: { path: "^webview/" },
      to: { path: ["^agent-core/(?!protocol/|platform/(ansi|visible-text)\\.ts$)", "^extension/", vscodeModule] },
    },
    {
      name: "webview-without-schemas",
      severity: "error",
      comment: "only types of the protocol: its schemas would bring zod, a quarter of the panel's bundle",
      from: { path: "^webview/" },
      to: { path: "^agent-core/protocol/(?!initial-facts\\.ts$)", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "characters-alone",
      severity: "error",
      comment: "the webview imports them, and must not get Node with them",
      from: { path: "^agent-core/platform/(ansi|visible-text)\\.ts$" },
      to: { path: "." },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};
