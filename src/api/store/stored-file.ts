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

/** Returns the ID of the entry for a file name; undefined if the store does not use such names. */
export function idOfFileName(name: string): string | undefined {
  if (!name.endsWith(EXTENSION)) return undefined;
  const id = name.slice(0, -EXTENSION.length);
  return isSafeId(id) ? id : undefined;
}

/**
 * Returns the text for the file of an entry, with a checksum at the end; undefined if JSON cannot represent the value.
 */
export function fileTextOf(id: string, value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : withChecksum(`${beginningOf(id)}${text}}`);
}

/** The content of an entry's file, or the reason why the file is damaged: it was edited, or there was a disk error. */
type StoredEntry = { readonly value: unknown; readonly hasChecksum: boolean } | { readonly cause: unknown };

/**
 * Parses the text of a file.
 * @param file the path, for the message about a damaged file
 * @returns undefined if the file is not from a store
 */
export function entryInFileText(id: string, text: string, file: string): StoredEntry | undefined {
  try {
    const checked = checkJsonText(text, file);
    const parsed = JSON.parse(checked.text) as Partial<Record<'format' | 'id' | 'value', unknown>> | null;
    const isOwn = parsed?.format === FORMAT && parsed.id === id && 'value' in parsed;
    return isOwn ? { value: parsed.value, hasChecksum: checked.hasChecksum } : undefined;
  } catch (cause) {
    const isDamaged = text.startsWith(beginningOf(id)) || FairnessToolkitError.isInstance(cause);
    return isDamaged ? { cause } : undefined;
  }
}

function beginningOf(id: string): string {
  return `{"format":"${FORMAT}","id":${JSON.stringify(id)},"value":`;
}
