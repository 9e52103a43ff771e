import { useState } from "preact/hooks";
import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { shortHost } from "../parts/format.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import { SiteIcon } from "../parts/site-icon.tsx";
import type { Ui } from "../ui.ts";
import { Sheet } from "./sheet.tsx";

/** Everything that does not fit in the bar, for the page that is shown. */
export function MenuSheet({ state, actions, ui }: { state: BrowserState; actions: BrowserActions; ui: Ui }) {
  const [isCopied, setCopied] = useState(false);
  const close = () => ui.change({ sheet: null });
  const isPage = state.url !== "";
  const isPinned = state.pinned.some((site) => site.url === state.url);
  const site = { url: state.url, title: state.title, icon: state.icon };
  const andClose = (action: () => void) => () => {
    close();
    action();
  };

  const header = isPage && (
    <div class="sheet-site">
      <SiteIcon site={site} />
      <span class="row-text" aria-hidden="true">
        <span class="row-title">{state.title || shortHost(state.url)}</span>
        <span class="row-hint">{shortHost(state.url)}</span>
      </span>
    </div>
  );

  return (
    <Sheet title="Menu" kind="menu" header={header || undefined} onClose={close}>
      {isPage && (
        <div class="menu-icons">
          <MenuIcon
            icon="forward"
            label="Forward"
            isDisabled={!state.canGoForward}
            onClick={andClose(() => actions.tab.forward())}
          />
          <MenuIcon icon="home" label="Home" onClick={andClose(() => actions.tab.home())} />
          <MenuIcon icon="reload" label="Reload" onClick={andClose(() => actions.tab.reload())} />
          <MenuIcon
            icon="pin"
            label={isPinned ? "Unpin" : "Pin"}
            isOn={isPinned}
            onClick={andClose(() => (isPinned ? actions.app.unpin(state.url) : actions.app.pin(site)))}
          />
        </div>
      )}
      <ul class="menu-rows">
        {isPage && (
          <>
            <MenuRow
              icon="copy"
              label={isCopied ? "Address copied" : "Copy address"}
              onClick={() => void navigator.clipboard?.writeText(state.url).then(() => setCopied(true), close)}
            />
            {"share" in navigator && (
              <MenuRow
                icon="share"
                label="Share"
                // A share that the person cancels rejects; there is nothing to say about it.
                onClick={andClose(() => void navigator.share({ title: state.title, url: state.url }).catch(() => {}))}
              />
            )}
            <MenuRow icon="info" label="Site information" onClick={() => ui.change({ sheet: "site" })} />
          </>
        )}
        <MenuRow icon="settings" label="Settings" onClick={() => ui.change({ sheet: "settings" })} />
      </ul>
    </Sheet>
  );
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

function MenuRow({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) {
  return (
    <li>
      <button type="button" class="menu-row" onClick={onClick}>
        <Icon name={icon} />
        {label}
      </button>
    </li>
  );
}
