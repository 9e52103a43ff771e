/** What the first request of a frame says about where it comes from, as far as the shell knows it. */
import type { PageToShell } from "../../messages/page-messages.ts";
import type { FrameStart } from "../../messages/tunnel-messages.ts";
import type { Slot } from "./slot-registry.ts";

type FrameWanted = PageToShell & { readonly type: "frame-wanted" };

export class FrameReferrers {
  /** Where frames were sent last. */
  readonly #sent = new WeakMap<Window, { readonly label: string; readonly url: string; readonly start: FrameStart }>();

  /**
   * A frame that is redirected goes on in the name of the document that sent it, as with a real redirect. It does not
   * if it leads back to that document's site: the site would not be told of the other one in between.
   *
   * @param asker the slot that speaks. Of what it says of itself only what is about its own origin counts.
   * @param url real, without a fragment, where the frame goes.
   * @param label of the slot that it goes to.
   */
  start(frame: Window, { referrer, movedFrom }: FrameWanted, asker: Slot, url: string, label: string): FrameStart {
    const sent = this.#sent.get(frame);
    const isMoved = typeof movedFrom === "string";
    let start: FrameStart = { referrer: "", initiator: asker.origin };
    if (isMoved && sent?.label === asker.label && sent.url === movedFrom) {
      if (!mayBeSameSite(sent.start.initiator, url)) start = { ...sent.start, referrer: cut(sent.start.referrer, url) };
    } else if (!isMoved && typeof referrer === "string" && URL.parse(referrer)?.origin === asker.origin) {
      start = { ...start, referrer };
    }
    this.#sent.set(frame, { label, url, start });
    return start;
  }
}

/** The referrer as the default policy has it for another origin. */
function cut(referrer: string, url: string): string {
  const { origin, protocol } = URL.parse(referrer) ?? {};
  if (origin === undefined || (protocol === "https:" && !url.startsWith(protocol))) return "";
  return `${origin}/`;
}

/** Whether a site could have both: a registrable domain has two labels or more. */
function mayBeSameSite(origin: string, url: string): boolean {
  const [one, other] = [origin, url].map((text) => new URL(text).hostname.split(".").slice(-2).join("."));
  return one === other;
}
