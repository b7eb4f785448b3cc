/** What `chat` of the agent rejects with. */
import type { Fault } from "../providers/fault.ts";

/** A turn that ended because the model could not be used. */
export class AgentError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "AgentError";
    this.fault = fault;
  }
}
