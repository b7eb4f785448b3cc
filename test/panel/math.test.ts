import { describe, expect, test } from "vitest";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";
import { allowClipboard } from "../support/shared-browser.ts";

const ANSWER = `The roots of $a x^2 + b x + c = 0$ are

$$
x_{1,2} = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}
$$

so \\(x_1 + x_2 = -\\tfrac{b}{a}\\), and $\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}$ takes $O(n)$ steps. It costs $5 and $10.

\\[
\\begin{aligned}
f(x) &= \\int_0^\\infty e^{-x t} \\, dt \\\\
&= \\lim_{n \\to \\infty} \\left( 1 + \\frac{x}{n} \\right)^n \\cdot \\overline{z}
\\end{aligned}
\\]

- a matrix $A = \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}$, and $|x| = \\begin{cases} x & x \\ge 0 \\\\ -x & \\text{else} \\end{cases}$
- $\\boxed{\\cancel{x} + \\hat{y} + \\vec{v} + \\mathbb{R} + \\mathcal{L}}$ in **bold $e^{i\\pi} = -1$**
- with an error: $\\frac{a}{$ and $\\unknown_x$
`;

describe("formulas of an answer", () => {
  const panel = useFedPanel();

  test("are MathML, and amounts of money and sources with errors stay text", async () => {
    const content = (text: string) => ({ type: "text", text }) as const;
    const half = ANSWER.indexOf("\\[") + 30;
    const chunk = { sessionUpdate: "agent_message_chunk", messageId: "m" } as const;
    await panel().feed({ kind: "prompt", id: "p", text: "Explain the formulas" });
    await panel().update({ ...chunk, content: content(ANSWER.slice(0, half)) });
    const formulas = panel().locator(".answer math");
    await expect.poll(() => formulas.count()).toBe(5);
    await panel().update({ ...chunk, content: content(ANSWER.slice(half)) });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    await expect.poll(() => formulas.count()).toBe(10);
    expect(await formulas.first().innerHTML()).toContain("<msup><mi>x</mi>");
    expect(await panel().locator(".answer .math-display math[display=block]").count()).toBe(2);
    const text = await panel().locator(".answer").textContent();
    expect(text).toContain("It costs $5 and $10.");
    expect(text).toContain("$\\unknown_x$");
    expect(await panel().locator("body").evaluate(TOO_WIDE)).toEqual([]);
    await panel().pictures("math");
  });

  test("are copied and found as TeX", async () => {
    const { page } = panel();
    await allowClipboard(page);
    const copied = (part: string) =>
      page.evaluate(`(async () => {
        const paragraph = document.querySelector(".answer p");
        const range = document.createRange();
        range.selectNodeContents(${part});
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
        return navigator.clipboard.readText();
      })()`);
    expect(await copied("paragraph")).toBe("The roots of $a x^2 + b x + c = 0$ are");
    expect(await copied("paragraph.nextElementSibling")).toContain(
      "$$\nx_{1,2} = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}\n$$",
    );
    expect(await copied("paragraph.querySelector('mi')")).toBe("$a x^2 + b x + c = 0$");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("roots of $a x^2 + B");
    await expect.poll(() => page.getByRole("search").getByRole("status").textContent()).toBe("1 of 1");
    const marked = () =>
      page.evaluate(
        '[...CSS.highlights.get("hermes-find-current")][0]?.cloneContents().querySelector("[data-tex]").dataset.tex',
      );
    await expect.poll(marked).toBe("$a x^2 + b x + c = 0$");
    await panel().pictures("math-found");
  });
});
