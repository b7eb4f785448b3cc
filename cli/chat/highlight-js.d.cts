/** Part of highlight.js that the terminal uses. The package's own types bring those of a browser page, which Node lacks. */
declare const highlighter: {
  getLanguage(name: string): object | undefined;
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string };
};

export = highlighter;
