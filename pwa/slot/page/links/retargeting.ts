/**
 * Links and forms that name another window while the page keeps their event from the window's listener: the browser
 * would open a window, whose requests pass the service worker by. Such an element names its own frame until the browser
 * has acted, so that the `navigate` event sees it.
 */

export interface TargetAccess<E> {
  /** The attribute that counts. */
  read(element: E): string | null;
  /** Null removes it. */
  write(element: E, target: string | null): void;
  /** When the event is over, and what the browser does by itself. */
  afterwards(task: () => void): void;
  now(): number;
}

/** Milliseconds: a form's navigation comes in a later turn than its event. */
const NAVIGATES_WITHIN = 1_000;

export class Retargeting<E extends object> {
  readonly #access: TargetAccess<E>;
  readonly #meant = new WeakMap<E, { readonly target: string; readonly since: number }>();
  readonly #turned = new WeakSet<E>();

  constructor(access: TargetAccess<E>) {
    this.#access = access;
  }

  /** @param target that it means, by itself or by its document. */
  turn(element: E, target: string): void {
    if (this.#turned.has(element)) return;
    const former = this.#access.read(element);
    this.#turned.add(element);
    this.#meant.set(element, { target, since: this.#access.now() });
    this.#access.write(element, "_self");
    this.#access.afterwards(() => {
      this.#turned.delete(element);
      if (this.#access.read(element) === "_self") this.#access.write(element, former);
    });
  }

  /** What a navigation by this element was meant for; "" for its own frame. */
  meant(element: E | null): string {
    const meant = element === null ? undefined : this.#meant.get(element);
    return meant !== undefined && this.#access.now() - meant.since < NAVIGATES_WITHIN ? meant.target : "";
  }
}
