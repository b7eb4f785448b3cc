/** What a client is told of a session once it knows its id. */

import type { AcpSession } from "./acp-session.ts";
import { availableCommands } from "./run-command.ts";

/** Sends the slash commands after the response that is being made now: a client drops updates of unknown sessions. */
export function announceCommands(session: AcpSession): void {
  setImmediate(() =>
    session.send({ sessionUpdate: "available_commands_update", availableCommands: availableCommands() }),
  );
}
