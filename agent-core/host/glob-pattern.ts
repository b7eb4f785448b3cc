/** File globs as regular expressions: `*`, `**`, `?`, `[a-z]`, `{a,b}`. */

const SPECIAL = /[.+^$()|\\]/;

/** Letters of either case. An unclosed bracket or brace stands for itself. */
export function globPattern(glob: string): RegExp {
  try {
    return new RegExp(`^${translate(glob)}$`, "iu");
  } catch {
    return new RegExp(`^${glob.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`, "iu");
  }
}

function translate(glob: string): string {
  let pattern = "";
  for (let index = 0; index < glob.length; index += 1) {
    const rest = glob.slice(index);
    const [matched, replacement] = token(rest);
    pattern += replacement;
    index += matched - 1;
  }
  return pattern;
}

/** How many characters the next token takes, and its regular expression. */
function token(rest: string): readonly [number, string] {
  if (rest.startsWith("**/")) return [3, "(?:.*/)?"];
  if (rest.startsWith("**")) return [2, ".*"];
  const [first = ""] = rest;
  switch (first) {
    case "*":
      return [1, "[^/]*"];
    case "?":
      return [1, "[^/]"];
    case "[": {
      const bracket = /^\[!?[^\]]+\]/.exec(rest)?.[0];
      return bracket === undefined
        ? [1, "\\["]
        : [bracket.length, bracket.replace(/^\[!/, "[^").replaceAll("\\", "\\\\")];
    }
    case "{": {
      const braces = /^\{([^{}]*)\}/.exec(rest);
      if (braces === null) return [1, "\\{"];
      return [braces[0].length, `(?:${(braces[1] ?? "").split(",").map(translate).join("|")})`];
    }
    case "}":
    case "]":
      return [1, `\\${first}`];
    default:
      return [1, SPECIAL.test(first) ? `\\${first}` : first];
  }
}
