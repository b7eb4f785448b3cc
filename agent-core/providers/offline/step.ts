/** What the offline interpreter understands: a request in plain words as one tool call. */

/** One thing to do. */
export type OfflineStep = {
  /** As the plan shows it. */
  readonly title: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
};

/** One form of request: one line of the grammar. */
export type OfflineRule = {
  /** For the help, with an example. */
  readonly usage: string;
  /** The step that `words` asks for; undefined when they are not of this form. */
  parse(words: string): OfflineStep | undefined;
};

/** Text without the quotes around it, straight, curly or backticks. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const quoted = /^(?:"([\s\S]*)"|'([\s\S]*)'|`([\s\S]*)`|“([\s\S]*)”)$/.exec(trimmed);
  return quoted?.slice(1).find((inner) => inner !== undefined) ?? trimmed;
}
