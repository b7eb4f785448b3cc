/** The switches of the loops. They are stored in config.yaml, so every editor has the same ones. */
import type { LearningState, LearningSwitch, LoopName, LoopState } from "../../agent-core/protocol/learning.ts";
import { t } from "../texts.ts";
import { Button, Icon } from "../views/icon.tsx";
import { momentText } from "./figures.ts";
import { useLearning } from "./learning-panel.ts";

type Row = { readonly name: LearningSwitch; readonly loop?: LoopName; readonly title: string; readonly about: string };

const SWITCHES: readonly Row[] = [
  { name: "enabled", title: t("Learning"), about: t("Off: no loop runs, and nothing is learnt.") },
  {
    name: "consolidation",
    loop: "consolidation",
    title: t("Learn from sessions"),
    about: t("Keeps preferences, facts and a summary when a session has ended."),
  },
  {
    name: "distillation",
    loop: "distillation",
    title: t("Distil skills"),
    about: t("Makes a skill of work that returns, once a day."),
  },
  {
    name: "report",
    loop: "report",
    title: t("Health report"),
    about: t("Measures success, errors and cost, once a day."),
  },
  {
    name: "use",
    title: t("Use what was learnt"),
    about: t("Off: the loops still write, but nothing of it reaches the model."),
  },
];

export function SettingsSection({ state }: { readonly state: LearningState }) {
  const { post } = useLearning();
  const { loops } = state;
  return (
    <>
      <h2>{t("Switches")}</h2>
      <ul class="learning-list">
        {SWITCHES.map((row) => (
          <SwitchRow key={row.name} row={row} state={state} loop={loops.find(({ loop }) => loop === row.loop)} />
        ))}
      </ul>
      <div class="learning-links">
        <Button onClick={() => post({ type: "open-place", place: "config" })}>{t("Open config.yaml")}</Button>
        <Button onClick={() => post({ type: "open-place", place: "folder" })}>
          {t("Open the Folder of the Files")}
        </Button>
      </div>
    </>
  );
}

type SwitchProps = { readonly row: Row; readonly state: LearningState; readonly loop: LoopState | undefined };

function SwitchRow({ row: { name, title, about }, state, loop }: SwitchProps) {
  const panel = useLearning();
  const isOn = state.switches[name];
  const isRunning = panel.running.value.has(name);
  const { enabled, consolidation } = state.switches;
  const isIdle = name !== "enabled" && (!enabled || (name === "distillation" && !consolidation));
  return (
    <li class={isIdle ? "learning-switch learning-idle" : "learning-switch"}>
      <label>
        <input
          type="checkbox"
          role="switch"
          aria-checked={isOn}
          checked={isOn}
          aria-describedby={`learning-about-${name}`}
          onChange={({ currentTarget }) => {
            currentTarget.checked = isOn; // until the agent reports the new state
            panel.act(name, { type: "switch", name, on: !isOn });
          }}
        />
        <strong>{title}</strong>
        {isRunning && <Icon name="loading" spin />}
      </label>
      <p class="learning-note" id={`learning-about-${name}`}>
        {about} {loop !== undefined && <LoopText loop={loop} />}
      </p>
    </li>
  );
}

function LoopText({ loop: { isRunning, lastRun, lastResult } }: { readonly loop: LoopState }) {
  if (isRunning) return <span>{t("It runs now.")}</span>;
  if (lastRun === undefined) return <span>{t("It has not run yet.")}</span>;
  return (
    <span dir="auto">
      {t("Last run {0}:", momentText(lastRun))} {lastResult}
    </span>
  );
}
