/** The backend that config.yaml asks for. */
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute } from "node:path";
import { type TerminalConfig, terminalProblem } from "../../config/terminal-section.ts";
import { pathBelow } from "../../platform/paths.ts";
import type { Backend, CommandVariables } from "./backend.ts";
import { localBackend } from "./local-backend.ts";
import type { Transport } from "./remote-backend.ts";
import { type FoundSandbox, findSandbox } from "./sandbox/find-sandbox.ts";
import { type SandboxOptions, sandboxedBackend } from "./sandbox/sandboxed-backend.ts";

/** `roots` are the absolute workspace folders. A backend that is configured wrongly refuses every command. */
export function configuredBackend(
  config: TerminalConfig,
  roots: readonly [string, ...string[]],
  variables: CommandVariables,
  ports?: Omit<SandboxOptions, "sandbox">,
): Backend {
  const problem = terminalProblem(config);
  if (problem !== undefined) return refusingBackend(config.backend, problem);
  switch (config.backend) {
    case "local":
      return ports === undefined
        ? localBackend(variables)
        : localSandbox(config.sandbox, localBackend(variables), roots, ports);
    case "docker":
    case "singularity":
    case "apptainer": {
      const isDocker = config.backend === "docker";
      const image = isDocker ? config.dockerImage : config.singularityImage;
      const place = isDocker ? `a container of ${image} (docker)` : `an instance of ${image} (singularity)`;
      return backendElsewhere(place, variables.passed, async () => {
        const { dockerTransport, singularityTransport } = await import("./transports.ts");
        const container = { place, image, roots, cpus: config.containerCpu, memoryMb: config.containerMemory };
        return isDocker
          ? dockerTransport({ ...container, volumes: config.dockerVolumes })
          : singularityTransport(container);
      });
    }
    case "ssh": {
      const { sshHost: host = "" } = config; // a missing one is a problem above
      const target = config.sshUser === undefined ? host : `${config.sshUser}@${host}`;
      const place = `${target} (ssh)`;
      return backendElsewhere(place, variables.passed, async () => {
        const { sshTransport } = await import("./transports.ts");
        return sshTransport({
          place,
          target,
          port: config.sshPort,
          key: config.sshKey?.replace(/^~(?=\/)/, homedir()),
          cwd: config.cwd !== undefined && isAbsolute(config.cwd) ? config.cwd : undefined,
        });
      });
    }
    default:
      throw new Error(`no terminal backend ${config.backend}`); // a problem above
  }
}

/** Backend of another machine or of a container; its code is loaded with the first command. */
function backendElsewhere(
  place: string,
  passed: CommandVariables["passed"],
  makeTransport: () => Promise<Transport>,
): Backend {
  let loading: Promise<Backend> | undefined;
  const load = (): Promise<Backend> => {
    loading ??= Promise.all([import("./remote-backend.ts"), makeTransport()]).then(([{ remoteBackend }, transport]) =>
      remoteBackend(transport, passed),
    );
    return loading;
  };
  return {
    place,
    language: "sh",
    open: async (cwd, signal) => (await load()).open(cwd, signal),
    plan: async (request, givesPty, signal) => (await load()).plan(request, givesPty, signal),
    dispose: async () => (await loading)?.dispose(),
  };
}

/** Looks for the sandbox when it is first needed: the test takes as long as a new session. */
function localSandbox(
  wanted: TerminalConfig["sandbox"],
  backend: Backend,
  roots: readonly string[],
  ports: Omit<SandboxOptions, "sandbox">,
): Backend {
  let chosen: Backend | undefined;
  const choose = (): Backend => {
    chosen ??= withSandbox(wanted, backend, roots, ports);
    return chosen;
  };
  return {
    place: backend.place,
    language: backend.language,
    get sandboxes() {
      return choose().sandboxes === true;
    },
    get sandboxState() {
      return choose().sandboxState;
    },
    sandboxProblem: async () => choose().sandboxProblem?.(),
    temporaryFolder: () => choose().temporaryFolder?.(),
    inspectLiving: async () => (await chosen?.inspectLiving?.()) ?? [],
    endTurn: async () => (await chosen?.endTurn?.()) ?? [],
    confine: async (start) => choose().confine?.(start),
    open: backend.open,
    plan: (request, givesPty, signal) => choose().plan(request, givesPty, signal),
    dispose: () => (chosen ?? backend).dispose(),
  };
}

function withSandbox(
  wanted: TerminalConfig["sandbox"],
  backend: Backend,
  roots: readonly string[],
  ports: Omit<SandboxOptions, "sandbox">,
): Backend {
  const found = usableSandbox(wanted, roots);
  if (found.ok) return sandboxedBackend(backend, { sandbox: found.sandbox, ...ports });
  const { reason, advice } = found;
  const sandboxState = { isOn: false, reason, advice } as const;
  if (wanted !== "on") return { ...backend, sandboxState };
  const refusal = `No command runs, because terminal.sandbox is on, but ${reason}. To fix it, ${advice}, or set terminal.sandbox in config.yaml to auto.`;
  const refuse = () => Promise.reject(new Error(refusal));
  return { ...backend, sandboxState, plan: refuse, confine: refuse };
}

/** Sandbox for the workspace, or the reason why there is none. */
export function usableSandbox(wanted: TerminalConfig["sandbox"], roots: readonly string[]): FoundSandbox {
  if (wanted === "off") {
    const advice = "set terminal.sandbox in config.yaml to auto";
    return { ok: false, reason: "terminal.sandbox is off in config.yaml", advice };
  }
  if (homedir() === "/") {
    return { ok: false, reason: "your home folder is /", advice: "set HOME to a folder of your user" };
  }
  const found = findSandbox();
  if (!found.ok || !roots.some((root) => isInside(root, homedir()))) return found;
  return { ok: false, reason: "the workspace contains your home folder", advice: "open a folder below it" };
}

function isInside(folder: string, path: string): boolean {
  // Every command reports a missing folder, and a user of a service may have no home.
  if (!existsSync(folder) || !existsSync(path)) return false;
  return pathBelow(realpathSync(folder), realpathSync(path)) !== undefined;
}

/** A user who configured another machine must not find the commands on their own. */
function refusingBackend(name: string, message: string): Backend {
  return {
    place: name,
    language: "sh",
    open: (cwd) => Promise.resolve(cwd),
    plan: () => Promise.reject(new Error(message)),
    dispose: () => Promise.resolve(),
  };
}
