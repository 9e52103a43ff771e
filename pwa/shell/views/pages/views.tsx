import type { ComponentChildren } from "preact";
import { ErrorCode, later } from "../../../../shared/errors.ts";
import { reasonText, t } from "../../app/language.ts";
import type { BrowserActions, BrowserState, PageError, Pairing } from "../../app/state.ts";
import { UNREACHABLE } from "../../link/pairing.ts";
import { isWaiting } from "../bar/link-pill.tsx";
import { Host, Icon, Mark, SiteIcon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import { type Ui, useId } from "../ui.ts";
import { ErrorView, VERSIONS } from "./error-view.tsx";
import { StartView } from "./start-view.tsx";

/** The view over the page's frame; `page` means nothing does. */
export type View = "start" | "opening" | "page" | "error" | "pairing";

/**
 * Chooses the view. A page that is shown stays until the next one commits; from any other view, and where the frame has
 * lost that page already, the wait is `opening`, so that no blank frame is ever on the screen.
 */
export function chooseView(state: BrowserState, previous: View | null): View {
  const needsKey = state.link.kind === "unpaired" || state.link.kind === "refused";
  if (needsKey && state.phase !== "loaded") return "pairing";
  if (state.error) return "error";
  if (state.phase === "idle" && state.url === "") return "start";
  if (state.destination === null) return "page";
  return previous === "page" && !state.isFrameEmpty ? "page" : "opening";
}

/** @param late what the script of the sheets shows there, once that has come. */
export function viewOf(view: View, state: BrowserState, actions: BrowserActions, ui: Ui, late: LateParts | undefined) {
  switch (view) {
    case "page":
      return null;
    case "start":
      return <StartView state={state} actions={actions} kept={late?.keptSection(actions)} />;
    case "opening":
      return <OpeningView state={state} actions={actions} />;
    case "error":
      return errorView(state, actions, ui, late);
    case "pairing":
      return <PairingView {...state} onKey={(accessKey) => actions.app.pair(accessKey)} />;
  }
}

interface LateParts {
  keptSection(actions: BrowserActions): ComponentChildren;
  errorSentences(error: PageError): string;
}

function errorView({ error, tryingAgain }: BrowserState, actions: BrowserActions, ui: Ui, late: LateParts | undefined) {
  const isOfVersions = error?.code === ErrorCode.VERSION_NOT_SUPPORTED;
  const why = isOfVersions ? t(VERSIONS) : error && late ? late.errorSentences(error) : "";
  return error && <ErrorView error={error} tryingAgain={tryingAgain} why={why} actions={actions} ui={ui} />;
}

/** Between the start page and a page's first bytes. */
function OpeningView({ state, actions }: { state: BrowserState; actions: BrowserActions }) {
  const url = state.destination?.url ?? state.url;
  return (
    <section class="card-view opening">
      <SiteIcon site={{ url, icon: null }} large />
      <p class="opening-host">
        <Host url={url} />
      </p>
      {/* The line above the bar says how long it has been. */}
      <p class="fine">
        {isWaiting(state.link) ? t("Loads as soon as the link is back") : t("Waiting for the first bytes")}
      </p>
      {/* Always there, so that nothing moves when the link goes and comes back. */}
      <button
        type="button"
        class={isWaiting(state.link) ? "text-button opening-cancel" : "text-button opening-cancel is-out"}
        onClick={() => actions.tab.stop()}
      >
        {t("Cancel")}
      </button>
    </section>
  );
}

interface PairingProps extends Pick<BrowserState, "link" | "pairing"> {
  readonly onKey: (accessKey: string) => void;
}

/** Shown instead of everything else until this phone has a key that its edge accepts. */
function PairingView({ link, pairing, onKey }: PairingProps) {
  const id = useId();
  const isNew = link.kind !== "refused" || pairing !== "idle";
  const isWrong = !isNew && link.why === null;
  const [heading, text] = isNew ? NEW.map((each) => t(each)) : refusal(link.why);
  return (
    <section class="card-view">
      {isNew ? (
        <Mark />
      ) : (
        <span class="badge">
          <Icon name="key" />
        </span>
      )}
      <h1>{heading}</h1>
      <p id={id} role={isNew ? undefined : "alert"}>
        {text}
      </p>
      <KeyForm problemId={isWrong ? id : null} isBusy={pairing === "asking"} onKey={onKey} />
      <p class={pairing === "unreachable" ? "problem" : "fine"} role="status">
        {PAIRING_TEXTS[pairing].map((each) => t(each)).join(" ")}
      </p>
    </section>
  );
}

const PAIRING_TEXTS: Readonly<Record<Pairing, readonly string[]>> = {
  idle: [later("The key goes to your edge only. No site ever sees it.")],
  asking: [later("Asking your edge…")],
  unreachable: [UNREACHABLE, later("Ropeway will try again soon.")],
};

const NEW = [
  later("Pair this phone"),
  later(
    "Ropeway loads the web through your own edge. When the edge starts, it prints a link that ends in an access key. A paired device makes codes: Settings, Paired devices.",
  ),
] as const;

/** @param why of `LinkPhase`. */
function refusal(why: string | null | undefined): readonly [heading: string, text: string] {
  if (why) return [t("The edge does not pair this phone"), reasonText(why)];
  return why === null
    ? [
        t("Wrong key"),
        t("Your edge does not accept this key. Check that it is whole and of this edge, then enter it again."),
      ]
    : [
        t("This phone is not paired any more"),
        t("Your edge does not let it in any more. Enter its key, or a code from another device."),
      ];
}
