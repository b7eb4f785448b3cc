/** A model that reads each sentence of the user with a word of a rule in it as a rule for later work. */

const RULE = /\b(?:always|never|from now on|remember|use|immer|ab jetzt)\b/i;

/** Signals of an answer about a transcript. */
export function stated(transcript: string): readonly object[] {
  return [...transcript.matchAll(/^\[(\d+) user\] (.*)$/gm)].flatMap(([, position, line = ""]) =>
    line
      .split(/(?<=[.!?]) /)
      .filter((sentence) => RULE.test(sentence))
      .map((quote) => {
        const [everywhere] = /in all projects/i.exec(quote) ?? [];
        return { text: quote, quote, position: Number(position), explicit: true, ...(everywhere && { everywhere }) };
      }),
  );
}
