/** Common parameters of session/new, load, resume and fork. */
import type { McpServer } from "@zed-industries/agent-client-protocol";
import { readMeta } from "../protocol/method.ts";
import { HermesSessionMeta } from "../protocol/sessions.ts";

export type SessionParams = {
  /** Absolute folder. */
  readonly cwd: string;
  /** Absolute folders. */
  readonly otherFolders: readonly string[];
  /** MCP servers of the client, for this session alone. */
  readonly mcpServers: readonly McpServer[];
  /** False when the editor says that the user does not trust the workspace. */
  readonly trusted: boolean;
  /** Model of a new session, as `provider:model`; undefined: the configured one. */
  readonly model: string | undefined;
};

export function sessionParams(params: {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  readonly _meta?: unknown;
}): SessionParams {
  const ours = readMeta(HermesSessionMeta, params._meta);
  return {
    cwd: params.cwd,
    otherFolders: params.additionalDirectories ?? [],
    mcpServers: params.mcpServers ?? [],
    // In an editor without workspace trust, the user's configuration is the consent.
    trusted: ours?.trusted ?? true,
    model: ours?.model,
  };
}
