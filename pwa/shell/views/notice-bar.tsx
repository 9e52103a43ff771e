import type { Notice } from "../browser-state.ts";
import { shortHost } from "./format.ts";
import { Icon } from "./icons.tsx";

/** What the person should know though no page says it; stays until it is dismissed. */
export function NoticeBar({ notice, onDismiss }: { notice: Notice; onDismiss: () => void }) {
  return (
    <div class="notice-bar">
      <p>{noticeText(notice)}</p>
      <button type="button" class="icon-button quiet" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function noticeText({ url }: Notice): string {
  return `${shortHost(url)} may have got what you sent; the answer was lost`;
}
