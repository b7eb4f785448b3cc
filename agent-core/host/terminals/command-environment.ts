/** Environment of commands on this machine: without keys and tokens, and in the sandbox only what programs need. */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { UNATTENDED_ENVIRONMENT } from "../../platform/children/start-child.ts";
import type { CommandVariables } from "./backend.ts";
import type { SandboxKind } from "./terminals.ts";

export const TOOLCHAIN_VARIABLES: readonly string[] = [
  "CARGO_HOME RUSTUP_HOME NVM_DIR PYENV_ROOT VOLTA_HOME FNM_DIR ASDF_DIR ASDF_DATA_DIR RBENV_ROOT GOPATH GOROOT JAVA_HOME",
  "GRADLE_HOME M2_HOME MAVEN_HOME DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT FLUTTER_ROOT VIRTUAL_ENV CONDA_PREFIX BUN_INSTALL",
].flatMap((line) => line.split(" "));
/** Other variables of a command in the sandbox. */
const ALLOWED = new Set(
  [
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES HOSTNAME CI",
    "EDITOR VISUAL TMPDIR TMP TEMP NODE_ENV NODE_PATH NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR PYTHONPATH MANPATH",
    "XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS PKG_CONFIG_PATH",
  ].flatMap((line) => line.split(" ")),
);
const ALLOWED_PATTERN = /^(?:LC_\w+|NIX_\w+|CMAKE_\w+)$/;
/** Needed with the network only; they may hold a password of the proxy. */
const PROXIES = /^(?:https?|all|no|ftp)_proxy$/i;
/** Names of variables that hold keys, tokens and passwords by custom. */
const SECRET =
  /(?:^|_)(?:TOKENS?|API_?KEY|APIKEY|ACCESS_KEY(?:_ID)?|PRIVATE_KEY|SECRETS?(?:_\w+)?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|AUTH)$|^(?:PGPASSWORD|MYSQL_PWD|AWS_SESSION_TOKEN|SSHPASS)$/i;

/** True for a variable that commands get only through `terminal.env_passthrough`. The path of a file is no secret. */
export function isSecretVariable(name: string, value = ""): boolean {
  return SECRET.test(name) && !(isAbsolute(value) && existsSync(value));
}

export function commandEnvironment(
  { withheld, passed }: CommandVariables,
  sandbox: SandboxKind | undefined,
): Readonly<Record<string, string>> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || withheld.includes(name) || !isShown(name, value, sandbox) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(own), ...UNATTENDED_ENVIRONMENT, ...passed };
}

function isShown(name: string, value: string, sandbox: SandboxKind | undefined): boolean {
  if (/^(?:TERM|ELECTRON_(?:RUN_AS_NODE|NO_ATTACH_CONSOLE|NO_ASAR))$/.test(name)) return false; // the runner's, VS Code's
  if (sandbox === undefined) return !isSecretVariable(name, value);
  if (PROXIES.test(name)) return sandbox === "networked";
  return ALLOWED.has(name) || ALLOWED_PATTERN.test(name) || TOOLCHAIN_VARIABLES.includes(name);
}

/**
 * Copy of this process's environment for the agent; keys and tokens are then removed from the process, so that none of
 * its children inherits them. The kernel still shows the first environment of the process to programs of the same user.
 */
export function takeEnvironment(): Readonly<Record<string, string | undefined>> {
  const environment = { ...process.env };
  for (const [name, value] of Object.entries(environment)) if (isSecretVariable(name, value)) delete process.env[name];
  return environment;
}
