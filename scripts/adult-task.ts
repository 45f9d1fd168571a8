/** The features of Adult in all comparisons with other libraries: 42 columns after encoding. */
export const ADULT_FEATURES = [
  'age',
  'education-num',
  'capital-gain',
  'capital-loss',
  'hours-per-week',
  'workclass',
  'marital-status',
  'occupation',
  'relationship',
];

/** The target and the sensitive attribute. */
export const ADULT_TASK = { target: 'income-per-year', positiveLabel: '>50K', sensitive: 'sex' } as const;
