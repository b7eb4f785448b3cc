/** Who is at the other end of the connection, as initialize told. */
import type { ClientCapabilities } from "@zed-industries/agent-client-protocol";

export type ClientIdentity = {
  readonly capabilities: ClientCapabilities;
  /** Name for people: `Zed`, `Visual Studio Code`. */
  readonly title: string | undefined;
};
