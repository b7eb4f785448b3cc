/** The backend that config.yaml asks for. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, relative } from "node:path";
import { type TerminalConfig, UNUSABLE_TERMINAL } from "../../config/sections.ts";
import type { Backend, CommandVariables } from "./backend.ts";
import { dockerTransport } from "./docker-transport.ts";
import { localBackend } from "./local-backend.ts";
import { remoteBackend } from "./remote-backend.ts";
import { findSandbox } from "./sandbox/bwrap.ts";
import { type SandboxOptions, sandboxedBackend } from "./sandbox/sandboxed-backend.ts";
import { sshTransport } from "./ssh-transport.ts";

/** `onProblem` gets a sentence for people when the machine has no sandbox. */
export type SandboxSetup = Pick<SandboxOptions, "confine"> & { readonly onProblem: (message: string) => void };

/** `roots` are the absolute workspace folders. A backend that is configured wrongly refuses every command. */
export function configuredBackend(
  config: TerminalConfig,
  roots: readonly [string, ...string[]],
  variables: CommandVariables,
  sandbox?: SandboxSetup,
): Backend {
  switch (config.backend) {
    case "local":
      return config.sandbox === "auto" && sandbox !== undefined
        ? sandboxedWherePossible(localBackend(variables), roots, sandbox)
        : localBackend(variables);
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
        "No command runs until the errors in the section terminal of config.yaml are fixed.",
      );
    default:
      return refusingBackend(
        config.backend,
        `Unsupported terminal backend: ${JSON.stringify(config.backend)}. Set terminal.backend in config.yaml to local, ssh or docker.`,
      );
  }
}

function sandboxedWherePossible(
  backend: Backend,
  roots: readonly string[],
  { confine, onProblem }: SandboxSetup,
): Backend {
  const found = findSandbox();
  const isTooWide = roots.some((root) => isInside(root, homedir()));
  if (found.ok && !isTooWide) return sandboxedBackend(backend, { bwrap: found.bwrap, confine });
  const problem = found.ok ? "the workspace contains your home folder" : found.problem;
  onProblem(`terminal.sandbox is auto, but ${problem}: commands run without a sandbox, and ask for approval as usual.`);
  return backend;
}

function isInside(folder: string, path: string): boolean {
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
