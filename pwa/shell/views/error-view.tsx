import type { BrowserActions, PageError } from "../browser-state.ts";
import { comesBackWithLink } from "../link-failure.ts";
import { errorSmallPrint, errorText } from "./error-texts.ts";
import { Icon } from "./icons.tsx";
import { KeyForm } from "./key-form.tsx";

const SIGNS = { origin: "origin", link: "offline", key: "key", lock: "unlocked", sign: "sign" } as const;

/** What went wrong, in words, and the way on. */
export function ErrorView({ error, actions }: { error: PageError; actions: BrowserActions }) {
  const { heading, text, asksForKey, sign } = errorText(error);
  return (
    <section class="card-view">
      <span class="badge">
        <Icon name={SIGNS[sign]} />
      </span>
      <h1>{heading}</h1>
      <p>{comesBackWithLink(error) ? `${text} The page loads by itself when the link is back.` : text}</p>
      {asksForKey && <KeyForm onKey={(accessKey) => actions.pair(accessKey)} />}
      <div class="actions">
        <button type="button" class={asksForKey ? "button" : "button button-primary"} onClick={() => actions.reload()}>
          Try again
        </button>
        <button type="button" class="button" onClick={() => actions.home()}>
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
