/**
 * The agent as a library: `new AIAgent({ … }).chat("…")`, or `runConversation` for everything about the turn.
 * MCP servers: `new AIAgent({ extensions: [mcpServers({ name: { command: "…" } })] })`.
 */
import type { AIAgentOptions } from "./agent/agent-options.ts";
import { AIAgent } from "./agent/ai-agent.ts";
import type { AgentCallbacks } from "./agent/callbacks.ts";
import { AgentError, type ConversationResult } from "./agent/conversation-result.ts";
import { IterationBudget } from "./agent/iteration-budget.ts";
import type { RunOptions } from "./agent/turn-runner.ts";
import type { Hook, HookPayload, HookVerdict } from "./hooks/hook.ts";
import { mcpServers } from "./mcp/mcp-extension.ts";

export type { AgentCallbacks, AIAgentOptions, ConversationResult, Hook, HookPayload, HookVerdict, RunOptions };
export { AgentError, AIAgent, IterationBudget, mcpServers };
