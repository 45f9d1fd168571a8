import { queryDataFile } from './data-file.ts';
import {
  type DecisionRequest,
  decisionState,
  type FileRequest,
  labelState,
  MISSING_STATE,
  numberExpression,
} from './decision-sql.ts';
import { type SqlSession, withDuckDb } from './duckdb.ts';
import { assertDecisions, assertNumbers, assertWeights } from './file-checks.ts';
import { type GroupedRow, groupRows } from './group-by.ts';

/** One cell of a file's counts: truth is 0, 1, or 2 where missing. */
export interface DecisionCell {
  readonly label: string;
  readonly truth: 0 | 1 | 2;
  readonly decision: 0 | 1;
  readonly count: number;
  readonly weight: number;
  readonly squaredWeight: number;
}

/** One group's sums over a file; an error is prediction minus truth. */
export interface ErrorSums {
  readonly label: string;
  readonly count: number;
  readonly weight: number;
  readonly squaredWeight: number;
  readonly absoluteError: number;
  readonly squaredError: number;
}

/** What became of one attribute: its cells or sums, and the rows that entered none. */
export interface FileReduction<Part> {
  readonly parts: readonly Part[];
  readonly nDropped: number;
}

/**
 * Counts a file's rows per group, true label and decision in one scan, without
 * loading them; several attributes share the scan.
 * @returns one reduction per attribute, in order
 * @throws {DataValidationError} for an unreadable file, an unknown column, or a value that is not 0 or 1
 */
export async function countDecisionsInFile(
  path: string,
  request: DecisionRequest,
): Promise<FileReduction<DecisionCell>[]> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      const { sampleWeight, yTrue } = request;
      if (sampleWeight !== undefined) {
        await assertWeights(session, file, sampleWeight);
        await useOneThread(session);
      }
      const groups = await groupRows(session, file, {
        ...request,
        select: {
          truth: yTrue === undefined ? String(MISSING_STATE) : labelState(file, yTrue, request),
          decision: decisionState(file, request),
          ...(sampleWeight === undefined ? {} : { weight: numberExpression(file, sampleWeight) }),
        },
        keys: ['truth', sampleWeight === undefined ? 'decision' : unlessWeightMissing('decision', MISSING_STATE)],
        sums: sampleWeight === undefined ? ['count(*)'] : ['count(*)', 'sum(weight)', 'sum(weight * weight)'],
      });
      await assertDecisions(session, file, request, groups.flat());
      return groups.map((rows) =>
        reduction(rows, (label, [t, d], [count = 0, weight = count, squaredWeight = count]) =>
          d === MISSING_STATE
            ? undefined
            : { label, truth: t as 0 | 1 | 2, decision: d as 0 | 1, count, weight, squaredWeight },
        ),
      );
    }),
  );
}

/**
 * Sums a file's prediction errors per group in one scan, without loading rows.
 * @throws {DataValidationError} for an unreadable file, an unknown column, text or infinities
 */
export async function sumErrorsInFile(
  path: string,
  request: FileRequest & { readonly yTrue: string },
): Promise<FileReduction<ErrorSums>[]> {
  return withDuckDb((session) =>
    queryDataFile(session, path, undefined, async (file) => {
      const { sampleWeight, yPred, yTrue } = request;
      for (const name of [yPred, yTrue]) await assertNumbers(session, file, name);
      if (sampleWeight !== undefined) await assertWeights(session, file, sampleWeight);
      await useOneThread(session);
      const groups = await groupRows(session, file, {
        ...request,
        select: {
          error: `${numberExpression(file, yPred)} - ${numberExpression(file, yTrue)}`,
          weight: sampleWeight === undefined ? '1.0' : numberExpression(file, sampleWeight),
        },
        keys: [unlessWeightMissing('CASE WHEN error IS NULL OR isnan(error) THEN 0 ELSE 1 END', 0)],
        sums: [
          'count(*)',
          'kahan_sum(weight)',
          'kahan_sum(weight * weight)',
          'kahan_sum(weight * abs(error))',
          'kahan_sum(weight * error * error)',
        ],
      });
      return groups.map((rows) =>
        reduction(
          rows,
          (label, [isKnown], [count = 0, weight = 0, squaredWeight = 0, absoluteError = 0, squaredError = 0]) =>
            isKnown === 0 ? undefined : { label, count, weight, squaredWeight, absoluteError, squaredError },
        ),
      );
    }),
  );
}

function reduction<Part>(
  rows: readonly GroupedRow[],
  toPart: (label: string, keys: readonly number[], sums: readonly number[]) => Part | undefined,
): FileReduction<Part> {
  let nDropped = 0;
  const parts = rows.flatMap(({ label, keys, sums }) => {
    const part = label === undefined ? undefined : toPart(label, keys, sums);
    if (part !== undefined) return [part];
    nDropped += sums[0] ?? 0;
    return [];
  });
  return { parts, nDropped };
}

/** Sums of fractions depend on their order, and threads on the moment: one thread gives the same digits every time. */
async function useOneThread(session: SqlSession): Promise<void> {
  await session.rows('SET threads = 1');
}

function unlessWeightMissing(key: string, missing: number): string {
  return `CASE WHEN weight IS NULL OR isnan(weight) THEN ${String(missing)} ELSE ${key} END`;
}
