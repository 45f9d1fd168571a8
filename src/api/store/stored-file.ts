import { FairnessToolkitError } from '../../exceptions/index.ts';
import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import { isSafeId } from './result-store.ts';

/** What the files of a store are known by. */
const FORMAT = 'evenhand-result-1';

const EXTENSION = '.json';

/** The name of the file of an entry. */
export function fileNameOf(id: string): string {
  return `${id}${EXTENSION}`;
}

/** The id that a file would be of, by its name; undefined where it is none of a store's. */
export function idOfFileName(name: string): string | undefined {
  if (!name.endsWith(EXTENSION)) return undefined;
  const id = name.slice(0, -EXTENSION.length);
  return isSafeId(id) ? id : undefined;
}

/** An entry as the text of its file, whose last member is the checksum of the rest; undefined for a value that JSON does not know. */
export function fileTextOf(id: string, value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : withChecksum(`${beginningOf(id)}${text}}`);
}

/** What the file of an entry turned out to be. */
export type StoredEntry =
  | { readonly kind: 'entry'; readonly value: unknown; readonly hasChecksum: boolean }
  /** A file that the store wrote and that was changed since, by hand or by a fault of the disk. */
  | { readonly kind: 'damaged'; readonly cause: unknown }
  | { readonly kind: 'foreign' };

/**
 * Reads the text of a file.
 * @param file its path, for the message of one that is damaged
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
