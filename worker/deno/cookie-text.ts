/**
 * Deno's fetch gives and takes field values as bytes, one character each; workerd's as text. So on Deno the jar holds
 * bytes, and what scripts set and see of it is text by way of this.
 */
import type { ScriptCookie } from "../../shared/http/heads.ts";
import { decodeByteString } from "../../shared/web/origin.ts";
import type { EdgeBackend } from "../delivery/edge-handler.ts";

/** The same backend for a jar that holds bytes. */
export function withTextCookies({ upstream, siteData, warmer }: EdgeBackend): EdgeBackend {
  return {
    // A stranger has no cookies.
    warmer,
    async upstream(request) {
      const response = await upstream(request);
      return { ...response, head: { ...response.head, scriptCookies: toText(response.head.scriptCookies) } };
    },
    siteData: {
      ...siteData,
      scriptCookies: async (page) => toText(await siteData.scriptCookies(page)),
      setScriptCookie: (topLevelOrigin, documentUrl, cookieString) =>
        siteData.setScriptCookie(topLevelOrigin, documentUrl, toBytes(cookieString)),
    },
  };
}

function toText(cookies: readonly ScriptCookie[]): ScriptCookie[] {
  return cookies.map((cookie) => ({
    ...cookie,
    name: decodeByteString(cookie.name),
    value: decodeByteString(cookie.value),
  }));
}

/** UTF-8, one character each byte. */
function toBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}
