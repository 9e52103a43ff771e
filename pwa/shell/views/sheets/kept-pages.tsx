import { useState } from "preact/hooks";
import { later } from "../../../../shared/errors.ts";
import type { KeptPage } from "../../../messages/tunnel-messages.ts";
import { t } from "../../app/language.ts";
import { tCount } from "../../app/language-choice.ts";
import type { KeepResult, Phone } from "../../app/phone.ts";
import { agoText } from "../bar/link-pill.tsx";
import { formatBytes, shortHost } from "../parts/format.ts";
import { Host, SiteIcon } from "../parts/icons.tsx";
import { ConfirmButton, SwitchSetting } from "./sheet.tsx";

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
        <h2 id="kept-heading">{t("Kept")}</h2>
        {shown.length < pages.length && (
          <button type="button" class="text-button" onClick={() => setWhole(true)}>
            {t("Show all {count}", { count: pages.length })}
          </button>
        )}
      </div>
      <ul class="rows">
        {shown.map(({ url, title }) => (
          <li key={url} class="row">
            <button type="button" class="row-main" title={url} onClick={() => onOpen(url)}>
              <SiteIcon site={{ url, icon: null }} />
              <span class="row-text">
                <bdi class="row-title">{title || shortHost(url)}</bdi>
                <Host className="row-hint" url={url} />
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
        {tCount(count, "{count} page kept, {size}", "{count} pages kept, {size}", { size: formatBytes(bytes) })}
      </summary>
      <ul>
        {pages.map((page) => (
          <li key={page.url}>
            <ConfirmButton
              label={page.title || page.url}
              hint={formatBytes(page.bytes)}
              question={t("{url} will go when this phone needs room for other pages.", { url: page.url })}
              confirm={t("Keep no longer")}
              done={t("Kept no longer")}
              onConfirm={() => onUnkeep(page.url)}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}

interface KeepSettingProps {
  readonly url: string;
  readonly title: string;
  readonly phone: Phone;
}

/** Keeps the page that is shown, or keeps it no longer. */
export function KeepSetting({ url, title, phone }: KeepSettingProps) {
  const [result, setResult] = useState<KeepResult | null>(null);
  const [isBusy, setBusy] = useState(false);
  const page = phone.findKept(url);
  const change = async (task: Promise<KeepResult | null>): Promise<void> => {
    setBusy(true);
    setResult(await task);
    setBusy(false);
  };
  const keep = () => change(phone.keep(url, title));
  const unkeep = () => change(phone.unkeep(url).then(() => null));
  return (
    <SwitchSetting
      label={t("Keep this page")}
      isOn={page !== null}
      hint={keepText(page, result, Date.now())}
      isBusy={isBusy}
      onChange={page === null ? keep : unkeep}
    >
      {page !== null && (
        <button type="button" class="text-button" disabled={isBusy} onClick={keep}>
          {t("Keep it as it is now")}
        </button>
      )}
    </SwitchSetting>
  );
}

const REFUSALS: Record<Exclude<KeepResult, "kept">, string> = {
  forbidden: later("Cannot keep it: its site does not allow this page to be stored."),
  form: later("Cannot keep it: it is the answer to a form."),
  "not-stored": later("Cannot keep it: this phone has not stored it. Reload the page, then try again."),
  "no-room": later("Cannot keep it: there is no room left on this phone for it."),
  unavailable: later("Cannot keep it now: try again."),
};

/** Words for the task of the switch, or for its outcome. @param now as `Date.now()` */
export function keepText(page: KeptPage | null, result: KeepResult | null, now: number): string {
  if (result !== null && result !== "kept") return t(REFUSALS[result]);
  if (page === null) return t("Stays on this phone as it is now, to be read without a link.");
  const { keptAt, bytes, missing } = page;
  const kept = t("Kept {ago}, {size}.", { ago: agoText(keptAt, now), size: formatBytes(bytes) });
  if (missing === 0) return kept;
  const lacks = tCount(
    missing,
    "Without a link it lacks {count} part that could not be stored.",
    "Without a link it lacks {count} parts that could not be stored.",
  );
  return `${kept} ${lacks}`;
}
