import {
  type Convention,
  fairlearnGap,
  lacksPositive,
  measuresOf,
  NEEDED_IN_ALL_GROUPS,
  needsTruth,
  refusalOf,
  valueWithoutRows,
} from './conventions.ts';
import { acceptedRows, type Cell, type Level, levelsOf, weightOf } from './facts.ts';
import type { Frame } from './frames.ts';
import { type Source, sourceOf } from './source.ts';
import { type FrameValues, type Gap, GAPS, type LevelValues, type MeasureValues, type PeerValues } from './values.ts';
import { type Comparison, TOLERANCE, Verdicts } from './verdicts.ts';

/** Compares the values of this package with those of fairlearn, value by value. */
export function compareFrame(frame: Frame, own: FrameValues, theirs: PeerValues): Comparison {
  const verdicts = new Verdicts();
  const levels = levelsOf(frame, frame.control);
  for (const measure of frame.measures) {
    const ours = own.measures.get(measure);
    if (lacksPositive(frame, frame.measures)) {
      verdicts.expectRejection(measure, ours);
      continue;
    }
    const source = sourceOf(measure, frame, levels, theirs, (values) => values.measures.get(measure), verdicts);
    if (source === undefined) continue;
    if (ours === undefined || 'error' in ours) verdicts.fail(measure, ours?.error ?? 'missing', 'values');
    else compareMeasure(measure, frame, levels, ours, source, verdicts);
  }
  frame.metrics.forEach((one, position) => {
    const what = [one.metric, one.method, one.agg, one.classes && 'macro'].filter((part) => part !== null).join(' ');
    const [level] = levelsOf(frame, {}).values();
    const value = own.metrics[position];
    const [first = ''] = measuresOf(one.metric);
    if (level === undefined) return;
    if (one.classes === null && lacksPositive(frame, measuresOf(one.metric))) {
      verdicts.expectRejection(what, value);
      return;
    }
    const all = new Map([['', level]]);
    const source = sourceOf(first, frame, all, theirs, (values) => values.metrics[position], verdicts, what);
    if (source === undefined) return;
    if (typeof value !== 'number') verdicts.fail(what, value?.error ?? 'missing', source.values);
    else compareMetric(what, first, frame, level, value, source.values, verdicts);
  });
  return verdicts;
}

function compareMeasure(
  measure: string,
  frame: Frame,
  levels: ReadonlyMap<string, Level>,
  own: MeasureValues,
  { values, isKept }: Source<MeasureValues>,
  verdicts: Verdicts,
): void {
  // fairlearn lists all combinations of several features, also those without rows.
  const known = isKept ? levelsOf(frame, frame.control, acceptedRows(frame, frame.control) ?? undefined) : levels;
  const theirs = valuesWithRows(values, known);
  const unknown = [...own.keys()].filter((level) => !levels.has(level));
  if (unknown.length > 0) verdicts.fail(`${measure}: levels`, unknown.join(', '), [...levels.keys()].join(', '));
  for (const [name, level] of levels) {
    const where = name === '' ? measure : `${measure} at ${name}`;
    const ours = own.get(name);
    if (ours === undefined) verdicts.fail(where, 'missing', 'a level');
    else compareLevel(where, measure, frame, level, ours, theirs.get(name), verdicts);
  }
}

function valuesWithRows(values: MeasureValues, levels: ReadonlyMap<string, Level>): MeasureValues {
  const known = [...values].filter(([name]) => levels.has(name));
  return new Map(
    known.map(([name, own]) => [
      name,
      { ...own, groups: new Map([...own.groups].filter(([label]) => levels.get(name)?.groups.has(label) === true)) },
    ]),
  );
}

/** Compares the values of a measure within a level of the control features. */
function compareLevel(
  where: string,
  measure: string,
  frame: Frame,
  level: Level,
  own: LevelValues,
  theirs: LevelValues | undefined,
  verdicts: Verdicts,
): void {
  const unknown = [...own.groups.keys()].filter((group) => !level.groups.has(group));
  if (unknown.length > 0) verdicts.fail(`${where}: groups`, unknown.join(', '), [...level.groups.keys()].join(', '));
  let refusal: Convention | undefined;
  /** Why fairlearn has no value for one of the cells, or another than the package. */
  let deviation: Convention | undefined;
  /** Compares a value, and returns the value that is expected here. */
  const compareValue = (what: string, cell: Cell, ours: number | undefined, value: number | undefined): number => {
    if (value === undefined) {
      const why = cell.labelled.length === 0 ? 'rows without a true label' : 'a group of weight 0';
      deviation = why;
      if (why === 'a group of weight 0' && NEEDED_IN_ALL_GROUPS.includes(measure)) refusal = why;
      const expected = valueWithoutRows(measure);
      verdicts.expectByConvention(what, ours, expected, why);
      return expected;
    }
    const refused = refusalOf(measure, frame, cell);
    if (refused === undefined) {
      verdicts.expect(what, ours, value);
      return value;
    }
    refusal = refused.convention;
    deviation = refusal;
    verdicts.expectNone(what, ours, value, refused.convention);
    if (!refused.isTheirs(value)) verdicts.fail(what, refused.convention, value);
    return NaN;
  };
  const groups = new Map<string, number>();
  for (const [label, cell] of level.groups) {
    const what = `${where}: group ${JSON.stringify(label)}`;
    groups.set(label, compareValue(what, cell, own.groups.get(label), theirs?.groups.get(label)));
  }
  const refusedGroup = refusal;
  const expected = { overall: compareValue(`${where}: overall`, level.overall, own.overall, theirs?.overall), groups };
  const scale = Math.max(...[expected.overall, ...groups.values()].map(Math.abs).filter(Number.isFinite), 0);
  for (const gap of GAPS) {
    const isOverall = gap.endsWith('to_overall');
    const why = whyNoGap(gap, measure, level, expected, isOverall ? refusal : refusedGroup);
    const value = theirs?.gaps[gap] ?? NaN;
    if (why !== undefined) {
      verdicts.expectNone(`${where}: ${gap}`, own.gaps[gap], value, why);
      continue;
    }
    // The same groups with the same values have fairlearn's gap. Otherwise, its formula applies to the expected values.
    if (deviation === undefined) verdicts.expect(`${where}: ${gap}`, own.gaps[gap], value, scale);
    else {
      const byFormula = fairlearnGap(gap, compared(measure, level, expected));
      verdicts.expectByConvention(`${where}: ${gap}`, own.gaps[gap], byFormula, deviation, scale);
    }
  }
}

/** Returns the values of the groups that are compared: those with a row that has what the measure needs. */
function compared(
  measure: string,
  level: Level,
  { overall, groups }: Pick<LevelValues, 'overall' | 'groups'>,
): Pick<LevelValues, 'overall' | 'groups'> {
  const own = [...groups].filter(
    ([group]) => !needsTruth(measure) || (level.groups.get(group)?.labelled.length ?? 0) > 0,
  );
  return { overall, groups: new Map(own) };
}

/** Returns why the package has no difference or ratio although fairlearn may have one; otherwise undefined. */
function whyNoGap(
  gap: Gap,
  measure: string,
  level: Level,
  expected: Pick<LevelValues, 'overall' | 'groups'>,
  refusal: Convention | undefined,
): Convention | undefined {
  if (gap === 'group_min' || gap === 'group_max') return undefined;
  const { overall, groups } = compared(measure, level, expected);
  const values = [...groups.values()];
  if (refusal !== undefined && values.length > 1) return refusal;
  if (values.filter((value) => !Number.isNaN(value)).length < 2) return 'one group';
  const isNegative = values.some((value) => value < 0) || (gap === 'ratio to_overall' && overall < 0);
  return gap.startsWith('ratio') && isNegative ? 'ratio of negative values' : undefined;
}

function compareMetric(
  what: string,
  measure: string,
  frame: Frame,
  level: Level,
  own: number,
  theirs: number,
  verdicts: Verdicts,
): void {
  const cells = [...level.groups.values()].filter(({ labelled }) => !needsTruth(measure) || labelled.length > 0);
  const weighted = cells.filter(({ rows }) => weightOf(frame, rows) > 0);
  if (cells.length < 2) {
    verdicts.expectNone(what, own, theirs, 'one group');
    return;
  }
  if (weighted.length === cells.length) {
    verdicts.expect(what, own, theirs);
    return;
  }
  if (!needsTruth(measure) || /^(accuracy|zero_one)/.test(measure)) {
    if (weighted.length < 2) {
      verdicts.expectNone(what, own, theirs, 'one group');
      return;
    }
    verdicts.expect(what, own, theirs);
    return;
  }
  // The rate of a group of weight 0 is 0, which fairlearn's value for the other groups does not include.
  const isPossible = what.includes('_ratio')
    ? own <= theirs + TOLERANCE || Number.isNaN(own)
    : own >= theirs - TOLERANCE;
  verdicts.count('a group of weight 0');
  if (!isPossible) verdicts.fail(what, own, theirs);
}
