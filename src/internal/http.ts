import { Utf8Stream } from './decode-utf8.ts';

/** Options of {@link retryAfterMillis}. */
export interface RetryAfterOptions {
  /**
   * The longest wait that is accepted, in seconds.
   * @defaultValue Number.MAX_SAFE_INTEGER
   */
  readonly maxSeconds?: number | undefined;
  /**
   * Whether to accept the non-standard forms that model servers send: decimal fractions, negative numbers (treated as
   * 0), and the header `retry-after-ms`, which takes precedence.
   * @defaultValue false
   */
  readonly acceptsModelServerForms?: boolean | undefined;
}

/**
 * Returns how long to wait before the next request, in milliseconds, according to the `Retry-After` header of a
 * response (RFC 9110, section 10.2.3). The header contains whole seconds or an HTTP date. The clocks of client and
 * server may differ, so a date is compared with the `Date` header of the response. If there is no `Date` header, the
 * date is compared with `now`. For a date in the past, the wait is 0.
 * @param now the current time, in milliseconds since 1970
 * @returns undefined if the header is missing or malformed, or if the wait exceeds `maxSeconds`
 */
export function retryAfterMillis(headers: Headers, now: number, options: RetryAfterOptions = {}): number | undefined {
  const { maxSeconds = Number.MAX_SAFE_INTEGER, acceptsModelServerForms = false } = options;
  const value = headers.get('retry-after')?.trim() ?? '';
  const millis =
    (acceptsModelServerForms ? readDecimal(headers.get('retry-after-ms')?.trim() ?? '') : undefined) ??
    readSeconds(value, acceptsModelServerForms) ??
    millisUntil(value, headers.get('date'), now);
  return millis !== undefined && millis <= maxSeconds * 1000 ? millis : undefined;
}

function readSeconds(value: string, acceptsDecimals: boolean): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const seconds = acceptsDecimals ? readDecimal(value) : undefined;
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

function readDecimal(value: string): number | undefined {
  return /^-?\d+(?:\.\d+)?$/.test(value) ? Math.max(0, Number(value)) : undefined;
}

function millisUntil(value: string, serverDate: string | null, now: number): number | undefined {
  const until = parseHttpDate(value, now);
  if (until === undefined) return undefined;
  return Math.max(0, until - (parseHttpDate(serverDate ?? '', now) ?? now));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const DAY_NAME = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY_NAME = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

const DATE_FORMATS = [
  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(String.raw`^${DAY_NAME}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(String.raw`^${LONG_DAY_NAME}, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  // asctime: Sun Nov  6 08:49:37 1994
  new RegExp(String.raw`^${DAY_NAME} ${MONTH} (?<day>\d\d| \d) ${TIME} (?<year>\d{4})$`),
];

/**
 * Returns the time of an HTTP date, in milliseconds since 1970, or undefined for any other text. Reads the three
 * formats that RFC 9110, section 5.6.7, requires. `Date.parse` would also accept bare numbers and local times.
 * @param now the current time, in milliseconds since 1970; this time determines the century of a two-digit year
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const trimmed = text.trim();
  for (const format of DATE_FORMATS) {
    const fields = format.exec(trimmed)?.groups;
    if (fields !== undefined) return timeOf(fields, now);
  }
  return undefined;
}

function timeOf(fields: Readonly<Record<string, string>>, now: number): number | undefined {
  const {
    day = NaN,
    hour = NaN,
    minute = NaN,
    second = NaN,
  } = Object.fromEntries(Object.entries(fields).map(([name, digits]) => [name, Number(digits)]));
  const month = MONTHS.indexOf(fields['month'] as string);
  const digits = fields['year'] as string;
  const timeInYear = (year: number): number => {
    // Date.UTC interprets years below 100 as years of the 20th century.
    const midnight = new Date(0).setUTCFullYear(year, month, day);
    return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
  };
  const year = digits.length === 4 ? Number(digits) : fullYear(Number(digits), timeInYear, now);
  const daysInMonth = new Date(new Date(0).setUTCFullYear(year, month + 1, 0)).getUTCDate();
  // Second 60 is a leap second.
  const isValid = day >= 1 && day <= daysInMonth && hour < 24 && minute < 60 && second <= 60;
  return isValid ? timeInYear(year) : undefined;
}

/** Returns the latest year with the given last two digits for which the date is at most 50 years in the future. */
function fullYear(digits: number, timeInYear: (year: number) => number, now: number): number {
  const current = new Date(now).getUTCFullYear();
  const latest = new Date(now).setUTCFullYear(current + 50);
  let year = current - (current % 100) + 100 + digits;
  while (timeInYear(year) > latest) year -= 100;
  return year;
}

/** The text of a response, possibly truncated. */
export interface LimitedText {
  readonly text: string;
  /** Whether the text is complete. */
  readonly isComplete: boolean;
}

/**
 * Downloads the text of a response up to a size limit.
 * @param maxBytes the limit, in bytes after decompression; if a character starts before the limit and ends after it,
 * the character is excluded
 * @throws {DataValidationError} if the bytes within the limit are not UTF-8
 */
export async function readLimitedText({ body }: Response, maxBytes: number): Promise<LimitedText> {
  if (body === null) return { text: '', isComplete: true };
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new Utf8Stream('The answer');
  let text = '';
  let room = maxBytes;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.end(), isComplete: true };
    text += decoder.write(value.subarray(0, room));
    room -= value.byteLength;
    if (room >= 0) continue;
    // The cancellation is not awaited, because a server that keeps sending must not delay the result.
    void reader.cancel().catch(() => undefined);
    return { text, isComplete: false };
  }
}

/** The reason why a request received no response. */
export interface FetchFailure {
  readonly message: string;
  /** The system error code, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
}

/**
 * Returns the cause of a `fetch` error, because the message of the error itself is only "fetch failed". Returns
 * undefined if the thrown value is not an error.
 */
export function fetchFailureOf(thrown: unknown): FetchFailure | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const inner = thrown.cause instanceof Error ? thrown.cause : thrown;
  const code = 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined;
  // Node tries each address of a host, and then reports all errors in one AggregateError without a message.
  const first = inner instanceof AggregateError ? (inner.errors[0] as unknown) : undefined;
  const message = inner.message === '' && first instanceof Error ? first.message : inner.message;
  return { message: message === '' ? (code ?? thrown.message) : message, code };
}
