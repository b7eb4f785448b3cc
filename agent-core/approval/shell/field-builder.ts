/** Builds the fields that the shell makes of the pieces of one word. */
import { escapePattern } from "../../platform/escape-pattern.ts";
import { type Arg, UNKNOWN } from "./arg.ts";

type Field = { text: string; glob: boolean; splits: boolean; content: string | undefined };

const GLOB = /[*?[]/;
/** Values that expansions build up; a longer one is as good as unknown (UTF-16 units). */
const MAX_VALUE = 8192;

export class FieldBuilder {
  private readonly fields: Arg[] = [];
  private field: Field | undefined;
  private readonly separators: string;
  private readonly single: boolean;

  /** `separators`: value of IFS. `single`: the word is not split and not a pattern, as in an assignment. */
  constructor(separators: string, single: boolean) {
    this.separators = separators;
    this.single = single;
  }

  /** A piece as it is written or quoted: never split. */
  quoted(text: string): void {
    this.current().text += text;
  }

  /** An unquoted pattern. */
  glob(text: string): void {
    this.quoted(text);
    if (!this.single) this.current().glob = true;
  }

  /** The result of an expansion in quotes; a pattern stays a pattern. */
  value(arg: Arg): void {
    const tooLong = this.current().text.length + arg.text.length > MAX_VALUE;
    this.quoted(tooLong ? UNKNOWN : arg.text);
    if (arg.glob) this.current().glob = true;
  }

  /** The result of an unquoted expansion: split at the separators, and a pattern when it has such characters. */
  unquoted(arg: Arg): void {
    if (this.single) {
      this.value(arg);
      return;
    }
    if (arg.text === "") return;
    if (arg.text.includes(UNKNOWN) || arg.text.length > MAX_VALUE) {
      this.value(arg);
      this.current().splits = true;
      return;
    }
    const pieces = this.split(arg.text);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) this.finish();
      if (piece === "") continue;
      this.quoted(piece);
      if (arg.glob || GLOB.test(piece)) this.current().glob = true;
    }
  }

  /** Separates two elements of an unquoted `$@`, except in a single word. */
  separate(): void {
    if (this.single) this.quoted(" ");
    else this.finish();
  }

  /** `"$@"` and `"${a[@]}"`: each element is a word; the first and the last join their neighbours. */
  elements(args: readonly Arg[]): void {
    for (const [index, arg] of args.entries()) {
      if (index > 0) this.finish();
      this.value(arg);
      if (arg.splits) this.current().splits = true;
    }
  }

  /** The file behind a process substitution. */
  substitution(content: string): void {
    this.quoted("/dev/fd/63");
    this.current().content = content;
  }

  build(): readonly Arg[] {
    this.finish();
    return this.fields;
  }

  private current(): Field {
    this.field ??= { text: "", glob: false, splits: false, content: undefined };
    return this.field;
  }

  private finish(): void {
    const { field } = this;
    this.field = undefined;
    if (!field) return;
    const { content, ...rest } = field;
    this.fields.push({ ...rest, ...(content !== undefined && { content }) });
  }

  private split(text: string): readonly string[] {
    if (this.separators === "") return [text];
    return text.split(new RegExp([...this.separators].map(escapePattern).join("|"), "u"));
  }
}
