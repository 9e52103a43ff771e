import { useLayoutEffect, useRef } from "preact/hooks";
import type { Notice } from "../../app/app-state.ts";
import type { BrowserActions } from "../browser-state.ts";
import { shortHost } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";

/** What the person should know, or is asked, though no page says it; stays until it is dismissed. */
export function NoticeBar({ notice, actions }: { notice: Notice; actions: BrowserActions }) {
  const undoRef = useRef<HTMLButtonElement>(null);
  // What was pressed is gone with the list, and the focus with it.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) undoRef.current?.focus();
  }, [notice]);
  return (
    <div class="notice-bar">
      <p>{noticeText(notice)}</p>
      {notice.kind === "forgotten" && (
        <button type="button" class="text-button" ref={undoRef} onClick={() => actions.app.rememberRecent()}>
          Undo
        </button>
      )}
      {notice.kind === "resend" && (
        <button type="button" class="text-button" onClick={() => actions.tab.sendAgain()}>
          Send again
        </button>
      )}
      <button type="button" class="icon-button quiet" aria-label="Dismiss" onClick={() => actions.app.dismissNotice()}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export const NEWER_VERSION = "This page has a newer version";

/** What is shown is never swapped under the person: they are asked. */
export function NewerBar({ actions: { tab } }: { actions: BrowserActions }) {
  return (
    <div class="notice-bar">
      <p>{NEWER_VERSION}</p>
      <button type="button" class="text-button" onClick={() => tab.reload()}>
        Show
      </button>
      <button type="button" class="icon-button quiet" aria-label="Dismiss" onClick={() => tab.keepVersion()}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case "other-app":
      return `The page wanted to open another app (${notice.url.slice(0, notice.url.indexOf(":") + 1)})`;
    case "uncertain":
      return `${shortHost(notice.url)} may have got what you sent; the answer was lost`;
    case "resend":
      return `To reload this page, what you sent to ${shortHost(notice.url)} has to be sent again`;
    case "loop":
      return `${shortHost(notice.url)} goes to its own address again and again, and was stopped. It may not work here`;
    case "no-way-back":
      return "What you sent led to the page before: the way back is closed";
    case "lite":
    case "not-cleared":
    case "wrong-key":
      return notice.why ?? "Wrong key: this phone keeps the pairing that it had";
    case "forgotten":
      return "Recent sites forgotten";
  }
}
