import type { PageError, TryingAgain } from "../../tab/tab-state.ts";
import type { BrowserActions } from "../browser-state.ts";
import { againText, errorText, retryLabel } from "../pages/error-texts.ts";
import { shortHost } from "../parts/format.ts";
import { Icon } from "../parts/icons.tsx";

interface FailureBarProps {
  readonly error: PageError;
  readonly tryingAgain: TryingAgain;
  readonly actions: BrowserActions;
}

/** Over the page that is shown: what could not be opened, why, and the way on. */
export function FailureBar({ error, tryingAgain, actions }: FailureBarProps) {
  const retry = retryLabel(error.code);
  return (
    <div class="notice-bar">
      <p>{failureText(error, tryingAgain)}</p>
      {retry !== null && (
        <button type="button" class="text-button" onClick={() => actions.tab.openFailed()}>
          {retry}
        </button>
      )}
      <button type="button" class="icon-button quiet" aria-label="Close" onClick={() => actions.tab.forgetFailed()}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function failureText(error: PageError, tryingAgain: TryingAgain): string {
  return `${shortHost(error.url)} did not open. ${errorText(error).heading}.${againText("It", tryingAgain)}`;
}
