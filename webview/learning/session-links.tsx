/** Links to sessions by their titles. */
import { t } from "../texts.ts";
import { Button } from "../views/icon.tsx";
import { momentText } from "./figures.ts";
import { useLearning } from "./learning-panel.ts";

type LinksProps = {
  /** Oldest first, unless `isNewestFirst`. */
  readonly ids: readonly string[];
  /** Sessions that are linked: the newest ones. */
  readonly count: number;
  readonly isNewestFirst?: boolean;
};

export function SessionLinks({ ids, count, isNewestFirst = false }: LinksProps) {
  const shown = isNewestFirst ? ids.slice(0, count) : ids.slice(-count).toReversed();
  return (
    <>
      {shown.map((id) => (
        <SessionLink key={id} id={id} />
      ))}
      {ids.length > count && <span>{t("and {0} earlier", ids.length - count)}</span>}
    </>
  );
}

/** Title of the session, which opens it; for a session that no longer exists its time as plain text. */
function SessionLink({ id }: { readonly id: string }) {
  const { post, data } = useLearning();
  const title = data.value?.titles[id];
  const time = timeText(id);
  if (title === undefined) return <span title={t("This session no longer exists.")}>{time}</span>;
  return (
    <Button
      class="learning-session"
      title={title === "" ? undefined : `${title}\n${time}`}
      onClick={() => post({ type: "open-session", sessionId: id })}
    >
      {title === "" ? time : title}
    </Button>
  );
}

const SESSION_ID = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)\d\d_/;

/** Words for a session without a title: the time of its start, which its id has. */
function timeText(id: string): string {
  const [, year, month, day, hour, minute] = SESSION_ID.exec(id) ?? [];
  if (year === undefined) return t("Session {0}", id);
  return t("Session of {0}", momentText(new Date(`${year}-${month}-${day}T${hour}:${minute}Z`).getTime()));
}
