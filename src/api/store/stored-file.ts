import { FairnessToolkitError } from '../../exceptions/index.ts';
import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import { isSafeId } from './result-store.ts';

/** The format marker of the store's files. */
const FORMAT = 'evenhand-result-1';

const EXTENSION = '.json';

/** Returns the file name of an entry. */
export function fileNameOf(id: string): string {
  return `${id}${EXTENSION}`;
}

/** Returns the ID of an entry from its file name; undefined if it is not a name of the store's files. */
export function idOfFileName(name: string): string | undefined {
  if (!name.endsWith(EXTENSION)) return undefined;
  const id = name.slice(0, -EXTENSION.length);
  return isSafeId(id) ? id : undefined;
}

/**
 * Returns the file text of an entry, with the checksum as last member; undefined for a value that JSON cannot
 * represent.
 */
export function fileTextOf(id: string, value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : withChecksum(`${beginningOf(id)}${text}}`);
}

/** The content of an entry's file. */
export type StoredEntry =
  | { readonly kind: 'entry'; readonly value: unknown; readonly hasChecksum: boolean }
  /** A file of the store that was changed later, by hand or by a disk error. */
  | { readonly kind: 'damaged'; readonly cause: unknown }
  | { readonly kind: 'foreign' };

/**
 * Parses the text of a file.
 * @param file the path, for the message about a damaged file
 */
export function entryInFileText(id: string, text: string, file: string): StoredEntry {
  try {
    const checked = checkJsonText(text, file);
    const parsed = JSON.parse(checked.text) as Partial<Record<'format' | 'id' | 'value', unknown>> | null;
    const isOwn = parsed?.format === FORMAT && parsed.id === id && 'value' in parsed;
    return isOwn ? { kind: 'entry', value: parsed.value, hasChecksum: checked.hasChecksum } : { kind: 'foreign' };
  } catch (cause) {
    return text.startsWith(beginningOf(id)) || FairnessToolkitError.isInstance(cause)
      ? { kind: 'damaged', cause }
      : { kind: 'foreign' };
  }
}

function beginningOf(id: string): string {
  return `{"format":"${FORMAT}","id":${JSON.stringify(id)},"value":`;
}
