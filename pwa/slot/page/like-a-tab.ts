/**
 * Things that a browser does for a page in a tab of its own, and not in a frame of another origin: the shell is one. Idle
 * time is for frames in the page, too.
 */
import { frameNameOf } from "../documents/this-document.ts";
import { openedName } from "../slot-url.ts";
import type { PageContext } from "./page-context.ts";
import { patchAccessor, patchConstructor, patchMethod } from "./patch.ts";

export function actAsTab(context: PageContext): void {
  patchIdle(window);
  askPerson(context);
  if (!context.config.topLevel) return;
  keepWindowName(context);
  helpAutofocus();
  patchViewport();
}

/** Methods, of classes and of their objects, that `permissions.ts` answers. Passkeys are for the real host, which this one is not. */
const ASKED: Readonly<Record<string, RegExp>> = {
  Geolocation: /./,
  Clipboard: /^r/,
  MediaDevices: /^getU/,
  Permissions: /^q/,
  CredentialsContainer: /^[gc]/,
  PublicKeyCredential: /^is|Capab/,
};

/**
 * The browser would ask the person here once, for the app: frames of pages have no such permissions. So the app itself
 * asks, in the site's name. The part of this script that speaks with the app loads late.
 */
function askPerson(context: PageContext): void {
  let calls = 0;
  const realm = window as unknown as Readonly<Record<string, { readonly prototype: object } | undefined>>;
  const load = () => context.late<typeof import("./permissions.ts")>("permissions");
  document.addEventListener("focusin", ({ target }) => {
    if ((target as HTMLInputElement).type === "password") void load().then((late) => late.guardPasswords(context));
  });
  for (const [name, pattern] of Object.entries(ASKED))
    for (const holder of [realm[name], realm[name]?.prototype])
      for (const method in holder) {
        if (!pattern.test(method)) continue;
        patchMethod(holder, method, (native, self, args) => {
          const call = { method, id: ++calls, args, native: () => native(self, args) };
          // The browser throws: nobody would hear of the answer.
          if (/Pos/.test(method) && typeof args[0] !== "function") return call.native();
          const answered = load().then((late) => late.answer(context, call), call.native);
          if (name !== "Geolocation") return answered;
          return /^w/.test(method) ? call.id : undefined;
        });
      }
}

/** The browser refuses `autofocus` in such frames (HTML section 6.6.7). The shell gives the page the focus a little later. */
function helpAutofocus(): void {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const focus = () => {
    if (isOver || document.readyState === "loading" || !document.hasFocus()) return;
    // A script, or the person, was first; or the address names a part of the page.
    if (document.activeElement !== document.body || document.querySelector(":target") !== null) return end();
    const candidate = document.querySelector<HTMLElement>("[autofocus]");
    candidate?.focus();
    if (candidate !== null) end();
  };
  for (const type of ["DOMContentLoaded", "load", "focus"]) window.addEventListener(type, focus);
  for (const type of ["pointerdown", "keydown"]) window.addEventListener(type, end, true);
}

/**
 * Intersection observers without a root. In a frame of another origin than the top-level document's, the browser ignores
 * their margin and tells no root bounds (Intersection Observer section 2.2.1). The shell is one, so the page's own
 * viewport, which is what pages mean, is named as the root, and not told.
 */
function patchViewport(): void {
  const implicit = new WeakSet<object>();
  patchConstructor(window, "IntersectionObserver", (construct, [callback, options, ...rest]) => {
    const given = options as IntersectionObserverInit | null | undefined;
    if ((given?.root ?? null) !== null) return construct([callback, options, ...rest]);
    // Object.create throws for what is no object, as the observer's own constructor does.
    const observer = construct([callback, Object.create(given ?? null, { root: { value: document } }), ...rest]);
    implicit.add(observer);
    return observer;
  });
  patchAccessor(IntersectionObserver.prototype, "root", {
    get: (native, self) => (implicit.has(self as object) ? null : native()),
  });
}

/**
 * Idle callbacks of a quiet page. Chromium (156) tells a renderer that no frame is due, which begins an idle period, by
 * its page's own document only. A slot's document is in another process than the shell's (`Origin-Agent-Cluster`): there
 * the time after a drawn frame is all that counts as idle. So a page that waits for idle time asks for frames.
 *
 * @param frame of the window, to draw which costs next to nothing where nothing has changed.
 */
export function patchIdle(
  target: object,
  frame: (callback: () => void) => void = requestAnimationFrame.bind(window),
): void {
  let waiting = 0;
  const draw = (): void => {
    if (waiting > 0) frame(draw);
  };
  patchMethod(target, "requestIdleCallback", (native, self, args) => {
    const handle = native(self, args);
    // Comes after the page's, also after one that was cancelled.
    native(self, [() => void waiting--]);
    if (++waiting === 1) frame(draw);
    return handle;
  });
}

const STORAGE_KEY = "ropeway.window-name";

interface KeptName {
  readonly name: string;
  /** Of entries of the history. */
  readonly keys: readonly string[];
}

/** Those of an origin, the latest last. There may be none to be had, nor room for one. */
function keptNames(): readonly KeptName[] {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]") as readonly KeptName[];
  } catch {
    return [];
  }
}

/**
 * `window.name` of the page. In a browser's tab a page of another origin finds it empty, and the way back finds it again
 * (HTML section 7.4.6.1). All pages of a tab are in one frame, whose name stays as it is. So the frame has none, but
 * where a page has opened it, and each origin keeps its own, for entries of the history that follow one another in it. The name that the frame has when
 * a document begins is another site's, set past this as late as its `unload`.
 */
function keepWindowName({ navigation }: PageContext): void {
  // There the entry has another key than before.
  const { isBack, opened, meeting } = frameNameOf(window.name);
  window.name = opened === null ? "" : openedName(opened, meeting);
  // Without the Navigation API an origin has one name.
  const keys = navigation?.entries().map(({ key }) => key) ?? [""];
  const isHere = (kept: KeptName) => kept.keys.some((key) => keys.includes(key));
  const kept = keptNames();
  let { name = opened ?? "" } = kept.find(isHere) ?? (isBack ? kept.at(-1) : undefined) ?? {};
  patchAccessor(window, "name", {
    get: () => name,
    set(_native, _self, value) {
      name = String(value);
      const others = keptNames().filter((kept) => !isHere(kept));
      try {
        sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...others, { name, keys }]));
      } catch {}
    },
  });
}
