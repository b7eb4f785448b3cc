/** Environment variables that steer other programs: the code they load, the programs they run, the hosts they reach. */
import { askAlways, askForCode } from "../command-effect.ts";
import { type Arg, isKnown, shown } from "../shell/arg.ts";
import type { Recorder } from "../shell/recorder.ts";

const EXACT = new Set(
  [
    "PATH IFS ENV BASH_ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 SHELL SHELLOPTS BASHOPTS CDPATH FPATH ZDOTDIR INPUTRC HOME",
    "PAGER MANPAGER LESSOPEN LESSCLOSE LESSKEY EDITOR VISUAL BROWSER FCEDIT SUDO_ASKPASS SUDO_EDITOR SSH_ASKPASS",
    "NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_EXTERNAL_MODULE",
    "PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONBREAKPOINT PYTHONUSERBASE PYTHONEXECUTABLE PERL5LIB PERL5OPT PERL5DB",
    "PERLLIB RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS",
    "CLASSPATH MAVEN_OPTS GRADLE_OPTS LUA_PATH LUA_CPATH LUA_INIT PHPRC PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER",
    "RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC RUSTFLAGS GOFLAGS GOPROXY GONOSUMDB GONOSUMCHECK GOINSECURE",
    "CC CXX LD AR AS CPP CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES CMAKE_TOOLCHAIN_FILE",
    "TAR_OPTIONS RIPGREP_CONFIG_PATH GREP_OPTIONS GZIP XZ_OPT ZIPOPT UNZIP RSYNC_RSH RSYNC_PROXY CVS_RSH SVN_SSH",
    "DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT KUBECONFIG VAULT_ADDR ANSIBLE_CONFIG TERM_PROGRAM_HOOK",
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE CURL_HOME WGETRC",
    "REQUESTS_CA_BUNDLE OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES SSLKEYLOGFILE KRB5_CONFIG",
    "GCONV_PATH LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF RES_OPTIONS LOCALDOMAIN MALLOC_TRACE GETCONF_DIR TZDIR",
    "TERMINFO TERMINFO_DIRS TERMCAP XDG_CONFIG_HOME XDG_DATA_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS XAUTHORITY DISPLAY",
    "PGHOST PGSERVICEFILE PGPASSFILE MYSQL_HOME HISTFILE MAILPATH WATCH_COMMAND DEBUGINFOD_URLS",
    "PYTEST_ADDOPTS PYTEST_PLUGINS DOTNET_STARTUP_HOOKS DOTNET_ROOT DOTNET_ADDITIONAL_DEPS GRADLE_USER_HOME MAVEN_ARGS LESS MORE",
    "HGRCPATH VIMINIT EXINIT EMACSLOADPATH SCREENRC PSQLRC TF_CLI_CONFIG_FILE TF_CLI_ARGS CCACHE_PREFIX BUN_OPTIONS SPEC_OPTS",
    "ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS JULIA_LOAD_PATH R_ENVIRON R_ENVIRON_USER R_LIBS FZF_DEFAULT_OPTS HELM_PLUGINS",
    "AWKPATH AWKLIBPATH COMPOSER_HOME CAML_LD_LIBRARY_PATH TMPDIR TEMP TMP LOCALE_ARCHIVE QT_PLUGIN_PATH GTK_MODULES GIO_MODULE_DIR",
    "AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_ENDPOINT_URL GOOGLE_APPLICATION_CREDENTIALS",
  ].flatMap((line) => line.split(" ")),
);
/** Names that end so usually hold a program, its options or a module to load. */
const SUFFIXES =
  /(?:^|_)(?:PAGER|EDITOR|BROWSER|ASKPASS|LAUNCHER|WRAPPER|COMMAND|CMD|EXEC|HOOKS?|ADDOPTS|PRELOAD|EXTERNAL_DIFF|RCFILE|STARTUP|INTERPRETER)$/;
const PREFIXES =
  /^(?:LD_|DYLD_|NODE_|GIT_|BASH_FUNC_|NPM_CONFIG_|YARN_|PNPM_|PIP_|UV_|CARGO_|COREPACK_|HERMES_|_?JAVA_|TS_NODE_|ANSIBLE_|BUNDLE_|TF_CLI_|PERL_)/;
/** Variables with such a prefix that only change the output or the cache of a tool. */
const ORDINARY_NAMES =
  /^(?:GIT_(?:TERMINAL_PROMPT|AUTHOR_(?:NAME|EMAIL|DATE)|COMMITTER_(?:NAME|EMAIL|DATE)|OPTIONAL_LOCKS|MERGE_AUTOEDIT|CURL_VERBOSE)|CARGO_(?:TERM_\w+|INCREMENTAL|NET_OFFLINE|BUILD_JOBS)|NPM_CONFIG_(?:YES|LOGLEVEL|FUND|AUDIT|PROGRESS|COLOR)|PIP_(?:DISABLE_PIP_VERSION_CHECK|NO_INPUT|QUIET)|JAVA_HOME|NODE_ENV)$/;
const NODE_FLAGS =
  /^(?:--(?:max[-_]old[-_]space[-_]size=\d+|experimental-vm-modules|no-warnings|no-deprecation|enable-source-maps|trace-warnings|trace-deprecation|unhandled-rejections=\w+|experimental-strip-types)\s*)*$/;
const COMPILER = /^(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-\d+)?$/;
const COMPILER_FLAGS = /^(?:-(?!f(?:plugin|use-ld))(?:[OgWDfmI][\w=.,+/-]*|std=[\w+]+|pthread)\s*)*$/;
const INNER_FOLDERS = /^(?!\/)(?!.*\.\.)[\w./:@-]+$/;

/** Records that a command sets `name` to `value`. Returns true when that asks. */
export function judgeVariable(name: string, value: Arg, record: Recorder): boolean {
  record.variables.add(name);
  if (/^BASH_(?:CMDS|ALIASES)$/.test(name))
    record.add(askAlways(`Sets ${name}, which makes a name run another program`));
  const reason = sensitiveVariable(name, value);
  if (reason !== undefined) record.add(askForCode(reason));
  return reason !== undefined;
}

/** Reason why setting `name` to `value` asks; undefined for an ordinary variable or value. */
function sensitiveVariable(name: string, value: Arg): string | undefined {
  const upper = name.toUpperCase();
  if (!(EXACT.has(upper) || PREFIXES.test(upper) || SUFFIXES.test(upper)) || ORDINARY_NAMES.test(upper))
    return undefined;
  if (/^TE?MP(?:DIR)?$/.test(upper) && /^(?:\/tmp|\/var\/tmp|\/private\/tmp)(?:\/(?!.*\.\.)|$)/.test(value.text))
    return undefined;
  if (isKnown(value) && ORDINARY_VALUES.some(([names, values]) => names.test(upper) && values.test(value.text)))
    return undefined;
  return `Sets ${name} to ${shown(value) || "nothing"}, which changes what other programs run, load or reach`;
}

/** Values that change little, by the names of their variables. A path in `GIT_TRACE` would be written to. */
const ORDINARY_VALUES: readonly (readonly [names: RegExp, values: RegExp])[] = [
  [/^(?:VISUAL|BROWSER|GIT_SEQUENCE_EDITOR|(?:GIT_)?EDITOR)$|PAGER$/, /^(?:cat|true|:|less|more|head|tail|false)?$/],
  [/^(?:MAVEN|GRADLE)_OPTS$|^JAVA_TOOL_OPTIONS$/, /^(?:-Xm[sx]\d+[kmgKMG]?\s*)*$/],
  [/^GIT_TRACE$/, /^(?:[012]|true|false)$/],
  [/^LESS$/, /^-?[FRXSKiMNe]*$/],
  [/^NODE_OPTIONS$/, NODE_FLAGS],
  [/^PYTHONPATH$/, INNER_FOLDERS],
  [/^(?:CC|CXX)$/, COMPILER],
  [/^RUSTFLAGS$/, /^-D ?warnings$/],
  [/^(?:C|CXX)FLAGS$/, COMPILER_FLAGS],
  [/^GOFLAGS$/, /^-(?:mod=(?:mod|vendor|readonly)|count=\d+|v)$/],
  [/^DISPLAY$/, /^:\d+$/],
];
