/** What another device gets of an edge that is set up for its own machine only, in place of a way that ends nowhere. */
import { isLocalName } from "./edge-settings.ts";

/** @returns null where the base host leads to the edge for whoever asks. */
export function phonePage(url: URL, baseHost: string | undefined): Response | null {
  if (!baseHost || !isLocalName(baseHost) || isLocalName(url.hostname)) return null;
  const here = escapeHtml(url.hostname);
  const base = escapeHtml(baseHost);
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Ropeway: not set up for this device</title>
<style>
body { max-width: 34rem; margin: 0 auto; padding: 2.5rem 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; }
pre, code { overflow-wrap: anywhere; white-space: pre-wrap; }
pre { padding: 1rem; border: 1px solid; border-radius: 0.75rem; }
</style>
<h1>This edge is not set up for other devices yet</h1>
<p>A Ropeway edge runs at ${here}. But it goes by the name ${base}, which means each device itself, so this one would look
for it in vain.</p>
<p>A phone needs <strong>https</strong> and <strong>a name with a wildcard</strong> that lead to the edge. Whoever runs it
can start it so:</p>
<pre>ROPEWAY_IP=0.0.0.0 \\
ROPEWAY_HOST=ropeway.example \\
ROPEWAY_TLS_CERT=cert.pem \\
ROPEWAY_TLS_KEY=key.pem \\
npm start</pre>
<p><code>ropeway.example</code> stands for a name of your own. It and <code>*.ropeway.example</code> lead to ${here}, and
the certificate is for both. docs/deploy.md says more, under “A laptop and a phone”.</p>
</html>
`;
  return new Response(html, {
    // RFC 9110 section 15.5.20: this server does not answer for that host.
    status: 421,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
