import { type Column, Table, toColumn } from '../../../table/index.ts';
import type { CalibrationMap, CalibrationMethod } from './calibration-map.ts';
import type { CalibratorState } from './fit-calibrator.ts';

/** The numbers of each kind of map. */
const NUMBERS: Readonly<Record<CalibrationMethod, Readonly<Record<string, (map: CalibrationMap) => number>>>> = {
  platt: {
    slope: (map) => (map.kind === 'platt' ? map.slope : NaN),
    intercept: (map) => (map.kind === 'platt' ? map.intercept : NaN),
  },
  isotonic: { points: (map) => (map.kind === 'isotonic' ? map.scores.length : NaN) },
  temperature: { temperature: (map) => (map.kind === 'temperature' ? map.temperature : NaN) },
};

/** A row for each group, and one for all rows together. */
export function describeCalibrator(state: CalibratorState, method: CalibrationMethod): Table {
  const all = { label: '(pooled)', n: state.n, positiveRate: state.positiveRate, map: null, reason: null };
  const rows = [...state.groups, all];
  const columns: [string, readonly unknown[]][] = [
    ['group', rows.map(({ label }) => label)],
    ['n', rows.map(({ n }) => n)],
    ['positive_rate', rows.map(({ positiveRate }) => positiveRate)],
    ['calibrator', rows.map(({ map }) => (map === null ? 'pooled' : 'own'))],
    ...Object.entries(NUMBERS[method]).map(([name, numberOf]): [string, readonly unknown[]] => [
      name,
      rows.map(({ map }) => numberOf(map ?? state.pooled)),
    ]),
    ['reason', rows.map(({ reason }) => reason ?? '')],
  ];
  return Table.ofColumns(columns.map(([name, values]): [string, Column] => [name, toColumn(values, name)]));
}
