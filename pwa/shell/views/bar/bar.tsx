import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { later } from "../../../../shared/errors.ts";
import type { Trouble } from "../../../messages/page-messages.ts";
import { siteName } from "../../../messages/tunnel-messages.ts";
import { numberText, reasonText, t, tParts } from "../../app/language.ts";
import type { AppActions, BrowserActions, BrowserState, Notice, PageError, TryingAgain } from "../../app/state.ts";
import type { UiWithLibrary } from "../library/library-chunk.tsx";
import { againText, errorText, mayHelpPast, PastButton, retryLabel } from "../pages/error-view.tsx";
import { shortHost } from "../parts/format.ts";
import { Host, Icon, type IconName } from "../parts/icons.tsx";
import type { Ui } from "../ui.ts";
import { AddressBox } from "./address-box.tsx";
import { LinkPill } from "./link-pill.tsx";

/** Never draw less than this while a page loads: an empty bar looks like nothing happens. */
const MIN_PROGRESS = 0.06;

/** The browser's own controls, at the bottom of a phone where the thumb is, at the top of a wide screen. */
export function Bar({ state, actions, ui }: { state: BrowserState; actions: BrowserActions; ui: UiWithLibrary }) {
  return (
    <nav class="bar" aria-label={t("Browser")} data-editing={ui.isEditing ? "" : undefined}>
      <Progress state={state} />
      {state.openedBy !== null && (
        <div class="window-row">
          <p>{tParts("Window of {site}", { site: <Host url={state.openedBy} /> })}</p>
          <button type="button" class="text-button" onClick={() => actions.tab.close()}>
            {t("Close")}
          </button>
        </div>
      )}
      <BarButton icon="back" label={t("Back")} isDisabled={!state.canGoBack} onClick={() => actions.tab.back()} />
      <BarButton
        icon="forward"
        label={t("Forward")}
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
          aria-label={t("Tabs: {count}", { count: state.tabs.length })}
          aria-haspopup="dialog"
          onClick={() => ui.change({ sheet: "tabs" })}
        >
          <span>{numberText(state.tabs.length)}</span>
        </button>
      )}
      <BarButton icon="home" label={t("Home")} className="bar-home" onClick={() => actions.tab.home()} />
      <BarButton
        icon="menu"
        label={state.hasUpdate ? t("Menu, with a newer version of the app") : t("Menu")}
        className={state.hasUpdate ? "bar-menu bar-news" : "bar-menu"}
        opensDialog
        onClick={() => ui.change({ sheet: "menu" })}
      />
      {/* Last: beside the page for the keyboard, too, on whose way back to them the address box would hide them. */}
      <LinkPill link={state.link} storedAt={state.storedAt} />
      <Messages state={state} actions={actions} ui={ui} />
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
      aria-label={t("Loading the page")}
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
  /** A page may put it under a finger that taps: its buttons rest until nobody has tapped here for a while. */
  readonly isGuarded?: boolean;
}

/** Milliseconds for which buttons rest. */
const REST = 500;

/** Over the page that is shown, until it is closed. */
function Message({ text, offers, isLong = false, past, closing = t("Dismiss"), onClose, isGuarded }: MessageProps) {
  const offerRef = useRef<HTMLButtonElement>(null);
  const [taps, setTaps] = useState(0);
  const [rested, setRested] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST);
    return () => clearTimeout(timer);
  }, [text, taps]);
  const isResting = isGuarded === true && rested !== text;
  // The button that was pressed may be gone with what it changed, and the focus with it.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) offerRef.current?.focus();
  }, [text]);
  const buttons = offers.map(([label, act], index) => (
    <button
      // Of its message alone: a button that another message took over would be disabled for a moment, and lose the focus.
      key={text + label}
      type="button"
      class="text-button"
      ref={index === 0 ? offerRef : null}
      disabled={isResting}
      onClick={act}
    >
      {label}
    </button>
  ));
  return (
    <div
      class={isLong ? "notice-bar failure-bar" : "notice-bar"}
      onPointerDown={isResting ? () => setTaps(taps + 1) : undefined}
    >
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
function Messages({
  state,
  actions: { app, tab },
  ui,
}: {
  state: BrowserState;
  actions: BrowserActions;
  ui: UiWithLibrary;
}) {
  const { notice, unopened, mistyped, tryingAgain, hasNewer, question } = state;
  if (question !== null) return <Message {...question} isLong isGuarded />;
  if (notice !== null) {
    const { kind } = notice;
    const offers = endingOffers(notice, state, app, ui);
    if (kind === "resend") offers.push([t("Send again"), () => tab.sendAgain()]);
    const past = kind === "trouble" && ui;
    const isByPage = kind === "trouble" || kind === "window" || kind === "download";
    const shape = { offers, past, isLong: isByPage, isGuarded: isByPage };
    return <Message text={noticeText(notice)} {...shape} onClose={() => app.dismissNotice()} />;
  }
  if (unopened !== null) {
    const retry = retryLabel(unopened.code);
    const offers: Offer[] = retry === null ? [] : [[retry, () => tab.openFailed()]];
    if (mistyped !== null)
      offers.push([
        t("Edit the address"),
        ({ currentTarget }) => currentTarget.closest("nav")?.querySelector("input")?.focus(),
      ]);
    // The browser opens the page that is shown, where a form can be filled in once more.
    const past = unopened.method !== "GET" && mayHelpPast(unopened) && ui;
    const shape = { offers, past, isLong: true, closing: t("Close") };
    return <Message text={failureText(unopened, tryingAgain)} {...shape} onClose={() => tab.forgetFailed()} />;
  }
  // The page that is shown is never swapped under the person: they are asked.
  if (!hasNewer) return null;
  return (
    <Message text={t(NEWER_VERSION)} offers={[[t("Show"), () => tab.reload()]]} onClose={() => tab.keepVersion()} />
  );
}

/** Buttons, each of which is the end of the news. */
function endingOffers(notice: Notice, { settings }: BrowserState, app: AppActions, ui: Ui): Offer[] {
  const offers: (readonly [label: string, act: () => void])[] = [];
  if (notice.kind === "closed-tab" || notice.kind === "forgotten") offers.push([t("Undo"), notice.undo]);
  if (notice.kind === "download") offers.push(...notice.offers, [t("Show"), () => ui.change({ sheet: "downloads" })]);
  if (notice.kind === "window") {
    const { show, url } = notice;
    const always = () => {
      app.changeSettings({ windowOpeners: [...settings.windowOpeners, siteName(url)] });
      show?.();
    };
    if (show !== null) offers.push([t("Open"), show]);
    offers.push([t("Always on this site"), always]);
  }
  return offers.map(([label, act]) => [
    label,
    () => {
      app.dismissNotice();
      act();
    },
  ]);
}

export function failureText(error: PageError, tryingAgain: TryingAgain): string {
  const said = t("{site} did not open. {why}.", { site: shortHost(error.url), why: errorText(error).heading });
  return said + againText(later("It opens as soon as the link is back."), tryingAgain);
}

export const NEWER_VERSION = later("This page has a newer version");

const TROUBLES: Readonly<Record<Trouble, string>> = {
  frame: later("A part of {site} is not shown here"),
  hidden: later("{site} hides its page here"),
  tap: later("A tap on {site} led nowhere: a part of the page may not go there"),
  socket: later("A live connection of {site} did not open. Parts of the page may stand still"),
  passkey: later("A passkey of {site} cannot be used here"),
  form: later("What you sent from {site} did not go out"),
  film: later("A film of {site} comes in a list of parts, which cannot be played here"),
  sync: later(
    "A script of {site} would stop the page until it has an answer, which cannot be done here. Parts may be missing",
  ),
};

const WRONG_KEY = later("Wrong key: this phone keeps the pairing that it had");

export function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case "uncertain":
      return t("{site} may have got what you sent; the answer was lost", { site: shortHost(notice.url) });
    case "resend":
      return t("To reload this page, what you sent to {site} has to be sent again", { site: shortHost(notice.url) });
    case "window":
      return t("{site} wanted to open a window", { site: shortHost(notice.url) });
    case "loop":
      return t("{site} goes to its own address again and again, and was stopped. It may not work here", {
        site: shortHost(notice.url),
      });
    case "trouble":
      return t(TROUBLES[notice.trouble], { site: shortHost(notice.url) });
    case "host":
      return t(notice.why, { site: shortHost(notice.url) });
    case "no-way-back":
      return t("What you sent led to the page before: the way back is closed");
    case "download":
    case "lite":
    case "not-cleared":
    case "wrong-key":
      return reasonText(notice.why ?? WRONG_KEY);
    case "closed-tab":
      return t("Closed {title}", { title: notice.title });
    case "forgotten":
      return t("History forgotten");
  }
}
