/**
 * Scripts' reads of `location` and `top`, which nobody can change. The edge has these reads go through a call (PROTOCOL.md
 * section 5.12), which swaps the two objects for others that name the real site. The call gives back every other value as
 * it is, and nothing that a page cannot have without it.
 */
import { parseUrl } from "../../../shared/web/origin.ts";
import { READ_HOOK, withoutReadMarks } from "../../../shared/web/read-marks.ts";
import type { PageConfig } from "../documents/page-config.ts";
import { toReal, toSlot } from "../slot-url.ts";
import type { PageMessages } from "./messages.ts";
import { pageAround } from "./navigations.ts";
import type { OpenedWindows } from "./opened-windows.ts";
import type { OriginNames } from "./origin-names.ts";
import type { OwnOrigin } from "./own-origin.ts";
import type { PageContext } from "./page-context.ts";

const PARTS = ["protocol", "host", "hostname", "port", "pathname", "search", "hash"] as const;

export function answerReads(
  { config }: PageContext,
  { real }: OwnOrigin,
  { names, steered, addressee }: PageMessages,
  opened: OpenedWindows,
): void {
  const { location: native, top } = window;
  const shown = createLocation(native, config, names);
  const swap = (value: unknown): unknown => {
    if (typeof value === "string") return real(value);
    if (value === native) return shown;
    if (value === top) return pageAround();
    return typeof value === "object" && value !== null ? (opened.standIn(value) ?? steered(value)) : value;
  };
  const partsOf = (value: unknown): unknown =>
    value === window || value === document || value === window.frames
      ? new Proxy(value as object, {
          get: (target, name) => swap(Reflect.get(target, name)),
        })
      : swap(value);
  hideMarks();
  // Those that stood in the document have run, or what they are was read.
  document.addEventListener("readystatechange", unmarkScripts, { once: true });
  Object.defineProperty(window, READ_HOOK, {
    value: (value: unknown, _hook: unknown, kind: unknown) =>
      kind === 1 ? partsOf(value) : kind === 2 ? addressee(swap(value)) : swap(value),
    writable: true,
  });
}

/** A function's text is as its site wrote it: workers are made of such texts, and have no hook. */
function hideMarks(): void {
  const { toString: native } = Function.prototype;
  const shown: typeof native = new Proxy(native, {
    apply: (target, value, args) => withoutReadMarks(Reflect.apply(target, value === shown ? target : value, args)),
  });
  Object.defineProperty(Function.prototype, "toString", { value: shown, writable: true, configurable: true });
}

/** Scripts compare documents as they are with those that they fetch, and write documents' texts elsewhere. */
function unmarkScripts(): void {
  for (const { firstChild: text } of document.scripts)
    if (text instanceof Text && text.data.includes(READ_HOOK)) text.data = withoutReadMarks(text.data);
}

function createLocation(native: Location, config: PageConfig, names: OriginNames): Location {
  const { assign, replace, reload } = native;
  const real = () => toReal(native.href, config);
  const onSlot = (url: unknown): string => {
    const text = String(url);
    const absolute = parseUrl(text, document.baseURI)?.href;
    // Those that are no addresses, as the browser takes them.
    return absolute === undefined ? text : toSlot(absolute, config);
  };
  const go = (url: unknown) => assign.call(native, onSlot(url));
  const members: PropertyDescriptorMap = {
    href: { get: real, set: go },
    origin: { get: () => (native.origin === config.slotOrigin ? config.realOrigin : native.origin) },
    // The shell around the page is left out.
    ancestorOrigins: { get: () => listOf([...(native.ancestorOrigins ?? [])].slice(0, -1), names) },
    assign: { value: go },
    replace: { value: (url: unknown) => replace.call(native, onSlot(url)) },
    reload: { value: () => reload.call(native) },
    toString: { value: real },
    valueOf: { value: () => shown },
  };
  for (const part of PARTS)
    members[part] = {
      get: () => parseUrl(real())?.[part] ?? native[part],
      set(value: unknown) {
        const url = parseUrl(real());
        if (url === null || isOfPath(part)) native[part] = String(value);
        else {
          url[part] = String(value);
          go(url.href);
        }
      },
    };
  for (const member of Object.values(members)) member.enumerable = true;
  const shown: Location = Object.create(Location.prototype, members);
  return shown;
}

/** The slot has it, too. */
const isOfPath = (part: (typeof PARTS)[number]): boolean => ["pathname", "search", "hash"].includes(part);

function listOf(slots: readonly string[], names: OriginNames): DOMStringList {
  const origins = slots.map((slot) => names.real(slot) ?? slot);
  const item = (at: number) => origins[at] ?? null;
  const contains = (origin: string) => origins.includes(origin);
  const members = { ...origins, length: origins.length, item, contains };
  return Object.create(DOMStringList.prototype, Object.getOwnPropertyDescriptors(members));
}
