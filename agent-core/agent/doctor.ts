/** Checks of this machine and its configuration, each with the way to mend what is wrong. Contacts nobody. */
import type { Environment } from "../config/home.ts";
import { findProgram } from "../host/find-program.ts";
import { usableSandbox } from "../host/terminals/configured-backend.ts";
import { findShell } from "../host/terminals/local-backend.ts";
import type { SandboxState } from "../host/terminals/terminals.ts";
import { resolveModel } from "../providers/resolve.ts";
import { type ConfiguredAgent, configuredAgent } from "./configured-agent.ts";

/** `works`: nothing to do. `limited`: Hermes works with less. `fails`: Hermes cannot work. */
export type Diagnosis = {
  readonly name: string;
  readonly state: "works" | "limited" | "fails";
  readonly text: string;
  /** An imperative, without a final dot. */
  readonly mend?: string;
};

/** Checks for a session in `cwd` (absolute). */
export async function diagnose(environment: Environment, cwd: string): Promise<readonly Diagnosis[]> {
  const configured = await configuredAgent(environment, "cli");
  return [
    sandboxOf(configured, cwd),
    shell(),
    program("ripgrep", "rg", "the built-in search is used, which is slower", "install ripgrep"),
    program("git", "git", "commands of git fail, and checkpoints copy more files", "install git"),
    model(configured, environment),
    ...configured.warnings.map(
      (text): Diagnosis => ({ name: "config", state: "limited", text, mend: "correct that line" }),
    ),
  ];
}

function sandboxOf({ terminal }: ConfiguredAgent, cwd: string): Diagnosis {
  if (terminal.backend !== "local") {
    return {
      name: "sandbox",
      state: "limited",
      text: `off: commands run by ${terminal.backend}, without a sandbox of ours`,
    };
  }
  const found = usableSandbox(terminal.sandbox, [cwd]);
  if (found.ok)
    return { name: "sandbox", state: "works", text: sandboxText({ isOn: true, program: found.sandbox.program }) };
  const { reason, advice: mend } = found;
  const state = terminal.sandbox === "on" ? "fails" : "limited";
  return { name: "sandbox", state, text: sandboxText({ isOn: false, reason, advice: mend }), mend };
}

/** State of the sandbox in one line, without a final dot. */
export function sandboxText(state: SandboxState): string {
  return state.isOn
    ? `on: commands run inside (${state.program}); what needs the network or your own files asks`
    : `off: commands run with your own rights, because ${state.reason}`;
}

function shell(): Diagnosis {
  const { kind, path } = findShell();
  return { name: "shell", state: "works", text: kind === "bash" ? path : `${path}; commands are judged as bash` };
}

function program(name: string, file: string, without: string, mend: string): Diagnosis {
  const path = findProgram(file);
  return path === undefined
    ? { name, state: "limited", text: `not found on PATH: ${without}`, mend }
    : { name, state: "works", text: path };
}

function model({ options }: ConfiguredAgent, environment: Environment): Diagnosis {
  const resolution = resolveModel({}, options.environment ?? environment);
  if (!resolution.ok)
    return { name: "model", state: "fails", text: resolution.message, mend: "run hermes-acp --setup" };
  const { mode, model: name, endpoint } = resolution.model;
  if (mode === "offline")
    return { name: "model", state: "works", text: "none: the built-in offline interpreter answers" };
  const { provider, baseUrl } = endpoint;
  const address = baseUrl === undefined ? "" : ` at ${baseUrl}`;
  return { name: "model", state: "works", text: `${name} of ${provider}${address}, not contacted` };
}
