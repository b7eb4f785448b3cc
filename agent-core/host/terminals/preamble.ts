/**
 * Script that a shell runs before each command, so that the folder and the exported variables outlive the command. bash
 * reads the script through BASH_ENV; so messages, exit code, traps, `exit`, `set -e` and syntax errors are those of a plain
 * `bash -c`. Shells exchange values in private files that the agent never reads.
 */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandVariables, Launch } from "./backend.ts";

/** The shell writes `<value>.folder` and `<value>.variables` at its end; without a value it stores nothing. */
export const SAVE_TO = "HERMES_SHELL_TO";
/** File of variables that the shell starts with. */
export const START_FROM = "HERMES_SHELL_FROM";
/** The user's own BASH_ENV. */
export const USER_BASH_ENV = "HERMES_SHELL_BASH_ENV";

/**
 * Text of the script, for bash 3.2 and newer and for POSIX shells. `marker` is the name of the variable that marks a
 * command. The shell loses withheld variables before it reads those of earlier commands.
 */
export function shellPreamble(marker: string, { withheld, passed }: CommandVariables): string {
  return `${START}
${[
  ...withheld.map((name) => `unset ${name}`),
  ...Object.entries(passed).map(([name, value]) => `export ${name}=${quote(value)}`),
].join("\n")}
${restore(marker)}
${SAVE}
${KEEP_TRAP}
`;
}

// One stream for output and errors keeps both in order.
const START = `\
exec 2>&1
__hermes_to=\${${SAVE_TO}-} __hermes_from=\${${START_FROM}-} __hermes_env=\${${USER_BASH_ENV}-}
unset BASH_ENV ${SAVE_TO} ${START_FROM} ${USER_BASH_ENV}`;

// A snapshot has every exported variable; a command has unset the others. Folder, mark and kind of terminal belong to
// this command.
function restore(marker: string): string {
  return `\
if [ -n "$__hermes_from" ] && [ -r "$__hermes_from" ]; then
  __hermes_pwd=$PWD __hermes_mark=\${${marker}-} __hermes_term=\${TERM-}
  if [ -n "\${BASH_VERSION-}" ]; then __hermes_names=$(compgen -e)
  else __hermes_names=$(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); fi
  for __hermes_name in $__hermes_names; do unset "$__hermes_name" 2>/dev/null || :; done
  . "$__hermes_from" 2>/dev/null
  PWD=$__hermes_pwd
  export ${marker}="$__hermes_mark" TERM="$__hermes_term"
  unset __hermes_pwd __hermes_mark __hermes_term __hermes_names __hermes_name
fi
if [ -n "$__hermes_env" ]; then
  export BASH_ENV="$__hermes_env"
  [ -r "$BASH_ENV" ] && . "$BASH_ENV"
fi`;
}

// The folder's file comes last: if it exists, the variables' file is complete. \`set -e\`, \`set -u\`, \`set -C\` may be on.
const SAVE = `\
if [ -n "$__hermes_to" ]; then
  __hermes_save() {
    __hermes_status=$?
    if [ "\${BASHPID:-$$}" = "$$" ]; then
      command export -p >| "$__hermes_to.variables" && command pwd >| "$__hermes_to.folder" || :
    fi
    return "$__hermes_status"
  }
  command export -p >| "$__hermes_to.before"
  trap '{ __hermes_save; } 2>/dev/null' EXIT
fi`;

// A command's own EXIT trap would replace ours, so ours runs before it. Only bash lets a function replace \`trap\`; in
// other shells a command with such a trap stores nothing.
const KEEP_TRAP = `\
if [ -n "$__hermes_to" ] && [ -n "\${BASH_VERSION-}" ]; then
  eval 'trap() {
    builtin trap "$@" || return
    local __hermes_set
    __hermes_set=$(builtin trap -p EXIT)
    case $__hermes_set in *__hermes_save*) return 0 ;; esac
    __hermes_set=\${__hermes_set#trap -- }
    eval "builtin trap -- \\"{ __hermes_save; } 2>/dev/null
\\"\${__hermes_set% EXIT} EXIT"
  }'
fi`;

/** Quotes text as one word of a POSIX shell's command line. */
export function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export type LaunchScript = Pick<Launch, "program" | "args"> & { remove(): Promise<void> };

/**
 * Starts the program of a launch with a file as the only argument, for clients that join program and arguments with a
 * shell. Undefined on Windows.
 */
export async function launchScript(launch: Launch): Promise<LaunchScript | undefined> {
  if (process.platform === "win32") return undefined;
  const { program, args, env, hasWholeEnvironment } = launch;
  const file = join(tmpdir(), `hermes-command-${randomUUID()}`);
  const variables = Object.entries(env).map(([name, value]) => quote(`${name}=${value}`));
  // The client's own variables end here. It knows the kind of its terminal.
  const start = hasWholeEnvironment ? ["/usr/bin/env", "-i", 'TERM="$TERM"', ...variables] : [];
  await writeFile(file, `exec ${[...start, ...[program, ...args].map(quote)].join(" ")}\n`, { mode: 0o600 });
  return { program: "/bin/sh", args: [file], remove: () => rm(file, { force: true }) };
}
