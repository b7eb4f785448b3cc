/**
 * Which of the grammars of `@vscode/tree-sitter-wasm` reads files of which extension. Left out: PowerShell, whose grammar
 * takes common forms for errors, and C, where words of C++ are names.
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
  ".cs": "c-sharp",
  ".cc": "cpp",
  ".cpp": "cpp",
  ".cxx": "cpp",
  ".hpp": "cpp",
  ".css": "css",
  ".sh": "bash",
  ".bash": "bash",
};
