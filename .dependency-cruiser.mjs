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
  "skills",
  "cron",
  "web",
  "browser",
  "code",
  "orchestration",
  "tools",
  "agent",
  "mcp",
  "plugins",
  "learning",
  "acp",
  "entry",
];

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
