/** Takes over navigations of this window that would leave the slot: links, forms, `location`, refresh. */

import { MESSAGE_TAG } from "../../../messages/page-messages.ts";
import { ropewayPath } from "../../slot-url.ts";
import { parseEncoding } from "../form-body.ts";
import { isBlobUrl, saveBlob } from "../frames/blob-documents.ts";
import type { PageContext } from "../page-context.ts";
import { formCharset } from "./form-charset.ts";
import { leave, referrerPolicyOf } from "./leave.ts";
import { downloadUrl, navigationGoal } from "./navigation-goal.ts";
import { goerOf, retargeting } from "./targets.ts";

function formOf(source: Element | null): HTMLFormElement | null {
  // It may be one of another realm.
  if (source?.localName === "form") return source as HTMLFormElement;
  return (source as Partial<HTMLButtonElement> | null)?.form ?? null;
}

function encodingOf(source: Element | null) {
  const form = formOf(source);
  return parseEncoding(source?.getAttribute("formenctype") ?? form?.getAttribute("enctype") ?? "");
}

/** A link's click, or a script that starts a download by it. Null: no download that the service worker can answer. */
function downloadName(event: NavigateEvent, source: Element | null, goalIsSlot: boolean): string | null {
  if (!goalIsSlot) return null;
  return event.downloadRequest ?? source?.getAttribute("download") ?? null;
}

/** Before pages may put one of their own in its place. */
const { setTimeout: later } = window;

/** The last one, within the document or not. */
let latest: NavigateEvent | null = null;
/** The last one of which the shell was told that the page leaves. */
let leaving: NavigateEvent | null = null;

function onNavigate(event: NavigateEvent, context: PageContext, tellStaying: () => void): void {
  latest = event;
  const { destination, navigationType } = event;
  if (destination.sameDocument) return;
  const { config } = context;
  if (navigationType === "traverse" || navigationType === "reload") {
    tellLeaving(event, context, tellStaying);
    return;
  }
  if (!event.cancelable || event.defaultPrevented) return;
  const goal = navigationGoal(destination.url, config.topLevel ? "page" : "frame", config);
  if (goal.kind === "native") {
    // In a frame of a page that page shows it.
    if (!isBlobUrl(destination.url) || event.downloadRequest !== null || context.realm.frameElement !== null) return;
    event.preventDefault();
    saveBlob(destination.url);
    return;
  }
  // Chromium has it since 134.
  const source: Element | null = event.sourceElement ?? null;
  const isLink = source !== null && /^(?:a|area)$/i.test(source.localName);
  const name = downloadName(event, isLink ? source : null, goal.kind === "slot");
  if (name !== null) {
    event.preventDefault();
    context.realm.location.assign(downloadUrl(goal.url, name, config));
    return;
  }
  const target = retargeting.meant(source) || retargeting.meant(source?.closest("form") ?? null);
  const goer = goerOf(target, context);
  const isInPlace = goer === "this" || (config.topLevel && typeof goer === "string");
  if (isInPlace && goal.kind === "slot" && goal.url === destination.url) {
    tellLeaving(event, context, tellStaying);
    return;
  }
  event.preventDefault();
  leave(
    {
      url: destination.url,
      data: event.formData,
      encoding: encodingOf(source),
      charset: event.formData === null ? "" : formCharset(formOf(source), context),
      replace: navigationType === "replace",
      policy: referrerPolicyOf(source, context),
      goer,
    },
    context,
  );
}

/** The page stays within its slot: the shell learns of it before the first byte comes. */
function tellLeaving(event: NavigateEvent, context: PageContext, tellStaying: () => void): void {
  const { url } = event.destination;
  // A download leaves the document where it is.
  if (!context.config.topLevel || new URL(url).pathname === ropewayPath.download) return;
  leaving = event;
  context.toShell({ tag: MESSAGE_TAG, type: "leaving", url });
  // After the page's own listeners, and after the person, whom `beforeunload` may have asked. A later navigation aborts
  // this one too, though what it stands for may go on.
  later(() => {
    if (event.defaultPrevented || (event.signal.aborted && event === latest)) tellStaying();
  });
}

/** @param tellStaying called where the page does not leave after all. */
export function watchNavigations(context: PageContext, tellStaying: () => void): void {
  const { realm } = context;
  const { document, navigation } = realm;
  navigation?.addEventListener("navigate", (event) => {
    // A frame's first blank document leaves its window to the next one.
    if (realm.document === document) onNavigate(event, context, tellStaying);
  });
  // The page has made it a navigation within the document.
  navigation?.addEventListener("navigatesuccess", () => {
    if (leaving !== null && leaving === latest) tellStaying();
  });
}
