/** Milliseconds as a person says them: `840 ms`, `2.3 s`, `1 min 05 s`. */
export function formatTime(milliseconds: number): string {
  const time = Math.max(0, milliseconds);
  if (time < 999.5) return `${Math.round(time)} ms`;
  if (time < 9_950) return `${(time / 1000).toFixed(1)} s`;
  const seconds = Math.round(time / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
