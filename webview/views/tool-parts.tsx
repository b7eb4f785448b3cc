/** Content of a tool card: diffs, terminals, pictures, text, problems, and runs of hooks. */
import type { ContentBlock, ToolCallContent } from "@zed-industries/agent-client-protocol";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import type { PictureType } from "../../agent-core/protocol/attachments.ts";
import type { HermesHookRun } from "../../agent-core/protocol/conversation.ts";
import type { HermesNewProblem } from "../../agent-core/protocol/editor.ts";
import { MarkdownView } from "../markdown/markdown-view.tsx";
import { linkKind } from "../markdown/parser.ts";
import { ourMeta } from "../state/agent-meta.ts";
import { isPictureType } from "../state/attachments.ts";
import { contentText } from "../state/content-text.ts";
import { appendText, emptyText } from "../state/streamed-text.ts";
import { t } from "../texts.ts";
import { DiffView } from "./diff-view.tsx";
import { formatDuration, SHOWN_DURATION_MS } from "./format.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { TerminalView } from "./terminal-view.tsx";

export function ToolPart({ id, part }: { readonly id: string; readonly part: ToolCallContent }) {
  switch (part.type) {
    case "diff":
      return <DiffView id={`diff:${id}`} path={part.path} oldText={part.oldText ?? null} newText={part.newText} />;
    case "terminal":
      return <TerminalView terminalId={part.terminalId} />;
    case "content": {
      const { problems } = ourMeta(part._meta);
      if (problems !== undefined) return <ProblemList problems={problems} />;
      const { content } = part;
      const mimeType = content.type === "image" ? content.mimeType : undefined;
      if (content.type === "image" && isPictureType(mimeType))
        return <Picture mimeType={mimeType} data={content.data} />;
      return <MarkdownView text={appendText(emptyText, contentText(content))} growing={false} />;
    }
  }
}

/** A thumbnail that opens large in a tab of the editor. */
function Picture({ mimeType, data }: { readonly mimeType: PictureType; readonly data: string }) {
  const { post } = usePanel();
  return (
    <button
      type="button"
      class="picture-button"
      title={t("Open Large in the Editor")}
      onClick={() => post({ type: "open-picture", mimeType, data })}
    >
      <img class="tool-picture" alt={t("Result of the call")} src={`data:${mimeType};base64,${data}`} />
    </button>
  );
}

type Link = Extract<ContentBlock, { type: "resource_link" }>;

/** Links among the parts of a call: pages that it read or found. */
export function linksIn(content: readonly ToolCallContent[]): readonly Link[] {
  return content.flatMap((part) =>
    part.type === "content" && part.content.type === "resource_link" ? [part.content] : [],
  );
}

/** Pages by their titles. Only an address that may leave the editor is a link. */
export function LinkList({ links }: { readonly links: readonly Link[] }) {
  const { post } = usePanel();
  return (
    <ul class="tool-links" aria-label={t("Pages")}>
      {links.map(({ uri, title, name }, index) => {
        const label = visibleText(title ?? name);
        const follow = (event: MouseEvent): void => {
          event.preventDefault();
          post({ type: "open-link", href: uri });
        };
        return (
          <li key={index}>
            {linkKind(uri) === "web" ? (
              <a href={uri} title={visibleText(uri)} onClick={follow}>
                {label}
              </a>
            ) : (
              <span>{label}</span>
            )}
            <span class="tool-host">{visibleText(URL.parse(uri)?.host ?? uri)}</span>
          </li>
        );
      })}
    </ul>
  );
}

const hookLooks: Readonly<Record<HermesHookRun["outcome"], { readonly icon: string; readonly words: string }>> = {
  passed: { icon: "check", words: t("passed") },
  changed: { icon: "edit", words: t("changed this call") },
  blocked: { icon: "circle-slash", words: t("blocked this call") },
  failed: { icon: "warning", words: t("failed") },
};

/** Most hooks take milliseconds. */
function hookTime(durationMs: number): string {
  return durationMs < SHOWN_DURATION_MS ? t("{0} ms", durationMs) : formatDuration(durationMs);
}

/** Runs of hooks with their verdict and duration. */
export function HookList({ hooks }: { readonly hooks: readonly HermesHookRun[] }) {
  return (
    <ul class="hook-runs" aria-label={t("Hooks")}>
      {hooks.map(({ name, event, outcome, durationMs, message }, index) => (
        <li key={index} class={`hook-run hook-${outcome}`} title={visibleText(message ?? event)}>
          <Icon name={hookLooks[outcome].icon} />
          <span>
            <span class="hook-name">{visibleText(name)}</span> {hookLooks[outcome].words} · {hookTime(durationMs)}
            {message !== undefined && <span class="hook-message">{visibleText(message)}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Problems that an edit caused. A click opens the line. */
function ProblemList({ problems }: { readonly problems: readonly HermesNewProblem[] }) {
  const { post } = usePanel();
  const title = problems.length === 1 ? t("1 new problem") : t("{0} new problems", problems.length);
  return (
    <section class="problems" aria-label={title}>
      <div class="problems-title">{title}</div>
      {problems.map(({ path, line, severity, text }, index) => (
        <button
          key={index}
          type="button"
          class="problem"
          title={text}
          onClick={() => post({ type: "open-location", path, line })}
        >
          <Icon name={severity} />
          <span class="problem-text">{text}</span>
        </button>
      ))}
    </section>
  );
}
