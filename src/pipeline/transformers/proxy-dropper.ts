import { z } from 'zod';

import { type OptionNames } from '../../internal/arguments.ts';
import { nameSome } from '../../internal/format.ts';
import { requireRate, requireInteger } from '../../stats/parameters.ts';
import type { Table } from '../../table/index.ts';
import { type AssociationMeasure, columnAssociation } from '../association.ts';
import type { FitRows } from './fit-rows.ts';
import { type AppliedRows, FittedTransformer } from './fitted-transformer.ts';
import {
  FEATURE_SETTINGS_NAMES,
  featureNames,
  type FeatureSettings,
  featureSettings,
  readKnownGroups,
  type SensitiveColumns,
  sensitiveNames,
} from './read-columns.ts';

/** Options of {@link ProxyDropper}. */
export interface ProxyDropperOptions extends FeatureSettings {
  /** The sensitive column, or several columns. Each column is analysed separately. */
  readonly sensitive: SensitiveColumns;
  /**
   * The columns that may be dropped.
   * @defaultValue the columns of `candidates`
   */
  readonly features?: readonly string[] | undefined;
  /**
   * The threshold of the association, from 0 to 1. Columns with a stronger association are dropped.
   * @defaultValue 0.3
   */
  readonly threshold?: number | undefined;
  /**
   * The maximum number of columns to drop. The columns with the strongest association are dropped.
   * @defaultValue no limit
   */
  readonly maxDrop?: number | undefined;
}

/** Lists the options of {@link ProxyDropperOptions}. */
export const PROXY_DROPPER_OPTION_NAMES: OptionNames<ProxyDropperOptions> = {
  ...FEATURE_SETTINGS_NAMES,
  threshold: true,
  maxDrop: true,
};

interface Settings extends ProxyDropperOptions {
  readonly threshold: number;
}

/** A dropped column, and the reason. */
export interface DroppedColumn {
  readonly column: string;
  /** The sensitive attribute with the strongest association. */
  readonly attribute: string;
  readonly measure: AssociationMeasure;
  /** The association, above the threshold. */
  readonly value: number;
}

const DROPPED = z.object({
  column: z.string(),
  attribute: z.string(),
  measure: z.enum(['cramers_v', 'eta_squared']),
  value: z.number(),
});

const STATE = z.object({ dropped: z.array(DROPPED), warnings: z.array(z.string()) });

type State = z.output<typeof STATE>;

const DEFINITION = { kind: 'ProxyDropper', options: PROXY_DROPPER_OPTION_NAMES, state: STATE } as const;

/**
 * Drops columns that are proxies for a sensitive attribute. A column is a proxy if its association with any attribute
 * is above a threshold. The columns with the strongest association are dropped first. The association of a text column
 * is Cramér's V with Bergsma's correction. The association of a numeric column is eta squared: the share of the
 * column's variance that lies between the groups. The proxy detector reports the same numbers. The two measures have
 * different scales (a V of 0.3 is an eta squared of about 0.1).
 *
 * The transformer constrains the association of each single column. Several remaining columns together may still reveal
 * the attribute. Dropping a column also removes what the column says about the target.
 *
 * Sensitive columns and the label are never dropped. A column with one value or no values has an undefined association
 * and is not dropped. `sampleWeight` has no effect. Only `fit` needs the sensitive columns. `transform` ignores missing
 * columns.
 *
 * Source: W. Bergsma, "A bias-correction for Cramér's V and Tschuprow's T",
 * Journal of the Korean Statistical Society 42, 2013.
 * @example
 * ```ts
 * import { ProxyDropper } from 'evenhand/pipeline';
 *
 * const sex = ['f', 'm', 'f', 'm', 'f', 'm', 'f', 'm'];
 * const rows = { sex, height: [160, 181, 165, 179, 158, 185, 171, 176], age: [31, 33, 52, 48, 25, 27, 44, 41] };
 * const dropper = await new ProxyDropper({ sensitive: 'sex' }).fit(rows);
 * console.log(dropper.dropped.map(({ column, measure, value }) => `${column} ${measure} ${value.toFixed(2)}`));
 * // [ 'height eta_squared 0.80' ]
 * console.log((await dropper.transform(rows)).table.columnNames);
 * // [ 'sex', 'age' ]
 * ```
 */
export class ProxyDropper extends FittedTransformer<Settings, State> {
  /** @throws {ValueError} if an option is out of its range */
  constructor(options: ProxyDropperOptions) {
    const { maxDrop } = options;
    super(DEFINITION, options, () => ({
      ...featureSettings(options),
      threshold: requireRate('threshold', options.threshold ?? 0.3),
      maxDrop: maxDrop === undefined ? undefined : requireInteger('maxDrop', maxDrop, 0),
    }));
  }

  /** The columns that `transform` drops, strongest association first; empty before `fit`. */
  get dropped(): readonly DroppedColumn[] {
    return Object.freeze((this.state?.dropped ?? []).map((column) => Object.freeze({ ...column })));
  }

  /**
   * Restores a transformer from the output of `toJSON`.
   * @throws {DataValidationError} if a part is invalid; the error names the first invalid part
   */
  static fromJSON(json: unknown): ProxyDropper {
    return FittedTransformer.restore(ProxyDropper, DEFINITION, json);
  }

  protected override learn({ table }: FitRows): State {
    const { threshold, maxDrop } = this.settings;
    const strong = this.#associations(table)
      .filter(({ value }) => value > threshold)
      .sort((a, b) => b.value - a.value);
    const dropped = strong.slice(0, maxDrop);
    return { dropped, warnings: warningsOf(dropped, strong.slice(dropped.length), threshold) };
  }

  /** Returns the strongest association of each feature with a sensitive attribute. */
  #associations(table: Table): DroppedColumn[] {
    const attributes = sensitiveNames(this.settings.sensitive).map(
      (attribute) => [attribute, readKnownGroups(table, attribute)] as const,
    );
    return featureNames(table, this.settings, () => true).map((name) => {
      const column = table.column(name);
      const found = attributes.map(([attribute, groups]) => {
        const { measure, value } = columnAssociation(column, groups);
        return { column: name, attribute, measure, value };
      });
      return found.reduce((most, each) => (each.value > most.value || Number.isNaN(most.value) ? each : most));
    });
  }

  protected override apply(table: Table, { dropped }: State): AppliedRows {
    const gone = new Set(dropped.map(({ column }) => column));
    return { table: table.select(table.columnNames.filter((name) => !gone.has(name))), sampleWeight: null, notes: [] };
  }
}

function warningsOf(dropped: readonly DroppedColumn[], kept: readonly DroppedColumn[], threshold: number): string[] {
  const said = dropped.map(
    ({ column, attribute, measure, value }) =>
      `dropped '${column}': ${measure} ${value.toFixed(3)} with '${attribute}' is above ${String(threshold)}`,
  );
  if (kept.length === 0) return said;
  const names = nameSome(kept.map(({ column }) => column));
  return [...said, `kept ${names}, although above ${String(threshold)}, because maxDrop is reached`];
}
