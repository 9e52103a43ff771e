import { ErrorCode, errorCodeName, later } from "../../../../shared/errors.ts";
import { reasonText, t } from "../../app/language.ts";
import type { BrowserActions, PageError, TryingAgain } from "../../app/state.ts";
import { shortHost } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import type { Ui } from "../ui.ts";

const SIGNS = { origin: "origin", link: "offline", key: "key", lock: "unlocked", sign: "sign" } as const;

interface ErrorViewProps {
  readonly error: PageError;
  readonly tryingAgain: TryingAgain;
  readonly actions: BrowserActions;
  readonly ui: Ui;
}

/** The error, in words, and the way on. */
export function ErrorView({ error, tryingAgain, actions, ui }: ErrorViewProps) {
  const { heading, text, asksForKey, sign } = errorText(error);
  const retry = retryLabel(error.code);
  return (
    <section class="card-view">
      <span class="badge">
        <Icon name={SIGNS[sign]} />
      </span>
      <h1>{heading}</h1>
      <p>{asksForKey ? text : text + againText(later("The page opens as soon as the link is back."), tryingAgain)}</p>
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

/** Words and offers of the error page. `{host}` is filled in by `errorText`. */
interface ErrorText {
  readonly heading: string;
  readonly text: string;
  /** Offers the field for the access key, or a code. */
  readonly asksForKey: boolean;
  readonly sign: "origin" | "link" | "key" | "lock" | "sign";
}

function origin(heading: string, text: string): ErrorText {
  return { heading, text, asksForKey: false, sign: "origin" };
}

const TEXTS = new Map<number, ErrorText>([
  [
    ErrorCode.NAME_NOT_RESOLVED,
    origin(
      later("No site with this name"),
      later("There is no “{host}” on the web. Check the address for a typing slip."),
    ),
  ],
  [
    ErrorCode.CONNECTION_REFUSED,
    origin(
      later("The site turned the connection down"),
      later(
        "“{host}” exists, but nothing answers there at the moment. It may be down for a while, or the port may be wrong.",
      ),
    ),
  ],
  [
    ErrorCode.CONNECTION_RESET,
    origin(
      later("The site hung up"),
      later("“{host}” closed the connection before the page was whole. Trying again often helps."),
    ),
  ],
  [
    ErrorCode.TLS_FAILED,
    {
      heading: later("The site’s certificate is not trusted"),
      text: later(
        "“{host}” did not prove who it is, so nothing was sent there. Its certificate may be its own making, for another name or too old, or somebody is in between. For a site of your own, name its certificate at the edge in NODE_EXTRA_CA_CERTS.",
      ),
      asksForKey: false,
      sign: "lock",
    },
  ],
  [
    ErrorCode.UPSTREAM_TIMEOUT,
    origin(later("The site took too long"), later("“{host}” did not answer in time. It may be busy or down.")),
  ],
  [
    ErrorCode.UPSTREAM_FAILED,
    origin(
      later("The site could not be reached"),
      later("Your edge could not get through to “{host}”. Check the address, or try again in a moment."),
    ),
  ],
  [
    ErrorCode.NOT_HTTP,
    origin(
      later("The site’s answer could not be read"),
      later(
        "“{host}” answered, but not in the language of the web, or in a way that your edge does not understand. The address is right; another browser may show it.",
      ),
    ),
  ],
  [
    ErrorCode.NO_PAGE,
    origin(
      later("The site has nothing to show here"),
      later("“{host}” answered with an error and no page. Check the address, or try again later."),
    ),
  ],
  [
    ErrorCode.EDGE_OFFLINE,
    {
      heading: later("Your edge has no internet"),
      text: later(
        "It runs, but reaches neither “{host}” nor names that everybody has. Check the network of the machine that it runs on.",
      ),
      asksForKey: false,
      sign: "link",
    },
  ],
  [
    ErrorCode.LINK_LOST,
    {
      heading: later("Your edge cannot be reached"),
      text: later(
        "The link between this phone and your Ropeway edge was lost. Check the signal, and that the edge is running.",
      ),
      asksForKey: false,
      sign: "link",
    },
  ],
  [
    ErrorCode.KEY_NOT_ACCEPTED,
    {
      heading: later("This phone is not paired any more"),
      text: later("Your edge does not let it in any more. Enter its key, or a code from another device."),
      asksForKey: true,
      sign: "key",
    },
  ],
  [
    ErrorCode.NO_SLOT_HOST,
    {
      heading: later("No page can be shown here"),
      text: later("Your edge has only one host, and this browser has no service workers here."),
      asksForKey: false,
      sign: "sign",
    },
  ],
  [
    ErrorCode.NO_FREE_HOST,
    {
      heading: later("No room for another site now"),
      text: later(
        "Each site that is open takes one of your edge’s hosts, and all of them are in use. Close other windows of the app, then try again.",
      ),
      asksForKey: false,
      sign: "sign",
    },
  ],
  [
    ErrorCode.OFFLINE,
    {
      heading: later("You are offline"),
      text: later("This phone has no network at the moment."),
      asksForKey: false,
      sign: "link",
    },
  ],
  [
    ErrorCode.ALREADY_SENT,
    {
      heading: later("Sent, but the answer is gone"),
      text: later(
        "“{host}” was sent what you entered, and its answer is not kept here. Look there for what became of it before you send it again.",
      ),
      asksForKey: false,
      sign: "link",
    },
  ],
  [
    ErrorCode.OUTCOME_UNKNOWN,
    {
      heading: later("Maybe sent, maybe not"),
      text: later(
        "The link was lost for too long to know whether “{host}” got what you sent. Look there before you send it again.",
      ),
      asksForKey: false,
      sign: "link",
    },
  ],
  [
    ErrorCode.UNSUPPORTED_SCHEME,
    {
      heading: later("Ropeway cannot open this kind of address"),
      text: later("Only addresses that begin with http:// or https:// can be loaded. This one is for another app."),
      asksForKey: false,
      sign: "sign",
    },
  ],
  [
    ErrorCode.DESTINATION_FORBIDDEN,
    {
      heading: later("Your edge does not go there"),
      text: later(
        "“{host}” is on a private network, which the edge refuses to reach. If you run the edge yourself, start it with ROPEWAY_ALLOW_PRIVATE=1 to allow it.",
      ),
      asksForKey: false,
      sign: "sign",
    },
  ],
  [
    ErrorCode.TOO_MANY_REDIRECTS,
    origin(
      later("The site sends us in circles"),
      later("“{host}” kept redirecting from one address to the next. Clearing its cookies in the settings may help."),
    ),
  ],
  [
    ErrorCode.VERSION_NOT_SUPPORTED,
    {
      heading: later("App and edge do not understand each other"),
      text: later("They are of different versions. Reload the app, or update the edge."),
      asksForKey: false,
      sign: "link",
    },
  ],
  [
    ErrorCode.BODY_NOT_REPLAYABLE,
    origin(
      later("The upload could not be sent again"),
      later(
        "“{host}” asked for the same upload at another address, and it was too large to keep. Please send it once more.",
      ),
    ),
  ],
]);

const UNKNOWN: ErrorText = {
  heading: later("The page could not be loaded"),
  text: later("Something went wrong on the way to “{host}”. Trying again often helps."),
  asksForKey: false,
  sign: "sign",
};

/** Heading and sentences for any error, also for codes that this version does not know. */
export function errorText(error: Pick<PageError, "code" | "url">): ErrorText {
  const found = TEXTS.get(error.code) ?? UNKNOWN;
  return { ...found, heading: t(found.heading), text: t(found.text, { host: shortHost(error.url) }) };
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
