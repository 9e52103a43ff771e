import { Icon, Mark } from "./icons.tsx";
import { KeyForm } from "./key-form.tsx";

interface PairingViewProps {
  /** The edge turned the last key down. */
  readonly isRefused: boolean;
  readonly onKey: (accessKey: string) => void;
}

/** Shown instead of everything else until this phone has a key that its edge accepts. */
export function PairingView({ isRefused, onKey }: PairingViewProps) {
  return (
    <section class="card-view">
      {isRefused ? (
        <span class="badge">
          <Icon name="key" />
        </span>
      ) : (
        <Mark />
      )}
      <h1>{isRefused ? "The edge did not accept the key" : "Pair this phone"}</h1>
      <p>
        {isRefused
          ? "Check that the key is whole and belongs to this edge, then enter it again."
          : "Ropeway loads the web through your own edge. When the edge starts, it prints a link that ends in an access key."}
      </p>
      <KeyForm onKey={onKey} />
      <p class="fine">The key goes to your edge only. No site ever sees it.</p>
    </section>
  );
}
