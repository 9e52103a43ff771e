import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { connectionOf, SIGNS } from "../parts/connection.ts";
import { Icon } from "../parts/icons.tsx";
import { keepFocus } from "./suggestion-list.tsx";

interface LeadingButtonProps {
  readonly state: BrowserState;
  readonly isEditing: boolean;
  readonly onSiteInfo: () => void;
}

/** How the page came, which leads to more of it. */
export function LeadingButton({ state, isEditing, onSiteInfo }: LeadingButtonProps) {
  if (isEditing || state.url === "") {
    return (
      <span class="address-sign">
        <Icon name="search" />
      </span>
    );
  }
  return (
    <button type="button" class="address-button" aria-label="Site information" onClick={onSiteInfo}>
      <Icon name={SIGNS[connectionOf(state)]} />
      <span class="link-dot" data-link={state.link.kind} />
    </button>
  );
}

interface TrailingButtonProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly isEditing: boolean;
  readonly onClear: () => void;
}

/** What can be done with what is typed, or with the page. */
export function TrailingButton({ state, actions, isEditing, onClear }: TrailingButtonProps) {
  if (isEditing) {
    return (
      <button
        type="button"
        class="address-button"
        aria-label="Clear the address"
        onMouseDown={keepFocus}
        onClick={onClear}
      >
        <Icon name="close" />
      </button>
    );
  }
  if (state.phase === "loading") {
    return (
      <button type="button" class="address-button" aria-label="Stop" onClick={() => actions.tab.stop()}>
        <Icon name="close" />
      </button>
    );
  }
  if (state.url === "") return null;
  return (
    <button
      type="button"
      class="address-button"
      aria-label="Reload"
      onClick={({ shiftKey }) => (shiftKey ? actions.tab.hardReload() : actions.tab.reload())}
    >
      <Icon name="reload" />
    </button>
  );
}
