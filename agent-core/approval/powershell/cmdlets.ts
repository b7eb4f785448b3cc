/** Cmdlets of PowerShell, one row each: their aliases, their parameters, and what they do to files. */
import { ask, block, type CommandEffect, deletes, NETWORK, OUTSIDE, opaque, reads, writes } from "../command-effect.ts";
import { inside } from "../rules/files.ts";
import { type Grammar, readOptions } from "../rules/options.ts";
import { type Arg, knownArg, shown, UNKNOWN_ARG } from "../shell/arg.ts";

/** A word of a command: a parameter's name, or a value, which `attached` to it belongs to it alone. */
export type Word = { readonly arg: Arg; readonly isParameter: boolean; readonly isAttached?: boolean };

/** Values of a call by the full name of the parameter; a switch has none. */
type Bound = ReadonlyMap<string, readonly Arg[]>;

type Effects = (bound: Bound, name: string) => readonly CommandEffect[];

type Cmdlet = {
  /** Parameters that a position fills. */
  readonly positions: readonly string[];
  readonly grammar: Grammar;
  readonly effects: Effects;
};

const valuesOf = (bound: Bound, ...names: readonly string[]): readonly Arg[] =>
  names.flatMap((name) => bound.get(name) ?? []);
const pathsOf = (bound: Bound): readonly Arg[] => valuesOf(bound, "path", "literalpath", "filepath");

const write: Effects = (bound) => writes([...pathsOf(bound), ...valuesOf(bound, "name")]);

const list: Effects = (bound) => {
  const paths = pathsOf(bound);
  return reads(paths.length > 0 ? paths : [knownArg(".")], "names");
};

/** The file at the target, and the one below it when it is a folder. */
function targets(bound: Bound): readonly CommandEffect[] {
  const [target = knownArg(".")] = valuesOf(bound, "destination", "newname");
  const inner = pathsOf(bound).map((source) => inside(target, source));
  return writes([target, ...inner]);
}

const fetch: Effects = (bound, name) => [
  NETWORK,
  ask(`Contacts ${valuesOf(bound, "uri").map(shown).join(", ") || "an address that is not known"} with ${name}`),
  ...reads(valuesOf(bound, "infile")),
  ...writes(valuesOf(bound, "outfile")),
];

const asksOutside =
  (does: string): Effects =>
  (bound, name) => [OUTSIDE, ask(`${does} (${[name, ...[...bound.values()].flat().map(shown)].join(" ")})`)];

const method: Effects = () => [opaque("Calls a method of each object, or code that is not known")];

const EFFECTS: Readonly<Record<string, Effects>> = {
  nothing: () => [],
  print: (bound) => reads(pathsOf(bound)),
  facts: (bound) => reads(pathsOf(bound), "facts"),
  list,
  write,
  create: (bound) => [
    ...write(bound, ""),
    ...(/link|junction/i.test(valuesOf(bound, "itemtype")[0]?.text ?? "") ? writes(valuesOf(bound, "value")) : []),
  ],
  remove: (bound) => pathsOf(bound).flatMap((path) => deletes([path], bound.has("recurse") || path.glob)),
  copy: (bound) => [
    ...(bound.has("recurse") ? reads(pathsOf(bound), "below") : reads(pathsOf(bound))),
    ...targets(bound),
  ],
  move: (bound) => [...deletes(pathsOf(bound), true, true), ...targets(bound)],
  fetch,
  method,
  end: asksOutside("Ends processes"),
  service: asksOutside("Changes services of this machine"),
  start: (bound, name) => [
    OUTSIDE,
    ask(`Starts ${valuesOf(bound, "filepath").map(shown).join(" ") || "a program"} with ${name}`),
  ],
  stop: (_, name) => [block(`Stops the machine: ${name}`)],
  wipe: (_, name) => [block(`Wipes a disk: ${name}`)],
};

/** One cmdlet a line: effect | name and aliases | parameters by position | others with a value | switches. */
const ROWS = `
print | get-content gc cat type | path | literalpath totalcount tail head first last encoding delimiter readcount filter include exclude | raw wait force asbytestream
list | get-childitem gci ls dir | path filter | literalpath include exclude depth attributes | recurse force name file directory hidden readonly system followsymlink
facts | get-item gi | path | literalpath filter include exclude | force
facts | test-path | path | literalpath pathtype filter include exclude | isvalid
facts | resolve-path rvpa | path | literalpath relativebasepath | relative
facts | convert-path cvpa | path | literalpath
nothing | split-path | path | literalpath | leaf parent leafbase extension qualifier noqualifier resolve isabsolute
nothing | join-path | path childpath additionalchildpath |  | resolve
print | get-filehash | path | literalpath algorithm
print | select-string sls | pattern path | literalpath include exclude context encoding culture | casesensitive list notmatch allmatches quiet simplematch raw noemphasis
print | import-csv ipcsv | path delimiter | literalpath header encoding | useculture
nothing | compare-object compare diff | referenceobject differenceobject | property syncwindow culture | includeequal excludedifferent passthru casesensitive
nothing | measure-object measure | property | inputobject | line word character sum average maximum minimum allstats ignorewhitespace
nothing | select-object select | property | first last skip skiplast index excludeproperty expandproperty | unique wait
nothing | sort-object sort | property | top bottom culture | descending unique casesensitive stable
nothing | group-object group | property | culture | noelement ashashtable asstring casesensitive
nothing | where-object where ? | property value | filterscript match eq ne gt ge lt le like notlike notmatch contains in | not
method | foreach-object foreach % | process | begin end membername argumentlist
nothing | format-table ft format-list fl format-wide fw | property | groupby view | autosize wrap hidetableheaders force
nothing | out-string oss out-null out-host oh out-default |  | width stream | nonewline paging
nothing | write-output echo write write-host write-verbose write-warning write-error write-debug write-information | inputobject object message | foregroundcolor backgroundcolor separator | nonewline noenumerate
nothing | convertto-json convertfrom-json convertto-csv convertfrom-csv | inputobject | depth delimiter | compress ashashtable asarray enumsasstrings notypeinformation
nothing | get-location gl pwd get-date get-process ps gps get-service gsv get-command gcm get-help get-alias gal get-member gm get-variable gv get-history h get-host get-culture get-random get-unique gu get-psdrive gdr measure-command start-sleep sleep | name | id format seconds milliseconds count minimum maximum module commandtype syntax parameter | all detailed full examples asutc
write | set-content sc add-content ac | path value | literalpath encoding filter include exclude | force nonewline passthru asbytestream
write | clear-content clc | path | literalpath filter include exclude | force
write | out-file | filepath encoding | literalpath inputobject width | append force nonewline noclobber
write | tee-object tee | filepath | literalpath inputobject variable encoding | append
write | export-csv epcsv | path delimiter | literalpath encoding inputobject | notypeinformation append force
create | new-item ni mkdir md | path | name itemtype value | force
remove | remove-item ri rm del erase rd rmdir | path | literalpath filter include exclude stream | recurse force
copy | copy-item cpi cp copy | path destination | literalpath filter include exclude | recurse force container passthru
move | move-item mi mv move | path destination | literalpath filter include exclude | force passthru
move | rename-item rni ren | path newname | literalpath | force passthru
fetch | invoke-webrequest iwr wget curl invoke-restmethod irm | uri | method outfile infile body headers useragent timeoutsec contenttype credential maximumredirection | usebasicparsing skipcertificatecheck passthru
end | stop-process spps kill | id | name inputobject | force passthru
start | start-process start saps | filepath argumentlist | verb workingdirectory windowstyle | wait nonewwindow passthru
service | start-service stop-service restart-service set-service remove-service | name |  | force
stop | stop-computer restart-computer | computername |  | force
wipe | format-volume clear-disk initialize-disk remove-partition | driveletter number | filesystem path partitionnumber | force removedata full
`;

const COMMON = {
  valued: ["erroraction", "warningaction", "errorvariable", "outvariable", "outbuffer"],
  switches: ["verbose", "debug", "whatif", "confirm"],
};
const SHORT: Readonly<Record<string, string>> = {
  ea: "erroraction",
  wa: "warningaction",
  lp: "literalpath",
  pspath: "literalpath",
  cf: "confirm",
  wi: "whatif",
};

const cmdlets: ReadonlyMap<string, Cmdlet> = new Map(
  ROWS.trim()
    .split("\n")
    .flatMap((row) => {
      const [[effect = ""] = [], names = [], positions = [], others = [], switches = []] = row
        .split("|")
        .map((part) => part.split(" ").filter((word) => word !== ""));
      const valued = [...positions, ...others, ...COMMON.valued].map((name) => `${name}=`);
      // Parameters have two dashes here.
      const grammar = {
        long: [...valued, ...switches, ...COMMON.switches],
        operandLike: /^-(?!-)/,
        matches: true,
      } as const;
      return names.map((name) => [name, { positions, grammar, effects: EFFECTS[effect] ?? method }] as const);
    }),
);

/** Paths of other drives than disks: `env:`, `function:`, `alias:`, the registry. */
const OTHER_DRIVE = /^[a-z]\w+:(?!\/\/)/i;
const PATHS = ["path", "literalpath", "filepath", "destination"];

/**
 * Effects of a cmdlet; undefined for a name that is none, or words that are not its own. A parameter is named by any
 * unambiguous beginning. `isPiped`: the cmdlet takes its paths from the pipeline, where no parameter names them.
 */
export function cmdletEffects(
  name: string,
  words: readonly Word[],
  isPiped: boolean,
): readonly CommandEffect[] | undefined {
  const cmdlet = cmdlets.get(name);
  const bound = cmdlet && boundWords(words, cmdlet);
  if (!cmdlet || !bound) return undefined;
  const other = valuesOf(bound, ...PATHS).find(({ text }) => OTHER_DRIVE.test(text));
  if (other) return [opaque(`Runs ${name} on ${shown(other)}, which is no file`)];
  const takesPath = ["path", "filepath"].find((each) => cmdlet.grammar.long?.includes(`${each}=`));
  if (isPiped && takesPath !== undefined && pathsOf(bound).length === 0) bound.set(takesPath, [UNKNOWN_ARG]);
  return cmdlet.effects(bound, name);
}

/** Words by parameter; undefined when the cmdlet has no such parameter, or several that begin so. */
function boundWords(words: readonly Word[], { positions, grammar }: Cmdlet): Map<string, readonly Arg[]> | undefined {
  // Such a word is no parameter, and no value is attached to it.
  if (words.some(({ arg, isParameter }) => isParameter && arg.text.includes("="))) return undefined;
  const { given, written, operands, strange } = readOptions(words.flatMap(optionOf), grammar);
  if (strange.some(({ text }) => text.startsWith("-")) || new Set(written.values()).size < written.size)
    return undefined;
  // A switch has no value, and a parameter at the end may lack it.
  const bound = new Map([...given].map(([name, values]) => [name, values.filter(({ text }) => text !== "")]));
  const open = positions.filter((parameter) => !bound.has(parameter));
  for (const [at, arg] of operands.entries()) {
    const parameter = open[Math.min(at, open.length - 1)];
    if (parameter !== undefined) bound.set(parameter, [...(bound.get(parameter) ?? []), arg]);
  }
  return bound;
}

/** A parameter as a long option, with the value that is attached to it. */
function optionOf({ arg, isParameter, isAttached }: Word, at: number, words: readonly Word[]): readonly Arg[] {
  if (!isParameter) return isAttached && words[at - 1]?.isParameter ? [] : [arg];
  const name = arg.text.slice(1).toLowerCase();
  const option = `--${SHORT[name] ?? name}`;
  const next = words[at + 1];
  return [next?.isAttached ? { ...next.arg, text: `${option}=${next.arg.text}` } : { ...arg, text: option }];
}
