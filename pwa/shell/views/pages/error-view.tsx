import type { PageError, TryingAgain } from "../../tab/tab-state.ts";
import type { BrowserActions } from "../browser-state.ts";
import { Icon } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";
import { againText, errorSmallPrint, errorText, retryLabel } from "./error-texts.ts";

const SIGNS = { origin: "origin", link: "offline", key: "key", lock: "unlocked", sign: "sign" } as const;

interface ErrorViewProps {
  readonly error: PageError;
  readonly tryingAgain: TryingAgain;
  readonly actions: BrowserActions;
}

/** What went wrong, in words, and the way on. */
export function ErrorView({ error, tryingAgain, actions }: ErrorViewProps) {
  const { heading, text, asksForKey, sign } = errorText(error);
  const retry = retryLabel(error.code);
  return (
    <section class="card-view">
      <span class="badge">
        <Icon name={SIGNS[sign]} />
      </span>
      <h1>{heading}</h1>
      <p>{asksForKey ? text : `${text}${againText("The page", tryingAgain)}`}</p>
      {asksForKey && <KeyForm onKey={(accessKey) => actions.app.pair(accessKey)} />}
      <div class="actions">
        {retry !== null && (
          <button type="button" class="button button-primary" onClick={() => actions.tab.reload()}>
            {retry}
          </button>
        )}
        <button
          type="button"
          class={retry === null && !asksForKey ? "button button-primary" : "button"}
          onClick={() => actions.tab.home()}
        >
          Start page
        </button>
      </div>
      <p class="fine fine-code">
        {error.url}
        <br />
        {errorSmallPrint(error)}
      </p>
    </section>
  );
}
