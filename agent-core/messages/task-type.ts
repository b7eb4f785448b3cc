/** Types of tasks, and the type of a message by its words. One table for evaluation, reports and limits by task type. */

/** In the order in which they win a tie. */
export const TASK_TYPES = ["code", "data", "research", "writing", "other"] as const;

export type TaskType = (typeof TASK_TYPES)[number];

/** Characters of the message that are read: the task is at its beginning. */
const READ_CHARS = 2_000;

/**
 * Words that show a type, in English and German; `*` stands for further letters. Each different word counts once. The
 * patterns are made at their first use, because that takes 1 ms.
 */
const WORDS: { readonly [Type in Exclude<TaskType, "other">]: () => RegExp } = {
  code: words(
    `bug bugs fix fixes implement* refactor* function functions class classes method methods module modules test tests
    compil* build builds lint* exception* crash* api endpoint* commit* merge deploy* typescript javascript python rust
    rename component code script behebe behebt beheb fehler funktion* klasse* methode* programmier* absturz umbenennen`,
    "\\.(?:[cm]?[jt]sx?|py|rs|go|java|cs|cpp|rb|php|sh)(?!\\w)|```",
  ),
  data: words(
    `csv tsv json xls xlsx excel parquet sql query queries dataset* data table tables row rows column columns chart charts
    plot plots histogram* statistic* average averages median sum sums total totals correlat* analyse* analyze* analysis
    daten tabelle tabellen spalte spalten zeilen diagramm* statistik* durchschnitt* summe summen auswert* analysier*`,
  ),
  research: words(
    `research* compare comparison investigat* explor* survey source sources paper papers study studies literature
    summarize summarise summary explain web recherch* vergleich* untersuch* quelle quellen studien zusammenfass*
    erklär* erklaer* warum`,
    "(?:find out|look up|what (?:is|are|does)|how does|why (?:is|are|does|do)|finde? heraus|was ist|wie funktioniert)(?!\\w)|https?://",
  ),
  writing: words(
    `write draft email emails e-mail e-mails letter letters blog post posts article articles essay* readme docs
    documentation changelog note notes translat* proofread rephrase reword paragraph* headline* newsletter speech
    schreib* entwurf entwirf brief briefe artikel aufsatz übersetz* uebersetz* formulier* absatz text`,
  ),
};

function words(list: string, further?: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    if (pattern !== undefined) return pattern;
    const all = list.split(/\s+/).map((word) => (word.endsWith("*") ? `${word.slice(0, -1)}\\p{L}*` : word));
    const others = further === undefined ? "" : `|${further}`;
    pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${all.join("|")})(?![\\p{L}\\p{N}_])${others}`, "giu");
    return pattern;
  };
}

/** Type of a task by its first message: the type with the most words; `other` when none matches. */
export function classifyTask(message: string): TaskType {
  const text = message.slice(0, READ_CHARS);
  let best: TaskType = "other";
  let maxFound = 0;
  for (const type of TASK_TYPES) {
    if (type === "other") continue;
    const found = new Set([...text.matchAll(WORDS[type]())].map(([word]) => word.toLowerCase())).size;
    if (found > maxFound) [best, maxFound] = [type, found];
  }
  return best;
}
