import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { Icon, type IconName } from "../parts/icons.tsx";
import type { Ui } from "../ui.ts";
import { AddressBox } from "./address-box.tsx";
import { FailureBar } from "./failure-bar.tsx";
import { LinkPill } from "./link-pill.tsx";
import { NewerBar, NoticeBar } from "./notice-bar.tsx";

/** Never draw less than this while a page loads: an empty bar looks like nothing happens. */
const MIN_PROGRESS = 0.06;

/** The browser's own controls, at the bottom of a phone where the thumb is, at the top of a wide screen. */
export function Bar({ state, actions, ui }: { state: BrowserState; actions: BrowserActions; ui: Ui }) {
  return (
    <nav class="bar" aria-label="Browser" data-editing={ui.isEditing ? "" : undefined}>
      <Progress state={state} />
      <LinkPill link={state.link} storedAt={state.storedAt} />
      {state.notice && <NoticeBar notice={state.notice} actions={actions} />}
      {state.notice === null && state.unopened === null && state.hasNewer && <NewerBar actions={actions} />}
      {state.notice === null && state.unopened !== null && (
        <FailureBar error={state.unopened} tryingAgain={state.tryingAgain} actions={actions} />
      )}
      <BarButton icon="back" label="Back" isDisabled={!state.canGoBack} onClick={() => actions.tab.back()} />
      <BarButton
        icon="forward"
        label="Forward"
        className="bar-forward"
        isDisabled={!state.canGoForward}
        onClick={() => actions.tab.forward()}
      />
      <AddressBox
        state={state}
        actions={actions}
        isEditing={ui.isEditing}
        onEditing={(isEditing) => ui.change({ isEditing })}
        onSiteInfo={() => ui.change({ sheet: "site" })}
      />
      <BarButton icon="home" label="Home" className="bar-home" onClick={() => actions.tab.home()} />
      <BarButton icon="menu" label="Menu" opensDialog onClick={() => ui.change({ sheet: "menu" })} />
    </nav>
  );
}

interface BarButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly className?: string;
  readonly isDisabled?: boolean;
  readonly opensDialog?: boolean;
  readonly onClick: () => void;
}

function BarButton({ icon, label, className = "", isDisabled = false, opensDialog = false, onClick }: BarButtonProps) {
  return (
    <button
      type="button"
      class={`icon-button bar-button ${className}`}
      aria-label={label}
      aria-haspopup={opensDialog ? "dialog" : undefined}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

function Progress({ state }: { state: BrowserState }) {
  if (state.phase !== "loading") return null;
  const progress = Math.min(1, Math.max(MIN_PROGRESS, state.progress ?? 0));
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label="Loading the page"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(progress * 100)}
    >
      <div class="progress-fill" style={{ transform: `scaleX(${progress})` }} />
    </div>
  );
}
