/** VS Code's diagnostics as the agent knows problems: errors and warnings, not hints. */
import * as vscode from "vscode";
import type { HermesProblem } from "../../agent-core/protocol/problems.ts";

const severities: Readonly<Partial<Record<vscode.DiagnosticSeverity, HermesProblem["severity"]>>> = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
};

export function problemsOf(diagnostics: readonly vscode.Diagnostic[]): HermesProblem[] {
  return diagnostics.flatMap(({ severity, range: { start }, message, source, code }) => {
    const known = severities[severity];
    if (known === undefined) return [];
    const name = typeof code === "object" ? code.value : code;
    return {
      line: start.line + 1,
      column: start.character + 1,
      severity: known,
      message,
      ...(source !== undefined && { source }),
      ...(name !== undefined && { code: String(name) }),
    };
  });
}
