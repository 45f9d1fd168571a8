import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames, suggestNames } from '../../internal/arguments.ts';
import type { Table } from '../../table/index.ts';
import type { PerArm } from './ab-test-fields.ts';

/** The labels of the arms. Set these options if the labels cannot be inferred from the data. */
export interface ArmLabels {
  readonly control?: string | undefined;
  readonly treatment?: string | undefined;
}

const ARM_LABELS_NAMES: OptionNames<ArmLabels> = { control: true, treatment: true };

/** The rows of a table, split into both arms. */
export interface SplitArms {
  readonly control: Table;
  readonly treatment: Table;
  readonly labels: PerArm<string>;
  /** The number of rows that have no arm label, or a label that belongs to neither arm. */
  readonly nLeftOut: number;
}

/** The labels by which a control arm is recognized. */
const CONTROL_NAMES = new Set(['control', 'a', '0', 'false', 'baseline']);

/**
 * Splits a table into the rows of its control arm and of its treatment arm. The label of the control arm is the given
 * label, or the only label that equals control, a, 0, false or baseline (case-insensitive). The label of the treatment
 * arm is the given label, or the only other label.
 * @throws {DataValidationError} if the column or a label is unknown, or if the arms cannot be inferred
 */
export function splitArms(table: Table, column: string, labels: ArmLabels = {}): SplitArms {
  assertKnownOptions('splitArms', labels, ARM_LABELS_NAMES);
  const { codes, labels: known } = table.categorical(column);
  const control = labels.control === undefined ? guessControl(known, column) : index(labels.control, known, column);
  const treatment =
    labels.treatment === undefined ? onlyOther(known, control, column) : index(labels.treatment, known, column);
  if (control === treatment) {
    throw new DataValidationError(`Control and treatment are both '${known[control] ?? ''}'.`, {
      code: 'duplicate-column',
      context: { column },
      suggestion: 'Use two different labels.',
    });
  }
  const rowsOf = (arm: number): Table => table.take(Array.from(codes.keys()).filter((row) => codes[row] === arm));
  const [before, after] = [rowsOf(control), rowsOf(treatment)];
  return {
    control: before,
    treatment: after,
    labels: { control: known[control] as string, treatment: known[treatment] as string },
    nLeftOut: table.rowCount - before.rowCount - after.rowCount,
  };
}

function index(label: string, known: readonly string[], column: string): number {
  const found = known.indexOf(label);
  if (found >= 0) return found;
  throw new DataValidationError(`Column '${column}' has no label '${label}'.`, {
    code: 'unknown-label',
    context: { column, label },
    suggestion: suggestNames(label, known, 'labels'),
  });
}

function guessControl(known: readonly string[], column: string): number {
  const indices = Array.from(known.keys()).filter((code) => CONTROL_NAMES.has((known[code] as string).toLowerCase()));
  if (indices.length === 1) return indices[0] as number;
  throw unclear(known, column, 'which arm is the control', 'Set its label (control).');
}

function onlyOther(known: readonly string[], control: number, column: string): number {
  const others = Array.from(known.keys()).filter((code) => code !== control);
  if (others.length === 1) return others[0] as number;
  throw unclear(known, column, 'which arm is the treatment', 'Set its label (treatment).');
}

function unclear(known: readonly string[], column: string, what: string, suggestion: string): DataValidationError {
  const shown = known.slice(0, 6).map((label) => `'${label}'`);
  const labels = known.length === 0 ? 'no label' : `the labels ${shown.join(', ')}${known.length > 6 ? ', ...' : ''}`;
  return new DataValidationError(`Column '${column}' has ${labels}, so it is unclear ${what}.`, {
    context: { parameters: ['control', 'treatment'], column, labels: known.slice(0, 20) },
    suggestion,
  });
}
