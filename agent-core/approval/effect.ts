/** What a tool call is about to do, as far as the approval policy must know it. Paths are absolute. */
export type Effect =
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "edit"; readonly paths: readonly string[] }
  /** `unsandboxed`: it must not run in a sandbox. */
  | { readonly kind: "command"; readonly command: string; readonly cwd: string; readonly unsandboxed?: boolean };
