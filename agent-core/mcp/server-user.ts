/** Answers to requests of a server: the user allows a model's answer (sampling), and fills in forms (elicitation). */
import type { Auxiliary } from "../agent/auxiliary.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { ServerUser } from "./server-connection.ts";

export type UserPorts = {
  readonly ask: ToolContext["ask"];
  readonly auxiliary: Auxiliary | undefined;
};

export function serverUser(_server: string, _ports: UserPorts): ServerUser {
  return {
    sample: async () => {
      throw new Error("the user did not allow it");
    },
    elicit: async () => ({ action: "decline" }),
  };
}
