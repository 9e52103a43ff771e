/** The iframe that documents of slots are shown in. */

/** No top navigation (frame busting), no presentation. A lock of the pointer needs a click, and Escape ends it. */
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals allow-pointer-lock";
/**
 * Delegated to pages: what a browser allows without a question. What it asks for (location, camera) it would ask once, for
 * the shell, and then allow to every site. Of any slot, since the frame goes from one to the next without a new `src`.
 */
const PERMISSIONS = "fullscreen autoplay clipboard-write encrypted-media picture-in-picture screen-wake-lock"
  .split(" ")
  .map((feature) => `${feature} *`)
  .join("; ");

export function createSlotFrame(document: Document): HTMLIFrameElement {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", SANDBOX);
  return frame;
}

/** One that a person looks at. */
export function createPageFrame(document: Document): HTMLIFrameElement {
  const frame = createSlotFrame(document);
  frame.title = "Page";
  frame.allow = PERMISSIONS;
  return frame;
}
