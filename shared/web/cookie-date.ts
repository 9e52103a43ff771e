/** The tolerant date of cookies, RFC 6265 section 5.1.1. */

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DELIMITERS = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/;

/** Milliseconds since the epoch, or null where the text is no date. */
export function parseCookieDate(text: string): number | null {
  let time: RegExpExecArray | null = null;
  let day: number | null = null;
  let month = -1;
  let year: number | null = null;
  for (const token of text.split(DELIMITERS)) {
    const clock: RegExpExecArray | null = time === null ? /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/.exec(token) : null;
    if (clock !== null) {
      time = clock;
      continue;
    }
    const dayDigits: RegExpExecArray | null = day === null ? /^\d{1,2}(?!\d)/.exec(token) : null;
    if (dayDigits !== null) {
      day = Number(dayDigits[0]);
      continue;
    }
    const monthIndex = month === -1 ? MONTHS.indexOf(token.slice(0, 3).toLowerCase()) : -1;
    if (monthIndex !== -1) {
      month = monthIndex;
      continue;
    }
    const yearDigits: RegExpExecArray | null = year === null ? /^\d{2,4}(?!\d)/.exec(token) : null;
    if (yearDigits !== null) year = Number(yearDigits[0]);
  }
  if (time === null || day === null || month === -1 || year === null) return null;
  if (year >= 70 && year <= 99) year += 1900;
  else if (year <= 69) year += 2000;
  const [hour, minute, second] = [Number(time[1]), Number(time[2]), Number(time[3])];
  if (day < 1 || day > 31 || year < 1601 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(Date.UTC(year, month, day, hour, minute, second));
  return date.getUTCDate() === day ? date.getTime() : null;
}
