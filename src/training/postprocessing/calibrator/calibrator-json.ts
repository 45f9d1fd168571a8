import type { z } from 'zod';

import { calibratorSchema } from '../../../schemas/calibrate.ts';
import { readJson } from '../../data/read-json.ts';
import type { CalibratorSettings, CalibratorState } from './fit-calibrator.ts';

/** A calibrator as plain data that can be stored and read back. */
export type CalibratorJson = z.output<typeof calibratorSchema>;

/** A calibrator's settings and what it has learned. */
interface SavedCalibrator {
  readonly settings: CalibratorSettings;
  readonly state: CalibratorState | undefined;
}

/** Converts a calibrator to JSON in snake_case; its state is null before `fit`. */
export function calibratorToJson({ settings, state }: SavedCalibrator): CalibratorJson {
  const { method, minSamples, input } = settings;
  const params = { method, min_samples: minSamples, ...(method === 'platt' ? { input } : {}) };
  if (state === undefined) return { kind: 'group_fairness_calibrator', params, state: null };
  const { margin, pooled, n, warnings } = state;
  const groups = state.groups.map(({ label, n: rows, positiveRate, map, reason }) => ({
    label,
    n: rows,
    positive_rate: positiveRate,
    map: map === null ? null : structuredClone(map),
    reason,
  }));
  return {
    kind: 'group_fairness_calibrator',
    params,
    state: {
      margin,
      pooled: structuredClone(pooled),
      n,
      positive_rate: state.positiveRate,
      groups,
      warnings: [...warnings],
    },
  } as CalibratorJson;
}

/**
 * Reads what {@link calibratorToJson} wrote.
 * @throws {DataValidationError} if a field is invalid; names the first one
 */
export function calibratorFromJson(value: unknown): SavedCalibrator {
  const { params, state } = readJson(calibratorSchema, value, 'saved calibrator', {
    suggestion: 'Pass the object that toJSON of a GroupFairnessCalibrator returned.',
  });
  return {
    settings: { method: params.method, minSamples: params.min_samples, input: params.input ?? 'logit' },
    state:
      state === null
        ? undefined
        : {
            ...state,
            positiveRate: state.positive_rate,
            warnings: Object.freeze(state.warnings),
            groups: state.groups.map((group) => ({ ...group, positiveRate: group.positive_rate })),
          },
  };
}
