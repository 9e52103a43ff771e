/**
 * Whether this browser has other windows of the app open. They say so to each other; one that crashed is taken to be
 * there, which only costs a detour (slot-frames.ts).
 */

/** The part of `BroadcastChannel` that is used. */
export interface WindowChannel {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

type WindowMessage =
  /** Who is there? */
  | { readonly type: "opened"; readonly id: string }
  /** Answer to "opened". */
  | { readonly type: "there"; readonly id: string }
  | { readonly type: "closed"; readonly id: string };

export class OtherWindows {
  readonly #channel: WindowChannel;
  readonly #id: string;
  readonly #others = new Set<string>();

  /** @param id of this window. */
  constructor(channel: WindowChannel, id: string = crypto.randomUUID()) {
    this.#channel = channel;
    this.#id = id;
    channel.onmessage = ({ data }) => this.#receive(data as WindowMessage);
    this.open();
  }

  /** As far as is known: what was opened in the last milliseconds may not have been heard of. */
  get areOpen(): boolean {
    return this.#others.size > 0;
  }

  /** This window is shown; again, if it was kept after `close`. */
  open(): void {
    this.#post("opened");
  }

  close(): void {
    this.#post("closed");
  }

  #receive({ type, id }: WindowMessage): void {
    if (type === "closed") {
      this.#others.delete(id);
      return;
    }
    this.#others.add(id);
    if (type === "opened") this.#post("there");
  }

  #post(type: WindowMessage["type"]): void {
    const message: WindowMessage = { type, id: this.#id };
    this.#channel.postMessage(message);
  }
}
