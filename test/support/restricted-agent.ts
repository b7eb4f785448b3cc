/** Agents over stdio that the test's end stops, also as a user who may not write everything. */
import { onTestFinished } from "vitest";
import { AcpProcess } from "./acp-process.ts";

/** A user who may not write everything, where the tests themselves may. */
export const NOBODY = process.getuid?.() === 0 ? 65_534 : undefined;

/** `home`: default: one of its own; `user`: as of an AcpProcess. */
export async function startAgent(home?: string, user?: number): Promise<AcpProcess> {
  const agent = new AcpProcess({}, home, user);
  onTestFinished(() => agent.stop());
  await agent.initialize();
  return agent;
}
