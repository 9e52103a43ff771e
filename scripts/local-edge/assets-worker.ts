/**
 * The ASSETS binding of a local edge: serves the built app the way Cloudflare's static assets do with
 * `html_handling = "auto-trailing-slash"`, as far as this app can tell.
 */
export interface AssetsEnvironment {
  /** workerd's disk service over a copy of dist/app. */
  readonly FILES: Fetcher;
  /** By path below dist/app. */
  readonly MANIFEST: Readonly<Record<string, { readonly etag: string; readonly contentType: string }>>;
}

const COMPRESSIBLE = /^text\/|json|javascript|svg/;

export default {
  async fetch(request, { FILES, MANIFEST }): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") return new Response(null, { status: 405 });
    const url = new URL(request.url);
    const path = decodeURIComponent(url.pathname).slice(1);
    const canonical = withoutHtmlSuffix(path);
    if (canonical !== path && MANIFEST[path]) {
      return new Response(null, { status: 307, headers: { location: `/${canonical}${url.search}` } });
    }
    const file = [path, `${path}.html`, `${path}index.html`].find((candidate) => MANIFEST[candidate]);
    const entry = file === undefined ? undefined : MANIFEST[file];
    if (file === undefined || entry === undefined) return new Response(null, { status: 404 });

    const headers = new Headers({
      "content-type": entry.contentType,
      etag: `"${entry.etag}"`,
      "cache-control": "public, max-age=0, must-revalidate",
    });
    const known = request.headers.get("if-none-match") ?? "";
    if (known.includes(entry.etag)) return new Response(null, { status: 304, headers });
    // workerd compresses by itself what is labelled so.
    const gzip =
      (request.headers.get("accept-encoding") ?? "").includes("gzip") && COMPRESSIBLE.test(entry.contentType);
    if (gzip) headers.set("content-encoding", "gzip");
    const { body, ok } = await FILES.fetch(`http://files/${encodeURI(file)}`);
    // Somebody removed it: the disk service's own words are no content of ours.
    if (!ok) return new Response(null, { status: 404 });
    return new Response(request.method === "HEAD" ? null : body, { headers });
  },
} satisfies ExportedHandler<AssetsEnvironment>;

function withoutHtmlSuffix(path: string): string {
  return path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "");
}
