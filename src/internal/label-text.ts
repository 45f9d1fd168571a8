/** Matches a label that is a decimal number without leading zeros or a plus sign. Surrounding spaces are allowed. */
const NUMBER = /^[ \t]*(-?)(0|[1-9]\d*)?(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?[ \t]*$/;

/**
 * The powers of ten at which JavaScript's number notation changes. JavaScript writes numbers of at least `1e+21` and
 * numbers below `0.000001` with an exponent.
 */
const [FIRST_EXPONENT, LAST_ZEROS] = [21, -6];

/**
 * The maximum number of significant digits of a float64, and the maximum number of digits of an integer without an
 * exponent.
 */
const [FLOAT64_DIGITS, MAX_INTEGER_DIGITS] = [17, 400];

/**
 * Returns the canonical text of a group label. Labels with the same canonical text form one group, in every data
 * source.
 *
 * A label that is a decimal number of any length represents exactly that number: `1`, `1.0`, `1e0` and ` 1` become the
 * label `1`. Every other text is a separate label: `01`, `+1`, `0x1`, `1_000`, `true`, `True`. Numbers are written as
 * in JavaScript (`String(1.50)` is `1.5`), but with all digits.
 */
export function canonicalLabel(label: string): string {
  if (!mayChange(label)) return label;
  const found = NUMBER.exec(label);
  if (found === null) return label;
  const [, sign = '', complete = '', fraction = '', exponent = '0'] = found;
  if (complete === '' && fraction === '') return label;
  const all = complete + fraction;
  const first = all.search(/[1-9]/);
  if (first === -1) return '0';
  let end = all.length;
  while (all[end - 1] === '0') end--;
  // The value is 0.DIGITS times ten to the power of the second argument.
  return sign + decimalText(all.slice(first, end), complete.length - first + Number(exponent));
}

/**
 * Returns whether a number in a text has more digits than a float64 can represent. Two different texts may then become
 * the same number.
 */
export function losesDigits(number: string): boolean {
  const shown = String(Number(number));
  return shown !== number && canonicalLabel(number) !== canonicalLabel(shown);
}

/** Returns whether the canonical text may differ from the label. The check is fast for words and short integers. */
function mayChange(label: string): boolean {
  const last = label.charCodeAt(label.length - 1);
  // The last character of a number in a label is a digit, a decimal point, a space or a tab.
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
