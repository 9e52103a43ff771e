import { useLayoutEffect, useRef } from "preact/hooks";
import type { BrowserActions, BrowserState, Notice, PageError, TryingAgain } from "../../app/state.ts";
import { againText, errorText, retryLabel } from "../pages/error-view.tsx";
import { shortHost } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import type { Ui } from "../ui.ts";
import { AddressBox } from "./address-box.tsx";
import { LinkPill } from "./link-pill.tsx";

/** Never draw less than this while a page loads: an empty bar looks like nothing happens. */
const MIN_PROGRESS = 0.06;

/** The browser's own controls, at the bottom of a phone where the thumb is, at the top of a wide screen. */
export function Bar({ state, actions, ui }: { state: BrowserState; actions: BrowserActions; ui: Ui }) {
  return (
    <nav class="bar" aria-label="Browser" data-editing={ui.isEditing ? "" : undefined}>
      <Progress state={state} />
      <LinkPill link={state.link} storedAt={state.storedAt} />
      {state.notice && <NoticeBar notice={state.notice} actions={actions} />}
      {state.notice === null && state.unopened === null && state.hasNewer && <NewerBar actions={actions} />}
      {state.notice === null && state.unopened !== null && (
        <FailureBar state={state} error={state.unopened} actions={actions} />
      )}
      <BarButton icon="back" label="Back" isDisabled={!state.canGoBack} onClick={() => actions.tab.back()} />
      <BarButton
        icon="forward"
        label="Forward"
        className="bar-forward"
        isDisabled={!state.canGoForward}
        onClick={() => actions.tab.forward()}
      />
      <AddressBox
        state={state}
        actions={actions}
        isEditing={ui.isEditing}
        onEditing={(isEditing) => ui.change({ isEditing })}
        onSiteInfo={() => ui.change({ sheet: "site" })}
      />
      <BarButton icon="home" label="Home" className="bar-home" onClick={() => actions.tab.home()} />
      <BarButton icon="menu" label="Menu" opensDialog onClick={() => ui.change({ sheet: "menu" })} />
    </nav>
  );
}

interface BarButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly className?: string;
  readonly isDisabled?: boolean;
  readonly opensDialog?: boolean;
  readonly onClick: () => void;
}

function BarButton({ icon, label, className = "", isDisabled = false, opensDialog = false, onClick }: BarButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button bar-button ${className}`}
      aria-label={label}
      aria-haspopup={opensDialog ? "dialog" : undefined}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

function Progress({ state }: { state: BrowserState }) {
  if (state.phase !== "loading") return null;
  const progress = Math.min(1, Math.max(MIN_PROGRESS, state.progress ?? 0));
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label="Loading the page"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(progress * 100)}
    >
      <div class="progress-fill" style={{ transform: `scaleX(${progress})` }} />
    </div>
  );
}

interface FailureBarProps {
  readonly state: BrowserState;
  readonly error: PageError;
  readonly actions: BrowserActions;
}

/** Over the page that is shown: what could not be opened, why, and the way on. */
function FailureBar({ state: { mistyped, tryingAgain }, error, actions }: FailureBarProps) {
  const retry = retryLabel(error.code);
  return (
    <div class="notice-bar failure-bar">
      <p>{failureText(error, tryingAgain)}</p>
      <button type="button" class="icon-button quiet" aria-label="Close" onClick={() => actions.tab.forgetFailed()}>
        <Icon name="close" />
      </button>
      {retry !== null && (
        <button type="button" class="text-button" onClick={() => actions.tab.openFailed()}>
          {retry}
        </button>
      )}
      {mistyped !== null && (
        <button
          type="button"
          class="text-button"
          onClick={({ currentTarget }) => currentTarget.closest("nav")?.querySelector("input")?.focus()}
        >
          Edit the address
        </button>
      )}
    </div>
  );
}

export function failureText(error: PageError, tryingAgain: TryingAgain): string {
  return `${shortHost(error.url)} did not open. ${errorText(error).heading}.${againText("It", tryingAgain)}`;
}

/** News for the person, or a question, that no page tells; stays until it is dismissed. */
function NoticeBar({ notice, actions }: { notice: Notice; actions: BrowserActions }) {
  const undoRef = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone with the list, and the focus with it.
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

/** The page that is shown is never swapped under the person: they are asked. */
function NewerBar({ actions: { tab } }: { actions: BrowserActions }) {
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
    case "sync":
      return `A script of ${shortHost(notice.url)} would stop the page until it has an answer, which cannot be done here. Parts may be missing`;
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
