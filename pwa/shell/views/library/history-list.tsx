import { useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import { localeTag, tCount } from "../../app/language-choice.ts";
import { dayOf } from "../../app/phone.ts";
import type { BrowserActions } from "../../app/state.ts";
import { type Library, type Visit, withWords } from "../../library/library.ts";
import { shortHost } from "../parts/format.ts";
import { Host, Icon, SiteIcon } from "../parts/icons.tsx";
import type { Ui } from "../ui.ts";
import { FileButtons } from "./file-buttons.tsx";
import { type Done, doneOf, UndoBar } from "./undo-bar.tsx";

/** Pages shown before the person asks for more, and so many more each time. */
const ROWS = 100;
const DAY = 86_400_000;

interface HistoryProps {
  readonly library: Library;
  readonly actions: BrowserActions;
  readonly ui: Ui;
}

/** Pages by the day of their visit, with a field to find some of them. */
export function HistoryList({ library, actions, ui }: HistoryProps) {
  const [words, setWords] = useState("");
  const [rows, setRows] = useState(ROWS);
  const [done, setDone] = useState<Done | null>(null);
  const all = library.visits;
  if (all === null) return <p class="fine">{t("Reading…")}</p>;
  const found = withWords(all, words);
  const forget = (visits: readonly Visit[], text: string) =>
    void library.forgetVisits(visits).then((undo) => setDone(doneOf(text, undo)));
  const open = (url: string) => {
    ui.change({ sheet: null });
    actions.tab.go(url);
  };
  return (
    <>
      <div class="library-head">
        <SearchField
          onWords={(typed) => {
            setWords(typed);
            setRows(ROWS);
          }}
        />
        {all.length > 0 && (
          <button
            type="button"
            class="text-button"
            onClick={() => {
              ui.change({ sheet: null });
              // The bar says so, and offers to take it back.
              actions.app.forgetRecent("all");
            }}
          >
            {t("Forget all")}
          </button>
        )}
      </div>
      <p class={found.length > 0 ? "visually-hidden" : "fine"} role="status">
        {countText(all.length, found.length, words)}
      </p>
      {daysOf(found.slice(0, rows)).map(([day, visits]) => (
        <DaySection
          key={day}
          heading={dayText(day, Date.now())}
          {...{ visits, library, open, forget }}
          whole={words.trim() === "" ? found.filter((visit) => visit.day === day) : null}
        />
      ))}
      {rows < found.length && (
        <button type="button" class="text-button" onClick={() => setRows(rows + ROWS)}>
          {t("Show older pages")}
        </button>
      )}
      <FileButtons library={library} part="history" onDone={setDone} />
      <UndoBar done={done} onClose={() => setDone(null)} />
    </>
  );
}

function SearchField({ onWords }: { readonly onWords: (words: string) => void }) {
  return (
    <input
      class="field"
      type="search"
      aria-label={t("Search in the history")}
      placeholder={t("Search")}
      enterkeyhint="search"
      autocomplete="off"
      onInput={(event) => onWords(event.currentTarget.value)}
    />
  );
}

function countText(all: number, found: number, words: string): string {
  if (all === 0) return t("Pages that you visit will be listed here for 90 days, on this phone alone.");
  if (found === 0) return t("No page with these words.");
  return words.trim() === "" ? "" : tCount(found, "{count} page", "{count} pages");
}

interface DayProps {
  readonly heading: string;
  readonly visits: readonly Visit[];
  /** All of that day; null while only some are looked for. */
  readonly whole: readonly Visit[] | null;
  readonly library: Library;
  readonly open: (url: string) => void;
  readonly forget: (visits: readonly Visit[], text: string) => void;
}

function DaySection({ heading, visits, whole, library, open, forget }: DayProps) {
  return (
    <section aria-label={heading}>
      <div class="section-head">
        <h3>{heading}</h3>
        {whole && (
          <button
            type="button"
            class="text-button"
            aria-label={t("Forget {name}", { name: heading })}
            onClick={() => forget(whole, t("{name} forgotten", { name: heading }))}
          >
            {t("Forget")}
          </button>
        )}
      </div>
      <ul class="rows">
        {visits.map((visit) => {
          const { url, title, at } = visit;
          return (
            <li key={url} class="row">
              <button type="button" class="row-main" title={url} onClick={() => open(url)}>
                <SiteIcon site={{ url, icon: library.iconOf(url) }} />
                <span class="row-text">
                  <bdi class="row-title">{title || shortHost(url)}</bdi>
                  <Host className="row-hint" url={url} />
                </span>
                <time class="fine" dateTime={new Date(at).toISOString()}>
                  {timeText(at)}
                </time>
              </button>
              <button
                type="button"
                class="icon-button quiet"
                aria-label={t("Forget {name}", { name: title || shortHost(url) })}
                onClick={() => forget([visit], t("Forgotten"))}
              >
                <Icon name="close" />
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Visits of each day together, in their order. */
export function daysOf(visits: readonly Visit[]): readonly (readonly [day: string, visits: readonly Visit[]])[] {
  return [...Map.groupBy(visits, ({ day }) => day)];
}

/** @param day as of `Visit`. @param now as `Date.now()` */
export function dayText(day: string, now: number): string {
  const noon = new Date(now).setHours(12);
  if (day === dayOf(noon)) return t("Today");
  if (day === dayOf(noon - DAY)) return t("Yesterday");
  const [year, month, date] = day.split("-").map(Number);
  const time = new Date(year ?? 0, (month ?? 1) - 1, date);
  const isThisYear = year === new Date(now).getFullYear();
  return time.toLocaleDateString(localeTag(), {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(isThisYear ? {} : { year: "numeric" }),
  });
}

/** As the phone writes it. */
function timeText(at: number): string {
  return new Date(at).toLocaleTimeString(localeTag(), { hour: "numeric", minute: "2-digit" });
}
