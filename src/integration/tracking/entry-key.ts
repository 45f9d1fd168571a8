/** The longest key that MLflow takes. */
const LONGEST_KEY = 250;

/**
 * A text as a key that MLflow takes: letters, digits, `_`, `-`, `.`, spaces and
 * single slashes between, up to 250 characters. Everything else becomes `_`.
 */
export function toEntryKey(text: string): string {
  const parts = text
    .replaceAll(/[^\p{L}\p{N}_.\- /]/gu, '_')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (part === '.' || part === '..' ? '_' : part));
  const key = cut(parts.join('/').replace(/^\.\./, '_'), LONGEST_KEY);
  return key === '' ? '_' : key.replace(/\/$/, '_');
}

/** A group's label as a part of a key: a slash would make a folder of it. */
export function toKeyPart(label: string): string {
  return label.replaceAll('/', '_');
}

/**
 * The key itself, or with a number where it is taken. Upper and lower case
 * count as one, as they do in some of the databases behind a server.
 */
export function freeKey(key: string, taken: Set<string>): string {
  let free = key;
  for (let number = 2; taken.has(free.toLowerCase()); number++) {
    const ending = `_${String(number)}`;
    free = `${cut(key, LONGEST_KEY - ending.length)}${ending}`;
  }
  taken.add(free.toLowerCase());
  return free;
}

/** The beginning of a text, with no half of a character at its end. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
