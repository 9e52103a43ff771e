/** The picture at the top of the start page: a cabin on its rope over two ridges. Its middle 412 units show on a phone. */
export function Ridge() {
  return (
    <svg class="ridge" viewBox="0 0 1000 216" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path
        class="ridge-far"
        d="M0 216v-66l70-32 60 32 80-50 70 48 60-28 60 38 70-46 70 38 60-32 80 42 80-64 90 50 70-30 80 34v66z"
      />
      <path
        class="ridge-near"
        d="M0 216v-30l90-28 80 24 110-36 90 40 70-22 80 28 100-50 90 44 90-26 80 30 120-32v58z"
      />
      <path class="ridge-rope" d="M0 222 1000 37.5" />
      <g class="ridge-cabin">
        <path class="ridge-rope" d="M600 112v16" />
        <circle class="ridge-wheel" cx="600" cy="111" r="4.5" />
        <rect class="mark-cabin" x="579" y="127" width="42" height="33" rx="9" />
        <path class="mark-window" d="M586 135h12v10h-12zM602 135h12v10h-12z" />
      </g>
    </svg>
  );
}
