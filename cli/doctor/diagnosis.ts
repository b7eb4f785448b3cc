/** Lines of `hermes doctor`, and the facts that its checks read. */
import type { ConfiguredAgent } from "../../agent-core/agent/configured-agent.ts";
import type { Environment } from "../../agent-core/config/home.ts";

/** `works`: nothing to do. `limited`: Hermes works with less. `fails`: Hermes cannot work. */
export type Diagnosis = {
  readonly name: string;
  readonly state: "works" | "limited" | "fails";
  readonly text: string;
  /** An imperative, without a final dot. */
  readonly fix?: string;
};

export type Facts = {
  readonly configured: ConfiguredAgent;
  /** Variables of the process, of the home's `.env` and of config.yaml. */
  readonly environment: Environment;
  /** Hermes' home folder. */
  readonly home: string;
  /** Folder of the session, absolute. */
  readonly cwd: string;
};

export type Check = (facts: Facts) => readonly Diagnosis[] | Promise<readonly Diagnosis[]>;

export function works(name: string, text: string): readonly Diagnosis[] {
  return [{ name, state: "works", text }];
}

export function summed(name: string, usable: readonly string[], problems: readonly Diagnosis[]): readonly Diagnosis[] {
  if (usable.length === 0) return problems.length > 0 ? problems : works(name, "none");
  return [...works(name, usable.join(", ")), ...problems];
}

export function limited(name: string, problems: readonly string[], place: string): readonly Diagnosis[] {
  return problems.map((text) => ({ name, state: "limited", text: text.replace(/\.$/, ""), fix: `correct ${place}` }));
}

export function waiting(name: string, text: string, command: string): Diagnosis {
  return { name, state: "limited", text: `needs your consent: ${text}`, fix: `run ${command}` };
}
