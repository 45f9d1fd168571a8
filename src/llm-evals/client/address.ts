import { ConfigValidationError } from '../../exceptions/index.ts';

/**
 * Parses the address of a server.
 * @param name the field or variable that contains the address
 * @param allowsQuery whether the address may have a query, as in `…/chat?api-version=1`
 * @throws {ConfigValidationError} if it is not an http or https address, or if it contains a user, a password, a query
 * that is not allowed, or a fragment
 */
export function readAddress(name: string, given: string, allowsQuery = false): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  // The value is not shown, because it may contain a password.
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw invalid(name, 'must be an http or https URL', 'Use the full URL, such as https://llm.example.org/v1.');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(name, 'must not contain a user or password', 'Keys are read only from the environment.');
  }
  if (allowsQuery && !given.includes('#')) return url;
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(given)) {
    throw invalid(
      name,
      allowsQuery ? 'must not have a fragment' : 'must end with its path, without a query or fragment',
      'Use the URL up to its path, such as …/v1.',
    );
  }
  return url;
}

/** Returns whether an address belongs to this machine. No data is then sent over a network. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function invalid(name: string, required: string, suggestion: string): ConfigValidationError {
  return new ConfigValidationError(`${name} ${required}.`, { context: { parameter: name }, suggestion });
}

/** Throws if a key would be sent over plain http to another machine. */
export function requireEncryption(variable: string, parameter: string, url: URL): void {
  if (url.protocol === 'https:' || isLoopback(url)) return;
  throw new ConfigValidationError(
    `The key in ${variable} is not sent to ${url.host} over http, where others can read it.`,
    { context: { parameter, host: url.host }, suggestion: 'Use an https address, or unset the key.' },
  );
}
