import type { NanPolicy } from '../table/index.ts';

/** What rows of a source to reduce, by its columns. */
interface SourceRequest {
  /** Attributes to analyse apart; each is one column or several to cross. */
  readonly attributes: readonly (readonly string[])[];
  readonly sampleWeight?: string | undefined;
  readonly nanPolicy: NanPolicy;
  /** Texts that are missing values, instead of the default ones; they then hold for attributes too. */
  readonly naValues?: readonly string[] | undefined;
}

/** Decisions, and how a source's values become them. */
export interface DecisionRequest extends SourceRequest {
  readonly yPred: string;
  readonly yTrue?: string | undefined;
  readonly positiveLabel?: string | undefined;
  /** The label of `yTrue` that counts as 1, where it is another. */
  readonly yTruePositiveLabel?: string | undefined;
  /** Whether `positiveLabel` is one class of several, which may be missing from truth or decisions. */
  readonly isOneOfMany?: boolean | undefined;
  /** Where set, `yPred` holds scores and a decision is score >= threshold. */
  readonly scoreThreshold?: number | undefined;
}

/** Predicted numbers. */
export interface NumberRequest extends SourceRequest {
  readonly yPred: string;
  /** Without it only the predictions have moments. */
  readonly yTrue?: string | undefined;
}

/** Scores and the labels that they should foretell. */
export interface ScoreRequest extends SourceRequest {
  readonly yScore: string;
  readonly yTrue: string;
  readonly positiveLabel?: string | undefined;
  /** The label of `yTrue` that counts as 1, where it is another. */
  readonly yTruePositiveLabel?: string | undefined;
}
