import { useLayoutEffect, useRef } from "preact/hooks";
import type { BrowserActions, Notice } from "../../app/browser-state.ts";
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
        <button type="button" class="text-button" ref={undoRef} onClick={() => actions.rememberRecent()}>
          Undo
        </button>
      )}
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

export function noticeText({ kind, url, why }: Notice): string {
  const host = shortHost(url);
  switch (kind) {
    case "other-app":
      return `The page wanted to open another app (${url.slice(0, url.indexOf(":") + 1)})`;
    case "uncertain":
      return `${host} may have got what you sent; the answer was lost`;
    case "resend":
      return `To reload this page, what you sent to ${host} has to be sent again`;
    case "loop":
      return `${host} goes to its own address again and again, and was stopped. It may not work here`;
    case "wrong-key":
      return why ?? "Wrong key: this phone keeps the pairing that it had";
    case "forgotten":
      return "Recent sites forgotten";
  }
}
