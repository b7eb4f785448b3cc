/** State of the learning page: data of the agent, the section shown, and the actions that run. */
import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { containedText } from "../../agent-core/platform/visible-text.ts";
import type {
  LearningData,
  LearningHostMessage,
  LearningPageMessage,
  LearningSection,
} from "../../agent-core/protocol/learning-page.ts";
import { t } from "../texts.ts";

export type LearningHost = {
  postMessage(message: LearningPageMessage): void;
  getState(): unknown;
  setState(value: unknown): void;
};

/** Last action of the user: it runs, or has ended with this outcome. */
export type Outcome = { readonly text: string; readonly isError: boolean };

export class LearningPanel {
  /** Undefined until the agent has answered. */
  readonly data: Signal<LearningData | undefined> = signal(undefined);
  /** Reason why the data cannot be read; undefined while it can. */
  readonly failure: Signal<string | undefined> = signal(undefined);
  readonly section: Signal<LearningSection>;
  readonly outcome: Signal<Outcome | undefined> = signal(undefined);
  /** Ids of items and jobs, names of switches and `learn`, whose action runs. */
  readonly running: Signal<ReadonlySet<string>> = signal(new Set());
  readonly #host: LearningHost;

  constructor(host: LearningHost) {
    this.#host = host;
    this.section = signal(keptSection(host.getState()));
  }

  readonly post = (message: LearningPageMessage): void => this.#host.postMessage(message);

  receive(message: LearningHostMessage): void {
    switch (message.type) {
      case "data":
        this.failure.value = undefined;
        this.data.value = contained(message.data);
        break;
      case "failed":
        this.failure.value = containedText(message.message);
        break;
      case "acted":
        this.running.value = new Set([...this.running.value].filter((id) => id !== message.about));
        this.outcome.value = { text: containedText(message.message), isError: message.isError };
        break;
      case "show":
        this.show(message.section);
        break;
    }
  }

  show(section: LearningSection): void {
    this.section.value = section;
    this.#host.setState({ section });
  }

  /** Sends an action, unless one on the same thing runs. `about`: as in `acted`. */
  act(about: string, message: LearningPageMessage): void {
    if (this.running.value.has(about)) return;
    this.outcome.value = undefined;
    this.running.value = new Set([...this.running.value, about]);
    this.post(message);
  }

  /** Requests the data again. */
  retry(): void {
    this.failure.value = undefined;
    this.post({ type: "ready" });
  }
}

export const LearningContext = createContext<LearningPanel | undefined>(undefined);

export function useLearning(): LearningPanel {
  const panel = useContext(LearningContext);
  if (panel === undefined) throw new Error("useLearning() must be called inside LearningContext.");
  return panel;
}

export const SECTION_TITLES: Readonly<Record<LearningSection, string>> = {
  report: t("Report"),
  learnt: t("Learnt"),
  skills: t("Skills"),
  jobs: t("Jobs"),
  settings: t("Settings"),
};

/** The data with all texts contained, as models and tools wrote them. Ids stay: messages to the host have them. */
function contained(data: LearningData): LearningData {
  return JSON.parse(JSON.stringify(data), (key, value: unknown) =>
    typeof value === "string" && key !== "id" ? containedText(value) : value,
  );
}

function keptSection(state: unknown): LearningSection {
  const { section }: { readonly section?: unknown } = typeof state === "object" && state !== null ? state : {};
  const known = (Object.keys(SECTION_TITLES) as LearningSection[]).find((name) => name === section);
  return known ?? "report";
}
