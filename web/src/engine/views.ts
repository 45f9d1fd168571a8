import { labelText } from '../../../src/document/report-text.ts';
import type { FileValidation } from '../../../src/integration/measure-attributes.ts';
import { validationCharts } from '../../../src/integration/html/metric-charts.ts';
import { knownFacts, measuresOf, valueText } from '../../../src/integration/metric-facts.ts';
import { validationDocument, validationVerdict } from '../../../src/integration/validation-document.ts';
import type { ValidationChanges } from '../../../src/integration/validation-changes.ts';
import { capital, rangeText } from '../../../src/internal/format.ts';
import { finiteOrNull, own } from '../../../src/internal/values.ts';
import { inWords, unitOf } from '../../../src/metrics/metric-markdown.ts';
import type { MetricResult } from '../../../src/metrics/metric-result.ts';
import type { AttributeView, AuditResult, MetricView } from './protocol.ts';

/** Returns a metric as plain data. All numbers and sentences are those of the library. */
export function metricView(result: MetricResult): MetricView {
  const { metric, value, ci, perGroup, perGroupCi, nPerGroup, excluded } = result;
  return {
    metric,
    title: capital(inWords(metric)),
    value: finiteOrNull(value),
    valueText: valueText(result),
    ci: ci === null ? null : [ci[0], finiteOrNull(ci[1])],
    ciText: ci === null ? null : rangeText(ci),
    facts: knownFacts(result),
    first: result.first,
    second: result.second,
    minimumDetectable: result.minimumDetectableGap,
    measures: measuresOf(result).map((name) => ({
      name,
      title: capital(inWords(name)),
      isShare: unitOf(name) === 'share',
      groups: Object.keys(perGroup).map((label) => ({
        label,
        n: own(nPerGroup, label) ?? 0,
        value: own(own(perGroup, label), name) ?? null,
        ci: intervalOf(own(own(perGroupCi, label), name)),
      })),
    })),
    excluded: Object.entries(excluded).map(([label, { n, reason }]) => ({ label, n, reason })),
    nDropped: result.nDropped,
    undefinedReason: result.undefinedReason,
    warnings: result.warnings.map(capital),
  };
}

function intervalOf(ci: readonly [number, number] | null | undefined): [number, number] | null {
  return ci === null || ci === undefined ? null : [ci[0], ci[1]];
}

/** Returns what the page shows of a validation. */
export function auditView(
  validation: FileValidation,
  source: string,
  changes: ValidationChanges | undefined,
): Omit<AuditResult, 'settings' | 'source' | 'command' | 'gateFile' | 'seconds'> {
  const { sections } = validationDocument(validation, { source, changes });
  const section = (title: string): (typeof sections)[number] | undefined =>
    sections.find((one) => one.title === title && one.blocks.length > 0);
  const attributes = Object.entries(validation.attributes).map(([name, metrics]): AttributeView => {
    const charts = validationCharts({ attributes: { [name]: metrics } });
    return {
      name,
      metrics: Object.values(metrics).map(metricView),
      controlWarnings: [...(own(validation.frames, name)?.warnings ?? [])].map(capital),
      section: section(`By ${labelText(name)}`),
      charts: charts.map(({ description }) => ({ title: description.split(' of ')[0] ?? '', description })),
    };
  });
  return {
    verdict: validationVerdict(validation),
    passed: validation.passed,
    gates: validation.gates,
    notes: (validation.notes ?? []).map(capital),
    attributes,
    labels: section('Labels'),
    howToRead: (section('How to read this')?.blocks ?? []).flatMap((block) =>
      block.kind === 'list' ? block.items : [],
    ),
    changes: section('What changed'),
    rows: validation.rows ?? null,
  };
}
