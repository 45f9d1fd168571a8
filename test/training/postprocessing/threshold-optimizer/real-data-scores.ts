import { type AnchorData, anchorRun, type DataName, loadAnchorData, type Part } from '../../../helpers/anchor-data.ts';

/** Rows with the scores of the reference run's plain logistic regression. */
export interface ScoredPart {
  readonly scores: number[];
  readonly y: number[];
  readonly sensitive: string[];
}

/** Reads the rows of a data set, and scores them with the coefficients of the reference run. */
export async function scoredParts(
  name: DataName,
  anchors: AnchorData,
): Promise<{ train: ScoredPart; test: ScoredPart }> {
  const { coef = [], intercept = NaN } = anchorRun(anchors, 'unconstrained_lr');
  const { train, test } = await loadAnchorData(name, anchors);
  const score = ({ x, y, sensitive }: Part): ScoredPart => ({
    scores: Array.from({ length: x.rows }, (_, row) => {
      const logit = coef.reduce(
        (sum, weight, index) => sum + weight * (x.values[row * x.columns + index] ?? NaN),
        intercept,
      );
      return 1 / (1 + Math.exp(-logit));
    }),
    y: [...y],
    sensitive,
  });
  return { train: score(train), test: score(test) };
}
