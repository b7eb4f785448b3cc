/** Terminal output as the text that a person would read in the end: no escape sequences, redrawn lines as last drawn. */

// Control sequences (CSI), operating system commands (OSC: titles, links), other string commands, short escapes.
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it is about
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][\s\S]*?(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g;

export function plainText(output: string): string {
  const text = output.replace(ESCAPES, "").replace(/\r+\n/g, "\n");
  if (!/[\r\b]/.test(text)) return withoutControls(text);
  return withoutControls(text.split("\n").map(redraw).join("\n"));
}

/** Applies carriage returns and backspaces: later text overwrites what stood there. */
function redraw(line: string): string {
  if (!/[\r\b]/.test(line)) return line;
  const drawn: string[] = [];
  let column = 0;
  for (const character of line) {
    if (character === "\r") column = 0;
    else if (character === "\b") column = Math.max(0, column - 1);
    else {
      drawn[column] = character;
      column += 1;
    }
  }
  return drawn.join("").trimEnd();
}

function withoutControls(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, "");
}
