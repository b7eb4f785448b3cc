/** The agent as a library: `new AIAgent({ … }).chat("…")`, or `runConversation` for everything about the turn. */

import { AgentError } from "./agent/agent-error.ts";
import type { AIAgentOptions } from "./agent/agent-setup.ts";
import { AIAgent, type RunOptions } from "./agent/ai-agent.ts";
import { IterationBudget } from "./agent/budget.ts";
import type { AgentCallbacks } from "./agent/callbacks.ts";
import type { ConversationResult } from "./agent/conversation-result.ts";

export type { AgentCallbacks, AIAgentOptions, ConversationResult, RunOptions };
export { AgentError, AIAgent, IterationBudget };
