/** Arithmetic assigns variables, and evaluates the text of variables again, with the substitutions in it. */
import type { ArithmeticExpression, WordPart } from "unbash";
import { knownArg, TOKEN } from "./arg.ts";
import { NO_INPUT, type Setting, variable, type Walk } from "./shell-state.ts";

const ASSIGNMENT = /^(?:<<|>>|[-+*/%&|^])?=$/;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/g;

/** Walks the commands inside an expression; the variables that it assigns become unknown. */
export function walkArithmetic(
  expression: ArithmeticExpression,
  setting: Setting,
  walk: Walk,
  parts: (parts: readonly WordPart[]) => void,
): void {
  const visit = (inner: ArithmeticExpression) => walkArithmetic(inner, setting, walk, parts);
  switch (expression.type) {
    case "ArithmeticBinary":
      visit(expression.left);
      visit(expression.right);
      if (ASSIGNMENT.test(expression.operator)) forget(expression.left, setting);
      return;
    case "ArithmeticUnary":
      visit(expression.operand);
      if (expression.operator === "++" || expression.operator === "--") forget(expression.operand, setting);
      return;
    case "ArithmeticTernary":
      visit(expression.test);
      visit(expression.consequent);
      visit(expression.alternate);
      return;
    case "ArithmeticGroup":
      visit(expression.expression);
      return;
    case "ArithmeticWord":
      if (expression.parts) parts(expression.parts);
      checkEvaluated(expression.value, expression.parts, setting, walk);
      return;
    case "ArithmeticCommandExpansion":
      if (expression.script) walk.script(expression.script, { ...setting, input: NO_INPUT });
      else walk.record.askAlways(`The substitution ${expression.text.slice(0, 60)} cannot be read`);
  }
}

/** True when text would run a command once the shell evaluates it as arithmetic: `a[$(rm x)]`. */
export function runsWhenEvaluated(text: string): boolean {
  return text.includes("$(") || text.includes("`") || text.includes("${");
}

/** Asks when quoted text or a named variable runs a command in its second evaluation. */
function checkEvaluated(text: string, parts: readonly WordPart[] | undefined, setting: Setting, walk: Walk): void {
  const quoted = parts?.some((part) => "value" in part && part.type !== "Literal" && runsWhenEvaluated(part.value));
  const named = [...text.matchAll(NAME)].some(([name]) =>
    variable(setting.state, name).some((arg) => runsWhenEvaluated(arg.text)),
  );
  if (quoted || named) walk.record.askUnknown("Arithmetic runs a command that is hidden in a text");
}

function forget(target: ArithmeticExpression, { state }: Setting): void {
  if (target.type !== "ArithmeticWord") return;
  const [name] = NAME[Symbol.match](target.value) ?? [];
  if (name !== undefined) state.variables.set(name, [knownArg(TOKEN)]);
}
