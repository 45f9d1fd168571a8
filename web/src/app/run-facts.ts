/** One number or sentence of a result. */
export interface RunFact {
  readonly name: string;
  readonly value: string;
}

type Values = Readonly<Record<string, unknown>>;

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, name) => (typeof found === 'object' && found !== null ? (found as Values)[name] : undefined),
    value,
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a fact with a number of things; none if there is no number. */
function countFact(name: string, value: unknown): RunFact[] {
  return typeof value === 'number' ? [{ name, value: value.toLocaleString('en-US') }] : [];
}

/** Returns a fact with a measured number; none if there is no number. */
function numberFact(name: string, value: unknown): RunFact[] {
  return typeof value === 'number' ? [{ name, value: value.toFixed(4) }] : [];
}

/** Returns a fact with a number before and after something. */
function changeFact(name: string, before: unknown, after: unknown): RunFact[] {
  const [from, to] = [numberFact(name, before)[0], numberFact(name, after)[0]];
  return from === undefined || to === undefined ? [] : [{ name, value: `${from.value} → ${to.value}` }];
}

function textFact(name: string, value: unknown): RunFact[] {
  return typeof value === 'string' && value !== '' ? [{ name, value }] : [];
}

function trainFacts(result: Values): RunFact[] {
  const points = listOf(result['points']);
  const first = points[0];
  const best = points.find((point) => at(point, 'dominated') === false && point !== first);
  return [
    ...textFact('Predicted', result['target']),
    ...countFact('Rows trained on', result['n_train']),
    ...countFact('Rows judged on', result['n_test']),
    ...countFact('Networks', points.length === 0 ? undefined : points.length),
    ...changeFact(
      'Accuracy',
      at(result, 'baseline', 'accuracy') ?? at(first, 'accuracy'),
      at(result, 'final', 'accuracy') ?? at(best, 'accuracy'),
    ),
    ...changeFact(
      'Selection rates differ by',
      at(result, 'baseline', 'dp_diff') ?? at(first, 'dp_diff'),
      at(result, 'final', 'dp_diff') ?? at(best, 'dp_diff'),
    ),
  ];
}

function evaluationFacts(result: Values): RunFact[] {
  return [
    ...textFact('Model', at(result, 'dry_run', 'model') ?? result['model']),
    ...countFact('Requests planned', result['request_count']),
    ...countFact('Answers', at(result, 'actual', 'answered')),
    ...Object.entries((result['metrics'] ?? {}) as Values).map(([name, metric]) => {
      const value = at(metric, 'value');
      return { name, value: typeof value === 'number' ? value.toFixed(4) : 'undefined' };
    }),
  ];
}

const FACTS: Readonly<Record<string, (result: Values) => RunFact[]>> = {
  '/train': trainFacts,
  '/llm-eval': evaluationFacts,
  '/predict': (result) => [
    ...textFact('Method of the model', result['method']),
    ...countFact('Rows', result['n']),
    ...countFact('Positive predictions', result['n_positive']),
    ...numberFact('Mean score', result['mean_score']),
  ],
  '/calibrate': (result) => [
    ...textFact('Method', result['method']),
    ...countFact('Rows', result['n']),
    ...changeFact('Calibration error', at(result, 'overall', 'before', 'ece'), at(result, 'overall', 'after', 'ece')),
    ...changeFact(
      'Brier score',
      at(result, 'overall', 'before', 'brier_score'),
      at(result, 'overall', 'after', 'brier_score'),
    ),
  ],
  '/ab-test': (result) => [
    ...countFact('Rows of control', at(result, 'n', 'control')),
    ...countFact('Rows of treatment', at(result, 'n', 'treatment')),
  ],
  '/pipeline': (result) => [
    ...countFact('Rows', result['transformed_rows']),
    ...countFact('Columns before', listOf(result['columns_in']).length),
    ...countFact('Columns after', listOf(result['columns_out']).length),
    ...textFact('Steps', listOf(result['transformers_applied']).join(', ')),
  ],
  '/workflow': (result) => [
    ...textFact('Predicted', result['target']),
    ...textFact('Method', result['method']),
    ...changeFact('Accuracy', at(result, 'baseline_metrics', 'accuracy'), at(result, 'final_metrics', 'accuracy')),
    ...changeFact(
      'Selection rates differ by',
      at(result, 'baseline_metrics', 'metrics', 'demographic_parity_difference', 'value'),
      at(result, 'final_metrics', 'metrics', 'demographic_parity_difference', 'value'),
    ),
  ],
};

/** Returns the most important numbers of a result. The report has all of them. */
export function factsOfRun(endpoint: string, result: Values): readonly RunFact[] {
  return FACTS[endpoint]?.(result) ?? [];
}

/** Returns the sentences of a result: its verdict, and what its gates say. */
export function sentencesOfRun(result: Values): readonly string[] {
  const gates = Array.isArray(result['gates']) ? result['gates'] : Object.values((result['verdicts'] ?? {}) as Values);
  const messages = gates.map((gate) => at(gate, 'message'));
  return [result['verdict'], ...messages].filter((text) => typeof text === 'string' && text !== '') as string[];
}

/** The files of a run besides its report. */
export function filesOfRun(endpoint: string): readonly { readonly path: string; readonly title: string }[] {
  return [
    ...(/^\/(?:pipeline|workflow|predict|calibrate)$/.test(endpoint)
      ? [{ path: 'data?format=csv', title: 'Rows (CSV)' }]
      : []),
    ...(/^\/(?:train|calibrate)$/.test(endpoint) ? [{ path: 'model', title: 'Model (ZIP)' }] : []),
  ];
}
