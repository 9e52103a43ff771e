import { useEffect, useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import { reloadApp } from "../../app/phone.ts";
import { sizeOf, withSize, ZOOMS } from "../../app/settings.ts";
import type { BrowserActions, BrowserState, SiteSize } from "../../app/state.ts";
import type { UiWithLibrary } from "../library/library-chunk.tsx";
import { shortHost } from "../parts/format.ts";
import { Glyph, Host, Icon, type IconName, SiteIcon } from "../parts/icons.tsx";
import { Sheet } from "./sheet.tsx";

const GLYPHS = {
  plus: "M12 5v14M5 12h14",
  tabs: "M8 8h11a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1zM4 16V5a1 1 0 0 1 1-1h11",
  find: "M16 16l4.5 4.5M18 11a7 7 0 1 1-14 0 7 7 0 0 1 14 0z",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M17 7a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM11 17a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9-4.3-4.1 5.9-.8z",
  bookmarks: "M6.5 3.5h11a1 1 0 0 1 1 1v16L12 16l-6.5 4.5v-16a1 1 0 0 1 1-1z",
  history: "M3.5 12a8.5 8.5 0 1 0 2.8-6.3M3.5 4v4h4M12 7.5V12l3 2",
  copy: "M9 9h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1zM5 15.5H4.5a1 1 0 0 1-1-1v-10a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1V5",
  share: "M12 15V3.5M8 7l4-4 4 4M6 11H5.5a1 1 0 0 0-1 1v8a1 1 0 0 0 1 1h13a1 1 0 0 0 1-1v-8a1 1 0 0 0-1-1H18",
  downloads: "M12 3.5V15M8 11l4 4 4-4M4.5 16v3.5a1 1 0 0 0 1 1h13a1 1 0 0 0 1-1V16",
  update: "M12 20.5V9M8 13l4-4 4 4M4.5 9V4.5a1 1 0 0 1 1-1h13a1 1 0 0 1 1 1V9",
  reader: "M5 5h14M5 9.7h14M5 14.4h14M5 19h8",
  print: "M7 8V3.5h10V8M7 17H4.5a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1h15a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H17M7 13.5h10v7H7z",
  info: "M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0zM12 11v5.5M12 7.5v.01",
} as const;

interface MenuProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly ui: UiWithLibrary;
}

/** Everything that does not fit in the bar, for the page that is shown. */
export function MenuSheet(props: MenuProps) {
  const { state, ui } = props;
  const isPage = state.url !== "";
  // Rows that come later would move others from under a finger.
  const [hasUpdate] = useState(state.hasUpdate);
  return (
    <Sheet
      title={t("Menu")}
      kind="menu"
      header={isPage ? <MenuHeader state={state} /> : undefined}
      onClose={() => ui.change({ sheet: null })}
    >
      {isPage && <PageIcons {...props} />}
      {isPage && <PageSize {...props} />}
      <ul class="menu-rows">
        {hasUpdate && (
          <MenuRow icon="update" label={t("Open the newer version of the app")} onClick={() => reloadApp()} />
        )}
        <TabRows {...props} />
        {isPage && <PageRows {...props} />}
        <MenuRow icon="bookmarks" label={t("Bookmarks")} onClick={() => ui.change({ sheet: "bookmarks" })} />
        <MenuRow icon="history" label={t("History")} onClick={() => ui.change({ sheet: "history" })} />
        <MenuRow icon="downloads" label={t("Downloads")} onClick={() => ui.change({ sheet: "downloads" })} />
        <MenuRow icon="settings" label={t("Settings")} onClick={() => ui.change({ sheet: "settings" })} />
      </ul>
    </Sheet>
  );
}

function MenuHeader({ state }: Pick<MenuProps, "state">) {
  return (
    <div class="sheet-site">
      <SiteIcon site={state} />
      <span class="row-text" aria-hidden="true">
        <bdi class="row-title">{state.title || shortHost(state.url)}</bdi>
        <Host className="row-hint" url={state.url} />
      </span>
    </div>
  );
}

function PageIcons({ state: { url, title, icon, pinned, canGoForward }, actions, ui }: MenuProps) {
  const isPinned = pinned.some((site) => site.url === url);
  const andClose = (action: () => void) => () => {
    ui.change({ sheet: null });
    action();
  };
  return (
    <div class="menu-icons">
      <MenuIcon
        icon="forward"
        label={t("Forward")}
        isDisabled={!canGoForward}
        onClick={andClose(() => actions.tab.forward())}
      />
      <MenuIcon icon="home" label={t("Home")} onClick={andClose(() => actions.tab.home())} />
      <MenuIcon icon="reload" label={t("Reload")} onClick={andClose(() => actions.tab.reload())} />
      <MenuIcon
        icon="pin"
        label={isPinned ? t("Unpin") : t("Pin")}
        isOn={isPinned}
        onClick={andClose(() => (isPinned ? actions.app.unpin(url) : actions.app.pin({ url, title, icon })))}
      />
    </div>
  );
}

/** How large the pages of the site are. The menu stays open: the page behind it shows what changes. */
function PageSize({ state: { url, settings }, actions }: MenuProps) {
  const size = sizeOf(settings, url);
  const change = (part: Partial<SiteSize>) => actions.app.changeSettings(withSize(settings, { ...size, ...part }));
  const at = ZOOMS.indexOf(size.zoom);
  const step = (label: string, sign: string, to: number) => (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      disabled={ZOOMS[to] === undefined}
      onClick={() => change({ zoom: ZOOMS[to] ?? size.zoom })}
    >
      {sign}
    </button>
  );
  return (
    <div class="page-size">
      <button
        type="button"
        class="menu-row"
        role="switch"
        aria-checked={size.isWide}
        onClick={() => change({ isWide: !size.isWide })}
      >
        <span class="confirm-label">{t("Desktop width")}</span>
        <span class="switch" />
      </button>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no row. */}
      <div class="menu-row" role="group" aria-label={t("Page size")}>
        <span class="confirm-label">{t("Page size")}</span>
        {step(t("Smaller"), "−", at - 1)}
        <output>{t("{number} %", { number: size.zoom })}</output>
        {step(t("Larger"), "+", at + 1)}
      </div>
    </div>
  );
}

/** Where pages have one frame, there is one tab. */
function TabRows({ state: { tabs }, actions, ui }: MenuProps) {
  if (tabs.length === 0) return null;
  const open = () => {
    ui.change({ sheet: null });
    actions.tabs.open();
  };
  return (
    <>
      <MenuRow icon="plus" label={t("New tab")} onClick={open} />
      {tabs.length > 1 && (
        <MenuRow
          icon="tabs"
          label={t("Tabs ({count})", { count: tabs.length })}
          onClick={() => ui.change({ sheet: "tabs" })}
        />
      )}
    </>
  );
}

/** Rows that cannot help yet rest in their places: rows that come later would move others from under a finger. */
function PageRows({ state: { url, title, phase, error }, actions, ui }: MenuProps) {
  const isLoaded = phase === "loaded" && error === null;
  const [isCopied, setCopied] = useState(false);
  const close = () => ui.change({ sheet: null });
  const isMarked = ui.library?.isMarked(url) === true;
  return (
    <>
      <MenuRow
        icon="star"
        label={isMarked ? t("Remove bookmark") : t("Add bookmark")}
        isOn={isMarked}
        onClick={() => ui.library?.toggleMark({ url, title })}
      />
      <MenuRow
        icon="copy"
        label={isCopied ? t("Address copied") : t("Copy address")}
        onClick={() => void navigator.clipboard?.writeText(url).then(() => setCopied(true), close)}
      />
      {"share" in navigator && (
        <MenuRow
          icon="share"
          label={t("Share")}
          onClick={() => {
            close();
            // A share that the person cancels rejects; there is nothing to say about it.
            void navigator.share({ title, url }).catch(() => {});
          }}
        />
      )}
      <MenuRow
        icon="find"
        label={t("Find in page")}
        isDisabled={!isLoaded}
        onClick={() => ui.change({ sheet: null, isFinding: true })}
      />
      <ReaderRow key={`${isLoaded} ${url}`} isLoaded={isLoaded} onClick={close} />
      <MenuRow
        icon="print"
        label={t("Print")}
        isDisabled={!isLoaded}
        onClick={() => {
          close();
          actions.tab.print();
        }}
      />
      <MenuRow icon="info" label={t("Site information")} onClick={() => ui.change({ sheet: "site" })} />
    </>
  );
}

/** Rests until the page is known to have an article. */
function ReaderRow({ isLoaded, onClick }: Pick<MenuRowProps, "onClick"> & { readonly isLoaded: boolean }) {
  const [hasArticle, setArticle] = useState(false);
  useEffect(() => void (isLoaded && read(false).then(setArticle)), []);
  const open = () => {
    onClick();
    void read(true);
  };
  return <MenuRow icon="reader" label={t("Reader")} isDisabled={!hasArticle} onClick={open} />;
}

/** As of `readShown`. */
async function read(isShown: boolean): Promise<boolean> {
  try {
    const { readShown } = (await import(self.__FIND)) as typeof import("../find/find-chunk.tsx");
    return await readShown(isShown);
  } catch {
    return false;
  }
}

interface MenuIconProps {
  readonly icon: IconName;
  readonly label: string;
  readonly isDisabled?: boolean;
  readonly isOn?: boolean;
  readonly onClick: () => void;
}

function MenuIcon({ icon, label, isDisabled = false, isOn = false, onClick }: MenuIconProps) {
  return (
    <button type="button" class={isOn ? "menu-icon menu-icon-on" : "menu-icon"} disabled={isDisabled} onClick={onClick}>
      <Icon name={icon} />
      {label}
    </button>
  );
}

export type RowIcon = keyof typeof GLYPHS;

interface MenuRowProps {
  readonly icon: RowIcon;
  readonly label: string;
  readonly isDisabled?: boolean;
  readonly isOn?: boolean;
  readonly onClick: () => void;
}

export function MenuRow({ icon, label, isDisabled = false, isOn = false, onClick }: MenuRowProps) {
  return (
    <li>
      <button type="button" class={isOn ? "menu-row menu-row-on" : "menu-row"} disabled={isDisabled} onClick={onClick}>
        <Glyph path={GLYPHS[icon]} />
        {label}
      </button>
    </li>
  );
}
