import { useEffect, useState } from "preact/hooks";
import { later } from "../../../../shared/errors.ts";
import { readImageFacts } from "../../../../shared/web/image-facts.ts";
import { t } from "../../app/language.ts";
import { tCount } from "../../app/language-choice.ts";
import type { BrowserActions, BrowserState, Held, TabLine, TabsActions } from "../../app/state.ts";
import { shortHost } from "../parts/format.ts";
import { Glyph, Host, Icon, SiteIcon } from "../parts/icons.tsx";
import type { Ui } from "../ui.ts";
import { MenuRow, type RowIcon } from "./menu-sheet.tsx";
import { Sheet } from "./sheet.tsx";
import { cleanAddress } from "./site-sheet.tsx";

/** Characters of an address that is a sheet's title. */
const MOST_ADDRESS = 90;

const [UP, DOWN] = ["M12 19V5M6 11l6-6 6 6", "M12 5v14M6 13l6 6 6-6"];

interface TabsProps {
  readonly state: Pick<BrowserState, "tabs">;
  readonly actions: Pick<BrowserActions, "tabs">;
  readonly ui: Ui;
}

/** All tabs, in the person's order. */
export function TabsSheet({ state: { tabs }, actions, ui }: TabsProps) {
  const [isArranging, setArranging] = useState(false);
  const andClose = (act: () => void) => () => {
    ui.change({ sheet: null });
    act();
  };
  return (
    <Sheet title={tCount(tabs.length, "{count} tab", "{count} tabs")} onClose={() => ui.change({ sheet: null })}>
      <ul class={isArranging ? "tabs tabs-arranged" : "tabs"}>
        {tabs.map((tab, at) => (
          <li key={tab.id} class={tab.isShown ? "tab tab-on" : "tab"}>
            <button
              type="button"
              class="tab-main"
              aria-current={tab.isShown ? "true" : undefined}
              onClick={andClose(() => actions.tabs.show(tab.id))}
            >
              <TabPicture tab={tab} tabs={actions.tabs} />
              <span class="row-text">
                <bdi class="row-title">{nameOf(tab)}</bdi>
                {tab.url !== "" && <Host className="row-hint" url={tab.url} />}
              </span>
            </button>
            <TabButtons tab={tab} at={at} count={isArranging ? tabs.length : null} tabs={actions.tabs} />
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" class="button button-primary" onClick={andClose(() => actions.tabs.open())}>
          {t("New tab")}
        </button>
        {tabs.length > 1 && (
          <button type="button" class="button" aria-pressed={isArranging} onClick={() => setArranging(!isArranging)}>
            {t("Arrange")}
          </button>
        )}
      </div>
    </Sheet>
  );
}

/** The largest picture of the tab's page, out of the phone's store; the site's icon where there is none. */
function TabPicture({ tab, tabs }: Pick<ButtonsProps, "tab" | "tabs">) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    let shown: string | undefined;
    let isOver = false;
    const show = async (picture: Blob | null) => {
      if (picture === null || !(await isSmall(picture)) || isOver) return;
      shown = URL.createObjectURL(picture);
      setUrl(shown);
    };
    // Without it there is the icon.
    void tabs
      .picture(tab)
      .then(show)
      .catch(() => {});
    return () => {
      isOver = true;
      setUrl(null);
      if (shown !== undefined) URL.revokeObjectURL(shown);
    };
  }, [tab.picture]);
  return (
    <span class="tab-picture" aria-hidden="true">
      {url === null ? (
        <SiteIcon site={tab} large />
      ) : (
        <img src={url} alt="" decoding="async" draggable={false} onError={() => setUrl(null)} />
      )}
    </span>
  );
}

/** Pixels. A page can pack many more into a small file, and the app itself would decode them. */
const MOST_PIXELS = 16_000_000;

async function isSmall(picture: Blob): Promise<boolean> {
  const facts = readImageFacts(new Uint8Array(await picture.arrayBuffer()));
  return facts !== null && facts.width * facts.height <= MOST_PIXELS;
}

interface ButtonsProps {
  readonly tab: TabLine;
  readonly at: number;
  /** Of all tabs, while they are arranged. */
  readonly count: number | null;
  readonly tabs: TabsActions;
}

function TabButtons({ tab, at, count, tabs }: ButtonsProps) {
  if (count !== null)
    return (
      <span class="tab-buttons">
        <MoveButton tab={tab} where="up" isDisabled={at === 0} onClick={() => tabs.move(tab.id, at - 1)} />
        <MoveButton tab={tab} where="down" isDisabled={at === count - 1} onClick={() => tabs.move(tab.id, at + 1)} />
      </span>
    );
  return (
    <span class="tab-buttons">
      <button
        type="button"
        class="icon-button"
        aria-label={t("Close {name}", { name: nameOf(tab) })}
        onClick={() => tabs.close(tab.id)}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}

interface HeldProps {
  readonly held: Held;
  readonly hasTabs: boolean;
  readonly actions: BrowserActions;
  /** Into the list of downloads. */
  readonly onSave: (url: string, isPicture: boolean) => void;
}

const OF_LINK = {
  inFront: later("Open link in new tab"),
  behind: later("Open link in the background"),
  open: later("Open link"),
  copy: later("Copy address of link"),
  share: later("Share link"),
  save: later("Save link"),
};
const OF_PICTURE: typeof OF_LINK = {
  inFront: later("Open picture in new tab"),
  behind: later("Open picture in the background"),
  open: later("Open picture"),
  copy: later("Copy address of picture"),
  share: later("Share picture"),
  save: later("Save picture"),
};

/** Milliseconds for which the rows rest: a page could bring them under a finger. */
const REST = 500;

/** All that can be done with a link or a picture. */
export function HeldSheet({ held: { url, picture }, hasTabs, actions: { tab, tabs }, onSave }: HeldProps) {
  const row = (icon: RowIcon, label: string, act: () => unknown) => (
    <MenuRow
      icon={icon}
      label={label}
      onClick={() => {
        tab.letGo(true);
        // A share that the person cancels rejects, and so does a clipboard that is shut: nothing is to be said about it.
        void Promise.resolve(act()).catch(() => {});
      }}
    />
  );
  const rowsOf = (address: string, words: typeof OF_LINK) => (
    <>
      {hasTabs && row("plus", t(words.inFront), () => tabs.openLink(address, "in front"))}
      {hasTabs && row("tabs", t(words.behind), () => tabs.openLink(address, "behind"))}
      {!hasTabs && row("plus", t(words.open), () => tab.go(address))}
      {row("copy", t(words.copy), () => navigator.clipboard?.writeText(address))}
      {row("downloads", t(words.save), () => onSave(address, words === OF_PICTURE))}
      {"share" in navigator && row("share", t(words.share), () => navigator.share({ url: address }))}
    </>
  );
  const [isResting, setResting] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setResting(false), REST);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Sheet title={shortAddress(url ?? picture ?? "")} onClose={() => tab.letGo()}>
      <ul class="menu-rows" inert={isResting}>
        {url !== null && rowsOf(url, OF_LINK)}
        {picture !== null && rowsOf(picture, OF_PICTURE)}
      </ul>
    </Sheet>
  );
}

/** As much of it as fits, and all of the host: the site comes first, without a name and a password, which may look like one. */
function shortAddress(url: string): string {
  const text = (URL.canParse(url) ? cleanAddress(url) : url).replace(/^https?:\/\/(?:www\.)?/, "");
  const host = text.search(/[/?#]|$/);
  const most = Math.max(MOST_ADDRESS, host);
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

interface MoveProps {
  readonly tab: TabLine;
  readonly where: "up" | "down";
  readonly isDisabled: boolean;
  readonly onClick: () => void;
}

function MoveButton({ tab, where, isDisabled, onClick }: MoveProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={
        where === "up" ? t("Move {name} up", { name: nameOf(tab) }) : t("Move {name} down", { name: nameOf(tab) })
      }
      disabled={isDisabled}
      onClick={onClick}
    >
      <Glyph path={where === "up" ? UP : DOWN} />
    </button>
  );
}

function nameOf({ url, title }: TabLine): string {
  return title || shortHost(url) || t("Start page");
}
