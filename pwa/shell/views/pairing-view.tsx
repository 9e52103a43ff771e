import type { LinkPhase } from "../browser-state.ts";
import { Icon, Mark } from "./icons.tsx";
import { KeyForm } from "./key-form.tsx";

interface PairingViewProps {
  readonly link: LinkPhase;
  readonly onKey: (accessKey: string) => void;
}

/** Shown instead of everything else until this phone has a key that its edge accepts. */
export function PairingView({ link, onKey }: PairingViewProps) {
  const isRefused = link.kind === "refused";
  const why = isRefused ? link.why : null;
  return (
    <section class="card-view">
      {isRefused ? (
        <span class="badge">
          <Icon name="key" />
        </span>
      ) : (
        <Mark />
      )}
      <h1>
        {why ? "The edge does not pair this phone" : isRefused ? "The edge did not accept the key" : "Pair this phone"}
      </h1>
      <p>
        {isRefused
          ? (why ?? "Check that the key is whole and belongs to this edge, then enter it again.")
          : "Ropeway loads the web through your own edge. When the edge starts, it prints a link that ends in an access key."}
      </p>
      <KeyForm onKey={onKey} />
      <p class="fine">The key goes to your edge only. No site ever sees it.</p>
    </section>
  );
}
