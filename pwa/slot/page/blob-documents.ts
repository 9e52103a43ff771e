/**
 * Documents at `blob:` addresses. No service worker has one (Chromium 156), so the policy closes them. In a frame of the
 * page such a document is shown as `srcdoc`, which has the page's worker, and its origin and policies, as the blob's own
 * would. Anywhere else it is saved.
 */
import { escapeHtml } from "../rewrite/html-rewriter.ts";
import type { PageContext } from "./page-context.ts";
import { patchMethod } from "./patch.ts";

const { fetch: ask } = window;
const { click } = HTMLElement.prototype;

interface Shown {
  readonly url: string;
  /** The frame's `src` at that time. */
  readonly src: string | null;
}

/** Blobs of this page, as long as their addresses hold. */
const blobs = new Map<string, Blob>();
const shown = new WeakMap<Element, Shown>();

export function patchBlobs(): void {
  patchMethod(URL, "createObjectURL", (native, self, args) => {
    const url = native(self, args);
    if (args[0] instanceof Blob) blobs.set(String(url), args[0]);
    return url;
  });
  patchMethod(URL, "revokeObjectURL", (native, self, args) => {
    blobs.delete(String(args[0]));
    return native(self, args);
  });
}

/** Null where its address is none, or another page's. */
export function blobOf(url: string): Blob | null {
  return blobs.get(url) ?? null;
}

/** Whether a window can show what is there: a file is saved. */
export function isShownBlob(url: string): boolean {
  const blob = blobOf(url.split("#")[0] ?? "");
  return blob !== null && /^(?:$|text\/|image\/|audio\/|video\/)|(?:json|xml)$/.test(typeOf(blob));
}

const typeOf = ({ type }: Blob): string => type.split(";", 1)[0] ?? "";

export function isBlobUrl(url: string): boolean {
  return /^\s*blob:/i.test(url);
}

/** The blob that a frame shows, or will show. */
export function shownBlob(frame: Element): Shown | undefined {
  return shown.get(frame);
}

export function forgetBlob(frame: Element): void {
  shown.delete(frame);
}

/** @param write is given the document's markup, unless the frame is to show something else by then. */
export async function showBlob(
  frame: Element,
  { url, src }: Shown,
  context: PageContext,
  write: (markup: string) => void,
): Promise<void> {
  const wish = { url, src };
  shown.set(frame, wish);
  const [address = ""] = url.split("#");
  // A frame may name a blob of the page around it.
  const blob =
    blobs.get(address) ??
    (await ask(address).then(
      (answer) => answer.blob(),
      () => null,
    ));
  const markup = blob === null ? null : await documentOf(blob, address, context);
  if (markup !== null && shown.get(frame) === wish) write(markup);
}

export function saveBlob(url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = nameOf(blobs.get(url));
  click.call(link);
}

function nameOf(blob: Blob | undefined): string {
  return blob instanceof File ? blob.name : "";
}

/** Markup that shows it, or offers it. */
async function documentOf(blob: Blob, url: string, { late }: PageContext): Promise<string> {
  const type = typeOf(blob);
  const name = escapeHtml(nameOf(blob));
  if (/^(?:text\/html|application\/xhtml\+xml)?$/.test(type)) {
    const text = await blob.text();
    // Nothing is relative to a blob.
    return /<base\b/i.test(text) ? text : `<base href="${url}">${text}`;
  }
  if (/^image\//.test(type)) return `<img alt="${name}" style="max-width:100%" src="${url}">`;
  if (/^(?:audio|video)\//.test(type)) return `<video controls autoplay style="max-width:100%" src="${url}"></video>`;
  if (/^text\/|json$|xml$/.test(type))
    return `<pre style="white-space:pre-wrap">${escapeHtml(await blob.text())}</pre>`;
  const words = await late<typeof import("../words.ts")>("words").then(
    (it) => it.saveWords(name),
    () => "Save",
  );
  return `<a download="${name}" href="${url}">${words}</a>`;
}
