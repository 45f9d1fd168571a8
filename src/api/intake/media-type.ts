import { suggestNames } from '../../internal/arguments.ts';
import { ServiceProblem, shorten } from '../problem/service-problem.ts';

/** The maximum number of characters of a client's text that an error message quotes. */
const MAX_SHOWN = 80;

/** A suggestion that shows how to send a form. */
export const CURL_FORM = "With curl: -F 'file=@data.csv' -F 'config=<pipeline.yml'.";

/** A parsed content type. */
export interface MediaType {
  /** Type and subtype in lower case: `text/csv`. */
  readonly type: string;
  /** The parameters, with names in lower case. Quotes around values are removed. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TYPE = new RegExp(`^[ \\t]*(${TOKEN}/${TOKEN})[ \\t]*(?=;|$)`);
/**
 * Matches one `; name=value`. Empty parameters (`;;`) are allowed. A quoted value always ends at its closing quotation
 * mark, so the pattern needs no backtracking.
 */
const PARAMETER = new RegExp(`;[ \\t]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")[ \\t]*)?(?=;|$)`, 'y');

/**
 * Parses a Content-Type header (RFC 9110, section 8.3.1). If a parameter is repeated, the first value is used.
 * @returns undefined if there is no header or the header is not a media type
 */
export function mediaTypeOf(header: string | undefined): MediaType | undefined {
  const match = TYPE.exec(header ?? '');
  if (header === undefined || match?.[1] === undefined) return undefined;
  const parameters = parametersOf(header, match[0].length);
  return parameters && { type: match[1].toLowerCase(), parameters };
}

function parametersOf(header: string, start: number): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = start;
  while (PARAMETER.lastIndex < header.length) {
    const match = PARAMETER.exec(header);
    if (match === null) return undefined;
    const name = match[1]?.toLowerCase();
    const value = match[2] ?? match[3]?.replaceAll(/\\(.)/g, '$1');
    if (name !== undefined && value !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

/** The accepted charsets. ASCII is a subset of UTF-8. */
const CHARSETS = ['utf-8', 'utf8', 'us-ascii', 'ascii'];

/**
 * Returns the type of a body if it is accepted.
 * @param header the Content-Type header; '' or undefined if there is none
 * @param accepted types in lower case
 * @throws {ServiceProblem} 415 if the type is missing or not accepted, or the charset is not UTF-8; the problem lists
 *   the accepted types
 */
export function requireMediaType<Type extends string>(header: string | undefined, accepted: readonly Type[]): Type {
  const media = mediaTypeOf(header);
  const type = accepted.find((name) => name === media?.type);
  if (media === undefined || type === undefined) throw wrongType(header, media, accepted);
  const charset = media.parameters.get('charset');
  if (charset === undefined || CHARSETS.includes(charset.toLowerCase())) return type;
  throw new ServiceProblem(415, {
    detail: `The body must be UTF-8. Got the charset '${shorten(charset, MAX_SHOWN)}' instead.`,
    suggestion: `Send it as UTF-8, with Content-Type: ${type}.`,
  });
}

function wrongType(
  header: string | undefined,
  media: MediaType | undefined,
  accepted: readonly string[],
): ServiceProblem {
  const given = header === undefined || header === '' ? 'none' : `'${shorten(media?.type ?? header, MAX_SHOWN)}'`;
  const listed =
    accepted.length < 2 ? accepted.join('') : `${accepted.slice(0, -1).join(', ')} or ${accepted.at(-1) ?? ''}`;
  return new ServiceProblem(415, {
    detail: `The Content-Type must be ${listed}. Got ${given} instead.`,
    suggestion: suggestType(media?.type, accepted),
    headers: { Accept: accepted.join(', ') },
  });
}

/** Returns a suggestion for a body with a wrong content type. */
function suggestType(given: string | undefined, accepted: readonly string[]): string {
  if (accepted.includes('multipart/form-data') && !accepted.includes('application/json'))
    return `Send a form. ${CURL_FORM}`;
  if (given === undefined) return 'Set the Content-Type header to the type of the body.';
  if (given === 'application/x-www-form-urlencoded') {
    const orCsv = accepted.includes('text/csv') ? ", or -H 'content-type: text/csv' for a CSV" : '';
    const [first = 'application/json'] = accepted;
    const type = accepted.includes('application/json') ? 'application/json' : first;
    // curl -d removes the ends of lines.
    const whole = type === 'application/json' && orCsv === '' ? '' : ' For lines, use --data-binary instead of -d.';
    return `This is the default of curl -d. Add -H 'content-type: ${type}'${orCsv}.${whole}`;
  }
  if (given === 'multipart/form-data') {
    return accepted.includes('text/csv')
      ? "Send the table itself as the body: curl -H 'content-type: text/csv' --data-binary @data.csv."
      : "Send the JSON itself as the body: curl -H 'content-type: application/json' --data-binary @body.json.";
  }
  return suggestNames(given, accepted, 'types');
}
