/**
 * Answers in place of the app's service worker, which shows pages without scripts on the base host (decision 28), when
 * that was away: the app sees what came into its frame, and sends the frame there again. Such a request is a page's, with
 * its address and its form: nothing is done with it.
 */
import { LITE_PATH } from "../../shared/subprotocol.ts";

const FRAMES: ReadonlySet<string> = new Set(["iframe", "frame", "embed", "object"]);

/** @returns null for a request of the app's own. */
export function liteBoot(url: URL, request: Request, headers: Record<string, string>): Response | null {
  const destination = request.headers.get("sec-fetch-dest") ?? "";
  const isPlace = url.pathname.startsWith(LITE_PATH);
  // The app frames its start document, and places.
  if (!isPlace && (!FRAMES.has(destination) || url.pathname === "/blank")) return null;
  const answered = { ...headers, "cache-control": "no-store" };
  if (destination === "document") return new Response(null, { status: 302, headers: { ...answered, location: "/" } });
  if (destination !== "" && !FRAMES.has(destination)) return new Response("", { status: 404, headers: answered });
  const method = request.method === "GET" || request.method === "HEAD" ? "GET" : "POST";
  const html = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="ropeway-boot" content="${method}"><title></title>`;
  return new Response(html, {
    headers: {
      ...answered,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "sandbox allow-same-origin; default-src 'none'; frame-ancestors 'self'",
    },
  });
}
