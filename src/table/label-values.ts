/** The texts that are read as 0 or 1 if the caller gives no positive label, with their values. */
const TEXT_VALUES: ReadonlyMap<string, 0 | 1> = new Map([
  ['0', 0],
  ['0.0', 0],
  ['false', 0],
  ['1', 1],
  ['1.0', 1],
  ['true', 1],
]);

/** The settings that determine the value of a label. */
export interface LabelRule {
  readonly positiveLabel?: string | undefined;
  /** Texts that mean a missing value. */
  readonly missing: ReadonlySet<string>;
  /** Whether the labels are numbers. If true, '1.0' matches the number 1. */
  readonly isNumeric?: boolean | undefined;
}

/**
 * Returns the value of a label: 0, 1, or -1 for a missing value. Returns undefined if the label is neither 0 nor 1 and
 * no positive label was given.
 */
export function labelValue(label: string, { positiveLabel, missing, isNumeric }: LabelRule): 0 | 1 | -1 | undefined {
  if (positiveLabel !== undefined && isSameLabel(label, positiveLabel, isNumeric === true)) return 1;
  if (missing.has(label)) return -1;
  return positiveLabel === undefined ? TEXT_VALUES.get(label.toLowerCase()) : 0;
}

/**
 * Returns the positive label for a column, or undefined if the column needs no positive label. A column of true and
 * false needs no positive label, so true labels of True/False can be combined with predictions of 1/-1.
 */
export function positiveLabelFor(
  labels: readonly string[],
  positiveLabel: string | undefined,
  missing: ReadonlySet<string>,
): string | undefined {
  if (positiveLabel === undefined || ['0', '0.0', 'true', 'false'].includes(positiveLabel.toLowerCase())) {
    return positiveLabel;
  }
  const known = labels.filter((label) => !missing.has(label)).map((label) => label.toLowerCase());
  const areBooleans = known.length > 0 && known.every((label) => label === 'true' || label === 'false');
  return areBooleans ? undefined : positiveLabel;
}

function isSameLabel(label: string, positive: string, isNumeric: boolean): boolean {
  return label === positive || (isNumeric && positive.trim() !== '' && Number(label) === Number(positive));
}
