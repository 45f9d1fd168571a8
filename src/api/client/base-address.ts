import { invalidParameter } from '../../internal/invalid-parameter.ts';

/**
 * Where the service answers, as it was given.
 * @throws {ValueError} for what is no address of the web
 */
export function assertBaseUrl(baseUrl: string): string {
  const { protocol = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {};
  if (protocol === 'http:' || protocol === 'https:') return baseUrl;
  throw invalidParameter('baseUrl', 'be an address with its scheme, as http://127.0.0.1:8000', shown(baseUrl));
}

function shown(given: unknown): string {
  return typeof given === 'string' ? `'${given}'` : typeof given;
}
