import type { BrowserActions, Notice } from "../browser-state.ts";
import { shortHost } from "./format.ts";
import { Icon } from "./icons.tsx";

/** What the person should know, or is asked, though no page says it; stays until it is dismissed. */
export function NoticeBar({ notice, actions }: { notice: Notice; actions: BrowserActions }) {
  return (
    <div class="notice-bar">
      <p>{noticeText(notice)}</p>
      {notice.kind === "resend" && (
        <button type="button" class="text-button" onClick={() => actions.sendAgain()}>
          Send again
        </button>
      )}
      <button type="button" class="icon-button quiet" aria-label="Dismiss" onClick={() => actions.dismissNotice()}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function noticeText({ kind, url }: Notice): string {
  if (kind === "other-app") return `The page wanted to open another app (${url.slice(0, url.indexOf(":") + 1)})`;
  const host = shortHost(url);
  if (kind === "loop") return `${host} goes to its own address again and again, and was stopped. It may not work here`;
  return kind === "uncertain"
    ? `${host} may have got what you sent; the answer was lost`
    : `To reload this page, what you sent to ${host} has to be sent again`;
}
