/** Results of a server's tools: text for the model, wrapped as data, and pictures for people. */
import { wrapData } from "../prompt/injection-scan.ts";
import type { ToolContext, ToolResult } from "../tools/tool.ts";
import { answerPart, type ToolAnswer } from "./server-answers.ts";

/** The result of a call. Long text is in a file as a whole. */
export async function shownResult(
  { content, structuredContent, isError = false }: ToolAnswer,
  server: string,
  _context: ToolContext,
): Promise<ToolResult> {
  const texts = content.map((raw) => {
    const parsed = answerPart.safeParse(raw);
    return parsed.success && parsed.data.type === "text" ? parsed.data.text : JSON.stringify(raw);
  });
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent));
  return { ok: !isError, text: wrapData("mcp-result", server, texts.join("\n\n")) };
}
