/** A decimal number as a label may spell it: no leading zeros, no plus sign; blanks around it are allowed. */
const NUMBER = /^[ \t]*(-?)(0|[1-9]\d*)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?[ \t]*$/;

/** Where the notation of JavaScript's own number texts changes: from `1e+21` on, and below `0.000001`. */
const [FIRST_EXPONENT, LAST_ZEROS] = [21, -6];

/** A number with more digits than the shortest text of a float64 has is written in full, up to this many places. */
const [FLOAT64_DIGITS, MAX_INTEGER_DIGITS] = [17, 400];

/**
 * Returns the text that a group label is known by: the one rule of which labels are the same group, in every reader.
 *
 * A label that is written as a decimal number stands for that number, exactly and whatever its length: `1`, `1.0`, `1e0`
 * and ` 1` are the label `1`. Every other text is a label of its own: `01`, `+1`, `0x1`, `1_000`, `true`, `True`. Numbers
 * are written as JavaScript writes them (`String(1.50)` is `1.5`), with all their digits.
 */
export function canonicalLabel(label: string): string {
  if (!mayChange(label)) return label;
  const found = NUMBER.exec(label);
  if (found === null) return label;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  if (whole === '' && fraction === '') return label;
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first === -1) return '0';
  let end = all.length;
  while (all[end - 1] === '0') end--;
  // The value is 0.DIGITS times ten to the power.
  return sign + decimalText(all.slice(first, end), whole.length - first + Number(exponent));
}

/** Whether a float64 shows fewer digits than the text of a number has: two such texts may become one number. */
export function losesDigits(number: string): boolean {
  const shown = String(Number(number));
  return shown !== number && canonicalLabel(number) !== canonicalLabel(shown);
}

/** Most labels are words or short whole numbers, which are not looked into. */
function mayChange(label: string): boolean {
  const last = label.charCodeAt(label.length - 1);
  // The last character of a number is a digit, a point or a blank.
  const mayBeNumber = (last >= 0x30 && last <= 0x39) || last === 0x2e || last === 0x20 || last === 0x09;
  return mayBeNumber && !/^[1-9]\d{0,20}$/.test(label);
}

function decimalText(digits: string, power: number): string {
  const count = digits.length;
  const isLong = count > FLOAT64_DIGITS && power <= MAX_INTEGER_DIGITS;
  if (count <= power && (power <= FIRST_EXPONENT || isLong)) return digits + '0'.repeat(power - count);
  if (power > 0 && (power <= FIRST_EXPONENT || isLong)) return `${digits.slice(0, power)}.${digits.slice(power)}`;
  if (power <= 0 && power > LAST_ZEROS) return `0.${'0'.repeat(-power)}${digits}`;
  const fraction = count === 1 ? '' : `.${digits.slice(1)}`;
  const exponent = power - 1;
  return `${digits.charAt(0)}${fraction}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent))}`;
}
