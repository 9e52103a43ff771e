/** Messages between windows name real origins, whoever of page, frames and frames of frames they come from and go to. */

import { parseUrl } from "../../../../shared/web/origin.ts";
import { MESSAGE_TAG } from "../../../messages/page-messages.ts";
import { send } from "../links/leave.ts";
import type { PageContext } from "../page-context.ts";
import { patchAccessor, patchMethod } from "../patch.ts";
import { ForeignWindows } from "./foreign-windows.ts";
import { OriginNames } from "./origin-names.ts";

/** Arguments of `postMessage` in the form that names all. */
interface Envelope {
  readonly message: unknown;
  readonly targetOrigin: string;
  readonly transfer: Transferable[];
}

function envelopeOf([message, given, transfer]: readonly unknown[]): Envelope {
  const options = (typeof given === "object" && given !== null ? given : {}) as StructuredSerializeOptions & {
    readonly targetOrigin?: unknown;
  };
  const named = typeof given === "object" || given === undefined ? (options.targetOrigin ?? "/") : given;
  const list = (typeof given === "object" && given !== null ? options.transfer : transfer) as
    | Transferable[]
    | undefined;
  return { message, targetOrigin: String(named), transfer: [...(list ?? [])] };
}

/** As it is now: what is sent later must not change meanwhile, and what is transferred is gone at once. */
function frozen({ message, targetOrigin, transfer }: Envelope): Envelope {
  return { ...structuredClone({ message, transfer }, { transfer }), targetOrigin };
}

/** Whether the browser takes it for a target at all. */
function isTarget(targetOrigin: string): boolean {
  return targetOrigin === "*" || targetOrigin === "/" || parseUrl(targetOrigin) !== null;
}

/** The real origin that the target must have, or null where the browser's own check will do. */
function namedOrigin(targetOrigin: string): string | null {
  if (targetOrigin === "*" || targetOrigin === "/") return null;
  const origin = parseUrl(targetOrigin)?.origin ?? "null";
  return origin === "null" ? null : origin;
}

class Sender {
  readonly #names: OriginNames;
  /** What waits until the target's slot is known, and what was sent after it. */
  readonly #waiting = new WeakMap<Window, Promise<void>>();

  constructor(names: OriginNames) {
    this.#names = names;
  }

  post(target: Window, args: readonly unknown[]): void {
    const waiting = this.#waiting.get(target);
    const envelope = envelopeOf(args);
    const origin = namedOrigin(envelope.targetOrigin);
    const isKnown = origin === null || this.#names.slots(origin).length > 0;
    // Without arguments, or with one that names no origin, the browser says so.
    const isWrong = args.length === 0 || !isTarget(envelope.targetOrigin);
    if (isWrong || (waiting === undefined && isKnown)) return this.#send(target, envelope, args);
    const later = frozen(envelope);
    const learned = isKnown ? undefined : this.#names.learn(origin);
    const sent = Promise.all([waiting, learned])
      .then(() => this.#send(target, later, null))
      .finally(() => {
        if (this.#waiting.get(target) === sent) this.#waiting.delete(target);
      });
    this.#waiting.set(target, sent);
  }

  /** The browser compares the target's slot with the ones named, as it does with origins. */
  #send(target: Window, { message, targetOrigin, transfer }: Envelope, args: readonly unknown[] | null): void {
    const origin = namedOrigin(targetOrigin);
    if (origin === null && args !== null) return void Reflect.apply(target.postMessage, target, args);
    const slots = origin === null ? [targetOrigin] : this.#names.slots(origin);
    // What is transferred can be sent once.
    for (const slot of transfer.length > 0 ? slots.slice(0, 1) : slots) target.postMessage(message, slot, transfer);
  }
}

/** Messages of slots whose real origin is not known yet, in order. */
function holdUnknown(names: OriginNames): void {
  const { get: originOf } = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "origin") ?? {};
  const { get: sourceOf } = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "source") ?? {};
  const NativeEvent = MessageEvent;
  window.addEventListener(
    "message",
    (event: MessageEvent<unknown>) => {
      const origin = String(originOf?.call(event));
      if (names.real(origin) !== null) return;
      event.stopImmediatePropagation();
      const { data, lastEventId, ports } = event;
      const source = sourceOf?.call(event) as MessageEventSource | null;
      void names.learn(origin).then(() => {
        const real = names.real(origin) ?? origin;
        window.dispatchEvent(
          new NativeEvent("message", { data, lastEventId, source, ports: [...ports], origin: real }),
        );
      });
    },
    true,
  );
}

/** @returns what to do with the shell's word on origins. */
export function patchMessages(context: PageContext): OriginNames {
  const { config } = context;
  const names = new OriginNames(config, (origins) =>
    context.toShell({ tag: MESSAGE_TAG, type: "origins-wanted", origins }),
  );
  const sender = new Sender(names);
  const foreign = new ForeignWindows({
    post: (target, args) => sender.post(target, args),
    go: (target, url, replaces) => send(target, url, replaces, context, names),
  });
  holdUnknown(names);
  // The first message to the page around, and from it, need not wait then.
  for (const origin of location.ancestorOrigins ?? []) if (names.real(origin) === null) void names.learn(origin);

  patchAccessor(MessageEvent.prototype, "origin", {
    get: (native) => {
      const origin = String(native());
      return names.real(origin) ?? origin;
    },
  });
  patchAccessor(MessageEvent.prototype, "source", { get: (native) => foreign.show(native()) });
  const construct: NonNullable<ProxyHandler<typeof MessageEvent>["construct"]> = (target, [type, init], newTarget) => {
    const isForeign = typeof init === "object" && foreign.isProxy(init?.source);
    return Reflect.construct(
      target,
      [type, isForeign ? { ...init, source: foreign.native(init.source) } : init],
      newTarget,
    );
  };
  Object.defineProperty(window, "MessageEvent", {
    value: new Proxy(MessageEvent, { construct }),
    configurable: true,
    writable: true,
  });
  patchAccessor(window, "parent", { get: (native) => foreign.show(native()) });
  // A page may put something else in its place.
  patchAccessor(window, "frames", { get: (native) => (native() === window ? foreign.frames : native()) });
  for (const prototype of [HTMLIFrameElement.prototype, HTMLFrameElement.prototype])
    patchAccessor(prototype, "contentWindow", {
      get: (native, self) => foreign.showContent(self, native()),
    });
  patchMethod(window, "postMessage", (native, self, args) => {
    if (foreign.isProxy(self)) return sender.post(foreign.native(self) as Window, args);
    const { targetOrigin } = envelopeOf(args);
    if (namedOrigin(targetOrigin) !== config.realOrigin) return native(self, args);
    const [message, given, transfer] = args;
    const isOptions = typeof given === "object" && given !== null;
    return native(
      self,
      isOptions
        ? [message, { ...given, targetOrigin: config.slotOrigin }]
        : [message, config.slotOrigin, transfer ?? []],
    );
  });
  return names;
}
