import type { AuditSettings, OpenedFile } from '../engine/protocol.ts';

/** A column with more groups than this is not offered as a sensitive attribute at first. */
export const MAX_GROUPS = 20;

/** The first limit. It is a starting point, which the page says. */
const FIRST_GATE = { metric: 'demographic_parity_difference', threshold: 0.1 };

/** The settings for a sample, in addition to the guesses. */
const OF_SAMPLES: Readonly<Record<string, Partial<AuditSettings>>> = {
  'berkeley.csv': { yPred: 'admitted', yTrue: undefined, sensitive: ['gender'], control: 'department' },
  'loans.csv': {
    yPred: undefined,
    score: 'score',
    scoreThreshold: 0.5,
    yTrue: 'repaid',
    sensitive: ['sex', 'age_group', 'district'],
  },
  'cps-wages.csv': { yPred: 'wage_above_median', yTrue: undefined, sensitive: ['gender', 'race'] },
};

/** Returns the settings that the columns of a file suggest. */
export function guessedSettings({ name, guesses }: OpenedFile, isSample: boolean): AuditSettings {
  const { decision, truth, score, weight, sensitive } = guesses;
  // A file with outcomes only shows how often each group has the outcome.
  const yPred = decision?.column ?? (score === undefined ? truth?.column : undefined);
  return {
    yPred,
    score: yPred === undefined ? score?.column : undefined,
    scoreThreshold: yPred === undefined && score !== undefined ? 0.5 : undefined,
    yTrue: truth?.column === yPred ? undefined : truth?.column,
    sampleWeight: weight?.column,
    sensitive: sensitive.slice(0, 4).map(({ column }) => column),
    // Outcomes are not decisions, and the decisions may be in a column that was not guessed: no verdict on them unasked.
    gates: isSample || decision !== undefined || score !== undefined ? [FIRST_GATE] : [],
    ...(isSample ? OF_SAMPLES[name] : {}),
  };
}

/** Returns what is still missing before the groups can be compared; undefined if nothing is. */
export function missingChoice({ yPred, score, sensitive }: AuditSettings): string | undefined {
  if (yPred === undefined && score === undefined) return 'Choose the column that holds the decision.';
  if (sensitive.length === 0) return 'Choose at least one column of groups to compare, such as sex or age group.';
  return undefined;
}

const TEXTS = [
  ['decision', 'yPred'],
  ['score', 'score'],
  ['truth', 'yTrue'],
  ['control', 'control'],
  ['weight', 'sampleWeight'],
  ['cluster', 'cluster'],
  ['positive', 'positiveLabel'],
  ['truth_positive', 'yTruePositiveLabel'],
] as const;

const NUMBERS = [
  ['score_threshold', 'scoreThreshold'],
  ['min_group_size', 'minGroupSize'],
  ['ci_level', 'ciLevel'],
] as const;

/** Returns the settings as the part of an address after `#`. It names columns, and never contains rows. */
export function linkOf(settings: AuditSettings): string {
  const link = new URLSearchParams();
  for (const [name, key] of TEXTS) {
    const value = settings[key];
    if (value !== undefined) link.set(name, value);
  }
  for (const [name, key] of NUMBERS) {
    const value = settings[key];
    if (value !== undefined) link.set(name, String(value));
  }
  for (const name of settings.sensitive) link.append('group', name);
  for (const { metric, threshold } of settings.gates) link.append('limit', `${metric}:${String(threshold)}`);
  if (settings.isCrossed === true) link.set('crossed', '1');
  if (settings.decimal !== undefined) link.set('decimal', settings.decimal);
  return `#audit?${link.toString()}`;
}

/** Returns the settings of a link; undefined if the address has none. */
export function settingsOfLink(hash: string): AuditSettings | undefined {
  const query = /^#audit\?(.*)$/.exec(hash)?.[1];
  if (query === undefined) return undefined;
  const link = new URLSearchParams(query);
  const texts = Object.fromEntries(TEXTS.map(([name, key]) => [key, link.get(name) ?? undefined]));
  const numbers = Object.fromEntries(
    NUMBERS.map(([name, key]) => {
      const given = link.get(name);
      const value = given === null || given.trim() === '' ? NaN : Number(given);
      return [key, Number.isFinite(value) ? value : undefined];
    }),
  );
  const gates = link.getAll('limit').flatMap((text) => {
    const [, metric = '', value = ''] = /^(\w+):(.+)$/.exec(text) ?? [];
    const threshold = Number(value);
    return metric === '' || !Number.isFinite(threshold) ? [] : [{ metric, threshold }];
  });
  return {
    ...texts,
    ...numbers,
    sensitive: link.getAll('group'),
    gates,
    isCrossed: link.get('crossed') === '1' ? true : undefined,
    decimal: link.get('decimal') === ',' ? ',' : undefined,
  };
}

/** Returns the settings without columns that a file does not have. */
export function fittingSettings(settings: AuditSettings, { columns }: OpenedFile): AuditSettings | undefined {
  const names = new Set(columns.map(({ name }) => name));
  const known = (name: string | undefined): boolean => name === undefined || names.has(name);
  const { yPred, score, yTrue, control, sampleWeight, cluster, sensitive } = settings;
  const all = [yPred, score, yTrue, control, sampleWeight, cluster, ...sensitive];
  return all.every(known) && missingChoice(settings) === undefined ? settings : undefined;
}
