import { type SnakeFields, camelFields, snakeFields } from '../internal/arguments.ts';
import { finiteOrNull, freezeDeep } from '../internal/values.ts';
import { metricToMarkdown } from './metric-markdown.ts';
import type { Exclusion, GroupIntervals, GroupRates, MetricResultFields, MissingRows } from './metric-result-fields.ts';
import type { Compat, GapAggregate, GapMethod } from './options.ts';

/** The result of a metric, with its interval, exclusions and warnings. Frozen. */
export class MetricResult implements MetricResultFields {
  readonly metric!: string;
  readonly value!: number;
  readonly ci!: readonly [low: number, high: number] | null;
  readonly ciLevel!: number | null;
  readonly ciMethod!: string | null;
  readonly effectSize!: number | null;
  readonly effectSizeName!: 'risk_ratio' | 'cohens_d' | null;
  readonly pValue!: number | null;
  readonly pValueMethod!: string | null;
  readonly minimumDetectableGap!: number | null;
  readonly method!: GapMethod;
  readonly referenceGroup!: string | null;
  readonly agg!: GapAggregate | null;
  readonly compat!: Compat | null;
  readonly nPerGroup!: Readonly<Record<string, number>>;
  readonly perGroup!: Readonly<Record<string, GroupRates>>;
  readonly perGroupCi!: Readonly<Record<string, GroupIntervals>> | null;
  readonly excluded!: Readonly<Record<string, Exclusion>>;
  readonly first!: string | null;
  readonly second!: string | null;
  readonly nDropped!: number;
  readonly missing!: MissingRows | null;
  readonly undefinedReason!: string | null;
  readonly warnings!: readonly string[];
  readonly seed!: number | null;

  constructor(fields: MetricResultFields) {
    Object.assign(this, fields);
    freezeDeep(this);
  }

  /** Returns the result in its wire format: snake_case keys, with null for an undefined value. */
  toJSON(): MetricResultJson {
    const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, this[name]])) as unknown as MetricResultFields;
    return {
      ...snakeFields(fields),
      value: finiteOrNull(this.value),
      ci: this.ci === null ? null : [this.ci[0], finiteOrNull(this.ci[1])],
      missing: this.missing === null ? null : snakeFields(this.missing),
    };
  }

  /** Renders the result as a Markdown section: the value, then a table of groups. */
  toMarkdown(): string {
    return metricToMarkdown(this);
  }
}

/** The names of the fields, in the order of the wire format. */
const FIELD_NAMES = Object.keys(new MetricResult({} as MetricResultFields)) as (keyof MetricResultFields)[];

/** The wire format of a {@link MetricResult}. An undefined value and an infinite end of `ci` (of a ratio) are null. */
export interface MetricResultJson extends SnakeFields<Omit<MetricResultFields, 'value' | 'ci' | 'missing'>> {
  readonly value: number | null;
  readonly ci: readonly [low: number, high: number | null] | null;
  readonly missing: SnakeFields<MissingRows> | null;
}

/** The wire format of results written before these fields existed. */
type EarlierJson = Omit<MetricResultJson, NewField> & Partial<Pick<MetricResultJson, NewField>>;

type NewField = 'first' | 'second' | 'missing';

/**
 * Creates a result from the output of its `toJSON`: null becomes NaN, and a null end of an interval becomes infinite.
 */
export function metricResultFromJson(json: EarlierJson): MetricResult {
  const { first = null, second = null, missing = null, ...others } = json;
  return new MetricResult({
    ...camelFields(others),
    value: json.value ?? NaN,
    ci: json.ci === null ? null : [json.ci[0], json.ci[1] ?? Infinity],
    first,
    second,
    missing: missing && camelFields(missing),
  });
}
