/** A document's text on its way to the page: decoded, rewritten, encoded as UTF-8. */
import type { HtmlRewriter } from "../../slot/rewrite/html-rewriter.ts";
import { escapeHtml } from "../../slot/rewrite/html-tag.ts";
import { DocumentDecoder } from "./charset.ts";
import { textPage } from "./viewer-pages.ts";

export interface DocumentText {
  /** Plain text is shown in a page of ours. */
  readonly kind: "html" | "text";
  readonly contentType: string;
  /** Title of a page of ours. */
  readonly title: string;
}

export function rewrittenBody(
  source: ReadableStream<Uint8Array>,
  rewriter: HtmlRewriter,
  { kind, contentType, title }: DocumentText,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  const encoder = new TextEncoder();
  const decoder = new DocumentDecoder(contentType);
  const { before, after } = kind === "text" ? textPage(title) : { before: "", after: "" };
  let opening = before;
  return new ReadableStream(
    {
      async pull(controller) {
        // A pull must yield something, and the rewriter may hold a chunk back until its tag is whole.
        for (;;) {
          const { done, value } = await reader.read();
          const text = decoder.decode(value);
          let out = rewriter.write(opening + (kind === "text" ? escapeHtml(text) : text));
          opening = "";
          if (done) out += rewriter.write(after) + rewriter.end();
          if (out !== "") controller.enqueue(encoder.encode(out));
          if (done) return controller.close();
          if (out !== "") return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
