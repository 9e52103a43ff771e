/**
 * Addresses of the page's own origin in what scripts ask for and read, in windows and workers alike: the browser knows that
 * origin by the slot's name, scripts by its real one.
 */
import { parseUrl } from "../../../shared/web/origin.ts";
import { type SlotIdentity, toReal } from "../slot-url.ts";
import { patchAccessor, patchMethod, wrap } from "./patch.ts";

/**
 * Addresses that scripts tell others, and hardly compare with where they are: those come from all scripts alike. Where there
 * is a `toJSON`, it says them, too.
 */
const TOLD: readonly (readonly [interfaceName: string, property: string])[] = [
  ["ErrorEvent", "filename"],
  ["EventSource", "url"],
  ["HashChangeEvent", "newURL"],
  ["HashChangeEvent", "oldURL"],
  ["LargestContentfulPaint", "url"],
  ["PerformanceEntry", "name"],
  ["PerformanceNavigationTiming", "name"],
  ["PerformanceResourceTiming", "name"],
  ["Request", "url"],
  ["Request", "referrer"],
  ["Response", "url"],
  ["SecurityPolicyViolationEvent", "blockedURI"],
  ["SecurityPolicyViolationEvent", "documentURI"],
  ["SecurityPolicyViolationEvent", "sourceFile"],
  ["XMLHttpRequest", "responseURL"],
];

export interface OwnOrigin {
  /** The slot's URL for a real one of the page's own origin; any other value as it is. */
  readonly onSlot: (url: unknown) => unknown;
  /** An address of the slot, its origin or host as the real one; any other value as it is. */
  readonly real: (value: unknown) => unknown;
  /** The real one of an address that a script may have made of the slot's. */
  readonly toReal: (url: string) => string;
  /** Sees to requests of scripts, and the addresses that these are told. @param realm the window, or a worker's global. */
  readonly patchRequests: (realm: object) => void;
}

/** @param resolve an address as the browser does; undefined for none. */
export function ownOrigin(slot: SlotIdentity, resolve: (text: string) => string | undefined): OwnOrigin {
  const { slotOrigin, realOrigin } = slot;
  const [native, shown] = [new URL(slotOrigin), new URL(realOrigin)];
  const exact = new Map<unknown, string>([
    [native.hostname, shown.hostname],
    [native.host, shown.host],
    [slotOrigin, realOrigin],
  ]);
  const own: OwnOrigin = {
    onSlot(url) {
      const address = resolve(String(url));
      return address?.startsWith(`${realOrigin}/`) ? slotOrigin + address.slice(realOrigin.length) : url;
    },
    real(value) {
      if (typeof value !== "string") return value;
      return exact.get(value) ?? (value.startsWith(slotOrigin) ? own.toReal(value) : value);
    },
    toReal: (url) => toReal(url, slot),
    patchRequests(realm) {
      patchFetch(own, realm);
      patchAnswers(own, realm, [slotOrigin, realOrigin]);
      patchErrorHandler(own, realm);
      patchStacks(slot, realm as ErrorRealm);
    },
  };
  return own;
}

type Holder = Readonly<Record<string, object | undefined>>;

/** An object without members where the realm has no such interface. */
const prototypeOf = (realm: object, name: string): object =>
  ((realm as Holder)[name] as { prototype?: object } | undefined)?.prototype ?? {};

interface Asked {
  readonly referrer?: string;
}

function patchFetch({ onSlot }: OwnOrigin, realm: object): void {
  /** The browser takes no referrer of another origin. */
  const ownReferrer = (given: unknown): unknown => {
    const { referrer } = (given ?? {}) as Asked;
    if (!referrer) return given;
    const told = onSlot(referrer);
    return told === referrer ? given : { ...(given as RequestInit), referrer: told };
  };
  // Where the browser takes the target for its own it tells the referrer whole, as it is after `pushState`.
  const asked = (input: unknown): unknown => (input instanceof Request ? input : onSlot(input));
  // A worker's global inherits it.
  let holder = realm;
  while (!Object.hasOwn(holder, "fetch")) holder = Object.getPrototypeOf(holder);
  wrap(holder, "fetch", {
    apply(native, self, args) {
      const [input, given] = args;
      const isRequest = input instanceof Request;
      const { referrer = isRequest && input.referrer === "" ? "" : null } = (given ?? {}) as Asked;
      // The worker cannot tell no referrer from one that the browser has left out.
      const init = referrer === "" ? { ...given, referrerPolicy: "no-referrer" } : given;
      return Reflect.apply(native, self, args.length === 0 ? args : [asked(input), ownReferrer(init)]);
    },
  });
  wrap(realm, "Request", {
    construct: (native, [input, init, ...rest], newTarget) =>
      Reflect.construct(native, [asked(input), ownReferrer(init), ...rest], newTarget),
  });
  patchMethod(prototypeOf(realm, "XMLHttpRequest"), "open", (call, self, args) =>
    call(
      self,
      args.map((each, at) => (at === 1 ? onSlot(each) : each)),
    ),
  );
}

/** @param origins that are the page's own. To the browser, all that a service worker answers is of that. */
function patchAnswers({ real, onSlot }: OwnOrigin, realm: object, origins: readonly string[]): void {
  for (const [name, property] of TOLD) {
    patchAccessor(prototypeOf(realm, name), property, { get: (native) => real(native()) });
    patchMethod(prototypeOf(realm, name), "toJSON", (native, self, args) => {
      const told = native(self, args) as Record<string, unknown>;
      return { ...told, [property]: real(told[property]) };
    });
  }
  for (const name of ["HTMLAnchorElement", "HTMLAreaElement"])
    patchMethod(prototypeOf(realm, name), "toString", (native, self, args) => real(native(self, args)));
  for (const name of ["Performance", "PerformanceObserverEntryList"])
    patchMethod(prototypeOf(realm, name), "getEntriesByName", (native, self, [entry, type]) =>
      native(self, [onSlot(entry), type]),
    );
  const response = prototypeOf(realm, "Response");
  const urlOf = Reflect.getOwnPropertyDescriptor(response, "url")?.get as () => string;
  patchAccessor(response, "type", {
    get(native, self) {
      const type = native();
      const { origin = "null" } = parseUrl(Reflect.apply(urlOf, self, [])) ?? {};
      return type === "basic" && origin !== "null" && !origins.includes(origin) ? "cors" : type;
    },
  });
}

/** A frame of V8's: its text is a stack's line. Its members cannot be replaced. */
interface CallSite {
  getFileName(): string | null | undefined;
}

/** Bundlers write a line end out. It would move the lines of a worker's script, which stands behind this one. */
const NEXT_FRAME = decodeURI("%0A    at ");

/** Puts a stack together when it is first read. */
type StackFormatter = (error: unknown, frames: readonly CallSite[]) => unknown;

interface ErrorRealm {
  readonly Error: ErrorConstructor & { prepareStackTrace?: StackFormatter | undefined };
}

/** The source that `onerror` is told. Where it is set, it reads as it was set; a body's is the window's. */
function patchErrorHandler({ real }: OwnOrigin, realm: object): void {
  const handlers = new WeakMap<object, unknown>();
  let holder = realm;
  while (!Object.hasOwn(holder, "onerror")) holder = Object.getPrototypeOf(holder);
  for (const each of [holder, prototypeOf(realm, "HTMLBodyElement")])
    patchAccessor(each, "onerror", {
      get: (native) => handlers.get(native() as object) ?? native(),
      set(native, _self, value) {
        if (typeof value !== "function") return native(value);
        const handler = function (this: unknown, ...args: unknown[]): unknown {
          return Reflect.apply(value, this, args.map(real));
        };
        handlers.set(handler, value);
        native(handler);
      },
    });
}

/**
 * Stacks of errors. In windows V8's have none of the app's own functions. The first line has the error's message as it is when
 * a script first reads the stack; V8 by itself has the one that the error was made with.
 */
function patchStacks({ slotOrigin, realOrigin }: SlotIdentity, { Error: errors }: ErrorRealm): void {
  // The browser knows addresses at `blob:` by the slot's name alone, and scripts have them so.
  const realText = (value: unknown): unknown =>
    typeof value === "string"
      ? value.replaceAll(slotOrigin, (own, at: number) => (value.slice(0, at).endsWith("blob:") ? own : realOrigin))
      : value;
  const nameAndMessage = errors.prototype.toString;
  // Firefox has stacks so.
  patchAccessor(errors.prototype, "stack", { get: (native) => realText(native()) });
  const theirs = (frames: readonly CallSite[]): readonly CallSite[] =>
    frames.filter((frame) => !frame.getFileName()?.startsWith(`${slotOrigin}/.ropeway/`));
  const format: StackFormatter = (error, frames) => {
    let head = "<error>";
    try {
      head = Reflect.apply(nameAndMessage, error, []);
    } catch {
      // As V8 has it.
    }
    return realText([head, ...theirs(frames)].join(NEXT_FRAME));
  };
  /** A page's own formatter gets frames that tell real addresses. */
  const telling = (formatter: StackFormatter): StackFormatter => {
    const get = (frame: CallSite, key: PropertyKey): unknown => {
      const member: unknown = Reflect.get(frame, key);
      return typeof member === "function"
        ? (...args: unknown[]) => realText(Reflect.apply(member, frame, args))
        : member;
    };
    return (error, frames) =>
      Reflect.apply(formatter, errors, [error, theirs(frames).map((frame) => new Proxy(frame, { get }))]);
  };
  const known = new WeakSet<object>([format]);
  let formatter = format;
  const { prepareStackTrace } = errors;
  errors.prepareStackTrace = () => known;
  const isV8 = (new errors().stack as unknown) === known;
  delete errors.prepareStackTrace;
  if (isV8)
    Object.defineProperty(errors, "prepareStackTrace", {
      configurable: true,
      get: () => formatter,
      set(given: unknown) {
        formatter =
          typeof given !== "function"
            ? format
            : known.has(given)
              ? (given as StackFormatter)
              : telling(given as StackFormatter);
        known.add(formatter);
      },
    });
  // A worker's script may have run for a while.
  if (prepareStackTrace !== undefined) errors.prepareStackTrace = prepareStackTrace;
}
