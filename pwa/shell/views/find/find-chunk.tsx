/** Entry of the script of "Find in page", which the sheets' script loads when it is wanted first. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MOST_MATCHES } from "../../../messages/find-messages.ts";
import type { FindOrder } from "../../../messages/page-messages.ts";
import type { FindHost } from "../../../slot/page/find-text.ts";
import { numberText, t } from "../../app/language.ts";
import { Glyph, Icon } from "../parts/icons.tsx";
import { readPage } from "./page-reader.ts";
import { type Found, PageSearch } from "./page-search.ts";

declare global {
  interface Window {
    /** Path of the script with which documents search themselves; the build puts it here. */
    readonly __FIND_TEXT: string;
    /** Likewise, of that with which a page shows its article. */
    readonly __READER: string;
  }
}

export interface FindProps {
  /** The frame of the page that is shown. */
  readonly frame: () => HTMLIFrameElement | null;
  /** A page is on its way. */
  readonly isLoading: boolean;
  readonly onClose: () => void;
}

const UP = "M6 14.5l6-6 6 6";
const DOWN = "M6 9.5l6 6 6-6";

/** As of `readPage`, of the frame that is shown. */
export async function readShown(isShown: boolean): Promise<boolean> {
  const host = document.querySelector(".frame-host");
  const frame = host?.shadowRoot?.querySelector<HTMLIFrameElement>("iframe:not([inert])") ?? null;
  if (frame === null) return false;
  const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches && "dark");
  const options = { script: self.__READER, storage: localStorage, isDark: () => dark === "dark" };
  const focus = () => {
    frame.focus();
    frame.contentWindow?.focus();
  };
  // The article takes the focus within the page.
  if (isShown) focus();
  const isThere = await readPage(frame, isShown, options);
  // Where two processes take the focus at once, each may think that the other has it (Chromium 156).
  if (isShown && isThere && !frame.inert && [host, document.body].includes(document.activeElement)) focus();
  return isThere;
}

/** The row in the place of the address bar. It ends with the page that it was opened for. */
export function FindBar({ frame, isLoading, onClose }: FindProps) {
  const [found, setFound] = useState<Found>({ count: 0, at: 0, phase: "idle" });
  const [page] = useState(frame);
  const [search] = useState(() => searchIn(page, setFound));
  const fieldRef = useRef<HTMLInputElement>(null);
  const wasLoading = useRef(isLoading);

  useLayoutEffect(() => {
    fieldRef.current?.focus();
    const hear = (event: MessageEvent) => search?.hear(event);
    window.addEventListener("message", hear);
    return () => {
      window.removeEventListener("message", hear);
      search?.end();
    };
  }, []);
  useEffect(() => {
    const isOther = frame() !== page || (isLoading && !wasLoading.current);
    wasLoading.current = isLoading;
    if (isOther) onClose();
  });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter" && event.target === fieldRef.current) search?.step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const step = (label: string, path: string, by: 1 | -1) => (
    <StepButton label={label} path={path} isDisabled={found.count === 0} onClick={() => search?.step(by)} />
  );

  return (
    // biome-ignore lint/a11y/useSemanticElements: `search` is new in browsers.
    <div class="find-bar" role="search" aria-label={t("Find in page")} onKeyDown={onKeyDown}>
      <input
        ref={fieldRef}
        class="find-field"
        type="text"
        aria-label={t("Find in page")}
        placeholder={t("Find in page")}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        enterkeyhint="search"
        maxLength={1_000}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onInput={({ currentTarget }) => search?.search(currentTarget.value)}
      />
      <output class="find-count">{countText(found)}</output>
      {step(t("Previous match"), UP, -1)}
      {step(t("Next match"), DOWN, 1)}
      <button type="button" class="icon-button" aria-label={t("Close find")} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}

interface StepProps {
  readonly label: string;
  readonly path: string;
  readonly isDisabled: boolean;
  readonly onClick: () => void;
}

function StepButton({ label, path, isDisabled, onClick }: StepProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} disabled={isDisabled} onClick={onClick}>
      <Glyph path={path} />
    </button>
  );
}

/** "3 of 17". */
export function countText({ count, at, phase }: Found): string {
  if (phase === "idle") return "";
  if (phase === "silent") return t("Reload the page to search it");
  if (count === 0) return phase === "done" ? t("No matches") : "";
  return t("{at} of {count}", { at, count: count === MOST_MATCHES ? `${numberText(count)}+` : count });
}

function searchIn(frame: HTMLIFrameElement | null, onChange: (found: Found) => void): PageSearch | null {
  const page = frame?.contentWindow ?? null;
  const document = frame?.contentDocument ?? null;
  if (page === null) return null;
  let script: Promise<string> | undefined;
  return new PageSearch({
    page,
    // A page without scripts is of the app's own origin: the app searches it in its place.
    own: document && ((order, tell) => void findHere({ document, tell, from: null, view: null }, order)),
    script: () => {
      script ??= document === null ? fetch(self.__FIND_TEXT).then((response) => response.text()) : Promise.resolve("");
      return script;
    },
    onChange,
  });
}

async function findHere(host: FindHost, order: FindOrder): Promise<void> {
  const { find } = (await import(self.__FIND_TEXT)) as typeof import("../../../slot/page/find-text.ts");
  find(host, order);
}
