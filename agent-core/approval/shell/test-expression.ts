/** `[[ … ]]`, `[ … ]` and `test`: they only read, but some operators evaluate their operands as arithmetic. */
import type { TestExpression } from "unbash";
import { type Arg, knownArg } from "./arg.ts";
import { runsWhenEvaluated } from "./arithmetic.ts";
import { expandValue } from "./expand-word.ts";
import { variable } from "./state.ts";
import type { Setting, Walk } from "./walk.ts";

const ARITHMETIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

/** Walks the commands inside a `[[ … ]]`. */
export function walkTest(expression: TestExpression, setting: Setting, walk: Walk): void {
  switch (expression.type) {
    case "TestUnary": {
      const operand = expandValue(expression.operand, setting, walk);
      if (expression.operator === "-v") checkOperands([operand], setting, walk);
      return;
    }
    case "TestBinary": {
      const operands = [expandValue(expression.left, setting, walk), expandValue(expression.right, setting, walk)];
      if (ARITHMETIC.has(expression.operator)) checkOperands(operands, setting, walk);
      return;
    }
    case "TestLogical":
      for (const operand of expression.operands) walkTest(operand, setting, walk);
      return;
    case "TestNot":
      walkTest(expression.operand, setting, walk);
      return;
    case "TestGroup":
      walkTest(expression.expression, setting, walk);
      return;
  }
}

/** Checks the arguments of `[` and `test`. */
export function checkTestArguments(args: readonly Arg[], setting: Setting, walk: Walk): void {
  const evaluates = args.some(({ text }) => text === "-v" || ARITHMETIC.has(text));
  if (evaluates) checkOperands(args, setting, walk);
}

function checkOperands(operands: readonly Arg[], { state }: Setting, walk: Walk): void {
  const texts = operands.flatMap((operand) =>
    /^[A-Za-z_]\w*$/.test(operand.text) ? [operand, ...variable(state, operand.text)] : [operand, knownArg("")],
  );
  if (texts.some(({ text }) => text.includes("[") && runsWhenEvaluated(text))) {
    walk.record.askUnknown("A test runs a command that is hidden in a text");
  }
}
