/** Table of the subcommands. The code of each loads with its first use. */
import type { Table } from "./subcommand.ts";

export const subcommands: Table = {
  chat: { summary: "talk with the agent, or send one prompt", load: () => import("./commands/chat.ts") },
  setup: { summary: "choose a provider and a model, in questions", load: () => import("./commands/setup.ts") },
  auth: { summary: "sign in to providers, and store their keys", load: () => import("./commands/auth.ts") },
  sessions: { summary: "list, search, export and delete sessions", load: () => import("./commands/sessions.ts") },
  config: { summary: "print and change settings", load: () => import("./commands/config.ts") },
  doctor: {
    summary: "check this machine and its configuration, and print how to fix it",
    load: () => import("./commands/doctor.ts"),
  },
  model: { summary: "list the models", load: () => import("./commands/model.ts") },
  skills: { summary: "list, search, install and remove skills", load: () => import("./commands/skills.ts") },
  plugins: { summary: "list the plugins, and switch them on and off", load: () => import("./commands/plugins.ts") },
  mcp: { summary: "add, list, allow and sign in to MCP servers", load: () => import("./commands/mcp.ts") },
  hooks: { summary: "list, allow and switch hooks", load: () => import("./commands/hooks.ts") },
  tools: { summary: "list the tools", load: () => import("./commands/tools.ts") },
  memory: { summary: "show what is noted", load: () => import("./commands/memory.ts") },
  cron: { summary: "plan jobs, and run what is due", load: () => import("./commands/cron.ts") },
  learning: { summary: "show and change what was learnt", load: () => import("./commands/learning.ts") },
  acp: { summary: "serve an editor over the Agent Client Protocol", load: () => import("./commands/acp.ts") },
  serve: { summary: "serve the agent of this machine to other machines", load: () => import("./commands/serve.ts") },
  connect: {
    summary: "connect an editor to the agent of another machine",
    load: () => import("./commands/connect.ts"),
  },
  gateway: { summary: "serve chats: Telegram, Discord, Slack, WhatsApp", load: () => import("./commands/gateway.ts") },
  pairing: { summary: "let people of chats in, and shut them out", load: () => import("./commands/pairing.ts") },
  send: { summary: "send a message to a chat", load: () => import("./commands/send.ts") },
  batch: { summary: "run an agent for each task of a data set", load: () => import("./commands/batch.ts") },
  rollouts: { summary: "run environments for reinforcement learning", load: () => import("./commands/rollouts.ts") },
  worker: { summary: "work on the tasks of a queue", load: () => import("./commands/worker.ts") },
  completion: { summary: "print the completion of a shell", load: () => import("./commands/completion.ts") },
};

/** Commands of similar agents, and what serves their purpose here. */
export const elsewhere: Readonly<Record<string, string>> = {
  import: "hermes sessions import copies the sessions of an original Hermes home",
  login: "hermes auth add PROVIDER signs in or stores a key",
  logout: "hermes auth remove PROVIDER removes a key or sign-in",
  models: "hermes model lists the models, and --model NAME chooses one for a prompt",
  status: "hermes doctor checks this machine and its configuration",
  update: "update Hermes as you installed it: in the editor's extensions, or with npm",
};
