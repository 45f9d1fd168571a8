import { formatCount, formatNumber } from '../../internal/format.ts';
import type { AssociationMeasure } from '../association.ts';
import type { Detector, DetectorFinding } from './detector.ts';
import { MEASURE_NAMES, reportTable } from './report-numbers.ts';

/** A column whose association with an attribute reaches the proxy threshold. */
export interface ProxyFinding extends DetectorFinding {
  readonly column: string;
  readonly measure: AssociationMeasure;
  /** The association, from the threshold to 1. */
  readonly value: number;
  /** The number of rows with a value and a group. */
  readonly n: number;
  readonly notes: readonly string[];
}

/**
 * Finds proxies: columns whose association with the attribute is at least the threshold. The measure is
 * bias-corrected Cramér's V for text and eta squared for numbers.
 */
export const proxyDetector: Detector<ProxyFinding> = {
  name: 'proxies',

  detect({ name, relations }, { proxyThreshold }) {
    return relations
      .filter(({ association }) => association >= proxyThreshold)
      .map(({ column, measure, association, n, associationNotes }) => ({
        attribute: name,
        column,
        measure,
        value: association,
        n,
        notes: associationNotes,
      }))
      .sort((a, b) => b.value - a.value);
  },

  summarise(findings, { proxyThreshold }) {
    return findings.map(({ attribute, column, measure, value, notes }) => ({
      severity: value,
      text: `'${column}' may be a proxy for ${attribute}: ${[`${MEASURE_NAMES[measure]} ${formatNumber(value, 3)}, threshold ${String(proxyThreshold)}`, ...notes].join('; ')}.`,
    }));
  },

  section(findings, { proxyThreshold }) {
    const rows = findings.map(({ attribute, column, measure, value, n, notes }) => [
      attribute,
      column,
      MEASURE_NAMES[measure],
      formatNumber(value, 3),
      formatCount(n),
      notes.join('; '),
    ]);
    return {
      title: 'Proxies',
      intro: `Columns whose association with an attribute is at least ${String(proxyThreshold)}: bias-corrected Cramér's V for text, eta squared for numbers.`,
      tables:
        rows.length === 0
          ? []
          : [reportTable('Proxies by attribute', ['attribute', 'column', 'measure', 'value', 'rows', 'note'], rows)],
    };
  },
};
