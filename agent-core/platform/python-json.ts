/** Writes JSON as Python's `json.dumps(…, ensure_ascii=False)` does: files for its programs are equal byte for byte. */

/** A number that Python writes with a decimal point even when it is whole. */
export class PythonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** `indent`: spaces of each level; without it everything is on one line. Properties with the value undefined are left out. */
export function pythonJson(value: unknown, indent?: number): string {
  return write(value, { indent, margin: "" });
}

type Layout = { readonly indent: number | undefined; readonly margin: string };

function write(value: unknown, layout: Layout): string {
  if (value instanceof PythonFloat) return Number.isInteger(value.value) ? `${value.value}.0` : String(value.value);
  if (Array.isArray(value))
    return list(
      "[]",
      value.map((item) => write(item, inner(layout))),
      layout,
    );
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const written = entries.map(([name, item]) => `${JSON.stringify(name)}: ${write(item, inner(layout))}`);
  return list("{}", written, layout);
}

function list(brackets: "[]" | "{}", items: readonly string[], { indent, margin }: Layout): string {
  const [open, close] = brackets;
  if (items.length === 0) return brackets;
  if (indent === undefined) return `${open}${items.join(", ")}${close}`;
  const deeper = `\n${margin}${" ".repeat(indent)}`;
  return `${open}${deeper}${items.join(`,${deeper}`)}\n${margin}${close}`;
}

function inner({ indent, margin }: Layout): Layout {
  return { indent, margin: indent === undefined ? "" : margin + " ".repeat(indent) };
}

/** Local time as Python's `datetime.isoformat()` writes it. `now`: milliseconds since 1970. */
export function pythonTime(now: number): string {
  const local = new Date(now - new Date(now).getTimezoneOffset() * 60_000);
  const text = local.toISOString().slice(0, -1);
  return local.getUTCMilliseconds() === 0 ? text.slice(0, -".000".length) : `${text}000`;
}
