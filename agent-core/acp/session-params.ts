/** Common parameters of session/new, load, resume and fork. */
import { isAbsolute, resolve } from "node:path";
import type { McpServer } from "@zed-industries/agent-client-protocol";
import { folderProblem } from "../host/node-files.ts";
import { invalidParams } from "../protocol/handle.ts";
import { readMeta } from "../protocol/method.ts";
import { HermesSessionMeta } from "../protocol/sessions.ts";
import { type AcpServer, acpServers } from "./next-protocol.ts";

export type SessionParams = {
  /** Absolute folder. */
  readonly cwd: string;
  /** Absolute folders. */
  readonly otherFolders: readonly string[];
  /** MCP servers of the client, for this session alone. */
  readonly mcpServers: readonly McpServer[];
  /** Those that the client has itself. */
  readonly acpServers: readonly AcpServer[];
  /** False when the editor says that the user does not trust the workspace. */
  readonly trusted: boolean;
  /** Model of a new session, as `provider:model`; undefined: the configured one. */
  readonly model: string | undefined;
  /** The client's part of the system prompt. */
  readonly context: string | undefined;
};

export function sessionParams(params: {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  readonly _meta?: unknown;
}): SessionParams {
  const ours = readMeta(HermesSessionMeta, params._meta);
  return {
    cwd: folderOf(params.cwd),
    otherFolders: (params.additionalDirectories ?? []).map(folderOf),
    mcpServers: params.mcpServers ?? [],
    acpServers: acpServers(params._meta),
    // In an editor without workspace trust, the user's configuration is the consent.
    trusted: ours?.trusted ?? true,
    model: ours?.model,
    context: ours?.context,
  };
}

/** One name for each folder: some clients end it with a slash. A relative one is refused later. */
export function folderOf(path: string): string {
  return isAbsolute(path) ? resolve(path) : path;
}

type NamedFolder = { readonly field: string; readonly folder: string };

function foldersOf({ cwd, otherFolders }: SessionParams): readonly NamedFolder[] {
  const others = otherFolders.map((folder, index) => ({ field: `additionalDirectories[${index}]`, folder }));
  return [{ field: "cwd", folder: cwd }, ...others];
}

/** Throws the protocol's error for a relative folder, and for one that does not exist. */
export function checkFolders(params: SessionParams): void {
  checkAbsolute(params);
  for (const { field, folder } of foldersOf(params)) {
    const problem = folderProblem(folder);
    if (problem !== undefined) throw invalidParams(field, `${JSON.stringify(folder)} ${problem}`);
  }
}

/** Throws the protocol's error for a relative folder. */
export function checkAbsolute(params: SessionParams): void {
  for (const { field, folder } of foldersOf(params)) {
    if (!isAbsolute(folder)) throw invalidParams(field, `${JSON.stringify(folder)} is not an absolute path`);
  }
}
