import type { DataUse, Use } from "../../app/data-use.ts";
import { formatBytes } from "../parts/format.ts";

const HEIGHT = 48;
/** Width of a day's bar, with the gap to the next. */
const STEP = 10;
const WIDTH = 8;

/** What the last thirty days have cost on the link: a bar each, and in words. */
export function DataUseSection({ use }: { readonly use: DataUse }) {
  const { days, month } = use;
  const most = Math.max(...days.map(({ linkBytes }) => linkBytes));
  if (most === 0) return null;
  const today = days.at(-1) ?? month;
  return (
    <section class="setting">
      <h3>Data on the link</h3>
      <p class="fine">
        Today {useText(today)}. This month {useText(month)}.
      </p>
      <svg
        class="data-days"
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        role="img"
        aria-label={`Last ${days.length} days, ${formatBytes(most)} on the largest`}
      >
        {days.map(({ linkBytes }, index) => {
          const height = linkBytes === 0 ? 1 : Math.max(2, (linkBytes / most) * HEIGHT);
          return <rect key={index} x={index * STEP} y={HEIGHT - height} width={WIDTH} height={height} rx="1" />;
        })}
      </svg>
    </section>
  );
}

/** What went over the link, and what did not have to. */
export function useText({ linkBytes, originBytes }: Use): string {
  const saved = originBytes - linkBytes;
  return saved > 0 ? `${formatBytes(linkBytes)}, ${formatBytes(saved)} saved` : formatBytes(linkBytes);
}
