/** Statistics of a share that was counted, such as lost packets. */

/** Two-sided normal quantile of 95 %. */
const Z_95 = 1.96;

/**
 * Wilson's interval of 95 % for a share (Wilson 1927).
 *
 * @param count how many of `total`; `total` may be the effective number of correlated draws.
 * @param z another quantile of the normal distribution, for another confidence.
 */
export function shareInterval(count: number, total: number, z = Z_95): readonly [low: number, high: number] {
  const share = count / total;
  const scale = 1 + (z * z) / total;
  const middle = share + (z * z) / (2 * total);
  const half = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  return [count === 0 ? 0 : (middle - half) / scale, count === total ? 1 : (middle + half) / scale];
}

/** Share of packets that a Gilbert-Elliott chain loses in the long run. Percent in, share out. */
export function burstShare(burst: { goodToBad: number; badToGood: number; lossInBad: number }, loss = 0): number {
  const bad = burst.goodToBad / (burst.goodToBad + burst.badToGood);
  return (bad * burst.lossInBad + (1 - bad) * loss) / 100;
}

/**
 * How many correlated draws of a Gilbert-Elliott chain say as much as one independent draw.
 *
 * The state's correlation falls by 1 - goodToBad - badToGood each packet, and only the state's part of the variance is
 * correlated.
 */
export function burstInflation(burst: { goodToBad: number; badToGood: number; lossInBad: number }, loss = 0): number {
  const memory = 1 - (burst.goodToBad + burst.badToGood) / 100;
  const bad = burst.goodToBad / (burst.goodToBad + burst.badToGood);
  const share = burstShare(burst, loss);
  const ofState = bad * (1 - bad) * ((burst.lossInBad - loss) / 100) ** 2;
  return 1 + (2 * (ofState / (share * (1 - share))) * memory) / (1 - memory);
}
