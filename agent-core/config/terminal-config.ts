/** `terminal` of config.yaml: where commands run. Names and defaults are the original's. */
import * as z from "zod";

/** The original's image: Python and Node.js. */
const DOCKER_IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";

/** A name that a shell can export. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is no name of an environment variable");

const defaults = {
  backend: "local",
  sandbox: "off" as const,
  timeout: 180,
  env_passthrough: [],
  docker_image: DOCKER_IMAGE,
  docker_volumes: [],
  container_cpu: 1,
  container_memory: 5120,
};

export const terminalSection = z
  .object({
    /** `local`, `ssh` or `docker`. Another one is not a mistake of form: its commands are refused by name. */
    backend: z.string().default(defaults.backend),
    /** `auto`: commands of this machine run in a sandbox where one can be made (Linux, bwrap). */
    sandbox: z.enum(["auto", "off"]).default(defaults.sandbox),
    /** Seconds that a command may take when its call names no time of its own. */
    timeout: z.number().positive().default(defaults.timeout),
    /** Variables of the agent's environment, keys of its own and of the home's `.env` included, that commands get. */
    env_passthrough: z.array(variable).default(defaults.env_passthrough),
    /** Folder to begin with on a machine that is reached over ssh. */
    cwd: z.string().optional(),
    ssh_host: z.string().min(1).optional(),
    ssh_user: z.string().min(1).optional(),
    ssh_port: z.number().int().positive().max(65_535).optional(),
    /** File of the private key. */
    ssh_key: z.string().min(1).optional(),
    docker_image: z.string().min(1).default(defaults.docker_image),
    /** Mounts besides the workspace, as `docker run --volume` takes them. */
    docker_volumes: z.array(z.string()).default(defaults.docker_volumes),
    /** Processors. */
    container_cpu: z.number().positive().default(defaults.container_cpu),
    /** Megabytes. */
    container_memory: z.number().int().positive().default(defaults.container_memory),
  })
  .default(defaults);

/** What holds when the section cannot be used: no command runs on a machine that the user did not mean. */
export const UNUSABLE_TERMINAL: TerminalConfig = { ...defaults, backend: "unusable" };

export type TerminalConfig = z.output<typeof terminalSection>;
