/** Rows of a statement, checked where they leave SQLite. */
import type { BindParams, Database, SqlValue } from "sql.js";
import type * as z from "zod";

/** Runs `statement` and gives its rows, each parsed by `schema`. Throws on a damaged file or a row that does not fit. */
export function rows<Row>(
  database: Database,
  schema: z.ZodType<Row>,
  statement: string,
  parameters: BindParams = [],
): readonly Row[] {
  const prepared = database.prepare(statement, parameters);
  try {
    const names = prepared.getColumnNames(); // asked for once: each of them is copied out of SQLite's memory
    const found: Row[] = [];
    while (prepared.step()) {
      const row: Record<string, SqlValue | undefined> = {};
      for (const [at, value] of prepared.get().entries()) row[names[at] ?? ""] = value;
      found.push(schema.parse(row));
    }
    return found;
  } finally {
    prepared.free();
  }
}
