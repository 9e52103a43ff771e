/** Markup that scripts insert goes through the same rules as the markup of the document. */
import { rewriteMarkup } from "../rewrite/html-rewriter.ts";
import { elementContext } from "./elements.ts";
import type { PageContext } from "./page-context.ts";
import { patchAccessor, patchMethod } from "./patch.ts";
import { trustedHtml } from "./trusted-types.ts";

export function patchMarkup(context: PageContext): void {
  const rewrite = (value: unknown): unknown => {
    if (value === null || value === undefined) return value;
    const text = String(value);
    const { base, ...rest } = elementContext(context);
    const rewritten = text.includes("<") ? rewriteMarkup(text, { ...rest, documentUrl: base }) : text;
    if (rewritten === text) return value;
    // A plain string stays one: where trusted types are required, it has to be refused as the page's own.
    return typeof value === "object" ? trustedHtml(rewritten) : rewritten;
  };
  for (const [prototype, names] of [
    [Element.prototype, ["innerHTML", "outerHTML"]],
    [ShadowRoot.prototype, ["innerHTML"]],
  ] as const)
    for (const name of names) patchAccessor(prototype, name, { set: (native, _self, value) => native(rewrite(value)) });

  for (const prototype of [Element.prototype, ShadowRoot.prototype])
    patchMethod(prototype, "setHTMLUnsafe", (native, self, [markup, ...rest]) =>
      native(self, [rewrite(markup), ...rest]),
    );
  patchMethod(Element.prototype, "insertAdjacentHTML", (native, self, [where, markup]) =>
    native(self, [where, rewrite(markup)]),
  );
  patchMethod(Range.prototype, "createContextualFragment", (native, self, [markup]) => native(self, [rewrite(markup)]));
  for (const name of ["write", "writeln"])
    patchMethod(Document.prototype, name, (native, self, args) => native(self, args.map(rewrite)));
}
