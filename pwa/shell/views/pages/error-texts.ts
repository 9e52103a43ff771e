/** The sentences of the error page: the script of the sheets has them, which comes when a page has failed. */
import { ErrorCode, later } from "../../../../shared/errors.ts";
import { t } from "../../app/language.ts";
import type { PageError } from "../../app/state.ts";
import { shortHost } from "../parts/format.ts";
import { VERSIONS } from "./error-view.tsx";

/** `{host}` is filled in by `errorSentences`. */
const TEXTS = new Map<number, string>([
  [ErrorCode.NAME_NOT_RESOLVED, later("There is no “{host}” on the web. Check the address for a typing slip.")],
  [
    ErrorCode.CONNECTION_REFUSED,
    later(
      "“{host}” exists, but nothing answers there at the moment. It may be down for a while, or the port may be wrong.",
    ),
  ],
  [
    ErrorCode.CONNECTION_RESET,
    later("“{host}” closed the connection before the page was whole. Trying again often helps."),
  ],
  [
    ErrorCode.TLS_FAILED,
    later(
      "“{host}” did not prove who it is, so nothing was sent there. Its certificate may be its own making, for another name or too old, or somebody is in between. For a site of your own, name its certificate at the edge in NODE_EXTRA_CA_CERTS.",
    ),
  ],
  [ErrorCode.UPSTREAM_TIMEOUT, later("“{host}” did not answer in time. It may be busy or down.")],
  [
    ErrorCode.UPSTREAM_FAILED,
    later("Your edge could not get through to “{host}”. Check the address, or try again in a moment."),
  ],
  [
    ErrorCode.NOT_HTTP,
    later(
      "“{host}” answered, but not in the language of the web, or in a way that your edge does not understand. The address is right; another browser may show it.",
    ),
  ],
  [ErrorCode.NO_PAGE, later("“{host}” answered with an error and no page. Check the address, or try again later.")],
  [
    ErrorCode.EDGE_OFFLINE,
    later(
      "It runs, but reaches neither “{host}” nor names that everybody has. Check the network of the machine that it runs on.",
    ),
  ],
  [
    ErrorCode.LINK_LOST,
    later(
      "The link between this phone and your Ropeway edge was lost. Check the signal, and that the edge is running.",
    ),
  ],
  [
    ErrorCode.KEY_NOT_ACCEPTED,
    later("Your edge does not let it in any more. Enter its key, or a code from another device."),
  ],
  [ErrorCode.NO_SLOT_HOST, later("This browser shows no pages without scripts.")],
  [
    ErrorCode.NO_FREE_HOST,
    later(
      "Each site that is open takes one of your edge’s hosts, and all of them are in use. Close other windows of the app, then try again.",
    ),
  ],
  [ErrorCode.OFFLINE, later("This phone has no network at the moment.")],
  [
    ErrorCode.ALREADY_SENT,
    later(
      "“{host}” was sent what you entered, and its answer is not kept here. Look there for what became of it before you send it again.",
    ),
  ],
  [
    ErrorCode.OUTCOME_UNKNOWN,
    later(
      "The link was lost for too long to know whether “{host}” got what you sent. Look there before you send it again.",
    ),
  ],
  [
    ErrorCode.UNSUPPORTED_SCHEME,
    later("Only addresses that begin with http:// or https:// can be loaded. This one is for another app."),
  ],
  [
    ErrorCode.DESTINATION_FORBIDDEN,
    later(
      "“{host}” is on a private network, which the edge refuses to reach. If you run the edge yourself, start it with ROPEWAY_ALLOW_PRIVATE=1 to allow it.",
    ),
  ],
  [
    ErrorCode.TOO_MANY_REDIRECTS,
    later("“{host}” kept redirecting from one address to the next. Clearing its cookies in the settings may help."),
  ],
  [ErrorCode.VERSION_NOT_SUPPORTED, VERSIONS],
  [
    ErrorCode.BODY_NOT_REPLAYABLE,
    later(
      "“{host}” asked for the same upload at another address, and it was too large to keep. Please send it once more.",
    ),
  ],
]);

const UNKNOWN = later("Something went wrong on the way to “{host}”. Trying again often helps.");

/** For any error, also for codes that this version does not know. */
export function errorSentences({ code, url }: Pick<PageError, "code" | "url">): string {
  return t(TEXTS.get(code) ?? UNKNOWN, { host: shortHost(url) });
}
