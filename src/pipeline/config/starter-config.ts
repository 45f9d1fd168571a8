import type { DecimalSeparator } from '../../schemas/data-source.ts';

/** The choices with which a first configuration file is created. */
export interface StarterConfig {
  readonly sensitive: readonly string[];
  /** The column to predict, and the columns to learn from; undefined if no model will be trained. */
  readonly training?:
    | {
        readonly target: string;
        readonly positiveLabel?: string | undefined;
        readonly features: readonly string[];
        /** Columns that are not features, with the reasons. */
        readonly left: readonly { readonly column: string; readonly reason: string }[];
      }
    | undefined;
  /** The column of people or other units that have several rows each. */
  readonly cluster?: string | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  /** The threshold: the largest difference that passes. */
  readonly threshold?: number | undefined;
}

/**
 * Returns the text of a configuration with comments, for `run-pipeline` and `pipeline`.
 * @param origin a description of how the configuration was created, which becomes part of the first line
 */
export async function starterConfigText(
  { sensitive, training, cluster, decimal, threshold }: StarterConfig,
  origin: string,
): Promise<string> {
  const { stringify } = await import('yaml');
  const yaml = (value: unknown): string => stringify(value, { lineWidth: 0 });
  return [
    comment(`Made by: ${origin}`),
    comment('The page docs/configuration.md of evenhand explains every key.\n'),
    comment('Each of these columns is analysed separately. None of them is a feature.'),
    yaml({ sensitive }),
    ...(cluster === undefined ? [] : clusterText(cluster, yaml)),
    ...(decimal === undefined ? [] : [comment('The decimal separator of numbers in text files.'), yaml({ decimal })]),
    comment('Steps that change the training data, such as reweighing. None: the rows are used as they are.'),
    yaml({ pipeline: [] }),
    ...(training === undefined ? [] : trainingText(training, yaml)),
    comment('The gap that is reported, and the largest gap that passes. Which gap is acceptable depends on the use.'),
    yaml({ fairness_metric: 'demographic_parity_difference' }).trimEnd(),
    threshold === undefined ? '# validation_threshold: 0.1' : `validation_threshold: ${String(threshold)}`,
    '',
  ].join('\n');
}

function clusterText(cluster: string, yaml: (value: unknown) => string): string[] {
  return [
    comment('Rows with the same value here belong together: a model trains on all of them or on none, and intervals'),
    comment('count values instead of rows. Remove this key if rows do not depend on each other.'),
    yaml({ cluster }),
  ];
}

function trainingText(
  { target, positiveLabel, features, left }: NonNullable<StarterConfig['training']>,
  yaml: (value: unknown) => string,
): string[] {
  return [
    comment('The columns to learn from. Remove those that are not known when a decision is made.'),
    ...left.map(({ column, reason }) => comment(`Left out: ${column}, because it ${reason}.`)),
    yaml({ features }),
    comment('A model whose selection rates differ by at most 0.02 from the overall rate, on the training rows.'),
    yaml({
      training: {
        method: 'reductions',
        target_column: target,
        ...(positiveLabel === undefined ? {} : { positive_label: positiveLabel }),
        params: { constraint: 'demographic_parity', difference_bound: 0.02 },
      },
    }),
  ];
}

/** Returns a comment without line breaks, so that a name with a line break cannot create a key. */
function comment(text: string): string {
  return `# ${text.trimEnd().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')}${text.endsWith('\n') ? '\n' : ''}`;
}
