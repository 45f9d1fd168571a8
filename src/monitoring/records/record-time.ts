const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The largest number of milliseconds before or after 1970 that a `Date` can represent. */
const FURTHEST = 8.64e15;

/**
 * The units of times given as numbers since 1970: seconds, milliseconds, microseconds and nanoseconds. Each entry
 * contains the limit below which a number is in this unit, and the length of the unit in milliseconds.
 */
const EPOCH_UNITS: readonly (readonly [below: number, millis: number])[] = [
  [1e11, 1000],
  [1e14, 1],
  [1e17, 1e-3],
  [Infinity, 1e-6],
];

/**
 * Parses a time in ISO 8601 (with T or a space, in UTC if no zone is given), and returns milliseconds since 1970.
 * Returns NaN if the text is not a valid time. Digits beyond the millisecond are dropped.
 */
export function parseIsoTime(text: string): number {
  const found = ISO.exec(text);
  if (found === null) return NaN;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number((part as string | undefined) ?? 0)) as [
    number, number, number, number, number, number,
  ]; // prettier-ignore
  const fraction = found[7] ?? '';
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Without this check, an invalid day of a month would become a day of the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  if (hour > 23 || minute > 59 || second > 59) return NaN;
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + millis - zoneMillis(found[8]);
}

/**
 * Parses a time with {@link parseIsoTime}, or a number since 1970. Numbers below 1e11 are seconds, below 1e14
 * milliseconds, below 1e17 microseconds, and otherwise nanoseconds.
 */
export function parseTime(text: string): number {
  if (!DECIMAL.test(text)) return parseIsoTime(text);
  const number = Number(text);
  const [, unit] = EPOCH_UNITS.find(([below]) => Math.abs(number) < below) ?? [0, NaN];
  // In float64, the fraction of 1714564800.123 seconds is 122.9998 milliseconds, which must not be truncated to 122.
  const millis = Math.floor(Math.round(number * unit * 1000) / 1000);
  return Math.abs(millis) <= FURTHEST ? millis : NaN;
}

/** Parses a decimal number as in CSV, optionally with an exponent. Returns NaN for anything else. */
export function parseDecimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : NaN;
}

/** Formats milliseconds since 1970 as ISO 8601 in UTC. */
export function formatTime(millis: number): string {
  return new Date(millis).toISOString();
}

function zoneMillis(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * 60_000;
}
