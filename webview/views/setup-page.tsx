/** The page that sets up a model: models that need no key, and providers that take one. */
import type { SetupPage } from "../../agent-core/protocol/panel-events.ts";
import { t } from "../texts.ts";
import { Button, Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { moveAmongButtons } from "./start-page.tsx";

/** Provider of the editor's models. Every other offer is a server on this machine. */
const EDITOR = "editor";

type CardProps = {
  readonly icon: string;
  readonly name: string;
  readonly note?: string;
  readonly isFirst?: boolean;
  readonly onClick: () => void;
};

export function SetupPageView({ page }: { readonly page: SetupPage }) {
  const panel = usePanel();
  const { store, post } = panel;
  const { agentName } = store.shown.value;
  const { offers, keys, keyPlace, lost, canClose } = page;
  return (
    <section
      class="empty first-run"
      aria-labelledby="first-run-title"
      onKeyDown={(event) => moveAmongButtons(event, () => panel.compose())}
    >
      <h1 id="first-run-title">{agentName}</h1>
      {lost === undefined && <p>{t("Choose a model. You can change it at any time below.")}</p>}
      {lost !== undefined && (
        <p role="alert">{t("VS Code has forgotten the key for {0}. Enter it again.", lost.title)}</p>
      )}
      {lost !== undefined && (
        <div class="offers">
          <Card
            icon="key"
            name={t("Enter the Key for {0}", lost.title)}
            isFirst
            onClick={() => post({ type: "set-key", provider: lost.provider, keyOnly: true })}
          />
        </div>
      )}
      {offers.length > 0 && <h2>{t("Ready to use")}</h2>}
      {offers.length > 0 && (
        <div class="offers">
          {offers.map(({ choice, provider, title, model }, index) => (
            <Card
              key={choice}
              icon={provider === EDITOR ? "sparkle" : "server-process"}
              name={t("Use {0}", title)}
              note={model}
              isFirst={lost === undefined && index === 0}
              onClick={() => post({ type: "use-model", choice })}
            />
          ))}
        </div>
      )}
      <h2>{t("With an API key")}</h2>
      <div class="offers offers-short">
        {keys.map(({ provider, title, hasKey }, index) => (
          <Card
            key={provider}
            icon="key"
            name={title}
            isFirst={lost === undefined && offers.length === 0 && index === 0}
            {...(hasKey && { note: t("A key is set") })}
            onClick={() => post({ type: "set-key", provider })}
          />
        ))}
      </div>
      <p class="empty-note">
        {t("Hermes tests a key at once.")} {keyPlace}
      </p>
      <h2>{t("Without a model")}</h2>
      <div class="offers">
        <Card
          icon="debug-disconnect"
          name={t("Try It Offline")}
          note={t("No key, no network. It understands a few plain requests and is not a language model.")}
          onClick={() => post({ type: "use-model", choice: "offline" })}
        />
      </div>
      {canClose && (
        <Button onClick={() => panel.closeSetup()}>
          <Icon name="arrow-left" /> {t("Back")}
        </Button>
      )}
    </section>
  );
}

function Card({ icon, name, note, isFirst = false, onClick }: CardProps) {
  return (
    <button type="button" class={`offer${isFirst ? " offer-first" : ""}`} onClick={onClick}>
      <Icon name={icon} />
      <span class="offer-text">
        <span class="offer-name">{name}</span>
        {note !== undefined && <span class="offer-note">{note}</span>}
      </span>
    </button>
  );
}
