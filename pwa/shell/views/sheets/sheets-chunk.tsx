/** Entry of the sheets' script, which the shell loads when no page waits for it (`LateSheets`). */

import { useEffect, useState } from "preact/hooks";
import { Phone, type PhoneOptions } from "../../app/phone.ts";
import type { BrowserActions, BrowserState } from "../../app/state.ts";
import type { SheetName, Ui } from "../ui.ts";
import { KeptSection } from "./kept-pages.tsx";
import { MenuSheet } from "./menu-sheet.tsx";
import { SettingsSheet } from "./settings-sheet.tsx";
import { Sheet } from "./sheet.tsx";
import { SignInSheet } from "./sign-in-sheet.tsx";
import { PastSheet, SiteSheet } from "./site-sheet.tsx";
import { HeldSheet, TabsSheet } from "./tabs-sheet.tsx";

/** The sheets, and the phone that they show. */
export function openSheets(options: PhoneOptions) {
  const phone = new Phone(options);
  // Where the app is installed, the script that this needs is at hand.
  if (navigator.serviceWorker?.controller) {
    void loadDevices(0).then(
      ({ renew }) => renew(),
      () => {},
    );
  }
  return {
    phone,
    keptSection: ({ tab }: BrowserActions) => <KeptSection pages={phone.kept} onOpen={(url) => tab.go(url)} />,
    sheetOf(name: SheetName, state: BrowserState, actions: BrowserActions, ui: Ui) {
      switch (name) {
        case "menu":
          return <MenuSheet state={state} actions={actions} ui={ui} />;
        case "held":
          return state.held && <HeldSheet held={state.held} hasTabs={state.tabs.length > 0} actions={actions} />;
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
          return <DevicesSheet onClose={() => ui.change({ sheet: "settings" })} />;
        case "history":
        case "bookmarks":
          return (
            <Sheet title={name === "history" ? "History" : "Bookmarks"} onClose={() => ui.change({ sheet: null })}>
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
    /** Path of the script; the build puts it here. */
    readonly __DEVICES: string;
  }
}

type Chunk = typeof import("../devices/devices-chunk.tsx");

/** @param attempt counted from 0: engines remember that a script could not be had, by its address. */
function loadDevices(attempt: number): Promise<Chunk> {
  return import(attempt === 0 ? self.__DEVICES : `${self.__DEVICES}?${attempt}`);
}

/** The paired devices. What is in it is loaded when it is opened. */
function DevicesSheet({ onClose }: { onClose: () => void }) {
  const [chunk, setChunk] = useState<Chunk | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    setFailed(false);
    loadDevices(attempt).then(setChunk, () => setFailed(true));
  }, [attempt]);
  return (
    <Sheet title="Devices" onClose={onClose}>
      {chunk?.showDevices()}
      {hasFailed && (
        <button type="button" class="button" onClick={() => setAttempt(attempt + 1)}>
          Not there yet. Try again
        </button>
      )}
    </Sheet>
  );
}
