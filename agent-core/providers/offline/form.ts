/** What a form of request is: one line of the offline interpreter's grammar, one file in forms/. */

/** One thing to do: a tool call and how to speak of it. */
export type OfflineStep = {
  /** As the plan shows it: `Read a.txt`. */
  readonly title: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Tells the user what came of it; default: the result, quoted. */
  report?(result: string): string;
};

export type OfflineForm = {
  /** Examples for the help, the usual wording first. */
  readonly usage: readonly string[];
  /** Words that a request of this form begins with, in small letters. */
  readonly verbs: readonly string[];
  /** The step that `words` asks for; undefined when they are not of this form. */
  parse(words: string): OfflineStep | undefined;
};
