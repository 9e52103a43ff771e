/** Dates of fields: RFC 9110 section 5.6.7. What is none makes a response stale, so nothing else is taken for one. */

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const TIME = String.raw`(?<time>\d\d:\d\d:\d\d)`;
const FORMATS = [
  String.raw`[a-z]{3}, (?<day>\d\d) (?<month>[a-z]{3}) (?<year>\d{4}) ${TIME} GMT`,
  String.raw`[a-z]{6,9}, (?<day>\d\d)-(?<month>[a-z]{3})-(?<year>\d\d) ${TIME} GMT`,
  String.raw`[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((format) => new RegExp(`^${format}$`, "i"));

/** Milliseconds since the epoch, or null. Years of two digits are those from 1970 to 2069. */
export function parseHttpDate(text: string): number | null {
  const parts = FORMATS.map((format) => format.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { day = "", month = "", year = "", time = "" } = parts;
  const monthNumber = String(MONTHS.indexOf(month.toLowerCase()) + 1).padStart(2, "0");
  const fullYear = year.length === 4 ? year : `${Number(year) < 70 ? "20" : "19"}${year}`;
  const date = Date.parse(`${fullYear}-${monthNumber}-${day.replace(" ", "0")}T${time}Z`);
  // The 31st of February is the 3rd of March to engines.
  return Number.isNaN(date) || new Date(date).getUTCDate() !== Number(day) ? null : date;
}
