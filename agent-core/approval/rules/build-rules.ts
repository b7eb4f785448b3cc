/** Rules for compilers, test runners, linters and formatters: inside the project their work does not ask. */
import { ask, askForCode, CHANGE, opaque, type Program, project, reads, writes } from "../command-effect.ts";
import { afterPrefix, isKnown, shown, UNKNOWN } from "../shell/arg.ts";
import { valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";
import { mayRun } from "./wrapper-rules.ts";

/** Options that hand the tool code, a program or a plugin from the command line. */
const STEERING =
  /^--?(?:onSuccess|onFailure|onFirstSuccess|onEmit|onCompilationStarted|onCompilationComplete|on-success|raw-command|eval|exec|exec-prefix|wrapper|fplugin|fuse-ld|toolexec|vettool|rootDir=\/|use-program|global-setup=\/|require=\/|load-plugins|plugin-dir|rulesdir|init-hook|ld-path|preset=\/)(?:$|=)|^-(?:wrapper|fplugin.*|specs.*|exec|toolexec.*|vettool.*)$/;
const FAR =
  /^(?:publish|deploy|release|upload|login|logout|push|install|uninstall|add|remove|exec(?::\S*)?|deploy:\S*|release:\S*|publish\S*|upload\S*|dependency:get|cloud|connect|link|telemetry|generate:key)$/;

/** Words that are certainly paths: they leave the project or name a hidden file. */
const PATH = /^(?:\/(?!\/)|~|\.\.?\/|\.\.$|\.\w)|\/\.\.(?:\/|$)/;

/** A tool that runs code or settings of the project. */
const tool: Program = (call) => [project(call.args), ...formatter(call)];

/** A tool that may rewrite its operands; operands outside the project ask. */
const formatter: Program = ({ name, args }) => {
  const steering = args.filter(
    (arg) => STEERING.test(arg.text) || (arg.splits && arg.text === UNKNOWN && !isKnown(arg)),
  );
  return [
    CHANGE,
    { kind: "words", words: args },
    ...steering.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which can make it run other programs`)),
  ];
};

/** A task runner: some tasks reach beyond the project. */
const tasks: Program = (call) => {
  const words = call.args.filter(({ text }) => !text.startsWith("-"));
  const far = words.find(({ text }) => FAR.test(text));
  const effects = tool(call);
  return far
    ? [...effects, ask(`Runs ${call.name} ${shown(far)}, which reaches beyond this project`, "prefix")]
    : effects;
};

/** The project's own work with these first words; any other asks. `odd`: a line that makes the tool run other programs. */
function verbs(known: string, odd = /^(?!)/): Program {
  const own = new Set(known.split(" "));
  return (call) => {
    const { args, name } = call;
    const verb = args.find(({ text }) => !/^[-+]/.test(text)) ?? args[0];
    if (odd.test(args.map(({ text }) => text).join(" ")))
      return [
        opaque(
          `Runs ${name} with words that can make it run other programs (${args.slice(0, 4).map(shown).join(" ")})`,
        ),
      ];
    if (verb && own.has(verb.text)) return tool({ ...call, args: args.filter(({ text }) => !/^\/[pv]:/.test(text)) });
    const asks = ask(`Runs ${name} ${verb ? shown(verb) : ""}, which may reach beyond this project`, "prefix");
    return verb?.text === "publish" ? [asks, project(args)] : [asks];
  };
}

/** A compiler: of the absolute paths among its words only the output is written. */
const compiler: Program = (call) => {
  const outputs = call.args.flatMap((arg, at) => {
    if (/^-(?:o|MF|aux-info|dumpdir|dumpbase)$/.test(arg.text)) return call.args.slice(at + 1, at + 2);
    const attached = /^-(?:o|MF|f(?:dump|opt-info|profile|callgraph)[\w-]*=)(?=.)/.exec(arg.text)?.[0];
    return attached === undefined ? [] : [afterPrefix(arg, attached.length)];
  });
  const lists = call.args.filter(({ text }) => text.startsWith("@"));
  const effects = lists.flatMap((arg) => [
    ask(`Runs ${call.name} with options from the file ${shown(arg)}`),
    ...reads([afterPrefix(arg, 1)]),
  ]);
  return [
    ...effects,
    // Programs of the folder after -B replace those of the compiler, and ranlib loads a plugin.
    ...(call.args.some(({ text }) => text.startsWith("-B") || (call.name === "ranlib" && text.startsWith("--plugin")))
      ? [opaque(`Runs ${call.name} with programs of another folder`)]
      : []),
    ...tool({ ...call, args: call.args.filter((arg) => !/^-[IL]|^\//.test(arg.text)) }),
    ...writes(outputs),
  ];
};

const make: Rule = {
  short: "bBC:def:hij::kl::LmnpqrRsStvwW:o:O::",
  long: "always-make directory= debug=? environment-overrides file= makefile= ignore-errors jobs=? keep-going load-average=? check-symlink-times just-print dry-run recon assume-old= old-file= output-sync=? print-data-base question no-builtin-rules no-builtin-variables silent quiet no-silent stop touch trace print-directory no-print-directory what-if= warn-undefined-variables",
  options: {
    "E: eval= I: include-dir=": opaque("Runs {name} with {option}, which can make it run other programs"),
  },
  effects: (call, options) => {
    const { name, input } = call;
    const [folder, ...inner] = valuesOf(options, "C", "directory").toReversed();
    const [file, ...others] = valuesOf(options, "f", "file", "makefile");
    const targets = options.operands.filter(({ text }) => !text.includes("="));
    const odd = options.operands.filter((arg) => ODD_VARIABLE.test(arg.text) || !isKnown(arg));
    const far = targets.find(({ text }) => FAR.test(text) || FAR_TARGET.test(text));
    const fromInput = file?.text === "-" || file?.text === "/dev/stdin";
    if (fromInput && input.kind !== "text") return [opaque(`Runs the rules that ${name} reads from its input`)];
    if (inner.length > 0 || others.length > 0) return [askForCode(`Runs ${name} with several folders or makefiles`)];
    const unread =
      file && (fromInput || PATH.test(file.text))
        ? askForCode(`Runs ${name} with the rules of ${shown(file)}`)
        : project([]);
    const source = {
      of: "make",
      targets: targets.map(({ text }) => text),
      ...(folder && { folder }),
      ...(fromInput && input.kind === "text" ? { text: input.text } : file && { file }),
    } as const;
    return [
      CHANGE,
      { kind: "words", words: options.operands },
      ...odd.map((arg) => opaque(`Runs ${name} with ${shown(arg)}, which can make it run other programs`)),
      ...(far ? [ask(`Runs ${name} ${shown(far)}, which may reach beyond this project`, "prefix")] : []),
      { kind: "script", source, otherwise: [unread] },
    ];
  },
};

/** Variables of make that choose programs, and values that the shell would read. */
const ODD_VARIABLE = /^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)|^\w+=.*[\s;|&$`<>()]/;
const FAR_TARGET = /deploy|publish|release|upload|uninstall|destroy|drop|prod|migrat/;

const cmake: Program = (call) => {
  const line = call.args.map(({ text }) => text).join(" ");
  if (/^-E (?:echo|capabilities|environment)\b/.test(line)) return [];
  if (!CMAKE_RUNS.test(line)) return tool(call);
  return [ask("Runs cmake with a script, an action, another compiler or an installation"), ...mayRun(call.args)];
};

const CMAKE_RUNS = /(?:^| )(?:-E|-P|-C|--install|-DCMAKE_\w*(?:COMPILER|LAUNCHER|PROGRAM|COMMAND|TOOLCHAIN)\w*)/;

export const buildTools: ReadonlyMap<string, Program> = ruleTable({
  "tsc tsgo black autopep8 isort yapf rustfmt gofmt goimports gofumpt clang-format shellcheck shfmt typos": formatter,
  "yamllint actionlint hadolint taplo nixfmt alejandra buf": formatter,
  "nyc c8 bear": { open: true, short: "r:n:x:t:", long: "reporter= include= exclude=", does: CHANGE, wraps: 0 },
  "vue-tsc svelte-check tsd tsup tsdown vitest jest mocha ava tap karma jasmine cypress": tool,
  "playwright wdio qunit": tool,
  "eslint oxlint prettier biome stylelint standard xo tslint dprint rome knip depcruise madge publint": tool,
  "attw size-limit markdownlint markdownlint-cli2 cspell commitlint htmlhint jshint lint-staged": tool,
  rustywind: tool,
  "webpack webpack-cli vite rollup esbuild parcel swc babel astro next nuxt gatsby remix storybook ng": tool,
  "vue-cli-service react-scripts svelte-kit tailwindcss postcss sass typedoc jsdoc api-extractor": tool,
  "pytest py.test tox nox mypy pyright basedpyright ruff flake8 pylint pycodestyle": tool,
  "pydocstyle bandit coverage pyflakes vulture sphinx-build mkdocs behave": tool,
  "hypothesis radon interrogate": tool,
  "rspec rubocop standardrb phpcs phpcbf cucumber phpunit pest phpstan psalm php-cs-fixer pint ctest cppcheck": tool,
  "clang-tidy clangd golangci-lint staticcheck gotestsum": tool,
  "ktlint detekt scalafmt scalafix swiftlint swiftformat stylua luacheck ": tool,
  "ormolu fourmolu hlint elm-format elm-test credo dialyzer": tool,
  "zls protolint sqlfluff ansible-lint tflint vale codespell editorconfig-checker ": tool,
  statix: tool,
  "javac kotlinc scalac rustc ghc ocamlfind ocamlopt nim zigcc dmd ldc2 fpc nasm yasm ranlib protoc": compiler,
  "flatc thrift bison flex yacc lex tsc-watch": compiler,
  "gcc g++ cc c++ clang clang++ tcc icc gfortran nvcc emcc em++": compiler,
  "gradle gradlew mvn mvnw mvnd ant sbt mill lein bazel bazelisk buck buck2 pants please turbo nx lerna": tasks,
  "rush moon wireit grunt gulp jake rake invoke doit ninja samu meson scons waf xmake mage": tasks,
  tauri: verbs("dev build info"),
  expo: verbs("start lint doctor config"),
  prisma: verbs("generate validate format version studio"),
  dotnet: verbs("build test run restore clean format --info --list-sdks --list-runtimes list msbuild watch"),
  swift: verbs("build test run package"),
  mix: verbs("test compile format credo dialyzer help phx.routes deps"),
  flutter: verbs("test build analyze doctor clean run devices"),
  dart: verbs("test analyze format fix compile run doc info"),
  zig: verbs("build test fmt version env build-exe build-lib run targets"),
  stack: verbs("build test haddock path ghc"),
  cabal: verbs("build test check run repl bench haddock"),
  dune: verbs("build test runtest fmt clean exec"),
  elm: verbs("make diff bump"),
  "terraform tofu": verbs("validate fmt version show output providers graph"),
  "pre-commit": verbs("run validate-config sample-config help"),
  rustup: verbs("show which check doc"),
  xcodebuild: tasks,
  go: verbs(
    "build test vet fmt list version doc help clean fix work run mod env",
    /(?:^| )--?(?:exec|toolexec|vettool|overlay|gccgoflags|modfile|ldflags=.*-extld)|^env .*-[wu]\b|^run \S*@/,
  ),
  cargo: verbs(
    "build b check c test t nextest clippy fmt doc d bench tree metadata version run r clean help search locate-project verify-project pkgid fix llvm-cov expand deny machete udeps outdated audit miri insta hack info",
    /(?:^| )(?:--config|-Z)/,
  ),
  "make gmake": make,
  cmake,
});
