/** Answers what a phone asks: requests for origins go upstream, those of scheme `ropeway:` are for the edge itself. */
import { ErrorCode, RopewayError } from "../shared/errors.ts";
import { EDGE_SCHEME, headerValue } from "../shared/http/head-fields.ts";
import type { RequestHead } from "../shared/http/heads.ts";
import type { ServerRequest, ServerResponse } from "../shared/http/server-exchange.ts";
import { EdgeRequest } from "../shared/subprotocol.ts";
import type { SessionConstants } from "./tunnel-server.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** The cookie jar as scripts and the person may change it. */
export interface SiteData {
  setScriptCookie(topLevelOrigin: string, documentUrl: string, cookieString: string): Promise<void>;
  clear(): Promise<void>;
}

export interface EdgeBackend {
  readonly upstream: Upstream;
  readonly siteData: SiteData;
}

export type EdgeHandler = (request: ServerRequest, constants: SessionConstants) => Promise<ServerResponse>;

export function createEdgeHandler({ upstream, siteData }: EdgeBackend): EdgeHandler {
  return async (request, constants) => {
    if (!request.head.url.startsWith(EDGE_SCHEME)) return upstream({ ...request, ...constants });
    await answerEdgeRequest(request.head, siteData);
    return {
      head: {
        status: 204,
        headers: [],
        url: request.head.url,
        redirected: false,
        coding: "identity",
        scriptCookies: [],
      },
      body: null,
    };
  };
}

async function answerEdgeRequest(head: RequestHead, siteData: SiteData): Promise<void> {
  if (head.method === "PUT" && head.url === EdgeRequest.SCRIPT_COOKIE) {
    const documentUrl = headerValue(head.headers, "document-url") ?? "";
    const cookieString = decodeURIComponent(headerValue(head.headers, "cookie-string") ?? "");
    if (!URL.canParse(documentUrl) || new URL(documentUrl).origin !== head.origin) {
      throw new RopewayError(
        ErrorCode.PROTOCOL_ERROR,
        "stream",
        "peer",
        "Cannot set a cookie: the document is not of the origin that asks",
      );
    }
    return siteData.setScriptCookie(head.topLevelOrigin, documentUrl, cookieString);
  }
  if (head.method === "DELETE" && head.url === EdgeRequest.SITE_DATA) return siteData.clear();
  throw new RopewayError(ErrorCode.PROTOCOL_ERROR, "stream", "peer", `Cannot answer ${head.method} ${head.url}`);
}
