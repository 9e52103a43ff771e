/**
 * Who sent frames of other origins where, and with what form. The slot that such a frame goes to cannot say it of itself,
 * and the one that it is in could say anything: so the shell does, before the frame sets out.
 */
import { BoundedMap } from "../../../shared/bounded-map.ts";
import type { HeaderList, RequestHead } from "../../../shared/http/heads.ts";
import type { SlotBinding } from "../../messages/port-messages.ts";
import type { FrameStart, ShellToTunnel } from "../../messages/tunnel-messages.ts";
import type { PhoneRequest } from "../requests/response-source.ts";

type FrameSlot = Pick<SlotBinding, "origin" | "topLevelOrigin">;

/** What a page's form sends to another origin, in a frame. It goes out once. */
export interface FrameForm extends Pick<RequestHead, "url" | "destination"> {
  readonly headers: HeaderList;
  readonly body: PhoneRequest["body"];
}

/** A reload is sent as the first request was, so starts are kept; of old ones the referrer is lost. */
const KEPT = 256;
/** Forms whose frames have no slot yet. Each holds a body of up to 1 MB. */
const FORMS_KEPT = 16;

export class FrameStarts {
  readonly #starts = new BoundedMap<string, FrameStart>(KEPT);
  readonly #forms = new BoundedMap<string, FrameForm>(FORMS_KEPT);

  /** @param url real, without a fragment. */
  add(slot: FrameSlot, url: string, start: FrameStart): void {
    this.#starts.set(keyOf(slot, url), start);
  }

  find(slot: FrameSlot, url: string): FrameStart | null {
    return this.#starts.get(keyOf(slot, url)) ?? null;
  }

  /** @param from the slot that the form is in. */
  keep(from: FrameSlot, name: string, form: FrameForm): void {
    this.#forms.set(keyOf(from, name), form);
  }

  /** @returns the form that sends the frame there, once; null where there is none. */
  takeForm({ url, form }: Pick<ShellToTunnel & { type: "frame-starts" }, "url" | "form">): FrameForm | null {
    const key = form === undefined ? "" : keyOf(form.from, form.name);
    const kept = this.#forms.get(key);
    if (kept?.url !== url) return null;
    this.#forms.delete(key);
    return kept;
  }
}

function keyOf({ origin, topLevelOrigin }: FrameSlot, name: string): string {
  return `${topLevelOrigin} ${origin} ${name}`;
}
