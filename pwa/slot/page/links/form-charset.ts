/**
 * The encoding of forms. The service worker hands documents on in UTF-8, and the browser would send their forms so, too;
 * a site that writes another encoding expects that (HTML section 4.10.22.4).
 */
import type { PageContext } from "../page-context.ts";
import { patchMethod } from "../patch.ts";

/** What the document was in before: its field goes before its markup. "" where none was told. */
function documentCharset({ config, realm: { document } }: PageContext): string {
  if (config.charset !== "") return config.charset;
  const meta = document.querySelector("meta[charset], meta[http-equiv=content-type i][content*=charset i]");
  return meta?.getAttribute("charset") ?? meta?.getAttribute("content")?.split(/charset\s*=\s*/i)[1] ?? "";
}

/** `accept-charset` of a form that goes out: its own, or the document's. "" for UTF-8. */
export function formCharset(form: Element | null, context: PageContext): string {
  const charset = form?.getAttribute("accept-charset") ?? documentCharset(context);
  return /^\s*utf-?8\s*$/i.test(charset) ? "" : charset;
}

export function patchFormCharset(context: PageContext): void {
  const { realm } = context;
  const prepare = (form: unknown) => {
    if (!(form instanceof realm.HTMLFormElement) || form.hasAttribute("accept-charset")) return;
    const charset = formCharset(form, context);
    if (charset !== "") form.acceptCharset = charset;
  };
  // Before the page's own listeners, which may send it in their own way.
  realm.addEventListener("submit", ({ target }) => prepare(target), true);
  patchMethod(realm.HTMLFormElement.prototype, "submit", (native, self, args) => {
    prepare(self);
    return native(self, args);
  });
}
