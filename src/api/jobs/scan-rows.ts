import { tryDecodeUtf8 } from '../../internal/decode-utf8.ts';
import { type CategoricalColumn, sortLabels } from '../../table/index.ts';

/** The columns of a JSON body, and the text of its other fields. */
export interface ScannedRows {
  readonly yPred: Uint8Array | undefined;
  readonly yTrue: Uint8Array | undefined;
  /** The columns of `sensitive` by name. A column without a name is called `sensitive`. */
  readonly sensitive: Readonly<Record<string, CategoricalColumn>>;
  /** Whether `sensitive` is an object of columns. */
  readonly isNamed: boolean;
  /** The other fields as the text of a JSON object, in the order of the body. */
  readonly others: string;
}

/** The maximum number of distinct values of a column of groups, including null. */
const MAX_GROUPS = 12;

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, ONE, SMALL_T, SMALL_F, SMALL_N] = [0x30, 0x31, 0x74, 0x66, 0x6e];
const SPACE = 0x20;

/** Two items, `0,0,`, as a number of four bytes (little-endian), and a mask that leaves out the lowest bit of each digit. */
const TWO_ITEMS = 0x2c302c30;
const NOT_THE_DIGITS = ~0x00010001;

/** Matches names that need no escapes. */
const KEY = /^[A-Za-z_]\w{0,99}$/;

/** The reason to stop at a body that is not in the simple form. It is created once, because a stack costs time. */
const NOT_SIMPLE = new Error('The body is not in the simple form.');

/**
 * Reads the columns of a JSON body of `POST /validate` directly from its bytes, in one pass, if the body has a simple
 * form: decisions and true labels are 0, 1, true and false, and groups are texts without escapes, or null. Returns
 * undefined for every other body, which must then be parsed in the usual way. No error is reported here.
 *
 * This function is a fast path. A body in the simple form has the same columns as after `JSON.parse`. The other fields
 * are not checked.
 */
export function scanRows(bytes: Uint8Array): ScannedRows | undefined {
  try {
    return new RowScanner(bytes).scan();
  } catch (reason) {
    if (reason === NOT_SIMPLE) return undefined;
    throw reason;
  }
}

class RowScanner {
  readonly #bytes: Uint8Array;
  readonly #words: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  scan(): ScannedRows {
    let yPred: Uint8Array | undefined;
    let yTrue: Uint8Array | undefined;
    let sensitive: Readonly<Record<string, CategoricalColumn>> | undefined;
    let isNamed = false;
    const others: string[] = [];
    this.#skip(OPEN_OBJECT);
    do {
      const key = this.#key();
      if (key === 'y_pred' && yPred === undefined) yPred = this.#bits();
      else if (key === 'y_true' && yTrue === undefined) yTrue = this.#bits();
      else if (key === 'sensitive' && sensitive === undefined) {
        isNamed = this.#peek() === OPEN_OBJECT;
        sensitive = isNamed ? this.#columns() : { sensitive: this.#groups() };
      } else others.push(`"${key}":${this.#text()}`);
    } while (this.#hasNext(CLOSE_OBJECT));
    if (this.#peek() !== -1 || sensitive === undefined) throw NOT_SIMPLE;
    return { yPred, yTrue, sensitive, isNamed, others: `{${others.join()}}` };
  }

  /** Moves to the next byte that is not a space, and returns it; -1 at the end. */
  #peek(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at];
    while (byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++this.#at];
    return byte ?? -1;
  }

  #skip(expected: number): void {
    if (this.#peek() !== expected) throw NOT_SIMPLE;
    this.#at++;
  }

  /** Skips a comma, or the byte that ends an array or object. Returns whether there was a comma. */
  #hasNext(end: number): boolean {
    const byte = this.#peek();
    this.#at++;
    if (byte === COMMA) return true;
    if (byte === end) return false;
    throw NOT_SIMPLE;
  }

  /** Reads a key and the colon after it. */
  #key(): string {
    this.#skip(QUOTE);
    const key = decode(this.#label());
    // An object lists keys that are numbers first, and the key `__proto__` sets its prototype.
    if (!KEY.test(key) || key === '__proto__') throw NOT_SIMPLE;
    this.#skip(COLON);
    return key;
  }

  /** Reads an array of 0, 1, true and false. */
  #bits(): Uint8Array {
    this.#skip(OPEN_ARRAY);
    const bytes = this.#bytes;
    const words = this.#words;
    const lastWord = bytes.length - 3;
    const bits = scratchOf(bytes).bits;
    let count = 0;
    do {
      let at = this.#at;
      // Nearly all items are digits with a comma. These loops read them without a call, two at a time if there are no
      // spaces.
      for (;;) {
        while (at < lastWord) {
          const word = words.getUint32(at, true);
          if ((word & NOT_THE_DIGITS) !== TWO_ITEMS) break;
          bits[count++] = word & 1;
          bits[count++] = (word >>> 16) & 1;
          at += 4;
        }
        let byte = bytes[at];
        while (byte === SPACE) byte = bytes[++at];
        if ((byte !== ZERO && byte !== ONE) || bytes[at + 1] !== COMMA) break;
        bits[count++] = byte - ZERO;
        at += 2;
      }
      this.#at = at;
      bits[count++] = this.#bit();
    } while (this.#hasNext(CLOSE_ARRAY));
    return bits.slice(0, count);
  }

  #bit(): number {
    const byte = this.#peek();
    if (byte === SMALL_T || byte === SMALL_F) {
      this.#word(byte === SMALL_T ? 'true' : 'false');
      return Number(byte === SMALL_T);
    }
    if (byte !== ZERO && byte !== ONE) throw NOT_SIMPLE;
    this.#at++;
    return byte - ZERO;
  }

  #word(word: 'true' | 'false' | 'null'): void {
    for (let index = 0; index < word.length; index++) {
      if (this.#bytes[this.#at++] !== word.charCodeAt(index)) throw NOT_SIMPLE;
    }
  }

  /** Reads an object of columns of groups. */
  #columns(): Readonly<Record<string, CategoricalColumn>> {
    const columns: Record<string, CategoricalColumn> = {};
    this.#skip(OPEN_OBJECT);
    do {
      const key = this.#key();
      if (Object.hasOwn(columns, key)) throw NOT_SIMPLE;
      columns[key] = this.#groups();
    } while (this.#hasNext(CLOSE_OBJECT));
    return columns;
  }

  /** Reads an array of texts and null as codes of groups. */
  #groups(): CategoricalColumn {
    this.#skip(OPEN_ARRAY);
    const bytes = this.#bytes;
    const words = this.#words;
    const { codes } = scratchOf(bytes);
    const found: KnownLabel[] = [];
    const { byFirst } = scratch;
    byFirst.fill(NONE);
    let missing = 0;
    let count = 0;
    do {
      let at = this.#at;
      // Nearly all items are labels that occurred before, with a comma. This loop reads them without a call. The first
      // byte determines the label, because the processor cannot predict which label comes next.
      for (;;) {
        while (bytes[at] === SPACE) at++;
        const known = found[byFirst[bytes[at + 1] ?? 0] as number];
        if (known === undefined || bytes[at] !== QUOTE) break;
        const end = at + known.length + 2;
        if (bytes[end] !== COMMA || bytes[end - 1] !== QUOTE || !isAt(bytes, words, at + 1, known)) break;
        codes[count++] = known.code;
        at = end + 1;
      }
      this.#at = at;
      const code = this.#group(found);
      codes[count++] = code;
      if (code === -1) missing = 1;
      if (found.length + missing > MAX_GROUPS) throw NOT_SIMPLE;
    } while (this.#hasNext(CLOSE_ARRAY));
    return sortLabels(
      codes.slice(0, count),
      found.map(({ label }) => decode(label)),
    );
  }

  /** Reads one text or null, and returns its code. A new text is added. */
  #group(found: KnownLabel[]): number {
    if (this.#peek() === SMALL_N) {
      this.#word('null');
      return -1;
    }
    const code = codeOf(this.#bytes, this.#words, this.#at, found);
    this.#skip(QUOTE);
    const label = this.#label();
    if (code !== -1) return code;
    const { byFirst } = scratch;
    const first = label[0] ?? QUOTE;
    // Labels that begin like another one are searched.
    byFirst[first] = byFirst[first] === NONE ? found.length : SEVERAL;
    return found.push(knownLabel(label, found.length)) - 1;
  }

  /** Reads a text without escapes up to its end. */
  #label(): Uint8Array {
    const start = this.#at;
    let byte = this.#bytes[this.#at];
    while (byte !== undefined && byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) {
      byte = this.#bytes[++this.#at];
    }
    if (byte !== QUOTE) throw NOT_SIMPLE;
    return this.#bytes.subarray(start, this.#at++);
  }

  /** Skips any value, and returns its text. The text may be invalid JSON. */
  #text(): string {
    const first = this.#peek();
    const start = this.#at;
    if (first === OPEN_ARRAY || first === OPEN_OBJECT) this.#skipNested();
    else if (first === QUOTE) this.#skipText();
    else if (first === MINUS || (first >= ZERO && first <= 0x39) || first >= SMALL_F) this.#skipWord();
    else throw NOT_SIMPLE;
    return decode(this.#bytes.subarray(start, this.#at));
  }

  #skipNested(): void {
    let depth = 0;
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === QUOTE) {
        this.#skipText();
        this.#at--;
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
      else if ((byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) && --depth === 0) {
        this.#at++;
        return;
      }
    }
    throw NOT_SIMPLE;
  }

  #skipText(): void {
    this.#at++;
    this.#label();
  }

  /** Skips a number, true, false or null. */
  #skipWord(): void {
    let byte = this.#bytes[this.#at];
    while (byte !== undefined && byte > SPACE && byte !== COMMA && byte !== CLOSE_OBJECT)
      byte = this.#bytes[++this.#at];
  }
}

/** Arrays that every scan uses until it knows how many rows there are. A scan is synchronous. */
let scratch = { bits: new Uint8Array(), codes: new Int32Array(), byFirst: new Uint8Array(256) };

/** What `byFirst` has for the first byte of no label, and of several labels. Both are no codes. */
const [NONE, SEVERAL] = [254, 255];

/** Returns arrays with space for all items of a body. An item and its comma take at least two bytes. */
function scratchOf({ length }: Uint8Array): typeof scratch {
  const items = length >> 1;
  if (scratch.bits.length < items) scratch = { ...scratch, bits: new Uint8Array(items), codes: new Int32Array(items) };
  return scratch;
}

/** A label that occurred, ready to be compared four bytes at a time. */
interface KnownLabel {
  readonly code: number;
  readonly label: Uint8Array;
  readonly length: number;
  /** The bytes of the label as numbers of four bytes (little-endian). The last bytes may be missing. */
  readonly words: Int32Array;
  /** The last four bytes; 0 if there are fewer. */
  readonly last: number;
}

function knownLabel(label: Uint8Array, code: number): KnownLabel {
  const { buffer, byteOffset, length } = label;
  const view = new DataView(buffer, byteOffset, length);
  const words = Int32Array.from({ length: length >> 2 }, (_, word) => view.getInt32(4 * word, true));
  return { code, label, length, words, last: length < 4 ? 0 : view.getInt32(length - 4, true) };
}

/** Returns whether the bytes from a position begin with a label. There must be as many bytes. */
function isAt(bytes: Uint8Array, view: DataView, start: number, { label, length, words, last }: KnownLabel): boolean {
  if (length < 4) {
    for (let index = 0; index < length; index++) if (bytes[start + index] !== label[index]) return false;
    return true;
  }
  for (let word = 0; word < words.length; word++) {
    if (view.getInt32(start + 4 * word, true) !== words[word]) return false;
  }
  return view.getInt32(start + length - 4, true) === last;
}

/** Returns the code of the label that starts at a position; -1 if the label is new, or if there is no text. */
function codeOf(bytes: Uint8Array, view: DataView, at: number, found: readonly KnownLabel[]): number {
  if (bytes[at] !== QUOTE) return -1;
  for (const known of found) {
    // A label contains no quotation marks, so a text that starts with it and then ends is equal to it.
    if (bytes[at + 1 + known.length] === QUOTE && isAt(bytes, view, at + 1, known)) return known.code;
  }
  return -1;
}

/** Decodes the bytes of a text. The decoder would remove a byte order mark at the start, so such a text is not simple. */
function decode(bytes: Uint8Array): string {
  const text = bytes[0] === 0xef ? undefined : tryDecodeUtf8(bytes);
  if (text === undefined) throw NOT_SIMPLE;
  return text;
}
