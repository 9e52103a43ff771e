import { ErrorCode, errorCodeName, later } from "../../../../shared/errors.ts";
import { reasonText, t } from "../../app/language.ts";
import type { BrowserActions, PageError, TryingAgain } from "../../app/state.ts";
import { Icon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import type { Ui } from "../ui.ts";

const SIGNS = { origin: "origin", link: "offline", key: "key", lock: "unlocked", sign: "sign" } as const;

interface ErrorViewProps {
  readonly error: PageError;
  readonly tryingAgain: TryingAgain;
  /** Sentences on the cause; "" until their script has come. */
  readonly why: string;
  readonly actions: BrowserActions;
  readonly ui: Ui;
}

/** The error, in words, and the way on. */
export function ErrorView({ error, tryingAgain, why, actions, ui }: ErrorViewProps) {
  const { heading, asksForKey, sign } = errorText(error);
  const retry = retryLabel(error.code);
  return (
    <section class="card-view">
      <span class="badge">
        <Icon name={SIGNS[sign]} />
      </span>
      <h1>{heading}</h1>
      <p class="why">
        {asksForKey ? why : why + againText(later("The page opens as soon as the link is back."), tryingAgain)}
      </p>
      {asksForKey && <KeyForm onKey={(accessKey) => actions.app.pair(accessKey)} />}
      <div class="actions">
        {retry !== null && (
          <button type="button" class="button button-primary" onClick={() => actions.tab.reload()}>
            {retry}
          </button>
        )}
        <button
          type="button"
          class={retry === null && !asksForKey ? "button button-primary" : "button"}
          onClick={() => actions.tab.home()}
        >
          {t("Start page")}
        </button>
        {mayHelpPast(error) && <PastButton ui={ui} className="button" />}
      </div>
      <p class="fine fine-code">
        <bdi dir="ltr">{error.url}</bdi>
        <br />
        <bdi dir="ltr">{errorSmallPrint(error)}</bdi>
      </p>
    </section>
  );
}

export const PAST = later("Open in the browser, past Ropeway");

/** Offers a visit that Ropeway has no part in: a sheet asks first. */
export function PastButton({ ui, className }: { readonly ui: Ui; readonly className: string }) {
  return (
    <button type="button" class={className} aria-haspopup="dialog" onClick={() => ui.change({ sheet: "past" })}>
      {t(PAST)}
    </button>
  );
}

/** Whether the browser itself may get there, which has another network and another name. */
export function mayHelpPast(error: Pick<PageError, "code" | "url">): boolean {
  const { sign } = errorText(error);
  return /^https?:/.test(error.url) && sign !== "key" && sign !== "lock" && error.code !== ErrorCode.OFFLINE;
}

/** Of the error page. `asksForKey`: it offers the field for the access key, or a code. */
interface ErrorText {
  readonly heading: string;
  readonly asksForKey: boolean;
  readonly sign: keyof typeof SIGNS;
}

const HEADINGS: readonly (readonly [code: number, heading: string, sign: ErrorText["sign"]])[] = [
  [ErrorCode.NAME_NOT_RESOLVED, later("No site with this name"), "origin"],
  [ErrorCode.CONNECTION_REFUSED, later("The site turned the connection down"), "origin"],
  [ErrorCode.CONNECTION_RESET, later("The site hung up"), "origin"],
  [ErrorCode.TLS_FAILED, later("The site’s certificate is not trusted"), "lock"],
  [ErrorCode.UPSTREAM_TIMEOUT, later("The site took too long"), "origin"],
  [ErrorCode.UPSTREAM_FAILED, later("The site could not be reached"), "origin"],
  [ErrorCode.NOT_HTTP, later("The site’s answer could not be read"), "origin"],
  [ErrorCode.NO_PAGE, later("The site has nothing to show here"), "origin"],
  [ErrorCode.EDGE_OFFLINE, later("Your edge has no internet"), "link"],
  [ErrorCode.LINK_LOST, later("Your edge cannot be reached"), "link"],
  [ErrorCode.KEY_NOT_ACCEPTED, later("This phone is not paired any more"), "key"],
  [ErrorCode.NO_SLOT_HOST, later("No page can be shown here"), "sign"],
  [ErrorCode.NO_FREE_HOST, later("No room for another site now"), "sign"],
  [ErrorCode.OFFLINE, later("You are offline"), "link"],
  [ErrorCode.ALREADY_SENT, later("Sent, but the answer is gone"), "link"],
  [ErrorCode.OUTCOME_UNKNOWN, later("Maybe sent, maybe not"), "link"],
  [ErrorCode.UNSUPPORTED_SCHEME, later("Ropeway cannot open this kind of address"), "sign"],
  [ErrorCode.DESTINATION_FORBIDDEN, later("Your edge does not go there"), "sign"],
  [ErrorCode.TOO_MANY_REDIRECTS, later("The site sends us in circles"), "origin"],
  [ErrorCode.VERSION_NOT_SUPPORTED, later("App and edge do not understand each other"), "link"],
  [ErrorCode.BODY_NOT_REPLAYABLE, later("The upload could not be sent again"), "origin"],
];

const UNKNOWN = later("The page could not be loaded");

/** This sentence stays here, as an app of another version may not get the script of the others. */
export const VERSIONS = later("They are of different versions. Reload the app, or update the edge.");

/** For any error, also for codes that this version does not know. */
export function errorText({ code }: Pick<PageError, "code">): ErrorText {
  const [, heading = UNKNOWN, sign = "sign"] = HEADINGS.find(([of]) => of === code) ?? [];
  return { heading: t(heading), asksForKey: code === ErrorCode.KEY_NOT_ACCEPTED, sign };
}

/** The next step that comes by itself, as a sentence after another; "" where there is none. @param withLink the sentence for where the link brings it. */
export function againText(withLink: string, tryingAgain: TryingAgain): string {
  switch (tryingAgain) {
    case "with the link":
      return ` ${t(withLink)}`;
    case "soon":
      return ` ${t("Ropeway will try again soon.")}`;
    case "not":
      return "";
  }
}

/** Where to load the address again changes nothing. */
const HOPELESS: ReadonlySet<number> = new Set([
  ErrorCode.UNSUPPORTED_SCHEME,
  ErrorCode.NO_SLOT_HOST,
  ErrorCode.DESTINATION_FORBIDDEN,
  ErrorCode.KEY_NOT_ACCEPTED,
  ErrorCode.BODY_NOT_REPLAYABLE,
]);

/** A form that was sent may have arrived: its address is asked for without it. */
const TO_BE_LOOKED_AT: ReadonlySet<number> = new Set([ErrorCode.ALREADY_SENT, ErrorCode.OUTCOME_UNKNOWN]);

/** The label of the button that loads the address again; null where that cannot help. */
export function retryLabel(code: number): string | null {
  if (HOPELESS.has(code)) return null;
  return TO_BE_LOOKED_AT.has(code) ? t("Look there") : t("Try again");
}

/** The small print: the code's name, then what the typed error says. */
export function errorSmallPrint(error: Pick<PageError, "code" | "detail">): string {
  const name = errorCodeName(error.code);
  return error.detail === "" ? name : `${name}: ${reasonText(error.detail)}`;
}
