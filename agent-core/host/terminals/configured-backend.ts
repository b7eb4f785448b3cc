/** The backend that config.yaml asks for. */
import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, relative } from "node:path";
import { type TerminalConfig, UNUSABLE_TERMINAL } from "../../config/terminal-section.ts";
import type { Backend, CommandVariables } from "./backend.ts";
import { dockerTransport, singularityTransport } from "./container-transports.ts";
import { localBackend } from "./local-backend.ts";
import { remoteBackend } from "./remote-backend.ts";
import { type FoundSandbox, findSandbox } from "./sandbox/find-sandbox.ts";
import { type SandboxOptions, sandboxedBackend } from "./sandbox/sandboxed-backend.ts";
import { sshTransport } from "./ssh-transport.ts";

/** `roots` are the absolute workspace folders. A backend that is configured wrongly refuses every command. */
export function configuredBackend(
  config: TerminalConfig,
  roots: readonly [string, ...string[]],
  variables: CommandVariables,
  confine?: SandboxOptions["confine"],
): Backend {
  switch (config.backend) {
    case "local":
      return confine === undefined
        ? localBackend(variables)
        : localSandbox(config.sandbox, localBackend(variables), roots, confine);
    case "docker":
      return remoteBackend(
        dockerTransport({
          image: config.docker_image,
          roots,
          volumes: config.docker_volumes,
          cpus: config.container_cpu,
          memoryMb: config.container_memory,
        }),
        variables.passed,
      );
    case "singularity":
    case "apptainer":
      return remoteBackend(
        singularityTransport({
          image: config.singularity_image,
          roots,
          cpus: config.container_cpu,
          memoryMb: config.container_memory,
        }),
        variables.passed,
      );
    case "modal":
    case "daytona":
      return refusingBackend(
        config.backend,
        `The terminal backend ${config.backend} is not built in: a plugin can run commands there with a tool of its own (ctx.registerTool). Else set terminal.backend in config.yaml to local, ssh, docker or singularity.`,
      );
    case "ssh":
      if (config.ssh_host === undefined) {
        return refusingBackend("ssh", "terminal.backend is ssh, but terminal.ssh_host is not set in config.yaml.");
      }
      return remoteBackend(
        sshTransport({
          host: config.ssh_host,
          user: config.ssh_user,
          port: config.ssh_port,
          key: config.ssh_key?.replace(/^~(?=\/)/, homedir()),
          cwd: config.cwd !== undefined && isAbsolute(config.cwd) ? config.cwd : undefined,
        }),
        variables.passed,
      );
    case UNUSABLE_TERMINAL.backend:
      return refusingBackend(
        config.backend,
        "No command runs until the errors in config.yaml are corrected. `hermes doctor` shows them.",
      );
    default:
      return refusingBackend(
        config.backend,
        `Unsupported terminal backend: ${JSON.stringify(config.backend)}. Set terminal.backend in config.yaml to local, ssh, docker or singularity.`,
      );
  }
}

/** Looks for the sandbox when it is first needed: the test takes as long as a new session. */
function localSandbox(
  wanted: TerminalConfig["sandbox"],
  backend: Backend,
  roots: readonly string[],
  confine: SandboxOptions["confine"],
): Backend {
  let chosen: Backend | undefined;
  const choose = (): Backend => {
    chosen ??= withSandbox(wanted, backend, roots, confine);
    return chosen;
  };
  return {
    place: backend.place,
    get sandboxes() {
      return choose().sandboxes === true;
    },
    get sandboxState() {
      return choose().sandboxState;
    },
    open: backend.open,
    plan: (request, givesPty, signal) => choose().plan(request, givesPty, signal),
    dispose: () => (chosen ?? backend).dispose(),
  };
}

function withSandbox(
  wanted: TerminalConfig["sandbox"],
  backend: Backend,
  roots: readonly string[],
  confine: SandboxOptions["confine"],
): Backend {
  const found = usableSandbox(wanted, roots);
  if (found.ok) return sandboxedBackend(backend, { sandbox: found.sandbox, confine });
  const { reason, advice } = found;
  const sandboxState = { isOn: false, reason, advice } as const;
  if (wanted !== "on") return { ...backend, sandboxState };
  const refusal = `No command runs, because terminal.sandbox is on, but ${reason}. To fix it, ${advice}, or set terminal.sandbox in config.yaml to auto.`;
  return { ...backend, sandboxState, plan: () => Promise.reject(new Error(refusal)) };
}

/** Sandbox for the workspace, or the reason why there is none. */
export function usableSandbox(wanted: TerminalConfig["sandbox"], roots: readonly string[]): FoundSandbox {
  if (wanted === "off") {
    const advice = "set terminal.sandbox in config.yaml to auto";
    return { ok: false, reason: "terminal.sandbox is off in config.yaml", advice };
  }
  const found = findSandbox();
  if (!found.ok || !roots.some((root) => isInside(root, homedir()))) return found;
  return { ok: false, reason: "the workspace contains your home folder", advice: "open a folder below it" };
}

function isInside(folder: string, path: string): boolean {
  if (!existsSync(folder)) return false; // every command reports the missing folder
  const below = relative(realpathSync(folder), realpathSync(path));
  return below !== ".." && !below.startsWith("../");
}

/** A user who configured another machine must not find the commands on their own. */
function refusingBackend(name: string, message: string): Backend {
  return {
    place: name,
    open: (cwd) => Promise.resolve(cwd),
    plan: () => Promise.reject(new Error(message)),
    dispose: () => Promise.resolve(),
  };
}
