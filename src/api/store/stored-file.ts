import { isSafeId } from './safe-id.ts';

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

/** An entry as the text of its file; undefined for a value that JSON does not know. */
export function fileTextOf(id: string, value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : `{"format":"${FORMAT}","id":${JSON.stringify(id)},"value":${text}}\n`;
}

/** The value in the text of a file; undefined where the text is not of this entry. */
export function valueInFileText(id: string, text: string): { readonly value: unknown } | undefined {
  try {
    const parsed = JSON.parse(text) as Partial<Record<'format' | 'id' | 'value', unknown>> | null;
    return parsed?.format === FORMAT && parsed.id === id && 'value' in parsed ? { value: parsed.value } : undefined;
  } catch {
    return undefined;
  }
}
