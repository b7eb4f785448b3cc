/** `hermes completion`: scripts that complete commands, verbs, options and their values, made from the definitions. */
import { EXIT, type Option, subcommand } from "../subcommand.ts";

type Word = { readonly word: string; readonly summary: string };

/** A subcommand; the first one has no name, and stands for a prompt. */
type Entry = {
  readonly name: string;
  /** Subcommands or verbs, then options. */
  readonly words: readonly Word[];
  /** Options with a value, and the valid ones; empty: any, such as a file. */
  readonly values: readonly (readonly [option: string, choices: readonly string[]])[];
};

const verbs = {
  bash: { summary: 'for ~/.bashrc: eval "$(hermes completion bash)"' },
  zsh: { summary: "for a file _hermes in a folder of $fpath" },
  fish: { summary: "for ~/.config/fish/completions/hermes.fish" },
  powershell: { summary: "for $PROFILE: hermes completion powershell | Out-String | Invoke-Expression" },
};

export const command = subcommand({
  verbs,
  examples: [
    ["completion bash >> ~/.bashrc", "complete in every new bash"],
    ["completion fish > ~/.config/fish/completions/hermes.fish", "complete in fish"],
  ],
  withoutHome: true,
  async run({ verb }, table) {
    const names = Object.entries(table).map(([word, { summary }]) => ({ word, summary }));
    const main = await table["chat"]?.load();
    const entries = [entryOf("", names, main?.command.options)];
    for (const [word, { load }] of Object.entries(table)) {
      const { verbs: own = {}, options } = (await load()).command;
      const known = Object.entries(own).map(([each, { summary }]) => ({ word: each, summary }));
      entries.push(entryOf(word, known, options));
    }
    process.stdout.write(scripts[verb](entries));
    return EXIT.done;
  },
});

function entryOf(name: string, words: readonly Word[], options: Readonly<Record<string, Option>> = {}): Entry {
  const all = Object.entries(options);
  const flags = all.map(([option, { summary }]) => ({ word: `--${option}`, summary }));
  const values = all.flatMap(([option, { kind, short, choices = [] }]) => {
    const names = [`--${option}`, ...(short === undefined ? [] : [`-${short}`])];
    return kind === "flag" ? [] : names.map((each) => [each, choices] as const);
  });
  return { name, words: [...words, ...flags, { word: "--help", summary: "print the help" }], values };
}

/** In single quotes, for all of these shells but PowerShell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function namesOf(entries: readonly Entry[]): readonly string[] {
  return entries.map(({ name }) => name).filter((name) => name !== "");
}

function wordList({ words }: Entry): string {
  return words.map(({ word }) => word).join(" ");
}

/** Lines of a shell's `case` for each option with a value. */
function valueCases(entries: readonly Entry[], reply: (choices: readonly string[]) => string): string {
  const found = new Map(entries.flatMap(({ values }) => values));
  return [...found].map(([option, choices]) => `    ${option}) ${reply(choices)} ;;\n`).join("");
}

const scripts: Readonly<Record<keyof typeof verbs, (entries: readonly Entry[]) => string>> = {
  bash: (entries) => `_hermes() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in ${namesOf(entries).join("|")}) command=\${COMP_WORDS[i]}; break ;; esac
  done
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
${valueCases(entries, (choices) => `COMPREPLY=($(compgen -W '${choices.join(" ")}' -- "$current")); return`)}  esac
  case $command in
${entries.map((entry) => `    ${quoted(entry.name)}) words='${wordList(entry)}' ;;\n`).join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _hermes hermes
`,
  zsh: (entries) => `#compdef hermes
_hermes() {
  local command= word
  local -a found
  for word in \${words[2,CURRENT-1]}; do
    case $word in ${namesOf(entries).join("|")}) command=$word; break ;; esac
  done
  case \${words[CURRENT-1]} in
${valueCases(entries, (choices) => (choices.length === 0 ? "_files; return" : `compadd ${choices.join(" ")}; return`))}  esac
  case $command in
${entries.map(({ name, words }) => `    ${quoted(name)}) found=(${words.map(({ word, summary }) => quoted(`${word}:${summary}`)).join(" ")}) ;;\n`).join("")}  esac
  _describe hermes found || _files
}
compdef _hermes hermes
`,
  fish: (entries) => {
    const condition = (name: string): string =>
      name === ""
        ? `not __fish_seen_subcommand_from ${namesOf(entries).join(" ")}`
        : `__fish_seen_subcommand_from ${name}`;
    return entries
      .flatMap(({ name, words, values }) =>
        words.map(({ word, summary }) => {
          const choices = values.find(([option]) => option === word)?.[1];
          const value =
            choices === undefined ? "" : ` -r${choices.length > 0 ? ` -fa ${quoted(choices.join(" "))}` : ""}`;
          const what = word.startsWith("--") ? `-l ${word.slice(2)}${value}` : `-fa ${word}`;
          return `complete -c hermes -n ${quoted(condition(name))} ${what} -d ${quoted(summary)}\n`;
        }),
      )
      .join("");
  },
  powershell: (entries) => `Register-ArgumentCompleter -Native -CommandName hermes -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @{
${entries.map((entry) => `    '${entry.name}' = '${wordList(entry)}'\n`).join("")}  }
  $command = $commandAst.CommandElements | ForEach-Object { "$_" } | Where-Object { $_ -and $words.ContainsKey($_) -and $_ -ne $wordToComplete } | Select-Object -First 1
  $words["$command"] -split ' ' | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
};
