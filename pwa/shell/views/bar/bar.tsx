import { useLayoutEffect, useRef } from "preact/hooks";
import type { Trouble } from "../../../messages/page-messages.ts";
import { siteName } from "../../../messages/tunnel-messages.ts";
import type { AppActions, BrowserActions, BrowserState, Notice, PageError, TryingAgain } from "../../app/state.ts";
import { againText, errorText, mayHelpPast, PastButton, retryLabel } from "../pages/error-view.tsx";
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
      <Messages state={state} actions={actions} ui={ui} />
      {state.openedBy !== null && (
        <div class="window-row">
          <p>Window of {shortHost(state.openedBy)}</p>
          <button type="button" class="text-button" onClick={() => actions.tab.close()}>
            Close
          </button>
        </div>
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
        library={ui.library}
        onEditing={(isEditing) => ui.change({ isEditing })}
        onSiteInfo={() => ui.change({ sheet: "site" })}
      />
      {state.tabs.length > 1 && (
        <button
          type="button"
          class="icon-button bar-button bar-tabs"
          aria-label={`Tabs: ${state.tabs.length}`}
          aria-haspopup="dialog"
          onClick={() => ui.change({ sheet: "tabs" })}
        >
          <span>{state.tabs.length}</span>
        </button>
      )}
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

/** A button: its label, and what it does. */
type Offer = readonly [label: string, act: (event: { readonly currentTarget: Element }) => void];

interface MessageProps {
  readonly text: string;
  readonly offers: readonly Offer[];
  /** The words have the first line to themselves. */
  readonly isLong?: boolean;
  /** Offers the browser itself, too. */
  readonly past?: Ui | false;
  readonly closing?: string;
  readonly onClose: () => void;
}

/** Over the page that is shown, until it is closed. */
function Message({ text, offers, isLong = false, past, closing = "Dismiss", onClose }: MessageProps) {
  const offerRef = useRef<HTMLButtonElement>(null);
  // The button that was pressed may be gone with what it changed, and the focus with it.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) offerRef.current?.focus();
  }, [text]);
  const buttons = offers.map(([label, act], index) => (
    <button key={label} type="button" class="text-button" ref={index === 0 ? offerRef : null} onClick={act}>
      {label}
    </button>
  ));
  return (
    <div class={isLong ? "notice-bar failure-bar" : "notice-bar"}>
      <p>{text}</p>
      {!isLong && buttons}
      <button type="button" class="icon-button quiet" aria-label={closing} onClick={onClose}>
        <Icon name="close" />
      </button>
      {isLong && buttons}
      {past && <PastButton ui={past} className="text-button" />}
    </div>
  );
}

/** News for the person, or a question, that no page tells; what could not be opened; or that there is a newer version. */
function Messages({ state, actions: { app, tab }, ui }: { state: BrowserState; actions: BrowserActions; ui: Ui }) {
  const { notice, unopened, mistyped, tryingAgain, hasNewer } = state;
  if (notice !== null) {
    const { kind } = notice;
    const offers: Offer[] = [];
    if (kind === "closed-tab")
      offers.push([
        "Undo",
        () => {
          app.dismissNotice();
          notice.undo();
        },
      ]);
    if (kind === "forgotten") offers.push(["Undo", () => app.rememberRecent()]);
    if (kind === "window") offers.push(...windowOffers(notice, state, app));
    if (kind === "download") offers.push(...downloadOffers(notice, app, ui));
    if (kind === "resend") offers.push(["Send again", () => tab.sendAgain()]);
    const past = kind === "trouble" && ui;
    const shape = { offers, past, isLong: kind === "trouble" || kind === "window" || kind === "download" };
    return <Message text={noticeText(notice)} {...shape} onClose={() => app.dismissNotice()} />;
  }
  if (unopened !== null) {
    const retry = retryLabel(unopened.code);
    const offers: Offer[] = retry === null ? [] : [[retry, () => tab.openFailed()]];
    if (mistyped !== null)
      offers.push([
        "Edit the address",
        ({ currentTarget }) => currentTarget.closest("nav")?.querySelector("input")?.focus(),
      ]);
    // The browser opens the page that is shown, where a form can be filled in once more.
    const past = unopened.method !== "GET" && mayHelpPast(unopened) && ui;
    const shape = { offers, past, isLong: true, closing: "Close" };
    return <Message text={failureText(unopened, tryingAgain)} {...shape} onClose={() => tab.forgetFailed()} />;
  }
  // The page that is shown is never swapped under the person: they are asked.
  if (!hasNewer) return null;
  return <Message text={NEWER_VERSION} offers={[["Show", () => tab.reload()]]} onClose={() => tab.keepVersion()} />;
}

/** What may be done about it, and the list. Each is the end of the news. */
function downloadOffers({ offers }: Notice & { kind: "download" }, app: AppActions, ui: Ui): readonly Offer[] {
  const all = [...offers, ["Show", () => ui.change({ sheet: "downloads" })] as const];
  return all.map(([label, act]) => [
    label,
    () => {
      app.dismissNotice();
      act();
    },
  ]);
}

/** Once, or whenever the site wants one. */
function windowOffers(
  { show, url }: Notice & { kind: "window" },
  { settings }: BrowserState,
  app: AppActions,
): Offer[] {
  const open = () => {
    app.dismissNotice();
    show?.();
  };
  const always = () => {
    app.changeSettings({ windowOpeners: [...settings.windowOpeners, siteName(url)] });
    open();
  };
  return [...(show === null ? [] : [["Open", open] as const]), ["Always on this site", always]];
}

export function failureText(error: PageError, tryingAgain: TryingAgain): string {
  return `${shortHost(error.url)} did not open. ${errorText(error).heading}.${againText("It", tryingAgain)}`;
}

export const NEWER_VERSION = "This page has a newer version";

const TROUBLES: Readonly<Record<Trouble, string>> = {
  frame: "A part of {site} is not shown here",
  hidden: "{site} hides its page here",
  tap: "A tap on {site} led nowhere: a part of the page may not go there",
  socket: "A live connection of {site} did not open. Parts of the page may stand still",
  form: "What you sent from {site} did not go out",
  film: "A film of {site} comes in a list of parts, which cannot be played here",
  sync: "A script of {site} would stop the page until it has an answer, which cannot be done here. Parts may be missing",
};

export function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case "other-app":
      return `The page wanted to open another app (${notice.url.slice(0, notice.url.indexOf(":") + 1)})`;
    case "uncertain":
      return `${shortHost(notice.url)} may have got what you sent; the answer was lost`;
    case "resend":
      return `To reload this page, what you sent to ${shortHost(notice.url)} has to be sent again`;
    case "window":
      return `${shortHost(notice.url)} wanted to open a window`;
    case "loop":
      return `${shortHost(notice.url)} goes to its own address again and again, and was stopped. It may not work here`;
    case "trouble":
      return TROUBLES[notice.trouble].replace("{site}", () => shortHost(notice.url));
    case "no-way-back":
      return "What you sent led to the page before: the way back is closed";
    case "download":
    case "lite":
    case "not-cleared":
    case "wrong-key":
      return notice.why ?? "Wrong key: this phone keeps the pairing that it had";
    case "closed-tab":
      return `Closed ${notice.title}`;
    case "forgotten":
      return "History forgotten";
  }
}
