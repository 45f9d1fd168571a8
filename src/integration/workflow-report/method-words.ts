import { labelText } from '../../document/report-text.ts';
import { own } from '../../internal/values.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { PipelineStepConfig, TrainingMethod } from '../../schemas/pipeline/pipeline-document.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** For each training method, two sentences that describe what the method constrains and what it cannot do. */
export const METHOD_WORDS: Readonly<Record<TrainingMethod, string>> = {
  reductions:
    'Exponentiated gradient (Agarwal et al. 2018) constrains the gap between groups on the training rows, in expectation over the randomised decisions of a mixture of models. On other rows the gap may be larger.',
  regularized:
    'A penalty on the gap between the scores of groups is added to the training loss. The penalty does not bound this gap, and it does not depend on decisions.',
  lagrangian:
    'Multipliers increase the weight of the gap until the decisions on the training rows are within the tolerance or training ends. On other rows the gap may be larger.',
};

/** Describes what each pipeline step changes, and which information is lost. */
const STEPS: Readonly<Record<TransformerKind, string>> = {
  InstanceReweighting: 'weights rows so that groups have the requested shares; it changes no values',
  ReweighingTransformer:
    'weights rows so that group and label are independent over the weighted training rows; it changes no values',
  DisparateImpactRemover:
    'shifts feature values so that groups have similar distributions; ranks within a group are kept, and the information about the target in the differences is lost',
  ProxyDropper: 'drops features that are associated with the group; their information about the target is lost too',
  CorrelationRemover:
    'removes the linear dependence of features on the sensitive columns; other dependence remains and can still be learned',
  LearnedFairRepresentations:
    'replaces features by a learned representation in which groups are similar on average; the features lose their meaning',
};

/** Returns what a pipeline step does, in one sentence. */
export function stepWords({ name, transformer }: PipelineStepConfig): string {
  const words = own<string>(STEPS, transformer) ?? 'is a custom step';
  return `${labelText(name)} (${transformer}) ${words}.`;
}

/** Labels of constraint parameters in reports. */
const TERMS: Readonly<Record<string, string>> = {
  constraint: 'Constraint',
  fairness: 'Constraint',
  eps: 'Slack (eps)',
  T: 'Maximum iterations (T)',
  dp_tol: 'Tolerance',
  eo_tol: 'Tolerance',
  penalty: 'Penalty',
  eta: 'Weight of the penalty (eta)',
};

/**
 * Lists the names and values of a constraint's parameters. Tolerances that do not apply to the constraint are omitted.
 */
export function constraintTerms(constraint: Readonly<Record<string, unknown>> | null): [name: string, value: string][] {
  const unused = constraint?.['fairness'] === 'demographic_parity' ? 'eo_tol' : 'dp_tol';
  return Object.entries(constraint ?? {}).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined || name === unused ? [] : [[termName(name), termValue(value)]],
  );
}

function termName(name: string): string {
  const spaced = (_: string, end: string, start: string): string => `${end} ${start.toLowerCase()}`;
  return own(TERMS, name) ?? inWords(labelText(name).replaceAll(/([a-z])([A-Z])/g, spaced));
}

function termValue(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'none';
  return labelText(typeof value === 'string' ? value : JSON.stringify(value));
}
