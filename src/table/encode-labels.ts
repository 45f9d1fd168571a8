import type { CategoricalColumn } from './column.ts';

/**
 * Assigns a code to each distinct label. Codes follow the sorted order of the labels, so the order of rows does not
 * affect them. O(rows + labels log labels).
 * @param length the number of rows
 * @param labelAt a function that returns the label of a row, or undefined if it is missing
 */
export function encodeLabels(length: number, labelAt: (row: number) => string | undefined): CategoricalColumn {
  const codes = new Int32Array(length);
  const codeOf = new Map<string, number>();
  for (let row = 0; row < length; row++) {
    const label = labelAt(row);
    if (label === undefined) {
      codes[row] = -1;
      continue;
    }
    let code = codeOf.get(label);
    if (code === undefined) {
      code = codeOf.size;
      codeOf.set(label, code);
    }
    codes[row] = code;
  }
  return sortLabels(codes, [...codeOf.keys()]);
}

/**
 * Encodes an array of strings, null and undefined in the same way as {@link encodeLabels}, but faster, without a
 * function call per row. Returns undefined if the array contains other values.
 */
export function encodeTexts(values: readonly unknown[]): CategoricalColumn | undefined {
  const codes = new Int32Array(values.length);
  // Looking up a known string in an object takes half the time of a Map. An object without a prototype has no inherited
  // keys.
  const codeOf = Object.create(null) as Record<string, number | undefined>;
  const labels: string[] = [];
  for (let row = 0; row < codes.length; row++) {
    const value = values[row];
    if (typeof value === 'string') {
      const known = codeOf[value];
      if (known !== undefined) {
        codes[row] = known;
      } else {
        codeOf[value] = labels.length;
        codes[row] = labels.length;
        labels.push(value);
      }
    } else if (value === null || value === undefined) {
      codes[row] = -1;
    } else {
      return undefined;
    }
  }
  return sortLabels(codes, labels);
}

/**
 * Sorts the labels and renumbers the codes in place. Labels are sorted by value if all labels are numbers. Otherwise,
 * they are sorted by UTF-16 code units.
 */
export function sortLabels(codes: Int32Array, labels: readonly string[]): CategoricalColumn {
  const order = labels.map((_, code) => code);
  const asNumbers = order.every((code) => labels[code] !== '' && Number.isFinite(Number(labels[code])));
  const text = (code: number): string => labels[code] as string;
  const byText = (a: number, b: number): number => (text(a) < text(b) ? -1 : Number(text(a) > text(b)));
  // Labels with the same value, such as '1' and '1.0', are ordered as texts.
  order.sort(asNumbers ? (a, b) => Number(text(a)) - Number(text(b)) || byText(a, b) : byText);
  if (order.some((code, rank) => code !== rank)) {
    const rankOf = new Int32Array(labels.length);
    order.forEach((code, rank) => (rankOf[code] = rank));
    for (let row = 0; row < codes.length; row++) {
      const code = codes[row] as number;
      if (code >= 0) codes[row] = rankOf[code] as number;
    }
  }
  return { kind: 'categorical', codes, labels: Object.freeze(order.map(text)) };
}
