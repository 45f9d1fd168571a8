import type { ComparedGroup, ComparedValue } from '../../charts/compared-groups.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { numberColumn, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { capital, intervalName } from '../html/metric-charts.ts';
import { tableCount, tableValue } from '../html/report-numbers.ts';
import { rangeText, signedValue } from './change-words.ts';
import type { GroupComparison } from './group-comparison.ts';

/** Of more groups than twice this many, only so many stand at each end. */
const SHOWN_AT_EACH_END = 20;

/** Every group's value before and after; of very many groups those at both ends, and how many stand between. */
export function groupTable({ measure, unit, level, groups }: GroupComparison, attribute: string): ReportTable {
  const interval = level === null ? [] : [numberColumn(capital(intervalName(level)))];
  const values = ({ before, after }: ComparedGroup): string[] => [
    ...sideOf(before, unit, level !== null),
    ...sideOf(after, unit, level !== null),
    before === null || after === null ? '\u2013' : signedValue(after.value - before.value, unit),
  ];
  const columns = [
    { name: 'Group' },
    numberColumn('n'),
    numberColumn('Before'),
    ...interval,
    numberColumn('After'),
    ...interval,
    numberColumn('Change'),
  ];
  const row = (group: ComparedGroup): string[] => [labelText(group.label), tableCount(group.n), ...values(group)];
  const name = `${inWords(measure)} by ${labelText(attribute)}`;
  const between = groups.length - 2 * SHOWN_AT_EACH_END;
  if (between <= 0) return { kind: 'table', caption: name, columns, rows: groups.map(row) };
  const sorted = [...groups].sort((a, b) => sortValue(a) - sortValue(b));
  const each = String(SHOWN_AT_EACH_END);
  return {
    kind: 'table',
    caption: `${name}: the ${each} lowest and the ${each} highest of ${tableCount(groups.length)} groups`,
    columns,
    rows: [
      ...sorted.slice(0, SHOWN_AT_EACH_END).map(row),
      [`\u22EE ${tableCount(between)} between`, ...columns.slice(1).map(() => '')],
      ...sorted.slice(-SHOWN_AT_EACH_END).map(row),
    ],
  };
}

function sideOf(side: ComparedValue | null, unit: 'share' | 'number', hasIntervals: boolean): string[] {
  const value = side === null ? '\u2013' : tableValue(side.value, unit);
  if (!hasIntervals) return [value];
  return [value, side === null || side.ci === null ? '\u2013' : rangeText(side.ci, (end) => tableValue(end, unit))];
}

function sortValue({ before, after }: ComparedGroup): number {
  return after?.value ?? before?.value ?? 0;
}
