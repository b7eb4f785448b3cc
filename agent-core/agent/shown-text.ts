/** The text of an answer as people see it: what another attempt merely repeats is not shown again. */
import { randomUUID } from "node:crypto";

type Show = (event: { readonly text: string; readonly messageId: string }) => void;

export class ShownText {
  readonly #show: Show;
  #messageId: string;
  #shown = "";
  /** What another attempt has said while it says the same; undefined outside of that. */
  #repeated: string | undefined;

  constructor(messageId: string, show: Show) {
    this.#messageId = messageId;
    this.#show = show;
  }

  push(text: string): void {
    if (this.#repeated === undefined) {
      this.#shown += text;
      this.#show({ text, messageId: this.#messageId });
      return;
    }
    this.#repeated += text;
    if (this.#shown.startsWith(this.#repeated)) return;
    const said = this.#repeated;
    // Another answer than the one that broke off: it stands by itself, from its first word.
    const isAnother = !said.startsWith(this.#shown);
    if (isAnother) this.#messageId = randomUUID();
    const news = isAnother ? said : said.slice(this.#shown.length);
    this.#shown = said;
    this.#repeated = undefined;
    this.#show({ text: news, messageId: this.#messageId });
  }

  /** The answer begins again. */
  restart(): void {
    if (this.#shown !== "") this.#repeated = "";
  }
}
