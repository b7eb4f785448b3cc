/**
 * What a session's shell runs before each command, so that its folder and exported variables outlive it. bash reads it
 * through BASH_ENV, which leaves the command line as it is: its messages, its exit code, its traps, `exit`, `set -e`
 * and syntax errors are those of a plain `bash -c`. Values go from shell to shell in private files, never through us.
 */
import type { CommandVariables } from "./command-variables.ts";
import { quote } from "./quote.ts";

/** Folder and variables are written to `<value>.folder` and `<value>.variables` at the end; absent: they are not kept. */
export const SAVE_TO = "HERMES_SHELL_TO";
/** File of variables to begin with. */
export const START_FROM = "HERMES_SHELL_FROM";
/** BASH_ENV as the user had set it. */
export const USER_BASH_ENV = "HERMES_SHELL_BASH_ENV";

/**
 * Text of the file; for bash from 3.2 on and POSIX shells. `marker` is the name of the variable that marks a command;
 * what is withheld is taken from the shell before it takes over what earlier commands exported.
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

// One stream for output and errors, or an error would not stand where it happened.
const START = `\
exec 2>&1
__hermes_to=\${${SAVE_TO}-} __hermes_from=\${${START_FROM}-} __hermes_env=\${${USER_BASH_ENV}-}
unset BASH_ENV ${SAVE_TO} ${START_FROM} ${USER_BASH_ENV}`;

// A snapshot holds every exported variable: what is not in it was unset. Place, mark and kind of terminal are this
// command's own.
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

// The folder's file comes last: where it is, the variables' file is whole. \`set -e\`, \`set -u\`, \`set -C\` may be on.
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

// A command's own EXIT trap would take the place of ours: it is set behind it instead. bash only, since other shells
// let no function stand for \`trap\`; there such a command keeps nothing when it also ends by \`exit\`.
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
