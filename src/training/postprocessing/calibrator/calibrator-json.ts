import type { z } from 'zod';

import { camelFields, snakeFields } from '../../../internal/arguments.ts';
import { freezeDeep } from '../../../internal/values.ts';
import { calibratorSchema } from '../../../schemas/calibrate.ts';
import { readJson } from '../../data/read-json.ts';
import type { CalibratorSettings, CalibratorState } from './fit-calibrator.ts';

/** A calibrator as plain data that can be stored and restored. */
export type CalibratorJson = z.output<typeof calibratorSchema>;

/** The settings and the fitted state of a calibrator. */
interface SavedCalibrator {
  readonly settings: CalibratorSettings;
  readonly state: CalibratorState | undefined;
}

/** Converts a calibrator to JSON in snake_case. The state is null before `fit`. */
export function calibratorToJson({ settings, state }: SavedCalibrator): CalibratorJson {
  const { method, minSamples, input } = settings;
  const params = snakeFields({ method, minSamples, ...(method === 'platt' ? { input } : {}) });
  const groups = state?.groups.map(snakeFields);
  return {
    kind: 'group_fairness_calibrator',
    params,
    state: state === undefined ? null : structuredClone({ ...snakeFields(state), groups }),
  } as CalibratorJson;
}

/**
 * Reads the output of {@link calibratorToJson}.
 * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
 */
export function calibratorFromJson(value: unknown): SavedCalibrator {
  const { params, state } = readJson(calibratorSchema, value, 'saved calibrator', {
    suggestion: 'Pass the object that toJSON of a GroupFairnessCalibrator returned.',
  });
  return {
    settings: { ...camelFields(params), input: params.input ?? 'logit' },
    state: state === null ? undefined : freezeDeep({ ...camelFields(state), groups: state.groups.map(camelFields) }),
  };
}
