/**
 * How long a server asks to wait, in milliseconds: seconds, or a date, which is
 * compared with the server's own clock. Undefined where it does not say, or the
 * clock is missing.
 */
export function retryAfterMillis(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const wait = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
