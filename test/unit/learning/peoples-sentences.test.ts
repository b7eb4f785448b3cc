// Sentences of people in eleven languages, with a model that drops, invents and alters a tenth of what they say.
import { expect, test } from "vitest";
import { isShown, readFacts } from "../../../agent-core/learning/facts.ts";
import { Chance } from "../../bench/learning/chance.ts";
import { sweep } from "../../support/scale.ts";
import { SessionsHome } from "./support/sessions-home.ts";

/** Two at a time are the values of a pair. */
const FOLDERS = [
  "vendor",
  "generated",
  "legacy",
  "mirror",
  "snapshots",
  "fixtures",
  "build",
  "assets",
  "proto",
  "third_party",
];
const COMMANDS = [
  ...[
    "npm test",
    "npm run lint",
    "make check",
    "cargo clippy",
    "pytest -q",
    "go vet ./...",
    "ruff check",
    "mvn verify",
  ],
  ...["tsc --noEmit", "./gradlew test"],
];
const MODULES = ["auth", "billing", "search", "mailer", "ledger", "export", "import", "queue", "cache", "router"];
const NAMES = ["Anna", "Marek", "Yuki", "Priya", "Omar", "Lucía", "Tom", "Ines", "Kofi", "Wei"];

type Sentences = {
  /** Rules and facts: a second one of the same form holds beside the first. */
  readonly folder: string;
  readonly command: string;
  readonly module: string;
  readonly name: string;
  /** Words for one task. */
  readonly once: readonly [string, string, string];
};

const LANGUAGES: Readonly<Record<string, Sentences>> = {
  English: {
    folder: "Never edit files under {v}/.",
    command: "Run {v} before each commit.",
    module: "The {v} module is owned by the security team.",
    name: "Ask {v} before you change the database.",
    once: ["Use {v} this time, I am in a hurry.", "Leave {v} out for now.", "Just this once, skip {v}."],
  },
  German: {
    folder: "Ändere nie Dateien unter {v}/.",
    command: "Lass vor jedem Commit {v} laufen.",
    module: "Das Modul {v} gehört dem Sicherheitsteam.",
    name: "Frag {v}, bevor du die Datenbank änderst.",
    once: ["Nimm diesmal {v}, es eilt.", "Lass {v} fürs Erste weg.", "Überspring {v} dieses eine Mal."],
  },
  Spanish: {
    folder: "No edites nunca archivos en {v}/.",
    command: "Ejecuta {v} antes de cada commit.",
    module: "El módulo {v} es del equipo de seguridad.",
    name: "Pregunta a {v} antes de cambiar la base de datos.",
    once: ["Esta vez usa {v}, tengo prisa.", "Por ahora deja {v} fuera.", "Solo esta vez, sáltate {v}."],
  },
  French: {
    folder: "Ne modifie jamais de fichiers sous {v}/.",
    command: "Lance {v} avant chaque commit.",
    module: "Le module {v} appartient à l'équipe de sécurité.",
    name: "Demande à {v} avant de changer la base de données.",
    once: [
      "Cette fois, prends {v}, c'est pressé.",
      "Laisse {v} de côté pour l'instant.",
      "Juste cette fois, saute {v}.",
    ],
  },
  Chinese: {
    folder: "不要修改{v}/下面的文件。",
    command: "每次提交之前先运行{v}。",
    module: "{v}模块归安全团队负责。",
    name: "改数据库之前先问{v}。",
    once: ["这次用{v}就好,我赶时间。", "先不要管{v}。", "就这一次,跳过{v}。"],
  },
  Japanese: {
    folder: "{v}/の下のファイルは編集しないでください。",
    command: "コミットの前に必ず{v}を実行してください。",
    module: "{v}モジュールはセキュリティチームの担当です。",
    name: "データベースを変える前に{v}に聞いてください。",
    once: ["今回だけ{v}を使ってください。", "今は{v}を外しておいて。", "この一回だけ{v}を飛ばして。"],
  },
  Portuguese: {
    folder: "Nunca edites ficheiros em {v}/.",
    command: "Corre {v} antes de cada commit.",
    module: "O módulo {v} é da equipa de segurança.",
    name: "Pergunta a {v} antes de mudares a base de dados.",
    once: ["Desta vez usa {v}, estou com pressa.", "Por agora deixa {v} de fora.", "Só desta vez, salta {v}."],
  },
  Korean: {
    folder: "{v}/ 아래의 파일은 절대 수정하지 마세요.",
    command: "커밋하기 전에 항상 {v} 를 실행하세요.",
    module: "{v} 모듈은 보안 팀이 담당합니다.",
    name: "데이터베이스를 바꾸기 전에 {v} 에게 물어보세요.",
    once: ["이번에는 {v} 를 쓰세요, 급해요.", "지금은 {v} 를 빼 두세요.", "이번 한 번만 {v} 를 건너뛰세요."],
  },
  Russian: {
    folder: "Никогда не меняй файлы в {v}/.",
    command: "Перед каждым коммитом запускай {v}.",
    module: "За модуль {v} отвечает команда безопасности.",
    name: "Спроси {v} перед изменением базы данных.",
    once: ["В этот раз возьми {v}, я спешу.", "Пока оставь {v} в стороне.", "Только в этот раз пропусти {v}."],
  },
  Hindi: {
    folder: "{v}/ के अंदर की फ़ाइलें कभी मत बदलो।",
    command: "हर कमिट से पहले {v} चलाओ।",
    module: "{v} मॉड्यूल सुरक्षा टीम का है।",
    name: "डेटाबेस बदलने से पहले {v} से पूछो।",
    once: ["इस बार {v} इस्तेमाल करो, जल्दी है।", "अभी {v} को रहने दो।", "बस इस एक बार {v} छोड़ दो।"],
  },
  Arabic: {
    folder: "لا تعدل أبدا الملفات تحت {v}/ في هذا المشروع.",
    command: "شغل {v} قبل كل إيداع.",
    module: "وحدة {v} تابعة لفريق الأمن.",
    name: "اسأل {v} قبل تغيير قاعدة البيانات.",
    once: ["استخدم {v} هذه المرة فقط، أنا مستعجل.", "اترك {v} الآن جانبا.", "هذه المرة فقط تجاوز {v}."],
  },
};

const FORMS = { folder: FOLDERS, command: COMMANDS, module: MODULES, name: NAMES } as const;
type Form = keyof typeof FORMS | "once";
/** A sentence, as the model of this test understands it. */
type Said = { readonly form: Form; readonly value: string; readonly sentence: string };

const ALTERNATIVES: Readonly<Record<Form, readonly string[]>> = { ...FORMS, once: ["axios", "lodash", "dayjs"] };
const SUBJECTS: Readonly<Record<Form, string>> = {
  folder: "edits",
  command: "commits",
  module: "",
  name: "database",
  once: "library",
};
/** Share of each error; a word for one task is taken for a rule half as often. */
const ERRORS = 0.1;

function said(language: Sentences, form: Form, value: string, wording = 0): Said {
  const template = form === "once" ? (language.once[wording] ?? "") : language[form];
  return { form, value, sentence: template.replace("{v}", value) };
}

/** Candidate of the model: a fact for the module's owner, a rule for everything else. */
function candidate({ form, value, sentence }: Said, quote: string, isRule: boolean): object {
  const named = {
    subject: form === "module" ? value : SUBJECTS[form],
    attribute: form,
    value: form === "module" ? undefined : value,
  };
  return { ...named, kind: "service", text: sentence, quote, position: 2, explicit: isRule };
}

function withErrors(one: Said, chance: Chance): readonly object[] {
  const other = chance.pick(ALTERNATIVES[one.form].filter((value) => value !== one.value));
  const changed = { ...one, value: other, sentence: one.sentence.replace(one.value, other) };
  const isRule = (one.form !== "once") !== chance.hits(ERRORS / 2);
  return [
    ...(chance.hits(ERRORS) ? [candidate(changed, one.sentence, isRule)] : []),
    ...(chance.hits(ERRORS) ? [] : [candidate(chance.hits(ERRORS) ? changed : one, one.sentence, isRule)]),
  ];
}

class Home {
  readonly #known = new Map<string, Said>();
  readonly #sessions: SessionsHome;
  #count = 0;

  constructor(name: string) {
    const chance = new Chance(name);
    this.#sessions = new SessionsHome(() => (transcript) => {
      const heard = [...this.#known.values()].filter(({ sentence }) => transcript.includes(`[2 user] ${sentence}`));
      const all = heard.flatMap((one) => withErrors(one, chance).map((each) => ({ form: one.form, each })));
      const of = (isFact: boolean): readonly object[] =>
        all.flatMap(({ form, each }) => ((form === "module") === isFact ? [each] : []));
      const episode = { summary: "Said hello.", task_type: "x", outcome: "success" };
      return { episode, facts: of(true), user_signals: of(false) };
    });
  }

  /** A session in which the user says this after a first answer. */
  say(project: string, one: Said): void {
    this.#known.set(one.sentence, one);
    this.#count += 1;
    const id = `20261111_100000_${String(this.#count).padStart(8, "0")}`;
    this.#sessions.session(1, ["Say hello.", "Hello.", one.sentence, "Noted."], `/project/${project}`, id);
  }

  learn(): Promise<void> {
    return this.#sessions.runAll();
  }

  async lines(project: string): Promise<readonly string[]> {
    const facts = await readFacts(this.#sessions.folder);
    return facts.filter((fact) => isShown(fact) && fact.scope === `/project/${project}`).map(({ text }) => text);
  }
}

/** Indices at which pairs begin. */
const STARTS = sweep([0, 2, 4, 6, 8], [0, 4]);
/** Pairs of notes of one form and language, each pair of a project of its own. */
const GROUPS = Object.entries(LANGUAGES).flatMap(([language, sentences]) =>
  (["folder", "command", "module", "name"] as const).map((form) => {
    const notes = FORMS[form].map((value) => said(sentences, form, value));
    const pairs = STARTS.flatMap((at) => {
      const [one, other] = [notes[at], notes[at + 1]];
      return one === undefined || other === undefined ? [] : [{ project: `p${at}`, one, other }];
    });
    return { name: `${language} ${form}`, form, pairs };
  }),
);

async function learnPairs({ name, pairs }: (typeof GROUPS)[number]) {
  const home = new Home(name);
  const linesOf = async (): Promise<ReadonlyMap<string, readonly string[]>> => {
    await home.learn();
    const read = pairs.map(async ({ project }) => [project, await home.lines(project)] as const);
    return new Map(await Promise.all(read));
  };
  for (const { project, one } of pairs) home.say(project, one);
  const before = await linesOf();
  for (const { project, other } of pairs) home.say(project, other);
  const after = await linesOf();
  return pairs.map(({ project, one, other }) => {
    const [meant, lines] = [[one.sentence, other.sentence], after.get(project) ?? []];
    return {
      lost: (before.get(project) ?? []).filter((line) => !lines.includes(line)),
      invented: lines.filter((line) => !meant.includes(line)),
      kept: meant.filter((sentence) => lines.includes(sentence)).length,
    };
  });
}

test("a second true note of the same form loses no note, and invents none", async () => {
  const found = (await Promise.all(GROUPS.map(learnPairs))).flat();
  expect(found).toHaveLength(GROUPS.length * STARTS.length);
  expect(found.flatMap(({ lost }) => lost)).toEqual([]);
  expect(found.flatMap(({ invented }) => invented)).toEqual([]);
  expect(found.reduce((sum, { kept }) => sum + kept, 0)).toBeGreaterThan(2 * found.length * 0.85);
});

/** Share of the sentences that become lines, each said once in a project of its own. */
async function shareKept(name: string, all: readonly Said[]): Promise<number> {
  const home = new Home(name);
  for (const [at, one] of all.entries()) home.say(`p${at}`, one);
  await home.learn();
  const lines = await Promise.all(all.map((_, at) => home.lines(`p${at}`)));
  return all.filter(({ sentence }, at) => lines[at]?.includes(sentence)).length / all.length;
}

test("words for one task become rules as seldom as the model takes them for rules, and at most 15 of 100 true rules are missed", async () => {
  const shares = Object.entries(LANGUAGES).map(async ([name, sentences]) => {
    const once = ALTERNATIVES.once.flatMap((value) =>
      [0, 1, 2].map((wording) => said(sentences, "once", value, wording)),
    );
    const rules = (["folder", "command", "name"] as const).flatMap((form) =>
      FORMS[form].slice(0, 3).map((value) => said(sentences, form, value)),
    );
    return [await shareKept(`${name} once`, once), await shareKept(`${name} rules`, rules)] as const;
  });
  const found = await Promise.all(shares);
  const meanOf = (at: 0 | 1): number => found.reduce((sum, each) => sum + each[at], 0) / found.length;
  expect(meanOf(0)).toBeLessThanOrEqual(ERRORS / 2 + 0.01);
  expect(1 - meanOf(1)).toBeLessThanOrEqual(0.15);
});
