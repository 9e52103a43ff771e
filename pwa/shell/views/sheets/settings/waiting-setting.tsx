import { useId } from "preact/hooks";
import type { PageWaiting } from "../../../../messages/tunnel-messages.ts";
import { Icon } from "../../parts/icons.tsx";
import { waitingText } from "../waiting-text.ts";

/** Loads all that waits of the page, where something does: also what no tap in the page reaches. */
export function WaitingSetting({ waiting, onLoad }: { readonly waiting: PageWaiting; readonly onLoad: () => void }) {
  const id = useId();
  const text = waitingText(waiting);
  if (text === null) return null;
  return (
    <div class="keep">
      <button type="button" class="menu-row" aria-describedby={id} onClick={onLoad}>
        <span class="confirm-label">Load what waits</span>
        <Icon name="forward" />
      </button>
      <p class="fine" id={id} role="status">
        {text}
      </p>
    </div>
  );
}
