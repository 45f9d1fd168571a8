import { DataValidationError } from '../../exceptions/index.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { CategoricalColumn, ColumnSource, SensitiveSource } from '../../table/index.ts';
import { type FitRows, readFitRows, readGroups } from '../data/fit-rows.ts';
import type { MatrixSource } from '../data/read-matrix.ts';

/** Options of a reduction's `fit`. */
export interface ReductionFitOptions {
  /**
   * The group of each row. If there are several attributes, their combinations form the groups. The model uses a group
   * as a feature only if X also contains it.
   */
  readonly sensitive: SensitiveSource;
  /** Stratifies the rows: groups are compared only within each level of this feature. */
  readonly control?: SensitiveSource | undefined;
  /** One weight per row, 0 or more. Weights enter the objective and the constraint. A row of weight 2 acts as two. */
  readonly sampleWeight?: ColumnSource | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** Stops the work between two fits; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link ReductionFitOptions}. */
export const REDUCTION_FIT_OPTION_NAMES: OptionNames<ReductionFitOptions> = {
  sensitive: true,
  control: true,
  sampleWeight: true,
  onProgress: true,
  signal: true,
};

/** Rows of a reduction, in host memory. */
export interface ReductionRows extends FitRows {
  readonly groups: CategoricalColumn;
  readonly control: CategoricalColumn | undefined;
}

/**
 * Reads the rows of a reduction.
 * @throws {DataValidationError} if values are missing or infinite, lengths differ, or there are no groups
 */
export async function readReductionRows(
  x: MatrixSource,
  y: ColumnSource,
  options: ReductionFitOptions | undefined,
): Promise<ReductionRows> {
  const { sensitive, control, sampleWeight } = withGroups(options);
  const rows = await readFitRows(x, y, sampleWeight);
  return {
    ...rows,
    groups: await readGroups(sensitive, rows.y.length),
    control: control === undefined ? undefined : await readGroups(control, rows.y.length, 'control'),
  };
}

/** Checks that `sensitive` is given, because callers without type checks may omit the options. */
function withGroups(options: ReductionFitOptions | null | undefined): ReductionFitOptions {
  const sensitive: unknown = options?.sensitive ?? undefined;
  if (options && sensitive !== undefined) return options;
  throw new DataValidationError('The sensitive option is missing: fit needs the group of each row.', {
    context: { argument: 'sensitive' },
    suggestion: 'Call fit(X, y, { sensitive }).',
  });
}
