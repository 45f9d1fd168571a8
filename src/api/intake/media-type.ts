import { suggestNames } from '../../internal/arguments.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** How a form is sent. */
export const CURL_FORM = "With curl: -F 'file=@data.csv' -F 'config=<pipeline.yml'.";

/** A content type in its parts. */
export interface MediaType {
  /** Type and subtype in lower case: `text/csv`. */
  readonly type: string;
  /** Parameters by their names in lower case; values as they came, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const TYPE = new RegExp(`^[ \\t]*(${TOKEN}/${TOKEN})[ \\t]*(?=;|$)`);
/** One `; name=value`; empty ones (`;;`) are allowed. A quoted value ends at its quote, so nothing is tried twice. */
const PARAMETER = new RegExp(`;[ \\t]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")[ \\t]*)?(?=;|$)`, 'y');

/**
 * Takes a Content-Type header apart (RFC 9110, section 8.3.1). Where a parameter is repeated the first one counts.
 * @returns undefined where there is none, or where it is no media type
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

/** What text may be in. ASCII is a part of UTF-8. */
const CHARSETS = ['utf-8', 'utf8', 'us-ascii', 'ascii'];

/**
 * The type of a body, where it is one that is taken.
 * @param header the Content-Type header; '' or undefined where there is none
 * @param accepted types in lower case
 * @throws {ServiceProblem} 415 for another type, none, or a charset other than UTF-8; it lists the types
 */
export function requireMediaType<Type extends string>(header: string | undefined, accepted: readonly Type[]): Type {
  const media = mediaTypeOf(header);
  const type = accepted.find((name) => name === media?.type);
  if (media === undefined || type === undefined) throw wrongType(header, media, accepted);
  const charset = media.parameters.get('charset');
  if (charset === undefined || CHARSETS.includes(charset.toLowerCase())) return type;
  throw new ServiceProblem(415, {
    detail: `The body must be UTF-8. Got the charset '${shown(charset)}' instead.`,
    suggestion: `Send it as UTF-8, with Content-Type: ${type}.`,
  });
}

function wrongType(
  header: string | undefined,
  media: MediaType | undefined,
  accepted: readonly string[],
): ServiceProblem {
  const given = header === undefined || header === '' ? 'none' : `'${shown(media?.type ?? header)}'`;
  const listed =
    accepted.length < 2 ? accepted.join('') : `${accepted.slice(0, -1).join(', ')} or ${accepted.at(-1) ?? ''}`;
  return new ServiceProblem(415, {
    detail: `The Content-Type must be ${listed}. Got ${given} instead.`,
    suggestion: suggestType(media?.type, accepted),
    headers: { Accept: accepted.join(', ') },
  });
}

/** What to do instead. */
function suggestType(given: string | undefined, accepted: readonly string[]): string {
  if (accepted.includes('multipart/form-data')) return `Send a form. ${CURL_FORM}`;
  if (given === undefined) return 'Say with a Content-Type header what the body is.';
  if (given === 'application/x-www-form-urlencoded') {
    const orCsv = accepted.includes('text/csv') ? ", or -H 'content-type: text/csv' for a CSV" : '';
    return `This is what curl -d says unless it is told: add -H 'content-type: application/json'${orCsv}.`;
  }
  if (given === 'multipart/form-data') {
    return accepted.includes('text/csv')
      ? "Send the table itself as the body: curl -H 'content-type: text/csv' --data-binary @data.csv."
      : "Send the JSON itself as the body: curl -H 'content-type: application/json' --data-binary @body.json.";
  }
  return suggestNames(given, accepted, 'types');
}

/** So much of what a client sent as belongs in a message. */
function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
