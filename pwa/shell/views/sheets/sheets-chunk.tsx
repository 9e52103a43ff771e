/** Entry of the sheets' script, which the shell loads when no page waits for it (`LateSheets`). */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { LITE_WORKER_QUERY } from "../../../messages/lite-messages.ts";
import type { Download } from "../../../messages/tunnel-messages.ts";
import { importAgain } from "../../../platform/platform.ts";
import { t } from "../../app/language.ts";
import { chooseLanguage } from "../../app/language-choice.ts";
import { Phone, type PhoneOptions } from "../../app/phone.ts";
import type { BrowserActions, BrowserState } from "../../app/state.ts";
import type { FindProps } from "../find/find-chunk.tsx";
import type { UiWithLibrary } from "../library/library-chunk.tsx";
import { errorSentences } from "../pages/error-texts.ts";
import type { SheetName, Ui } from "../ui.ts";
import { KeptSection } from "./kept-pages.tsx";
import { MenuSheet } from "./menu-sheet.tsx";
import { SettingsSheet } from "./settings-sheet.tsx";
import { Sheet } from "./sheet.tsx";
import { SignInSheet } from "./sign-in-sheet.tsx";
import { PastSheet, SiteSheet } from "./site-sheet.tsx";
import { HeldSheet, TabsSheet } from "./tabs-sheet.tsx";

/** The sheets, and the phone that they show. */
export function openSheets(options: PhoneOptions, language: string) {
  const phone = new Phone(options);
  void chooseLanguage(language, () => options.app.draw());
  // Where the app is installed, the script that this needs is at hand.
  if (navigator.serviceWorker?.controller) {
    void loadDevices().then(
      ({ renew }) => renew(),
      () => {},
    );
  }
  return {
    phone,
    onDownload: (download: Download) => hearOf(download, options),
    errorSentences,
    keptSection: ({ tab }: BrowserActions) => <KeptSection pages={phone.kept} onOpen={(url) => tab.go(url)} />,
    findBar: (props: FindProps) => <LateFindBar {...props} />,
    sheetOf(name: SheetName, state: BrowserState, actions: BrowserActions, ui: UiWithLibrary) {
      switch (name) {
        case "menu":
          return <MenuSheet state={state} actions={actions} ui={ui} />;
        case "held":
          return heldSheet(options, state, actions);
        case "tabs":
          return <TabsSheet state={state} actions={actions} ui={ui} />;
        case "site":
          return <SiteSheet state={state} actions={actions} phone={phone} ui={ui} />;
        case "past":
          return <PastSheet state={state} onClose={() => ui.change({ sheet: null })} />;
        case "sign-in":
          // Nothing that was typed for one site goes to another.
          return (
            state.signIn && (
              <SignInSheet
                key={state.signIn.origin}
                asked={state.signIn}
                onAnswer={(given) => actions.tab.signIn(given)}
              />
            )
          );
        case "devices":
          return devicesSheet(ui);
        case "downloads":
          return downloadsSheet(options, actions, ui);
        case "history":
        case "bookmarks":
          return (
            <Sheet
              title={name === "history" ? t("History") : t("Bookmarks")}
              onClose={() => ui.change({ sheet: null })}
            >
              {ui.library?.contentOf(name, actions, ui)}
            </Sheet>
          );
        case "settings":
          return <SettingsSheet state={state} actions={actions} phone={phone} ui={ui} />;
      }
    },
  };
}

declare global {
  interface Window {
    /** Paths of the scripts; the build puts them here. */
    readonly __DEVICES: string;
    readonly __DOWNLOADS_SHEET: string;
    readonly __FIND: string;
  }
}

type DownloadsChunk = typeof import("../downloads/downloads-chunk.tsx");

const loadDevices = () => importAgain<typeof import("../devices/devices-chunk.tsx")>(self.__DEVICES);
const loadDownloads = () => importAgain<DownloadsChunk>(self.__DOWNLOADS_SHEET);

/** Milliseconds until a script is asked for again. */
const AGAIN = 2_000;

/** Asks until the script is there: a file that a site sends waits for the script's order. */
const comingDownloads = (): Promise<DownloadsChunk> =>
  loadDownloads().catch(async () => {
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
    return comingDownloads();
  });

/** One promise keeps the order of the news: two `import`s of a script that is on its way settle in any order (Chromium 156). */
let downloads: Promise<DownloadsChunk> | null = null;

function hearOf(download: Download, options: PhoneOptions): void {
  downloads ??= comingDownloads();
  void downloads.then(({ hear }) => hear(download, options));
}

function heldSheet(options: PhoneOptions, { held, tabs, url: page }: BrowserState, actions: BrowserActions) {
  const onSave = (url: string, isPicture: boolean) => void save(url, isPicture, page, options);
  return held && <HeldSheet held={held} hasTabs={tabs.length > 0} actions={actions} onSave={onSave} />;
}

/** As a navigation, which a download is (whatwg/fetch issue 896); a picture comes to its page, as it is. @param page real. */
async function save(address: string, isPicture: boolean, page: string, { tunnel, app }: PhoneOptions): Promise<void> {
  const [url = ""] = address.split("#", 1);
  const target = new URL(url);
  const { origin } = URL.parse(page) ?? target;
  const asked = isPicture
    ? ({
        destination: "image",
        mode: "no-cors",
        topLevelOrigin: origin,
        images: { recoding: "none", most: null },
      } as const)
    : ({ destination: "document", mode: "navigate", topLevelOrigin: target.origin, pushes: 0 } as const);
  const all = {
    method: "GET",
    url,
    headers: [],
    credentials: "include",
    redirect: "follow",
    referrer: "",
    origin,
  } as const;
  const isKept = await tunnel.askStore({ kind: "save", request: { ...all, ...asked } });
  if (isKept === null) app.notify({ kind: "download", why: t("The list cannot be had now"), offers: [] });
}

function devicesSheet(ui: Ui) {
  const onClose = () => ui.change({ sheet: "settings" });
  return (
    <LateSheet
      key="devices"
      title={t("Devices")}
      load={loadDevices}
      show={(it) => it.showDevices()}
      onClose={onClose}
    />
  );
}

function downloadsSheet(options: PhoneOptions, { tabs }: BrowserActions, ui: Ui) {
  const onClose = () => ui.change({ sheet: null });
  const open = ({ url, id }: Download) => {
    onClose();
    tabs.openLink(url, "in front", id);
  };
  const isLite = navigator.serviceWorker?.controller?.scriptURL.endsWith(LITE_WORKER_QUERY) === true;
  const props = { title: t("Downloads"), load: loadDownloads, onClose };
  return <LateSheet key="downloads" {...props} show={(it) => it.showDownloads(options, isLite ? null : open)} />;
}

interface LateSheetProps<Chunk> {
  readonly title: string;
  readonly load: () => Promise<Chunk>;
  readonly show: (chunk: Chunk) => ComponentChildren;
  readonly onClose: () => void;
}

/** A sheet whose contents are loaded when it is opened. */
function LateSheet<Chunk extends object>({ title, load, show, onClose }: LateSheetProps<Chunk>) {
  const [chunk, setChunk] = useState<Chunk | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    setFailed(false);
    load().then(setChunk, () => setFailed(true));
  }, [attempt]);
  return (
    <Sheet title={title} onClose={onClose}>
      {chunk && show(chunk)}
      {hasFailed && (
        <button type="button" class="button" onClick={() => setAttempt(attempt + 1)}>
          {t("Not there yet. Try again")}
        </button>
      )}
    </Sheet>
  );
}

/** "Find in page", once its script is there. */
function LateFindBar(props: FindProps) {
  const [chunk, setChunk] = useState<typeof import("../find/find-chunk.tsx") | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    importAgain<typeof import("../find/find-chunk.tsx")>(self.__FIND).then(setChunk, () => {
      timer = setTimeout(() => setAttempt(attempt + 1), AGAIN);
    });
    return () => clearTimeout(timer);
  }, [attempt]);
  return chunk && <chunk.FindBar {...props} />;
}
