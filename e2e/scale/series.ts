/** Arithmetic on series of samples. Pure. */
import { quantile } from "../bench/statistics.ts";

/** Quantile that is 0 for no values at all. */
export function share(values: readonly number[], part: number): number {
  return values.length === 0 ? 0 : quantile(values, part);
}

/** Least squares slope of y against x; 0 for fewer than two places. */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  if (points.length < 2 || spread === 0) return 0;
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

export function rounded(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}
