/**
 * Grammars of `@vscode/tree-sitter-wasm` by file extension; the build copies these into the package. Left out: PowerShell,
 * whose grammar rejects common forms; C, where names are words of C++; C# and C++, whose grammars are 10 MB.
 */
export const grammars: Readonly<Record<string, string>> = {
  ".js": "javascript",
  ".cjs": "javascript",
  ".mjs": "javascript",
  ".jsx": "javascript",
  ".ts": "typescript",
  ".cts": "typescript",
  ".mts": "typescript",
  ".tsx": "tsx",
  ".py": "python",
  ".pyi": "python",
  ".go": "go",
  ".rs": "rust",
  ".java": "java",
  ".rb": "ruby",
  ".php": "php",
  ".css": "css",
};
