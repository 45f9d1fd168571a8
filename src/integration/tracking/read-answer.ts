import { TrackingFault } from './tracking-fault.ts';

/** As much of a server's own words as a log should show. */
const LONGEST_MESSAGE = 300;

/**
 * A response's JSON; null where it is empty, as it is after a file was taken.
 * @throws {TrackingFault} for another status than 2xx, or content that is no JSON object
 */
export function readAnswer(response: Response, text: string): unknown {
  const { status } = response;
  if (status >= 300 && status < 400) throw redirected(response);
  const answer = text === '' ? null : parseObject(text);
  if (!response.ok) throw refused(response, answer);
  if (answer === undefined) {
    throw new TrackingFault(`the answer is not MLflow's (HTTP ${String(status)} without JSON): check the address`);
  }
  return answer;
}

/** A text inside an answer, by the names that lead to it. */
export function textAt(answer: unknown, ...names: readonly string[]): string | undefined {
  const found = names.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    answer,
  );
  return typeof found === 'string' ? found : undefined;
}

/**
 * The same, where MLflow always has it.
 * @throws {TrackingFault} where it is missing or empty
 */
export function requiredTextAt(answer: unknown, ...names: readonly string[]): string {
  const found = textAt(answer, ...names);
  if (found !== undefined && found !== '') return found;
  throw new TrackingFault(`the answer is not MLflow's (it has no ${names.join('.')}): check the address`);
}

function refused({ status, headers }: Response, answer: unknown): TrackingFault {
  const errorCode = textAt(answer, 'error_code');
  const words = [errorCode, textAt(answer, 'message')].filter((word) => word !== undefined).join(': ');
  const said = words === '' ? '' : `, ${oneLine(words)}`;
  const advice = status === 401 || status === 403 ? '; check the credentials' : '';
  return new TrackingFault(`the server answered HTTP ${String(status)}${said}${advice}`, {
    ...(errorCode === undefined ? {} : { errorCode }),
    isTransient: status === 429 || status >= 500,
    isUndone: status === 429 || status === 503,
    retryAfterMillis: retryAfterMillis(headers),
  });
}

function redirected({ status, headers }: Response): TrackingFault {
  const location = headers.get('location') ?? '';
  const elsewhere = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return new TrackingFault(`the server redirects${elsewhere} (HTTP ${String(status)}): name the final address`);
}

/** Retry-After in seconds; its other form, a date, depends on clocks that agree. */
function retryAfterMillis(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  return value !== null && /^\d{1,6}$/.test(value.trim()) ? Number(value) * 1000 : undefined;
}

function parseObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
}
