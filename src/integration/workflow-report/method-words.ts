import { labelText } from '../../document/report-text.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { PipelineStepConfig, TrainingMethod } from '../../schemas/pipeline/pipeline-document.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** What each method of training constrains, and how far that reaches. */
const METHODS: Readonly<Record<TrainingMethod, string>> = {
  reductions:
    'Exponentiated gradient (Agarwal et al. 2018) constrains the gap between groups on the rows trained on, in expectation over the randomised decisions of a mixture of models. On other rows the gap may be larger.',
  regularized:
    'A penalty on the gap between the scores of groups is added to the training loss. It presses on the gap; it sets no bound on it, and it knows scores, not decisions.',
  lagrangian:
    'Multipliers press on the gap until the decisions on the rows trained on are within the tolerance, or training ends first. On other rows the gap may be larger.',
};

/** What each step constrains, and what is lost. */
const STEPS: Readonly<Record<TransformerKind, string>> = {
  InstanceReweighting: 'weighs rows so that groups have the shares asked for; no value is changed',
  ReweighingTransformer:
    'weighs rows so that group and label are independent over the weighted training rows; no value is changed',
  DisparateImpactRemover:
    'moves values of features so that groups have like distributions; ranks inside a group stay, and what the differences said of the target is lost',
  ProxyDropper: 'drops features that go with the group; what they say of the target is lost with them',
  CorrelationRemover:
    'takes from features what is linear in the sensitive columns; other dependence stays, and so it can still be learnt',
  LearnedFairRepresentations:
    'puts a learnt representation in place of features, in which groups are alike on average; features lose their meaning',
};

/** What a method constrains, in two sentences. */
export function methodWords(method: TrainingMethod): string {
  return METHODS[method];
}

/** What a step of a pipeline does, in one sentence. */
export function stepWords({ name, transformer }: PipelineStepConfig): string {
  const words = Object.hasOwn(STEPS, transformer) ? STEPS[transformer] : 'a step of its own kind';
  return `${labelText(name)} (${transformer}) ${words}.`;
}

/** What the terms of constraints are called in reports. */
const TERMS: Readonly<Record<string, string>> = {
  constraint: 'Constraint',
  fairness: 'Constraint',
  eps: 'Slack (eps)',
  T: 'Most iterations (T)',
  dp_tol: 'Tolerance',
  eo_tol: 'Tolerance',
  penalty: 'Penalty',
  eta: 'Weight of the penalty (eta)',
};

/** The constraint's own terms as names and values; a tolerance of another constraint is none of them. */
export function constraintTerms(constraint: Readonly<Record<string, unknown>> | null): [name: string, value: string][] {
  const unused = constraint?.['fairness'] === 'demographic_parity' ? 'eo_tol' : 'dp_tol';
  return Object.entries(constraint ?? {}).flatMap(([name, value]): [string, string][] =>
    value === null || value === undefined || name === unused ? [] : [[termName(name), termValue(value)]],
  );
}

function termName(name: string): string {
  if (Object.hasOwn(TERMS, name)) return TERMS[name] as string;
  return inWords(
    labelText(name).replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`),
  );
}

function termValue(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'none';
  return labelText(typeof value === 'string' ? value : JSON.stringify(value));
}
