/** Longer texts of the command line, loaded with the first of them. */
import type { CommandElsewhere } from "./command-line.ts";

/** Text of `hermes --help`. */
export const HELP = `hermes: send one prompt to the Hermes agent from the command line.

  hermes [options] "prompt"     send a prompt; without one, standard input is the prompt
  git diff | hermes "review"    attach the output of a command, or a file (< FILE), to the prompt
  hermes doctor                 check this machine and its configuration, and print how to fix it
  hermes plugins list           list the plugins of the Hermes home
  hermes plugins enable NAME    switch a plugin on (disable NAME: off)
  hermes skills list            list the skills of this folder, of the Hermes home and of Hermes itself
  hermes skills search WORDS    search the skills of the hub's sources (skills.hub_sources in config.yaml)
  hermes skills install SOURCE  install skills from a folder, a git address or owner/repository/path (--yes: unasked);
                                also update [NAME], uninstall NAME
  hermes cron list              list the planned jobs (status: the last runs, too)
  hermes cron create SCHEDULE PROMPT   plan a job: 30m, "every 2h", "0 9 * * 1-5" or 2026-11-24T09:00
                                (--name, --skill, --model, --cwd DIR, --deliver none); also update, pause, resume, run,
                                remove JOB
  hermes cron tick              run what is due, learn from ended sessions, and end
  hermes learning state         show what was learnt; also run, report, and keep, forget, undo, pin, unpin ID
  hermes mcp list               list the MCP servers of this folder and of the Hermes home
  hermes mcp allow NAME         allow a server of the workspace; also restart, signin, signout, enable, disable
                                (signin NAME --device: with a code that you enter on any device)
  hermes hooks                  list the hooks; also allow, enable, disable N or all
  hermes tools                  list the tools; also memory, model: what is noted, and which models there are

  -y, --yes           approve every request (blocked commands stay blocked)
      --cwd DIR       work in DIR; default: the current folder
  -c, --continue      continue the last session of this folder
  -r, --resume WHICH  continue an earlier session: its id, words of its title, or "last"
  -m, --model NAME    use this model: its id in /model, or a part of it that fits only one
      --mode MODE     ask, code, plan or auto; default: code
      --json          print every session/update as a line of JSON
  -v, --version; -h, --help
      --              the words after it are a prompt, whatever they are

The answer goes to standard output, tool calls to standard error.
Exit codes: 0 done, 1 an error or an answer that is not complete, 2 wrong command line, 130 interrupted.
`;

/** Purposes of other agents' commands, served here by other means. */
const ELSEWHERE: Readonly<Record<CommandElsewhere, string>> = {
  chat: 'hermes "prompt" sends a prompt, and hermes --continue "prompt" goes on with the last session',
  sessions: 'hermes "/resume" lists the sessions of this folder, and hermes --resume WHICH "prompt" goes on with one',
  import: 'hermes "/import" copies the sessions of an original Hermes home',
  config: "edit config.yaml in the Hermes home; hermes doctor names the file and checks it",
  setup: "hermes-acp --setup asks for provider, key and model",
  login: "hermes-acp --setup asks for provider, key and model",
  logout: "remove the key from .env in the Hermes home; hermes doctor names the folder",
  models: "hermes model lists the models, and --model NAME chooses one for a prompt",
  status: "hermes doctor checks this machine and its configuration",
  update: "update Hermes as you installed it: in the editor's extensions, or with npm",
  acp: "hermes-acp serves editors",
  gateway: "messengers are not served",
};

/** Problem of a line whose first word is a command of another agent. */
export function elsewhereText(command: CommandElsewhere, words: readonly string[]): string {
  return `there is no command "${command}": ${ELSEWHERE[command]}. A prompt: hermes -- ${words.join(" ")}`;
}
