/** Compilers, test runners, linters and formatters: the project's own work, which does not ask inside the project. */
import { ask, CHANGE, type CommandEffect, opaque, type Program, writes } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, shown, UNKNOWN } from "../shell/arg.ts";

/** Options that hand the tool code, a program or a plugin from the command line. */
const STEERING =
  /^--?(?:eval|exec|exec-prefix|wrapper|fplugin|fuse-ld|toolexec|vettool|rootDir=\/|use-program|global-setup=\/|require=\/|load-plugins|plugin-dir|rulesdir|init-hook|ld-path|preset=\/)(?:$|=)|^-(?:wrapper|fplugin.*|specs.*|exec|toolexec.*|vettool.*)$/;
const FAR =
  /^(?:publish|deploy|release|upload|login|logout|push|install|uninstall|add|remove|exec:\S*|deploy:\S*|release:\S*|publish\S*|upload\S*|dependency:get|cloud|connect|link|telemetry|generate:key)$/;

/** Words of a command line that are certainly paths: those that leave the project or name a protected file by themselves. */
const PATH = /^(?:\/|~|\.\.?\/|\.\.$|\.\w)|\/\.\.(?:\/|$)/;

/** A tool whose operands it may rewrite; it asks for those outside the project. */
const tool: Program = ({ name, args }) => {
  const paths = args.flatMap((arg) => pathOf(arg));
  const steering = args.filter(
    (arg) => STEERING.test(arg.text) || (arg.splits && arg.text === UNKNOWN && !isKnown(arg)),
  );
  return [
    CHANGE,
    ...writes(paths),
    ...steering.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which can make it run other programs`)),
  ];
};

function pathOf(arg: Arg): readonly Arg[] {
  if (!isKnown(arg)) return [];
  if (!arg.text.startsWith("-")) return PATH.test(arg.text) ? [arg] : [];
  const equals = arg.text.indexOf("=");
  const value = equals > 0 ? afterPrefix(arg, equals + 1) : undefined;
  return value && PATH.test(value.text) ? [value] : [];
}

/** A tool with tasks of which some reach beyond the project. */
const tasks: Program = (call) => {
  const words = call.args.filter(({ text }) => !text.startsWith("-"));
  const far = words.find(({ text }) => FAR.test(text));
  const effects = tool(call);
  return far
    ? [...effects, ask(`Runs ${call.name} ${shown(far)}, which reaches beyond this project`, "prefix")]
    : effects;
};

/** Only the project's own work below these words; anything else asks. */
function verbs(known: RegExp): Program {
  return (call) => {
    const [verb] = call.args.filter(({ text }) => !/^[-+]/.test(text));
    if (!verb || !known.test(verb.text)) return [ask(`Runs ${call.name} ${verb ? shown(verb) : ""}`.trim(), "prefix")];
    return tool(call);
  };
}

/** The compiler's output file is the last word on where it writes. */
const compiler: Program = (call) => {
  const outputs = call.args.flatMap((arg, at) => {
    if (arg.text === "-o") return call.args.slice(at + 1, at + 2);
    return /^-o./.test(arg.text) ? [afterPrefix(arg, 2)] : [];
  });
  const lists = call.args.filter(({ text }) => text.startsWith("@"));
  const effects = lists.map((arg) => ask(`Runs ${call.name} with the options that ${shown(arg)} holds`));
  return [
    ...effects,
    ...tool({ ...call, args: call.args.filter((arg) => !/^-[IL]|^\//.test(arg.text)) }),
    ...writes(outputs),
  ];
};

const go: Program = (call) => {
  const [verb, next] = call.args.filter(({ text }) => !text.startsWith("-"));
  const word = verb?.text ?? "";
  const odd = call.args.find(({ text }) =>
    /^--?(?:exec|toolexec|vettool|overlay|gccgoflags|modfile|ldflags=.*-extld)/.test(text),
  );
  if (odd) return [opaque(`Runs go with ${shown(odd)}, which can make it run other programs`)];
  if (word === "env") return call.args.some(({ text }) => /^-[wu]$/.test(text)) ? [ask("Changes go's settings")] : [];
  if (word === "mod")
    return /^(?:tidy|download|graph|why|verify|edit|init|vendor)$/.test(next?.text ?? "")
      ? [CHANGE]
      : [ask("Runs go mod")];
  if (word === "run") return next && /@/.test(next.text) ? [opaque(`Downloads and runs ${shown(next)}`)] : tool(call);
  if (/^(?:build|test|vet|fmt|list|version|doc|help|clean|fix|work)$/.test(word)) return tool(call);
  return [ask(`Runs go ${word}, which can download and run other code`, "prefix")];
};

const cargo: Program = (call) => {
  const words = call.args.filter(({ text }) => !/^[-+]/.test(text));
  const odd = call.args.find(({ text }) => /^(?:--config|-Z)/.test(text));
  if (odd) return [opaque(`Runs cargo with ${shown(odd)}, which can make it run other programs`)];
  if (words.length === 0) return [];
  if (
    /^(?:build|b|check|c|test|t|nextest|clippy|fmt|doc|d|bench|tree|metadata|version|run|r|clean|help|search|locate-project|verify-project|pkgid|fix|llvm-cov|expand|deny|machete|udeps|outdated|audit|miri|insta|hack|info)$/.test(
      words[0]?.text ?? "",
    )
  )
    return tool(call);
  return [ask(`Runs cargo ${words.slice(0, 2).map(shown).join(" ")}, which downloads or publishes code`, "prefix")];
};

const make: Program = (call) => {
  const { args, name } = call;
  const steering = args.filter(
    ({ text }) =>
      /^(?:-E|--eval|SHELL|MAKEFLAGS|\.SHELLFLAGS|-I|--include-dir)/.test(text) || /^\w+=.*[\s;|&$`<>()]/.test(text),
  );
  const others = args.flatMap((arg, at) => {
    if (/^(?:-f|--file|--makefile|-C|--directory)$/.test(arg.text)) return args.slice(at + 1, at + 2);
    const attached = /^(?:-[fC]|--(?:file|makefile|directory)=)(?=.)/.exec(arg.text)?.[0].length ?? 0;
    return attached > 0 ? [afterPrefix(arg, attached)] : [];
  });
  const far = args.find(
    ({ text }) =>
      !text.startsWith("-") &&
      !text.includes("=") &&
      (FAR.test(text) || /deploy|publish|release|upload|uninstall|destroy|drop|prod|migrat/.test(text)),
  );
  const unknown = args.filter((arg) => !isKnown(arg) && !/^-j/.test(arg.text));
  return [
    CHANGE,
    ...others.filter(({ text }) => PATH.test(text)).map((arg) => ask(`Runs ${name} with the rules of ${shown(arg)}`)),
    ...steering.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which can make it run other programs`)),
    ...unknown.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which is not known before it runs`)),
    ...(far ? [ask(`Runs ${name} ${shown(far)}, which may reach beyond this project`, "prefix")] : []),
  ];
};

const cmake: Program = (call) => {
  const [first, second] = call.args;
  if (first?.text === "-E") {
    const copies: readonly CommandEffect[] = [{ kind: "command", words: call.args.slice(2).map((arg) => arg) }];
    return /^(?:echo|capabilities|environment)$/.test(second?.text ?? "")
      ? []
      : [
          ask(`Runs cmake -E ${second ? shown(second) : ""}`),
          ...(second?.text === "env" || second?.text === "time" ? copies : []),
        ];
  }
  if (
    call.args.some(({ text }) =>
      /^(?:-P|-C|--install|-DCMAKE_\w*(?:COMPILER|LAUNCHER|PROGRAM|COMMAND|TOOLCHAIN)\w*)/.test(text),
    )
  ) {
    return [ask("Runs cmake with a script, a compiler of its own or an installation")];
  }
  return tool(call);
};

const named = (names: string, program: Program): (readonly [string, Program])[] =>
  names.split(" ").map((name) => [name, program] as const);

export const buildTools: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...named(
    "tsc tsgo vue-tsc svelte-check tsd tsup tsdown vitest jest mocha ava tap nyc c8 karma jasmine cypress playwright wdio qunit",
    tool,
  ),
  ...named(
    "eslint oxlint prettier biome stylelint standard xo tslint dprint rome knip depcruise madge publint attw size-limit markdownlint markdownlint-cli2 cspell commitlint htmlhint jshint lint-staged rustywind",
    tool,
  ),
  ...named(
    "webpack webpack-cli vite rollup esbuild parcel swc babel astro next nuxt gatsby remix storybook ng vue-cli-service react-scripts svelte-kit tailwindcss postcss sass typedoc jsdoc api-extractor",
    tool,
  ),
  ...named(
    "pytest py.test tox nox mypy pyright basedpyright ruff black isort flake8 pylint pycodestyle pydocstyle bandit coverage autopep8 yapf pyflakes vulture sphinx-build mkdocs py-spy behave hypothesis radon interrogate",
    tool,
  ),
  ...named(
    "rspec rubocop standardrb cucumber phpunit pest phpstan psalm php-cs-fixer pint ctest cppcheck clang-format clang-tidy clangd bear rustfmt gofmt goimports golangci-lint staticcheck gotestsum gofumpt ktlint detekt scalafmt scalafix swiftlint swiftformat stylua luacheck shellcheck shfmt hadolint yamllint actionlint taplo typos ormolu fourmolu hlint elm-format elm-test credo dialyzer zls buf protolint sqlfluff ansible-lint tflint vale codespell editorconfig-checker nixfmt alejandra statix",
    tool,
  ),
  ...named(
    "javac kotlinc scalac rustc ghc ocamlfind ocamlopt nim zigcc dmd ldc2 fpc nasm yasm ranlib protoc flatc thrift bison flex yacc lex tsc-watch",
    compiler,
  ),
  ...named("gcc g++ cc c++ clang clang++ tcc icc gfortran nvcc emcc em++", compiler),
  ...named(
    "gradle gradlew mvn mvnw mvnd ant sbt mill lein bazel bazelisk buck buck2 pants please turbo nx lerna rush moon wireit grunt gulp jake rake invoke doit ninja samu meson scons waf xmake mage",
    tasks,
  ),
  ["tauri", verbs(/^(?:dev|build|info)$/)],
  ["expo", verbs(/^(?:start|lint|doctor|config)$/)],
  ["prisma", verbs(/^(?:generate|validate|format|version|studio)$/)],
  ["dotnet", verbs(/^(?:build|test|run|restore|clean|format|--info|--list-sdks|list|msbuild|watch)$/)],
  ["swift", verbs(/^(?:build|test|run|package)$/)],
  ["xcodebuild", tasks],
  ["mix", verbs(/^(?:test|compile|format|credo|dialyzer|help|phx\.routes|deps)$/)],
  ["flutter", verbs(/^(?:test|build|analyze|doctor|clean|run|devices)$/)],
  ["dart", verbs(/^(?:test|analyze|format|fix|compile|run|doc|info)$/)],
  ["zig", verbs(/^(?:build|test|fmt|version|env|build-exe|build-lib|run|targets)$/)],
  ["stack", verbs(/^(?:build|test|haddock|path|ghc)$/)],
  ["cabal", verbs(/^(?:build|test|check|run|repl|bench|haddock)$/)],
  ["dune", verbs(/^(?:build|test|runtest|fmt|clean|exec)$/)],
  ["elm", verbs(/^(?:make|diff|bump)$/)],
  ["terraform", verbs(/^(?:validate|fmt|version|show|output|providers|graph)$/)],
  ["tofu", verbs(/^(?:validate|fmt|version|show|output|providers|graph)$/)],
  ["pre-commit", verbs(/^(?:run|validate-config|sample-config|help)$/)],
  ["go", go],
  ["cargo", cargo],
  ["rustup", verbs(/^(?:show|which|check|doc)$/)],
  ["make", make],
  ["gmake", make],
  ["cmake", cmake],
]);
