import { useState } from "preact/hooks";
import type { KeptPage } from "../../../messages/kept-page.ts";
import { formatBytes, shortHost } from "../parts/format.ts";
import { SiteIcon } from "../parts/site-icon.tsx";
import { ConfirmButton } from "./confirm-button.tsx";

/** Pages shown on the start page before the person asks for all. */
const FIRST_PAGES = 6;

interface KeptSectionProps {
  readonly pages: readonly KeptPage[];
  readonly onOpen: (url: string) => void;
}

/** On the start page: what can be read without a link, whatever else goes. */
export function KeptSection({ pages, onOpen }: KeptSectionProps) {
  const [isWhole, setWhole] = useState(false);
  if (pages.length === 0) return null;
  const shown = isWhole ? pages : pages.slice(0, FIRST_PAGES);
  return (
    <section class="start-section" aria-labelledby="kept-heading">
      <div class="section-head">
        <h2 id="kept-heading">Kept</h2>
        {shown.length < pages.length && (
          <button type="button" class="text-button" onClick={() => setWhole(true)}>
            Show all {pages.length}
          </button>
        )}
      </div>
      <ul class="rows">
        {shown.map(({ url, title }) => (
          <li key={url} class="row">
            <button type="button" class="row-main" title={url} onClick={() => onOpen(url)}>
              <SiteIcon site={{ url, icon: null }} />
              <span class="row-text">
                <span class="row-title">{title || shortHost(url)}</span>
                <span class="row-hint">{shortHost(url)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface KeptListProps {
  readonly pages: readonly KeptPage[];
  readonly onUnkeep: (url: string) => void;
}

/** In the settings: what is kept, how much that is, and a way to keep it no longer. */
export function KeptList({ pages, onUnkeep }: KeptListProps) {
  if (pages.length === 0) return null;
  const [bytes, count] = [pages.reduce((sum, page) => sum + page.bytes, 0), pages.length];
  return (
    <details class="more">
      <summary>
        {count} {count === 1 ? "page" : "pages"} kept, {formatBytes(bytes)}
      </summary>
      <ul>
        {pages.map((page) => (
          <li key={page.url}>
            <ConfirmButton
              label={page.title || page.url}
              hint={formatBytes(page.bytes)}
              question={`${page.url} will go when this phone needs room for other pages.`}
              confirm="Keep no longer"
              done="Kept no longer"
              onConfirm={() => onUnkeep(page.url)}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}
