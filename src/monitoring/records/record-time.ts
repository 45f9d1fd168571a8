const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The furthest that a `Date` reaches from 1970, in milliseconds. */
const FURTHEST = 8.64e15;

/** Epoch numbers below a bound count in units of so many milliseconds: seconds, milliseconds, microseconds, nanoseconds. */
const EPOCH_UNITS: readonly (readonly [below: number, millis: number])[] = [
  [1e11, 1000],
  [1e14, 1],
  [1e17, 1e-3],
  [Infinity, 1e-6],
];

/**
 * A time in ISO 8601 as milliseconds since 1970: with T or a space, and in UTC
 * where it names no zone. NaN where the text is no such time; digits beyond the
 * millisecond are cut off.
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
  // A day that the month does not have would have become one of the next month.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
  if (hour > 23 || minute > 59 || second > 59) return NaN;
  const millis = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + millis - zoneMillis(found[8]);
}

/**
 * {@link parseIsoTime}, or a number since 1970 whose size tells its unit:
 * seconds below 1e11, milliseconds below 1e14, microseconds below 1e17, else
 * nanoseconds.
 */
export function parseTime(text: string): number {
  if (!DECIMAL.test(text)) return parseIsoTime(text);
  const number = Number(text);
  const [, unit] = EPOCH_UNITS.find(([below]) => Math.abs(number) < below) ?? [0, NaN];
  // 1714564800.123 seconds are 122.9998 milliseconds in float64, which is not to be cut to 122.
  const millis = Math.floor(Math.round(number * unit * 1000) / 1000);
  return Math.abs(millis) <= FURTHEST ? millis : NaN;
}

/** A number as CSV has it: decimal digits, perhaps with an exponent. NaN for anything else. */
export function parseDecimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : NaN;
}

/** Milliseconds since 1970 as ISO 8601 in UTC. */
export function formatTime(millis: number): string {
  return new Date(millis).toISOString();
}

function zoneMillis(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -1 : 1) * minutes * 60_000;
}
