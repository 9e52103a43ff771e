import type { LinkPhase } from "../../../messages/link.ts";
import { Icon, Mark } from "../parts/icons.tsx";
import { KeyForm } from "../parts/key-form.tsx";

/** Shown instead of everything else until this phone has a key that its edge accepts. */
export function PairingView({ link, onKey }: { link: LinkPhase; onKey: (accessKey: string) => void }) {
  const isNew = link.kind !== "refused";
  const [heading, text] = isNew ? NEW : refusal(link.why);
  return (
    <section class="card-view">
      {isNew ? (
        <Mark />
      ) : (
        <span class="badge">
          <Icon name="key" />
        </span>
      )}
      <h1>{heading}</h1>
      <p role={isNew ? undefined : "alert"}>{text}</p>
      <KeyForm onKey={onKey} />
      <p class="fine">The key goes to your edge only. No site ever sees it.</p>
    </section>
  );
}

const NEW = [
  "Pair this phone",
  "Ropeway loads the web through your own edge. When the edge starts, it prints a link that ends in an access key. A paired device makes codes: Settings, Paired devices.",
] as const;

/** @param why of `LinkPhase`. */
function refusal(why: string | null | undefined): readonly [heading: string, text: string] {
  if (why) return ["The edge does not pair this phone", why];
  return why === null
    ? ["Wrong key", "Your edge does not accept this key. Check that it is whole and of this edge, then enter it again."]
    : [
        "This phone is not paired any more",
        "Your edge does not let it in any more. Enter its key, or a code from another device.",
      ];
}
