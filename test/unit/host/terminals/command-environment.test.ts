import { afterEach, expect, test, vi } from "vitest";
import {
  commandEnvironment,
  isSecretVariable,
  takeEnvironment,
} from "../../../../agent-core/host/terminals/command-environment.ts";

afterEach(() => void vi.unstubAllEnvs());

const none = { withheld: [], passed: {} };

test("keys, tokens and passwords of the environment are withheld by their names", () => {
  for (const name of [
    ..."GITHUB_TOKEN GH_TOKEN NPM_TOKEN OPENAI_API_KEY AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SESSION_TOKEN".split(
      " ",
    ),
    ..."PGPASSWORD DB_PASSWORD CLIENT_SECRET GITHUB_PAT SSHPASS HERMES_API_KEY TWINE_PASSWORD github_token".split(" "),
  ]) {
    expect([name, isSecretVariable(name)]).toEqual([name, true]);
  }
  for (const name of ["PATH", "HOME", "TOKENIZERS_PARALLELISM", "SSH_AUTH_SOCK", "KEYBOARD", "COMPAT", "GOPATH"]) {
    expect([name, isSecretVariable(name)]).toEqual([name, false]);
  }
});

test("a variable that names a file is no key, whatever it is called", () => {
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", import.meta.filename);
  vi.stubEnv("MY_CREDENTIALS", "/9j4AAQ+not/a/file");
  const shown = commandEnvironment(none, undefined);
  expect(shown).toHaveProperty("GOOGLE_APPLICATION_CREDENTIALS", import.meta.filename);
  expect(shown).not.toHaveProperty("MY_CREDENTIALS");
});

test("outside the sandbox a command has the user's other variables; inside only a few ordinary ones", () => {
  vi.stubEnv("GITHUB_TOKEN", "secret");
  vi.stubEnv("MY_OWN", "mine");
  vi.stubEnv("ELECTRON_MIRROR", "https://mirror.example/");
  vi.stubEnv("ELECTRON_RUN_AS_NODE", "1");
  vi.stubEnv("LC_ALL", "C");
  vi.stubEnv("HTTPS_PROXY", "http://user:password@proxy");
  const [open, inside, networked] = [undefined, "isolated", "networked"].map((kind) =>
    commandEnvironment(none, kind as "isolated" | "networked" | undefined),
  );
  expect(open).toMatchObject({ MY_OWN: "mine", LC_ALL: "C", ELECTRON_MIRROR: "https://mirror.example/" });
  expect(open).not.toHaveProperty("ELECTRON_RUN_AS_NODE");
  expect(inside).toMatchObject({ LC_ALL: "C", PATH: process.env["PATH"] });
  expect(inside).not.toHaveProperty("MY_OWN");
  for (const environment of [open, inside, networked]) expect(environment).not.toHaveProperty("GITHUB_TOKEN");
  expect(inside).not.toHaveProperty("HTTPS_PROXY");
  expect(networked).toHaveProperty("HTTPS_PROXY");
});

test("env_passthrough lets a variable in, and a withheld one stays out", () => {
  vi.stubEnv("MY_OWN", "mine");
  const variables = { withheld: ["MY_OWN"], passed: { NPM_TOKEN: "chosen" } };
  expect(commandEnvironment(variables, "isolated")).toMatchObject({ NPM_TOKEN: "chosen" });
  expect(commandEnvironment(variables, undefined)).not.toHaveProperty("MY_OWN");
});

test("the agent takes keys out of its own environment, so that no child inherits them", () => {
  vi.stubEnv("HERMES_API_KEY", "sk-1");
  expect(takeEnvironment()["HERMES_API_KEY"]).toBe("sk-1");
  expect(process.env["HERMES_API_KEY"]).toBeUndefined();
});
